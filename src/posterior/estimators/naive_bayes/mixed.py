"""Naive Bayes on any table: numbers, strings, categories, counts and missing cells together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from posterior.data import frames, validate
from posterior.data.errors import DegenerateWarning
from posterior.data.names import plain
from posterior.data.rows import Blocks, CodedRows, Features, SparseRows
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.estimators.numeric import CALIBRATED, log_prior
from posterior.estimators.table import TableClassifier
from posterior.families import (
    Bernoulli,
    Categorical,
    Gaussian,
    Laplace,
    Multinomial,
    Poisson,
    Product,
    PseudoRows,
)
from posterior.families.family import AnyFamily
from posterior.families.product import Parts
from posterior.generative.joint import Joint, JointStatistics

FAMILIES: dict[str, AnyFamily] = {
    "bernoulli": Bernoulli(),
    "categorical": Categorical(),
    "gaussian": Gaussian(),
    "multinomial": Multinomial(),
    "poisson": Poisson(),
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table."""

    name: Any
    kind: frames.Kind


class NaiveBayes(TableClassifier):
    """Bayes' rule with features independent given the class, on any array or frame.

    p(y = k | x) ∝ π_k ∏ⱼ p(xⱼ | θ_kj)

    Numbers are Gaussian; strings, categories and booleans are categorical. Missing cells are left
    out, which is exact. Values never seen have the probability that their prior gives them.

    Parameters
    ----------
    families : family, or mapping of columns to families, optional
        For all columns, or for some by name (by position in an array): a family such as
        `Gaussian()` or `Poisson()`, its name such as "categorical", or None to leave the column
        out.
    prior_rows : float, default=1.0
        Weight of the prior of columns whose family was not given: pseudo-rows with the mean and
        variance of all classes for numbers, of every value for categories.
    class_prior : array of shape (n_classes,), optional
        Class probabilities; learned if not given.
    predictive : bool, default=False
        Integrate over what is not known about the parameters (Student's t, negative binomial,
        Dirichlet-multinomial) instead of taking their estimates for the truth.
    calibrated : {"temperature", "isotonic"}, optional
        Correct the probabilities by out-of-fold scores, which cost no refit.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    columns_ : table of the columns, their families and values
    joint_ : the fitted model

    Examples
    --------
    >>> import pandas as pd
    >>> from posterior import NaiveBayes
    >>> table = pd.DataFrame({"age": [31, 45, None, 28], "city": ["Rome", "Oslo", "Oslo", None]})
    >>> model = NaiveBayes().fit(table, ["no", "yes", "yes", "no"])
    >>> model.predict(pd.DataFrame({"age": [50], "city": ["Paris"]}))
    array(['yes'], dtype='<U3')
    """

    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {
        "prior_rows": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "families": [None, str, Mapping, object],
        "prior_rows": [Interval(Real, 0, None, closed="left")],
        "class_prior": ["array-like", None],
        "predictive": ["boolean"],
        "calibrated": CALIBRATED,
    }

    def __init__(
        self,
        families: Any = None,
        *,
        prior_rows: float = 1.0,
        class_prior: Any = None,
        predictive: bool = False,
        calibrated: str | None = None,
    ) -> None:
        self.families = families
        self.prior_rows = prior_rows
        self.class_prior = class_prior
        self.predictive = predictive
        self.calibrated = calibrated

    # ---- columns ----

    def _features(self, X: Any, fitting: bool, reset: bool) -> Features:
        columns = self._read(X, reset)
        if reset:
            self.schema_ = self._kinds(columns)
        if self._plain():
            family, js = self._blocks()[0]
            return columns if isinstance(columns, np.ndarray) else self._block(columns, family, js)
        return Blocks(tuple(self._block(columns, family, js) for family, js in self._blocks()))

    def _kinds(self, columns: Array | list[nw.Series[Any]]) -> tuple[Column, ...]:
        """What each column holds."""
        names = self._feature_names()
        if isinstance(columns, np.ndarray):
            return tuple(Column(plain(name), "number") for name in names)
        pairs = zip(names, columns, strict=True)
        asked = self.families if isinstance(self.families, Mapping) else {}
        return tuple(
            Column(plain(name), "category" if name in asked else frames.kind(column))
            for name, column in pairs
        )

    def _assigned(self) -> list[AnyFamily | None]:
        """The family of each column: as asked, or as its values say."""
        names = [column.name for column in self.schema_]
        asked = self.families if isinstance(self.families, Mapping) else {}
        unknown = [name for name in asked if name not in names]
        if unknown:
            raise ValueError(f"Expected families for columns of {names}, got {unknown}.")
        families = []
        for column in self.schema_:
            family: AnyFamily | None
            if column.name in asked:
                given = asked[column.name]
                family = None if given is None else _family(given, column.name)
            elif self.families is not None and not isinstance(self.families, Mapping):
                family = _family(self.families, column.name)
            elif column.kind == "number":
                family = Gaussian(PseudoRows(self.prior_rows))
            else:
                family = Categorical(Laplace(self.prior_rows))
            if self.predictive and hasattr(family, "predictive"):
                family = replace(family, predictive=True)  # type: ignore[type-var]
            families.append(family)
        if all(family is None for family in families):
            raise ValueError("Expected a family for at least one column, got None for all.")
        return families

    def _plain(self) -> bool:
        """Whether one family of numbers has all columns."""
        blocks = self._blocks()
        whole = len(blocks) == 1 and len(blocks[0][1]) == len(self.schema_)
        return whole and not isinstance(blocks[0][0], Categorical)

    def _blocks(self) -> list[tuple[AnyFamily, tuple[int, ...]]]:
        """Columns that share a family, together."""
        blocks: dict[AnyFamily, list[int]] = {}
        for j, family in enumerate(self._assigned()):
            if family is not None:
                blocks.setdefault(family, []).append(j)
        return [(family, tuple(js)) for family, js in blocks.items()]

    def _block(
        self, columns: Array | list[nw.Series[Any]], family: AnyFamily, js: tuple[int, ...]
    ) -> Array | CodedRows:
        if isinstance(family, Categorical):
            cells = [frames.items(_cells(columns, j), self.schema_[j].name) for j in js]
            values = tuple(frames.distinct(c) for c in cells)
            coded = zip(cells, values, strict=True)
            return CodedRows(np.stack([frames.encode(c, v) for c, v in coded], axis=1), values)
        if isinstance(columns, np.ndarray):
            return np.ascontiguousarray(columns[:, js], np.float64)
        return np.stack([frames.numbers(columns[j]) for j in js], axis=1)

    def _check_cells(self, X: Any, first_row: int, fitting: bool) -> None:
        parts = X.parts if isinstance(X, Blocks) else (X,)
        for (family, js), part in zip(self._blocks(), parts, strict=True):
            if isinstance(part, CodedRows | SparseRows):
                continue
            counts = isinstance(family, Multinomial | Poisson)
            validate.check_numbers(
                part,
                first_row=first_row,
                names=self._feature_names()[list(js)],
                allow_missing=not isinstance(family, Multinomial),
                allow_negative=not counts,
                estimator=f"the {type(family).__name__} columns of NaiveBayes",
            )

    @property
    def columns_(self) -> Table:
        """What each column was taken for."""
        check_is_fitted(self)
        seen: dict[int, str] = {}
        features = self.statistics_.features
        parts = features.parts if isinstance(features, Parts) else (features,)
        for (family, js), part in zip(self._blocks(), parts, strict=True):
            for i, j in enumerate(js):
                seen[j] = _summary(part.values[i]) if isinstance(family, Categorical) else ""
        families = self._assigned()
        return Table(
            {
                "column": np.array([str(c.name) for c in self.schema_]),
                "family": np.array(
                    ["left out" if f is None else type(f).__name__ for f in families]
                ),
                "values": np.array([seen.get(j, "") for j in range(len(families))]),
            }
        )

    # ---- model ----

    def _family(self) -> AnyFamily:
        blocks = self._blocks()
        if self._plain():
            return blocks[0][0]
        columns = tuple(js for _, js in blocks)
        return Product(tuple(f for f, _ in blocks), columns, len(self.schema_))

    def _log_prior(self, weight: Floats) -> Floats:
        return log_prior(weight, self.class_prior)

    def _forgotten(self, features: Any) -> Any:
        return features.seen() if isinstance(features, Parts) else features

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        self._name_constants(statistics)
        return {
            "class_count_": statistics.weight.rounded(),
            "class_log_prior_": joint.log_prior,
            "joint_": joint,
        }

    def _name_constants(self, statistics: JointStatistics[Any]) -> None:
        features = statistics.features
        parts = features.parts if isinstance(features, Parts) else (features,)
        for (family, js), part in zip(self._blocks(), parts, strict=True):
            if not (isinstance(family, Gaussian) and isinstance(family.prior, PseudoRows)):
                continue
            constant = Gaussian(None).estimate(part.pooled()).variance[0] == 0
            if constant.any() and statistics.weight.sum().rounded() > 1:
                names = [str(self.schema_[j].name) for j, c in zip(js, constant, strict=True) if c]
                warnings.warn(
                    f"Column(s) {', '.join(names)} never vary and say nothing about the class; "
                    "they are left out until they do.",
                    DegenerateWarning,
                    stacklevel=2,
                )

    def _joint(self) -> Joint[Any, Any]:
        return self.joint_

    def _check_mergeable(self, other: Any) -> None:
        super()._check_mergeable(other)
        if self._blocks() != other._blocks():
            raise ValueError("Expected a model of the same families to merge; see columns_.")

    def _as_input(self, features: Any) -> Any:
        """A frame of the library that came, or an array."""
        if isinstance(features, np.ndarray):
            return features
        parts = features.parts if isinstance(features, Blocks) else (features,)
        sampled: dict[int, Array] = {}
        for (_, js), part in zip(self._blocks(), parts, strict=True):
            for i, j in enumerate(js):
                sampled[j] = _sampled(part, i, self.schema_[j].kind)
        names = [str(column.name) for column in self.schema_]
        empty = np.full(len(next(iter(sampled.values()))), np.nan)
        table = {name: sampled.get(j, empty) for j, name in enumerate(names)}
        if hasattr(self, "feature_names_in_"):
            return frames.from_columns(table, self.library_).to_native()
        words = any(column.dtype.kind in "OU" for column in table.values())
        columns = [c.astype(object) if words else c for c in table.values()]
        return np.stack(columns, axis=1)

    def _n_cells(self) -> int | None:
        cells = 1
        features = self.statistics_.features
        parts = features.parts if isinstance(features, Parts) else (features,)
        for (family, js), part in zip(self._blocks(), parts, strict=True):
            if isinstance(family, Categorical):
                cells *= int(np.prod([len(v) for v in part.values], dtype=object))
            elif isinstance(family, Bernoulli):
                cells *= 2 ** len(js)
            else:
                return None
        return cells


def _family(asked: Any, name: Any) -> AnyFamily:
    if isinstance(asked, str):
        if asked not in FAMILIES:
            raise ValueError(
                f"Expected one of {sorted(FAMILIES)} for column {name!r}, got {asked!r}."
            )
        return FAMILIES[asked]
    if not hasattr(asked, "statistics"):
        raise TypeError(
            f"Expected a family or its name for column {name!r}, got {type(asked).__name__}."
        )
    return asked


def _cells(columns: Array | list[nw.Series[Any]], j: int) -> list[Any]:
    return columns[:, j].tolist() if isinstance(columns, np.ndarray) else columns[j].to_list()


def _sampled(part: Any, i: int, kind: frames.Kind) -> Array:
    """One sampled column, in the type it was learned from."""
    if not isinstance(part, CodedRows):
        return np.asarray(part[:, i])
    values = part.values[i][part.codes[:, i]]
    return values.astype(np.float64) if kind == "number" else values


def _summary(values: Array) -> str:
    shown = ", ".join(str(v) for v in values[:4])
    return shown if len(values) <= 4 else f"{shown}, ... ({len(values)})"
