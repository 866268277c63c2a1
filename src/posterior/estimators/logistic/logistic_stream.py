"""partial_fit: a stream of rows, learned from as they come."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from posterior.data import frames, validate
from posterior.data.errors import DegenerateError, SeparationWarning
from posterior.data.names import plain
from posterior.data.rows import Rows, SparseRows
from posterior.data.typing import Array, Codes, Floats
from posterior.discriminative.fisher_information import inverse_information
from posterior.discriminative.objective import Objective
from posterior.discriminative.reservoir import Reservoir
from posterior.estimators.logistic import settings
from posterior.estimators.logistic.inferring import Fitted, Inferring
from posterior.estimators.logistic.stream import Estimate, Stream
from posterior.estimators.summed import all_or_nothing
from posterior.preprocessing.open_columns import OpenColumns

ROOM = 20_000  # rows that are kept at least, before any is left out
EACH = 200  # the same for each coefficient,
CELLS = 2**25  # as long as there are not more cells


class Streaming(Inferring):
    """partial_fit, and why there is no merge."""

    _stream: Stream | None = None

    firth: bool

    @abstractmethod
    def _learn(self, objective: Objective, start: Floats, dtype: Any) -> Fitted:
        """Minimize an objective, and set what is learned."""

    @abstractmethod
    def _strength(self) -> tuple[float, float]:
        """C and l1_ratio."""

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: as `fit` on all rows so far, in any order and in any chunks.

        Rows are kept. Up to 20,000 of them (200 for each coefficient, if that is more) this is
        `fit` on all rows, to the tolerance of the solver. Beyond that, equal rows become one, and
        of the others a weighted sample stays, stratified by class and drawn so that the objective
        is expected to be that of all rows (see `Reservoir`). The estimate is then as good as one
        from the m rows of the sample: its log loss is expected to be above that of `fit` by
        size / 2m a row, at most 0.005 while the cells kept are below 2²⁵.

        Between two fits, which are repeated when the weight of the rows has grown by a hundredth,
        every call makes a Newton step on its rows alone, β ← β - H⁻¹ g: exact to first order. A
        step above a third of a standard error, a new class and a new level repeat the fit at once.
        With a lasso or more than 400 coefficients, the newest hundredth waits for the next fit.

        A class may come first mid-stream. After `fit`, its rows are those that came before, as
        long as the model was not stored or copied. A stored model of a stream holds the rows kept,
        so that it can go on.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`, in memory
        classes : list of labels, optional
            All classes that may come. It closes the set: another label is then an error.
        """
        self._validate_params()
        if isinstance(y, str):
            X, y = frames.split_target(X, y)
        stream = self._stream or self._opened(X, classes)
        columns, cells = self._cells(stream, X)
        weight = validate.weights(sample_weight, cells.shape[0])
        codes, place = self._placed(y, cells.shape[0], classes, stream)
        weight = np.ones(len(codes)) if weight is None else weight
        more = Reservoir(cells, codes, weight, len(codes))
        if len(place) < len(self.classes_):
            stream = stream.placed(place)
        stream = stream.with_rows(more, columns)
        self._stream = self._moved(stream, more) or self._refitted(stream)
        self._fitted = None
        return self

    def _opened(self, X: Any, classes: Any) -> Stream:
        """A new stream, or one whose first rows are those of the fit before it."""
        table, fitted = frames.as_frame(X), self._fitted
        if not hasattr(self, "n_iter_"):
            return Stream(None if table is None else OpenColumns.of(table), classes is not None)
        rows = None if fitted is None else fitted.objective.rows
        if not isinstance(rows, Rows) or rows.offset is not None or self.class_weight is not None:
            raise ValueError(
                "Expected a new model, or one that fit() has learned from rows in memory, without "
                "offset and class_weight, and that was not stored or copied since: a stream is "
                "learned from all its rows. Give them to partial_fit() too."
            )
        columns, cells = None, rows.X
        if self.encoding_ is not None:
            columns, cells = OpenColumns.reopened(self.encoding_, np.asarray(cells))
        elif table is not None:
            columns = OpenColumns.of(table).read(table)[0]
        weight = np.ones(len(rows)) if rows.hard.weight is None else rows.hard.weight
        first = _copied(cells, sparsely=isinstance(cells, SparseRows))
        return Stream(columns, False, (Reservoir(first, rows.hard.codes, weight, len(rows)),))

    def _cells(self, stream: Stream, X: Any) -> tuple[OpenColumns | None, Array | SparseRows]:
        """What the columns are known to be now, and the cells in the form that is kept."""
        first = not stream.kept
        if stream.columns is None:
            features = self._features(X, fitting=True, reset=first)
            self._check_cells(features, 0, fitting=True)
            like = features if first else stream.kept[0].X
            return None, _copied(features, sparsely=isinstance(like, SparseRows))
        table = frames.as_frame(X)
        if table is None:
            raise TypeError(
                f"Expected a frame, as the rows before were in, got {type(X).__name__}."
            )
        validate_data(self, X, reset=first, skip_check_array=True)
        columns, cells = stream.columns.read(table)
        self._check_cells(cells, 0, fitting=True, allow_missing=True)
        return columns, cells

    def _placed(self, y: Any, n_rows: int, classes: Any, stream: Stream) -> tuple[Codes, Array]:
        """The codes of the labels, and where the classes before are now."""
        if not stream.kept:
            self.classes_ = validate.labels(y, n_rows)[0] if classes is None else np.unique(classes)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}"
            )
        before = self.classes_
        codes, new = validate.codes_of(y, before, n_rows)
        if len(new):
            if stream.closed:
                raise ValueError(
                    f"Expected classes of {before.tolist()}, got {new.tolist()}. Name all "
                    "classes in the first call."
                )
            self.classes_ = validate.union(before, new)
            codes, _ = validate.codes_of(y, self.classes_, n_rows)
        return codes, np.searchsorted(self.classes_, before)

    def _room(self, cells: Array | SparseRows) -> int:
        """How many rows are kept before some are left out."""
        n, width = cells.shape
        size = self._n_outputs * (width + 1)
        if isinstance(cells, SparseRows):
            width = len(cells.entries()) // n + 1
        return max(ROOM, min(EACH * size, CELLS // width))

    def _factors(self, weight: Floats) -> Floats | None:
        """What a row of each class counts by class_weight, if the classes have such weights."""
        if self.class_weight is None:
            return None
        if self.class_weight == "balanced":
            each = weight.sum() / ((weight > 0).sum() * np.where(weight > 0, weight, 1.0))
            return np.asarray(each)
        return np.array([self.class_weight.get(plain(c), 1.0) for c in self.classes_], np.float64)

    def _moved(self, stream: Stream, more: Reservoir) -> Stream | None:
        """The stream after a step on new rows; None where a fit is due."""
        last, columns = stream.estimate, stream.columns
        if last is None:
            return None
        if columns is not None:
            cells = columns.encode(np.asarray(more.X), self.encoding_)
            if np.isnan(cells).any():
                return None  # a level or a gap that no coefficient stands for
            more = replace(more, X=cells)
        factors = self._factors(last.weight + last.since)
        last = last.moved(more.rows(len(self.classes_), factors))
        if last is None:
            return None
        slope, intercept = last.loss.parts(last.coef)
        self.coef_ = slope.astype(self.coef_.dtype)
        self.intercept_ = intercept.astype(self.coef_.dtype)
        return replace(stream, estimate=last)

    def _refitted(self, stream: Stream) -> Stream:
        """The stream after a fit to all rows kept."""
        kept = Reservoir.joined(stream.kept)
        cells, columns, k = kept.X, stream.columns, len(self.classes_)
        names = self._design_names().tolist() if hasattr(self, "coef_") else None
        if columns is not None:
            self.encoding_ = columns.encoding(np.asarray(cells), kept.weight)
            cells = columns.encode(np.asarray(cells), self.encoding_)
        stream = replace(stream, kept=(kept.within(self._room(kept.X)),), estimate=None)
        weight = kept.class_weight(k)
        if k == 1:  # nothing to tell apart
            self._answer_shares(weight, cells.shape[1])
            return stream
        settings.check_input(self.solver, cells, k)
        rows = replace(kept, X=cells).rows(k, self._factors(weight))
        objective = self._objective(rows, *self._strength())
        start, dtype = self._warm(objective, names), getattr(kept.X, "dtype", None)
        with warnings.catch_warnings():
            if len(rows) <= 2 * objective.size:  # so few are as likely separated as not
                warnings.simplefilter("ignore", SeparationWarning)  # (Cover 1965)
            try:
                coef = self._learn(objective, start, dtype).coef
            except DegenerateError:
                if not self.firth:
                    raise
                self._answer_shares(weight, cells.shape[1])  # too few rows for anything else
                return stream
        covariance = _covariance(objective, coef)
        estimate = Estimate(objective.loss, coef, covariance, weight, np.zeros(k))
        return replace(stream, estimate=estimate)

    def _answer_shares(self, weight: Floats, width: int) -> None:
        """The classes as frequent as they were, half a row added to each (Firth's intercepts)."""
        score = np.log(weight + 0.5) * self.fit_intercept
        self.coef_ = np.zeros((self._n_outputs, width))
        self.intercept_ = score[1:] - score[:1] if len(score) == 2 else score - score.mean()
        self.typical_, self.n_iter_ = 0.0, np.zeros(1, np.int32)

    def _warm(self, objective: Objective, names: Any) -> Floats:
        """The better of zero and where the last fit ended, if its coefficients mean the same."""
        zero = np.zeros(objective.shape)
        if names != self._design_names().tolist() or len(self.coef_) != len(zero):
            return zero
        last = objective.loss.joined(*self._parts())
        return min((zero, last), key=lambda coef: objective.gradient(coef).value)

    def merge(self, other: Any) -> None:
        """Refused: see the message."""
        raise TypeError(
            "Expected a model that is a sum, got a logistic regression: its coefficients are those "
            "of no part of the rows, and those of two parts do not add up to those of the whole. "
            "Fit all rows together (fit reads them in chunks), or merge naive Bayes models."
        )


def _covariance(objective: Objective, coef: Floats) -> Floats | None:
    if objective.size > settings.MATRIX or not objective.penalty.smooth:
        return None
    try:
        return inverse_information(objective, coef)
    except DegenerateError:
        return None


def _copied(X: Any, sparsely: bool) -> Array | SparseRows:
    """Rows that nobody else changes, as numbers, in the form of those before."""
    table = X.scipy() if isinstance(X, SparseRows) else np.array(X, order="C")
    if sparsely:
        return SparseRows.of(sparse.csr_array(table))
    dense = table if isinstance(table, np.ndarray) else table.toarray()
    return dense if dense.dtype.kind == "f" else dense.astype(np.float64)
