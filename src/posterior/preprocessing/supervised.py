"""Bins of a column that tell the classes apart."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags, check_array
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from posterior.data import containers, frames, validate
from posterior.data.rows import readable
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats
from posterior.engines.local import Local
from posterior.preprocessing.bins import FLOATS, Discretizer, centers
from posterior.statistics.class_cuts import cut_points, ranges
from posterior.statistics.class_histogram import ClassHistogram, class_histograms


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts:
    """The classes of some rows, and how much of each lies at every value of each column."""

    classes: Array  # sorted
    columns: list[ClassHistogram]

    def among(self, classes: Array) -> ClassCounts:
        """With room for more classes."""
        place = np.searchsorted(classes, self.classes)
        return ClassCounts(classes, [part.placed(place, len(classes)) for part in self.columns])

    def __add__(self, other: ClassCounts, /) -> ClassCounts:
        classes = validate.union(self.classes, other.classes)
        pairs = zip(self.among(classes).columns, other.among(classes).columns, strict=True)
        return ClassCounts(classes, [a + b for a, b in pairs])

    def __sub__(self, other: ClassCounts, /) -> ClassCounts:
        """Without rows of the same classes, of which all values were counted one by one."""
        pairs = zip(self.columns, other.among(self.classes).columns, strict=True)
        return ClassCounts(self.classes, [a - b for a, b in pairs])

    def counted(self) -> ClassCounts:
        """Without classes of which no row counts: rows taken back then leave no trace."""
        counted = np.any([part.counts.any(axis=0) for part in self.columns], axis=0)
        if counted.all() or not counted.any():
            return self
        return ClassCounts(
            self.classes[counted], [part.of_classes(counted) for part in self.columns]
        )


class SupervisedDiscretizer(Discretizer):
    """Every column cut where its classes change, as long as a cut tells more than it costs.

    A part S of n rows and k classes is cut in two where n₁ H(S₁) + n₂ H(S₂) is least, if

        n H(S) - n₁ H(S₁) - n₂ H(S₂) > log₂(n - 1) + log₂(3ᵏ - 2) - k H(S) + k₁ H(S₁) + k₂ H(S₂)

    with H the entropy of the classes (Fayyad and Irani 1993), and so are its parts. Cut points lie
    halfway between values; a column that tells nothing keeps one bin. Missing cells are left out:
    they stay NaN in ordinal codes, and have a block of zeros in one-hot columns.

    All is learned from the class counts of every value of a column, so chunks (`partial_fit`) and
    machines (`merge`) give the cut points of all rows. That is exact up to `max_values` values;
    beyond, values are gathered in as many cells of equal weight, and `error_` bounds what is lost.

    Parameters
    ----------
    method : {"mdl", "frequency"}, default="mdl"
        Cuts by entropy and description length, or into `n_bins` of equal frequency where every
        class counts as much as any other, however rare: (1/k) Σ_c P(x < cut | c) = i / n_bins.
    n_bins : int, default=5
        For method="frequency".
    encode : {"ordinal", "onehot", "onehot-dense"}, default="ordinal"
        The number of the bin, or a column for each bin, sparse or dense.
    max_values : int, default=10_000
        Values of a column that are counted one by one, or cells that they are gathered in.

    Attributes
    ----------
    cut_points_ : list of n_features arrays
        A cell of bin k has cₖ₋₁ ≤ x < cₖ.
    n_bins_ : array of shape (n_features,)
    classes_ : array of shape (n_classes,)
        Of the rows that have a weight and a cell.
    statistics_ : list of n_features class histograms
        All that is known of the rows.
    error_ : array of shape (n_features,)
        By which share of the rows class counts below a value may be too small; 0 if exact.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from posterior import SupervisedDiscretizer
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SupervisedDiscretizer().fit(X, y)
    >>> model.cut_points_[2], model.cut_points_[3]
    (array([2.45, 4.75]), array([0.8 , 1.75]))
    >>> model.intervals()[3]
    ['(-∞, 0.8)', '[0.8, 1.75)', '[1.75, ∞)']
    """

    cut_points_: list[Floats]
    classes_: Array
    statistics_: list[ClassHistogram]
    error_: Floats

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "method": [StrOptions({"mdl", "frequency"})],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "encode": [StrOptions({"onehot", "onehot-dense", "ordinal"})],
        "max_values": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        method: str = "mdl",
        *,
        n_bins: int = 5,
        encode: str = "ordinal",
        max_values: int = 10_000,
    ) -> None:
        self.method = method
        self.n_bins = n_bins
        self.encode = encode
        self.max_values = max_values

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the cut points.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or a frame of numbers and times
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            A weight of two is two rows.
        """
        self._validate_params()
        columns, table = self._read(X, known=False, fitting=True)
        weight = validate.weights(sample_weight, len(table))
        return self._accept(columns, self._counts(table, y, weight))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows, of classes known or new."""
        self._validate_params()
        first = "statistics_" not in vars(self)
        columns, table = self._read(X, known=not first, fitting=True)
        weight = validate.weights(sample_weight, len(table), required=first)
        total = self._counts(table, y, weight)
        if classes is not None:
            total = total.among(validate.union(total.classes, np.asarray(classes)))
        return self._accept(columns, total if first else self._known() + total)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows back: the cut points of those that are left.

        Exact, and possible, as long as no column has more than `max_values` values.
        """
        check_is_fitted(self)
        columns, table = self._read(X, fitting=True)
        known = self._known()
        weight = validate.weights(sample_weight, len(table), required=False)
        less = self._counts(table, y, weight, len(table) + 1)
        if not np.isin(less.classes, known.classes).all():
            raise ValueError(
                f"Expected rows that were learned, got classes {less.classes.tolist()} of which "
                "some were never seen."
            )
        rough = [j for j, part in enumerate(known.columns) if part.error > 0]
        if rough:
            raise ValueError(
                f"Expected columns whose values were counted one by one, but feature {rough[0]} "
                f"has more than max_values={self.max_values}. Raise max_values, and fit."
            )
        left = known - less
        if any((part.counts < 0).any() for part in left.columns):
            raise ValueError("Expected rows that were learned, got some that were not.")
        if not any(part.weight for part in left.columns):
            raise ValueError("Expected some rows to remain; to start anew, call fit().")
        return self._accept(columns, left)

    def merge(self, other: SupervisedDiscretizer) -> Self:
        """Add the rows that another discretizer has seen."""
        check_is_fitted(self)
        check_is_fitted(other)
        if self.n_features_in_ != other.n_features_in_:
            raise ValueError(
                f"Expected {self.n_features_in_} features, as here, got {other.n_features_in_}."
            )
        mine, theirs = (vars(model).get("feature_names_in_") for model in (self, other))
        if mine is not None and theirs is not None and list(mine) != list(theirs):
            raise ValueError(f"Expected features {list(mine)}, got {list(theirs)}.")
        more = ClassCounts(other.classes_, other.statistics_)
        return self._accept(self._columns(), self._known() + more)

    def __add__(self, other: SupervisedDiscretizer, /) -> Self:
        return copy(self).merge(other)

    def _known(self) -> ClassCounts:
        return ClassCounts(self.classes_, self.statistics_)

    def _counts(
        self, table: Array, y: Any, weight: Floats | None, limit: int | None = None
    ) -> ClassCounts:
        """What rows count, values one by one up to a limit."""
        classes, codes = validate.labels(y, len(table))
        limit = self.max_values if limit is None else limit
        return ClassCounts(
            classes, class_histograms(table, codes, weight, len(classes), limit, Local().map)
        )

    def _accept(self, columns: Columns, total: ClassCounts) -> Self:
        total = total.counted()
        n_bins = self.n_bins if self.method == "frequency" else None
        cuts = cut_points(total.columns, n_bins, Local().map)
        return self._learn(
            columns,
            classes_=total.classes,
            statistics_=total.columns,
            cut_points_=cuts,
            n_bins_=np.array([len(c) + 1 for c in cuts], np.int64),
            error_=np.array([part.error / (part.weight or 1.0) for part in total.columns]),
        )

    def _table(self, X: Any, fitting: bool) -> Array:
        """Numbers of a table, checked; those of a frame column by column."""
        frame = frames.as_frame(X)
        table = X if sparse.issparse(X) else containers.read(X)
        if isinstance(table, list):
            for column in table:
                if frames.kind(column) != "number":
                    raise ValueError(
                        f"Expected numbers or times in column {column.name!r}, got categories, "
                        "which are discrete already. Leave the column out."
                    )
            table = np.stack([frames.numbers(column) for column in table], axis=1)
        if frame is None:
            checked = check_array(
                table, dtype=FLOATS, ensure_all_finite="allow-nan", estimator=self, input_name="X"
            )
            return readable(np.asarray(checked))
        table = np.ascontiguousarray(table, np.float64)
        validate.check_numbers(
            table,
            names=frame.columns,
            allow_missing=True,
            allow_negative=True,
            estimator=type(self).__name__,
        )
        return table

    def _cuts(self) -> list[Floats]:
        return self.cut_points_

    def _ends(self) -> list[Array]:
        parts = zip(self.statistics_, self.cut_points_, strict=True)
        return [np.r_[part.lowest, cuts, part.highest] for part, cuts in parts]

    def inverse_transform(self, X: Any, *, text: bool = False) -> Array:
        """The middle of the bin of each cell, or its range as text.

        Bins at the ends reach to the lowest and the highest value seen. A missing cell is NaN, or
        None as text.
        """
        codes = self._codes(X)
        middle = centers(codes, self._ends())
        if not text:
            return middle
        out = np.full(codes.shape, None, object)
        for j, names in enumerate(self.intervals()):
            known = ~np.isnan(codes[:, j])
            out[known, j] = np.array(names, object)[codes[known, j].astype(np.int64)]
        return out

    def intervals(self) -> list[list[str]]:
        """The ranges of the bins of every column, as text."""
        check_is_fitted(self)
        return [ranges(cuts) for cuts in self.cut_points_]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns that `transform` gives, such as "age in [18, 65)"."""
        check_is_fitted(self)
        names: Array = _check_feature_names_in(self, input_features)
        if self.encode == "ordinal":
            return names
        each = zip(names, self.intervals(), strict=True)
        return np.array([f"{name} in {part}" for name, parts in each for part in parts], object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
