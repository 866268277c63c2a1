"""Models as earlier versions wrote them, made into those of today.

Until 0.1.0 an estimator held what it had learned in a dozen attributes. Now it is one value,
`fitted_`, which is made of them here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from posterior.discriminative.fitted_logistic import FittedLogistic
from posterior.discriminative.reservoir import Stream
from posterior.estimators.logistic.base import LogisticBase
from posterior.estimators.naive_bayes import NaiveBayes
from posterior.estimators.summed_classifier import SummedClassifier
from posterior.generative.fitted import Fitted
from posterior.readers.columns import Columns
from posterior.readers.encoded import Encoded
from posterior.readers.labels import Labels
from posterior.readers.mixed import FamilyRules
from posterior.readers.reader import Reader

State = dict[str, Any]
BESIDE = ("choice_", "selection_", "tuning_", "file_types_")  # what stays an attribute


@dataclass(frozen=True)
class Column:
    """One column of a mixed table."""

    name: Any
    kind: Any


@dataclass(frozen=True)
class ColumnPlan:
    """The columns of a mixed table, and which families they have."""

    columns: tuple[Column, ...]
    rules: FamilyRules


@dataclass(frozen=True)
class OpenStream:
    """A stream of logistic regression, and whether its classes were named beforehand."""

    columns: Any
    closed: bool
    kept: Any
    estimate: Any


MOVED: dict[str, type | str] = {  # the names that earlier versions wrote
    "generative.HeldOut": "evaluation.HeldOut",
    "generative.Isotonic": "evaluation.Isotonic",
    "generative.Temperature": "evaluation.Temperature",
    "estimators.Column": Column,
    "estimators.ColumnPlan": ColumnPlan,
    "estimators.FamilyRules": "readers.FamilyRules",
    "estimators.Estimate": "discriminative.Estimate",
    "estimators.Stream": OpenStream,
}


def upgraded(kind: type, state: State) -> State:
    """The attributes of an estimator of today, from those of any version."""
    for base, upgrade in UPGRADES.items():
        if issubclass(kind, base) and "fitted_" not in state:
            return upgrade(kind, state)
    return state


def parameters(kind: type) -> dict[str, Any]:
    """The parameters of an estimator with their defaults."""
    if not issubclass(kind, BaseEstimator):
        return {}
    return {p.name: p.default for p in inspect.signature(kind).parameters.values()}


def columns_of(kind: type, state: State) -> Columns:
    names = state.get("feature_names_in_")
    names = None if names is None else tuple(names.tolist())
    return Columns(kind.__name__, state["n_features_in_"], names, state.get("library_"))


def _summed(kind: Any, state: State) -> State:
    """A sum and how its rows were read: the model of it is estimated again."""
    if "statistics_" not in state:
        return state
    given = {name: state[name] for name in parameters(kind)}
    model = kind(**given)
    reader = _reader(model, columns_of(kind, state), state)
    labels = Labels(state["classes_"], state.get("_closed", False), state.get("_weightless", {}))
    fitted = Fitted(reader, labels, model.rule(reader, labels), state["statistics_"], None)
    fitted = replace(model.settle(fitted), calibrator=state.get("calibrator_"))
    beside = {name: state[name] for name in BESIDE if name in state}
    return given | beside | {"fitted_": fitted}


def _reader(model: Any, columns: Columns, state: State) -> Reader:
    reader = model.reader()
    if isinstance(model, NaiveBayes):
        plan = state.get("plan_") or ColumnPlan(state["schema_"], reader.rules)
        rules = replace(reader.rules, chosen=state.get("chosen_", {}))
        return replace(
            reader, columns=columns, rules=rules, kinds=tuple(c.kind for c in plan.columns)
        )
    return reader.of(columns)


def _logistic(kind: Any, state: State) -> State:
    """Coefficients, how rows were read, and the rows of a stream."""
    if "coef_" not in state:
        return state
    stream = state.get("_stream")
    typical = np.broadcast_to(state.get("typical_", 0.0), state["coef_"].shape[1:])
    fitted = FittedLogistic(
        Encoded(columns_of(kind, state), state.get("encoding_")),
        Labels(state["classes_"], closed=stream is not None and stream.closed),
        state["coef_"],
        state["intercept_"],
        np.array(typical, np.float64),
        state.get("n_iter_"),
        state.get("solver_"),
        state.get("trace_", ()),
        stream=stream and Stream(stream.columns, stream.kept, stream.estimate),
    )
    kept = {*parameters(kind), "Cs_", "C_", "l1_ratios_", "l1_ratio_", "scores_", "coefs_paths_"}
    return {n: v for n, v in state.items() if n in kept or n in BESIDE} | {"fitted_": fitted}


UPGRADES: dict[type, Callable[[Any, State], State]] = {
    SummedClassifier: _summed,
    LogisticBase: _logistic,
}
