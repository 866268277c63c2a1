"""Naive Bayes on any table: numbers, strings, categories, counts and missing cells together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from posterior.data import frames, validate
from posterior.data.errors import DegenerateWarning
from posterior.data.rows import Blocks, CodedRows, Features, SparseRows
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.estimators.base import GenerativeClassifier
from posterior.estimators.naive_bayes.common import CALIBRATED, log_prior
from posterior.families import (
    Bernoulli,
    Categorical,
    Gaussian,
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
    """One column of the table and the family it has; None leaves it out."""

    name: Any
    family: AnyFamily | None


class NaiveBayes(GenerativeClassifier):
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

    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "families": [None, str, Mapping, object],
        "class_prior": ["array-like", None],
        "predictive": ["boolean"],
        "calibrated": CALIBRATED,
    }

    def __init__(
        self,
        families: Any = None,
        *,
        class_prior: Any = None,
        predictive: bool = False,
        calibrated: str | None = None,
    ) -> None:
        self.families = families
        self.class_prior = class_prior
        self.predictive = predictive
        self.calibrated = calibrated

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # ---- columns ----

    def _features(self, X: Any, fitting: bool, reset: bool) -> Features:
        columns = self._read(X, reset)
        if reset:
            self.schema_ = self._assign(columns)
        if self._plain():
            family, js = self._blocks()[0]
            return columns if isinstance(columns, np.ndarray) else self._block(columns, family, js)
        return Blocks(tuple(self._block(columns, family, js) for family, js in self._blocks()))

    def _read(self, X: Any, reset: bool) -> Array | list[nw.Series[Any]]:
        """An array of numbers, or the columns of a table."""
        if sparse.issparse(X):
            raise TypeError(
                "Sparse data was passed, but NaiveBayes reads dense data. Use MultinomialNB or "
                "BernoulliNB for sparse counts, or X.toarray()."
            )
        frame = frames.as_frame(X)
        if frame is None:
            words = np.asarray(X).dtype.kind in "OU" and _has_words(X)
            if not words:
                return np.asarray(validate_data(self, X, reset=reset, ensure_all_finite=False))
            table = np.asarray(X, dtype=object)
            frame = nw.from_dict(
                {str(j): table[:, j].tolist() for j in range(table.shape[1])}, backend="pandas"
            )
            validate_data(self, table, reset=reset, skip_check_array=True)
        else:
            validate_data(self, X, reset=reset, skip_check_array=True)
        if len(frame) == 0 or not frame.columns:
            raise ValueError(
                f"Found array with {len(frame)} sample(s) and {len(frame.columns)} feature(s) "
                "while a minimum of 1 is required."
            )
        return [frame.get_column(name) for name in frame.columns]

    def _assign(self, columns: Array | list[nw.Series[Any]]) -> tuple[Column, ...]:
        """A family for each column: as asked, or as its values say."""
        names = list(self._feature_names())
        asked = self.families if isinstance(self.families, Mapping) else None
        if asked is not None:
            unknown = [name for name in asked if name not in names]
            if unknown:
                raise ValueError(f"Expected families for columns of {names}, got {unknown}.")
        schema = []
        for j, name in enumerate(names):
            family: AnyFamily | None
            if asked is None and self.families is not None:
                family = _family(self.families, name)
            elif asked is not None and name in asked:
                family = None if asked[name] is None else _family(asked[name], name)
            elif isinstance(columns, np.ndarray) or frames.kind(columns[j]) == "number":
                family = Gaussian()
            else:
                family = Categorical()
            if self.predictive and hasattr(family, "predictive"):
                family = replace(family, predictive=True)  # type: ignore[type-var]
            schema.append(Column(name, family))
        if all(column.family is None for column in schema):
            raise ValueError("Expected a family for at least one column, got None for all.")
        return tuple(schema)

    def _plain(self) -> bool:
        """Whether one family of numbers has all columns."""
        blocks = self._blocks()
        whole = len(blocks) == 1 and len(blocks[0][1]) == len(self.schema_)
        return whole and not isinstance(blocks[0][0], Categorical)

    def _blocks(self) -> list[tuple[AnyFamily, tuple[int, ...]]]:
        """Columns that share a family, together."""
        blocks: dict[AnyFamily, list[int]] = {}
        for j, column in enumerate(self.schema_):
            if column.family is not None:
                blocks.setdefault(column.family, []).append(j)
        return [(family, tuple(js)) for family, js in blocks.items()]

    def _block(
        self, columns: Array | list[nw.Series[Any]], family: AnyFamily, js: tuple[int, ...]
    ) -> Array | CodedRows:
        if isinstance(family, Categorical):
            cells = [frames.items(_cells(columns, j)) for j in js]
            values = tuple(frames.distinct(c) for c in cells)
            coded = zip(cells, values, strict=True)
            return CodedRows(np.stack([frames.encode(c, v) for c, v in coded], axis=1), values)
        if isinstance(columns, np.ndarray):
            return np.ascontiguousarray(columns[:, js], np.float64)
        return np.stack([frames.numbers(columns[j]) for j in js], axis=1)

    def _check_chunk(self, X: Any, first_row: int, fitting: bool) -> None:
        parts = X.parts if isinstance(X, Blocks) else (X,)
        for (family, js), part in zip(self._blocks(), parts, strict=True):
            if isinstance(part, CodedRows | SparseRows):
                continue
            counts = isinstance(family, Multinomial | Poisson)
            validate.check_numbers(
                part,
                first_row=first_row,
                names=self._feature_names()[list(js)],
                missing=not isinstance(family, Multinomial),
                negative=not counts,
                estimator=f"the {type(family).__name__} columns of NaiveBayes",
            )

    @property
    def columns_(self) -> Table:
        """What each column was taken for."""
        seen: dict[int, str] = {}
        features = self.statistics_.features
        parts = features.parts if isinstance(features, Parts) else (features,)
        for (family, js), part in zip(self._blocks(), parts, strict=True):
            for i, j in enumerate(js):
                seen[j] = _summary(part.values[i]) if isinstance(family, Categorical) else ""
        families = [c.family for c in self.schema_]
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
        return Product(tuple(f for f, _ in blocks), tuple(js for _, js in blocks))

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
        if self.schema_ != other.schema_:
            raise ValueError("Expected a model of the same families to merge; see columns_.")

    def _as_input(self, features: Any) -> Any:
        if isinstance(features, np.ndarray):
            return features
        sampled: dict[int, Array] = {}
        for (_, js), part in zip(self._blocks(), features.parts, strict=True):
            for i, j in enumerate(js):
                sampled[j] = (
                    part.values[i][part.codes[:, i]] if isinstance(part, CodedRows) else part[:, i]
                )
        return Table({str(self.schema_[j].name): sampled[j] for j in sorted(sampled)})

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


def _has_words(X: Any) -> bool:
    """Whether an array of objects holds strings that are not numbers."""
    for value in np.asarray(X, dtype=object).reshape(-1):
        if isinstance(value, str):
            try:
                float(value)
            except ValueError:
                return True
    return False


def _summary(values: Array) -> str:
    shown = ", ".join(str(v) for v in values[:4])
    return shown if len(values) <= 4 else f"{shown}, ... ({len(values)})"
