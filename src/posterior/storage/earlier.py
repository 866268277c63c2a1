"""Models as earlier versions wrote them, made into those of today.

Until 0.1.0 an estimator held what it had learned in a dozen attributes. Now it is one value,
`fitted_`, which is made of them here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import BaseEstimator

from posterior.estimators.naive_bayes import NaiveBayes
from posterior.estimators.summed_classifier import SummedClassifier
from posterior.estimators.text import CountVectorizer, TextClassifier, TfidfTransformer
from posterior.estimators.text.count_vectorizer import LearnedTerms
from posterior.estimators.text.term_rule import TermRule
from posterior.estimators.text.tfidf_transformer import LearnedFrequencies, weighting_of
from posterior.generative.fitted import Fitted
from posterior.generative.rule import ClassPrior
from posterior.readers.columns import Columns
from posterior.readers.labels import Labels
from posterior.readers.mixed import FamilyRules
from posterior.readers.reader import Reader
from posterior.text.term_weights import WeighedTerms

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


MOVED: dict[str, type | str] = {  # the names that earlier versions wrote
    "generative.HeldOut": "evaluation.HeldOut",
    "generative.Isotonic": "evaluation.Isotonic",
    "generative.Temperature": "evaluation.Temperature",
    "estimators.Column": Column,
    "estimators.ColumnPlan": ColumnPlan,
    "estimators.FamilyRules": "readers.FamilyRules",
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


def labels_of(state: State) -> Labels:
    return Labels(state["classes_"], state.get("_closed", False), state.get("_weightless", {}))


def _summed(kind: Any, state: State) -> State:
    """A sum and how its rows were read: the model of it is estimated again."""
    if "statistics_" not in state:
        return state
    given = {name: state[name] for name in parameters(kind)}
    model = kind(**given)
    reader = _reader(model, columns_of(kind, state), state)
    labels = labels_of(state)
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


def _text(kind: Any, state: State) -> State:
    """Sums of documents, and weights, which may be more than what follows from the sums."""
    if "statistics_" not in state:
        return state
    given = {name: state[name] for name in parameters(kind)}
    labels, joint = labels_of(state), state["_model"]
    setting = state["model_"], state["alpha_"], state["sharpness_"], given["min_df"]
    family, prior = WeighedTerms(*setting), ClassPrior(given["class_prior"], labels.classes)
    reader = kind(**given).reader()
    reader = replace(reader, column=state.get("_column"), vocabulary=state["_vocabulary"])
    rule = TermRule(family, prior, state.get("choice_"))
    joint = replace(joint, family=family)
    fitted = Fitted(reader, labels, rule, state["statistics_"], joint)
    types = {name: state[name] for name in ("file_types_",) if name in state}
    return given | types | {"fitted_": fitted}


def _vectorizer(kind: Any, state: State) -> State:
    """A vocabulary and its sums, and perhaps a transformer of weights."""
    if "_vocabulary" not in state and "_tfidf" not in state:
        return state
    given = {name: state[name] for name in parameters(kind)}
    weighting, tfidf = None, state.get("_tfidf")
    if tfidf is not None:
        learned = vars(tfidf).get("fitted_")
        idf = None if learned is None else learned.idf
        weighting = replace(weighting_of(tfidf), idf_=idf)
    vocabulary, fixed = state.get("_vocabulary"), state.get("fixed_vocabulary_")
    terms = LearnedTerms(vocabulary, fixed, state.get("statistics_"), weighting)
    return given | {"fitted_": terms}


def _transformer(kind: Any, state: State) -> State:
    """Frequencies of terms and their weights, of which either may be missing."""
    frequencies, idf = state.get("statistics_"), state.get("idf_")
    if frequencies is None and idf is None:
        return state
    given = {name: state[name] for name in parameters(kind)}
    columns = columns_of(kind, {"n_features_in_": 0 if idf is None else len(idf)} | state)
    return given | {"fitted_": LearnedFrequencies(columns, frequencies, idf)}


UPGRADES: dict[type, Callable[[Any, State], State]] = {  # the first that fits
    TextClassifier: _text,
    CountVectorizer: _vectorizer,
    TfidfTransformer: _transformer,
    SummedClassifier: _summed,
}
