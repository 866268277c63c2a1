"""Fitting, streaming, merging and forgetting: all of it is adding and subtracting sums."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior.data import validate
from posterior.data.names import quoted
from posterior.data.rows import Hard, Rows
from posterior.data.typing import Array, Floats
from posterior.engines.engine import BatchEngine
from posterior.estimators import elsewhere
from posterior.estimators.checkpoint import FilePath
from posterior.estimators.hooks import Hooks, check_same_features
from posterior.evaluation.calibration import CALIBRATORS
from posterior.generative.joint import JointStatistics, labeling
from posterior.sources.source import Source

F = TypeVar("F", bound=Callable[..., Any])


def all_or_nothing(method: F) -> F:
    """A call that fails leaves the model as it was."""

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = self.__dict__.copy()
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return guarded  # type: ignore[return-value]


class Learning(Hooks):
    """fit, partial_fit, merge, forget, decay."""

    _weightless: Mapping[Any, int] = {}
    """How many rows of weight zero a class has: no sum tells of them, yet the class is known."""

    @property
    def one_pass(self) -> bool:
        """Whether rows are summed without knowing the others: no cuts or families come first."""
        return True

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, checkpoint: FilePath | None = None
    ) -> Self:
        """Learn from rows and their classes; what was learned before is dropped.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features); or a table that is
            elsewhere and is read in batches: a path, a pattern such as "clicks/*.parquet", a list
            of paths, a query, a DuckDB relation, a Dask or a Spark frame
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), or the name of a column, optional
        checkpoint : path, optional
            Where to write down what batches have added up to, if X is elsewhere: a fit that was
            stopped goes on from there.
        """
        if (there := elsewhere.found(X, checkpoint)) is not None:
            return self._fit_elsewhere(there, y, sample_weight, checkpoint)
        self._validate_params()
        self._check_calibrated()
        X, y = self._with_target(X, y)
        features = self._features(X, fitting=True, reset=True)
        self.classes_, codes = validate.labels(y, features.shape[0])
        weight = validate.weights(sample_weight, features.shape[0])
        rows = Rows(features, Hard(codes, len(self.classes_), weight))
        self._closed = False
        self._weightless = dict(weightless(self.classes_[codes], weight))
        self.__dict__.pop("calibrator_", None)
        self._accept(self._sum(rows))
        if self.calibrated is not None:
            self._calibrate(rows)
        return self

    def _fit_elsewhere(
        self,
        there: tuple[BatchEngine, Source],
        y: Any,
        weight: Any,
        checkpoint: FilePath | None,
    ) -> Self:
        """The same, summed where the rows are."""
        self._validate_params()
        self._check_calibrated(streaming=True)
        total = elsewhere.learned(self, there, y, weight, checkpoint)
        self.classes_, self._closed, self._weightless = total.classes, False, {}
        self._accept(total.statistics)
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows: exactly the model that `fit` on all rows so far would give.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array, optional
            All classes that may come. It closes the set: another label is then an error.
        """
        self._validate_params()
        self._check_calibrated(streaming=True)
        first = not hasattr(self, "classes_")
        X, y = self._with_target(X, y)
        features = self._features(X, fitting=True, reset=first)
        weight = validate.weights(sample_weight, features.shape[0], required=first)
        if first:
            self._open(classes, y, features.shape[0])
        elif classes is not None:
            self._check_same(classes)
        codes, new = validate.codes_of(y, self.classes_, features.shape[0])
        if len(new):
            if self._closed:
                raise ValueError(
                    f"The target label(s) {new.tolist()} in y do not exist in the initial classes "
                    f"{self.classes_.tolist()}. Name all classes in the first call."
                )
            self._grow(validate.union(self.classes_, new))
            codes, _ = validate.codes_of(y, self.classes_, features.shape[0])
        more = self._sum(Rows(features, Hard(codes, len(self.classes_), weight)))
        came = weightless(self.classes_[codes], weight)
        self._weightless = dict(Counter(self._weightless) + came)
        self._accept_more(self.statistics_ + more if hasattr(self, "statistics_") else more)
        return self

    @all_or_nothing
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows back: exactly the model that never saw them."""
        check_is_fitted(self)
        self._check_calibrated(streaming=True)
        X, y = self._with_target(X, y)
        features = self._features(X, fitting=True, reset=False)
        weight = validate.weights(sample_weight, features.shape[0], required=False)
        codes, new = validate.codes_of(y, self.classes_, features.shape[0])
        if len(new):
            raise ValueError(
                f"Expected rows that were learned, got class(es) {new.tolist()} never seen."
            )
        less = self._sum(Rows(features, Hard(codes, len(self.classes_), weight)))
        left = self.statistics_ - less
        short = left.weight.rounded() < 0
        if short.any():
            raise ValueError(
                "Expected rows that were learned, got more of class "
                f"{quoted(self.classes_[short][0])} than the model has seen."
            )
        never = self._family().impossible(left.features)
        if never.any():
            k, j = np.argwhere(never)[0]
            raise ValueError(
                f"Expected rows that were learned, but no rows of class "
                f"{quoted(self.classes_[k])} leave what these would in feature "
                f"{quoted(self._feature_names()[j])}."
            )
        left = JointStatistics(left.weight, self._forgotten(left.features))
        if not self._closed:
            remain = left.weight.rounded() > 0
            if not remain.any():
                raise ValueError("Expected some rows to remain; to start anew, call fit().")
            went = weightless(self.classes_[codes], weight)
            self._weightless = dict(Counter(self._weightless) - went)
            remain |= np.isin(self.classes_, list(self._weightless))
            remain |= np.bincount(codes, minlength=len(remain)) == 0  # not of these rows
            self.classes_, left = self.classes_[remain], left.take(np.flatnonzero(remain))
        self._accept(left)
        return self

    @all_or_nothing
    def merge(self, other: Self) -> Self:
        """Add what another model of the same kind has learned from other rows."""
        check_is_fitted(self)
        check_is_fitted(other)
        if type(other) is not type(self):
            raise TypeError(
                f"Expected another {type(self).__name__} to merge, got {type(other).__name__}."
            )
        self._check_calibrated(streaming=True)
        self._check_mergeable(other)
        classes = validate.union(self.classes_, other.classes_)
        place = np.searchsorted(classes, other.classes_)
        more = other.statistics_.placed(place, len(classes))
        self._grow(classes)
        self._weightless = dict(Counter(self._weightless) + Counter(other._weightless))
        self._accept_more(self.statistics_ + more)
        return self

    def __add__(self, other: Self) -> Self:
        return copy.deepcopy(self).merge(other)

    @all_or_nothing
    def decay(self, factor: float) -> Self:
        """Count every row so far as `factor` of a row, so that newer ones weigh more."""
        check_is_fitted(self)
        if not 0 < factor <= 1:
            raise ValueError(f"Expected a factor above 0 and at most 1, got {factor}.")
        self._accept(self.statistics_ * factor)
        return self

    def _sum(self, rows: Rows) -> JointStatistics[Any]:
        try:
            return self.engine_.sum(labeling(self._family(), _Checking(self)), rows)
        except ValueError:
            self._check_cells(rows.X, 0, fitting=True)  # says where in the whole table
            raise

    def _accept(self, statistics: JointStatistics[Any]) -> None:
        statistics = statistics.compact()
        self.__dict__.update(self._learned(self._finish(statistics), statistics))
        self.statistics_ = statistics

    def _accept_more(self, statistics: JointStatistics[Any]) -> None:
        """Of a stream, which may just have begun."""
        self._accept(statistics)

    def _open(self, classes: Any, y: Any, n_rows: int) -> None:
        """The first call of partial_fit decides which classes there are."""
        if classes is None and self.needs_classes:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        self._closed = classes is not None
        self.classes_ = np.unique(classes) if self._closed else validate.labels(y, n_rows)[0]

    def _check_same(self, classes: Any) -> None:
        given = np.asarray(classes)
        if len(given) != len(self.classes_) or not np.array_equal(np.sort(given), self.classes_):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}"
            )

    def _grow(self, classes: Array) -> None:
        """Make room for new classes."""
        if len(classes) > len(self.classes_):
            place = np.searchsorted(classes, self.classes_)
            self.statistics_ = self.statistics_.placed(place, len(classes))
            self.classes_ = classes

    def _check_mergeable(self, other: Self) -> None:
        check_same_features(self, other)

    def _check_calibrated(self, streaming: bool = False) -> None:
        if self.calibrated is None:
            return
        if self.calibrated not in CALIBRATORS:
            raise ValueError(
                f"Expected calibrated to be one of {sorted(CALIBRATORS)} or None, got "
                f"{self.calibrated!r}."
            )
        if streaming:
            raise ValueError(
                "Expected calibrated=None here: calibration needs all rows at once. Use fit()."
            )

    def _calibrate(self, rows: Rows) -> None:
        raise NotImplementedError


def weightless(labels: Array, weight: Floats | None) -> Counter[Any]:
    """How many rows of weight zero each label has."""
    return Counter() if weight is None else Counter(labels[weight == 0].tolist())


class _Checking:
    def __init__(self, model: Any) -> None:
        self._model = model

    def check_chunk(self, X: Any, first_row: int = 0, fitting: bool = False) -> None:
        self._model._check_chunk(X, first_row, fitting)
