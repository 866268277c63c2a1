"""Logistic regression of a stream: rows are kept, and learned from as they come."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from posterior.data import frames, validate
from posterior.data.errors import DegenerateError, SeparationWarning
from posterior.data.rows import Rows, SparseRows
from posterior.data.typing import Array, Codes, Floats
from posterior.discriminative.fisher_information import inverse_information
from posterior.discriminative.fitted_logistic import FittedLogistic
from posterior.discriminative.logistic_rule import LogisticRule
from posterior.discriminative.minimum import Minimum
from posterior.discriminative.objective import Objective, Summer
from posterior.discriminative.reservoir import Estimate, Reservoir, Stream
from posterior.preprocessing.open_columns import OpenColumns
from posterior.readers.encoded import Encoded
from posterior.readers.labels import Labels

ROOM = 20_000  # rows that are kept at least, before any is left out
EACH = 200  # the same for each coefficient,
CELLS = 2**25  # as long as there are not more cells
WRITTEN = 400  # coefficients whose covariance is worth writing down


@dataclass(frozen=True, slots=True, eq=False)
class LogisticStream:
    """What a stream has taught so far, and how more rows are learned from."""

    before: FittedLogistic | None
    reader: Encoded  # the one before, or one that knows no table yet
    rule: LogisticRule
    engine: Summer

    def with_rows(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> FittedLogistic:
        """As a fit to all rows so far; see `LogisticRegression.partial_fit`."""
        stream, labels = self._opened(X)
        reader, columns, cells = self._cells(stream, X)
        n = cells.shape[0]
        weight = validate.weights(sample_weight, n)
        labels = Labels.among(labels, y, classes, n, needed=False)
        known, (labels, codes) = labels, _coded(labels, y, n)
        more = Reservoir(cells, codes, np.ones(n) if weight is None else weight, n)
        if len(labels) > len(known):
            stream = stream.placed(labels.places(known))
        stream = stream.with_rows(more, columns)
        return self._moved(stream, more) or self._refitted(reader, labels, stream)

    def _opened(self, X: Any) -> tuple[Stream, Labels | None]:
        """The stream so far, a new one, or one whose first rows are those of the fit before."""
        before, table = self.before, frames.as_frame(X)
        if before is None or before.n_iter is None:
            return Stream(None if table is None else OpenColumns.of(table)), None
        if before.stream is not None:
            return before.stream, before.labels
        rows = None if before.minimum is None else before.minimum.objective.rows
        if not isinstance(rows, Rows) or rows.offset is not None or self.rule.factors is not None:
            raise ValueError(
                "Expected a new model, or one that fit() has learned from rows in memory, without "
                "offset and class_weight, and that was not stored or copied since: a stream is "
                "learned from all its rows. Give them to partial_fit() too."
            )
        columns, cells, encoding = None, rows.X, before.reader.encoding
        if encoding is not None:
            columns, cells = OpenColumns.reopened(encoding, np.asarray(cells))
        elif table is not None:
            columns = OpenColumns.of(table).read(table)[0]
        weight = np.ones(len(rows)) if rows.hard.weight is None else rows.hard.weight
        first = _copied(cells, sparsely=isinstance(cells, SparseRows))
        kept = Reservoir(first, rows.hard.codes, weight, len(rows))
        return Stream(columns, (kept,)), before.labels

    def _cells(
        self, stream: Stream, X: Any
    ) -> tuple[Encoded, OpenColumns | None, Array | SparseRows]:
        """How rows are read, what is known of open columns, and cells in the form that is kept."""
        reader, first = self.reader, not stream.kept
        if stream.columns is None:
            reader, rows = reader.learn(X) if first else (reader, reader.read(X, fitting=True))
            reader.check(rows, fitting=True)
            like = rows if first else stream.kept[0].X
            return reader, None, _copied(rows, sparsely=isinstance(like, SparseRows))
        table = frames.as_frame(X)
        if table is None:
            raise TypeError(
                f"Expected a frame, as the rows before were in, got {type(X).__name__}."
            )
        if first:
            reader = Encoded(reader.columns.of(X))
        else:
            reader.columns.check(X)
        columns, cells = stream.columns.read(table)
        Encoded(reader.columns).check(cells, fitting=True, missing=True)
        return reader, columns, cells

    def _moved(self, stream: Stream, more: Reservoir) -> FittedLogistic | None:
        """After a step on new rows; None where a fit is due."""
        before, last, columns = self.before, stream.estimate, stream.columns
        if before is None or last is None:
            return None
        if columns is not None:
            cells = columns.encode(np.asarray(more.X), before.reader.encoding)
            if np.isnan(cells).any():
                return None  # a level or a gap that no coefficient stands for
            more = replace(more, X=cells)
        factors = self._factors(before.labels, last.weight + last.since)
        last = last.moved(more.rows(len(before.labels), factors))
        if last is None:
            return None
        slope, intercept = (v.astype(before.coef.dtype) for v in last.loss.parts(last.coef))
        stream = replace(stream, estimate=last)
        return replace(before, coef=slope, intercept=intercept, stream=stream, minimum=None)

    def _refitted(self, reader: Encoded, labels: Labels, stream: Stream) -> FittedLogistic:
        """After a fit to all rows kept."""
        kept, columns, k = Reservoir.joined(stream.kept), stream.columns, len(labels)
        cells = kept.X
        if columns is not None:
            encoding = columns.encoding(np.asarray(cells), kept.weight)
            cells = columns.encode(np.asarray(cells), encoding)
            reader = replace(reader, encoding=encoding)
        stream = Stream(columns, (kept.within(_room(kept.X, k)),))
        weight = kept.class_weight(k)
        if k == 1:  # nothing to tell apart
            return self._shares(reader, labels, stream, weight)
        rows = replace(kept, X=cells).rows(k, self._factors(labels, weight))
        objective = self.rule.objective(rows, reader, self.engine)
        try:
            minimum = self._solved(objective, reader)
        except DegenerateError:
            if not self.rule.firth:
                raise
            return self._shares(reader, labels, stream, weight)  # too few rows for anything else
        covariance = _covariance(objective, minimum.coef)
        estimate = Estimate(objective.loss, minimum.coef, covariance, weight, np.zeros(k))
        fitted = FittedLogistic.of(reader, labels, minimum, self.rule.dtype(kept.X))
        return replace(fitted, minimum=None, stream=replace(stream, estimate=estimate))

    def _solved(self, objective: Objective, reader: Encoded) -> Minimum:
        start = self._start(objective, reader)
        with warnings.catch_warnings():
            if len(objective.rows) <= 2 * objective.size:  # so few are as likely separated as not
                warnings.simplefilter("ignore", SeparationWarning)  # (Cover 1965)
            return self.rule.solve(objective, start, reader)

    def _start(self, objective: Objective, reader: Encoded) -> Floats:
        """The better of zero and where the last fit ended, if its coefficients mean the same."""
        zero, before = np.zeros(objective.shape), self.before
        if before is None or before.coef.shape[0] != len(zero):
            return zero
        if before.reader.names.tolist() != reader.names.tolist():
            return zero
        last = objective.loss.joined(*before.parts())
        return min((zero, last), key=lambda coef: objective.gradient(coef).value)

    def _shares(
        self, reader: Encoded, labels: Labels, stream: Stream, weight: Floats
    ) -> FittedLogistic:
        """The classes as frequent as they were, half a row added to each (Firth's intercepts)."""
        score = np.log(weight + 0.5) * self.rule.intercept
        intercept = score[1:] - score[:1] if len(score) == 2 else score - score.mean()
        width = len(reader.names)
        none = np.zeros((len(intercept), width)), intercept, np.zeros(width), np.zeros(1, np.int32)
        return FittedLogistic(reader, labels, *none, stream=stream)

    def _factors(self, labels: Labels, weight: Floats) -> Floats | None:
        """What a row of each class counts beyond its weight."""
        return None if self.rule.factors is None else self.rule.factors(labels.classes, weight)


def _coded(labels: Labels, y: Any, n_rows: int) -> tuple[Labels, Codes]:
    """The classes after more rows, and the codes of these rows."""
    codes, new = validate.codes_of(y, labels.classes, n_rows)
    if len(new) == 0:
        return labels, codes
    if labels.closed:
        raise ValueError(
            f"Expected classes of {labels.classes.tolist()}, got {new.tolist()}. Name all classes "
            "in the first call."
        )
    labels = replace(labels, classes=validate.union(labels.classes, new))
    return labels, validate.codes_of(y, labels.classes, n_rows)[0]


def _room(cells: Array | SparseRows, n_classes: int) -> int:
    """How many rows are kept before some are left out."""
    n, width = cells.shape
    size = (1 if n_classes == 2 else n_classes) * (width + 1)
    if isinstance(cells, SparseRows):
        width = len(cells.entries()) // n + 1
    return max(ROOM, min(EACH * size, CELLS // width))


def _covariance(objective: Objective, coef: Floats) -> Floats | None:
    if objective.size > WRITTEN or not objective.penalty.smooth:
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
