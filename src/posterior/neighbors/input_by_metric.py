"""Readers of what a metric compares: numbers, strings, mixed tables, or given distances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import InputTags, check_array

from posterior.data import frames
from posterior.data.cells import ArrayColumn, Column
from posterior.data.rows import SparseRows
from posterior.data.table_columns import Columns
from posterior.data.typing import Array
from posterior.neighbors.metrics import DENSE, Metric
from posterior.neighbors.mixed_rows import MixedRows
from posterior.readers.numeric import Numeric
from posterior.readers.reader import Reader
from posterior.readers.table import TableReader, learned_columns
from posterior.statistics.moments import floats

CONVERT = 'Convert the column to numbers, or take metric="mixed"'


def reader_of(metric: Metric, owner: str) -> Reader:
    """The reader of a metric's rows, for an estimator of that class."""
    columns = Columns(owner)
    if metric.name == "precomputed":
        return DistanceTable(columns)
    if metric.name == "edit":
        return Strings(columns)
    if metric.name == "mixed":
        return MixedTable(columns)
    name = metric.name if isinstance(metric.name, str) else "a function"
    return Numbers(Numeric(columns, missing=metric.euclidean, words=CONVERT), name)


@dataclass(frozen=True, slots=True)
class Numbers(Reader):
    """Complete rows of numbers, or rows with missing cells where the distance is Euclidean."""

    numbers: Numeric
    metric: str  # its name

    @property
    def columns(self) -> Columns:  # type: ignore[override]
        return self.numbers.columns

    def of(self, columns: Columns) -> Self:
        return replace(self, numbers=self.numbers.of(columns))

    def describe(self, tags: InputTags) -> None:
        self.numbers.describe(tags)

    def learn(self, X: Any) -> tuple[Self, Array | SparseRows]:
        numbers, rows = self.numbers.learn(_rows_of_index(X))
        known = type(self)(numbers, self.metric)
        return known, known._compared(rows)

    def read(self, X: Any, fitting: bool = False) -> Array | SparseRows:
        rows = self.numbers.read(_rows_of_index(X))
        if self.metric == "haversine" and self.columns.n != 2:
            raise ValueError(
                "Haversine distance only valid in 2 dimensions, latitude and longitude, got "
                f"{self.columns.n}."
            )
        return self._compared(rows)

    def _compared(self, rows: Any) -> Array | SparseRows:
        if not isinstance(rows, SparseRows):
            rows = np.ascontiguousarray(floats(np.asarray(rows)))
        elif self.metric in DENSE:
            raise ValueError(
                f"Metric '{self.metric}' not valid for sparse input. Use X.toarray(), or another."
            )
        else:
            matrix = rows.scipy()
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
            rows = SparseRows.of(matrix)
        self.numbers.check(rows)
        return rows


@dataclass(frozen=True, slots=True)
class DistanceTable(Reader):
    """Distances from all training rows, or a graph of those that are near."""

    columns: Columns

    def describe(self, tags: InputTags) -> None:
        tags.pairwise = tags.positive_only = tags.sparse = True

    def learn(self, X: Any) -> tuple[Self, Array | SparseRows]:
        D = self._table(X)
        if D.shape[0] != D.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be square. Input is a {D.shape[0]}x{D.shape[1]} matrix."
            )
        return replace(self, columns=self.columns.of(X)), _readable(D)

    def read(self, X: Any, fitting: bool = False) -> Array | SparseRows:
        D = self._table(X)
        if D.shape[1] != self.columns.n:
            raise ValueError(
                f"X has {D.shape[1]} features, but {self.columns.owner} is expecting "
                f"{self.columns.n} features as input: the distances from each training row."
            )
        self.columns.check(X)
        return _readable(D)

    def _table(self, X: Any) -> Any:
        if sparse.issparse(X) and X.format not in ("csr", "csc", "coo", "lil"):
            raise TypeError(
                f"Sparse matrix in {X.format!r} format is not supported due to its handling of "
                "explicit zeros. Use X.tocsr()."
            )
        return check_array(
            X, accept_sparse="csr", ensure_non_negative=True, input_name="precomputed distances"
        )


@dataclass(frozen=True, slots=True)
class Strings(Reader):
    """One column of strings; None where one is missing."""

    columns: Columns

    def describe(self, tags: InputTags) -> None:
        tags.string = tags.categorical = tags.allow_nan = True

    def learn(self, X: Any) -> tuple[Self, Array]:
        table, strings = self._column(X)
        return replace(self, columns=self.columns.of(table)), strings

    def read(self, X: Any, fitting: bool = False) -> Array:
        table, strings = self._column(X)
        self.columns.check(table)
        return strings

    def _column(self, X: Any) -> tuple[Any, Array]:
        """A table of one column, and its cells."""
        frame = frames.as_frame(X)
        if frame is None:
            table = np.asarray(X, dtype=object)
            table = table.reshape(len(table), -1) if table.ndim else table.reshape(1, -1)
            width, name = table.shape[1], "0"
        else:
            table, width, name = X, len(frame.columns), frame.columns[0]
        if width != 1:
            raise ValueError(
                f'Expected one column of strings for metric="edit", got {width}. Choose a column, '
                'or use metric="mixed".'
            )
        cells = table[:, 0].tolist() if frame is None else frame.get_column(name).to_list()
        if not cells:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        return table, np.array(frames.items(cells, name), dtype=object)


@dataclass(frozen=True, slots=True)
class MixedTable(TableReader):
    """An array of numbers as it is, anything else column by column, as training had it."""

    columns: Columns
    kinds: tuple[frames.Kind, ...] | None = None  # of the columns; None: an array of numbers

    def learn(self, X: Any) -> tuple[Self, Any]:  # MixedRows, or an array
        table = self.table(X, known=False)
        columns = learned_columns(self.columns, X, table)
        kinds = None if isinstance(table, np.ndarray) else tuple(map(frames.kind, table))
        known = replace(self, columns=columns, kinds=kinds)
        return known, known._rows(table)

    def read(self, X: Any, fitting: bool = False) -> Any:
        return self._rows(self.table(X))

    def _rows(self, table: Array | list[Column]) -> Array | MixedRows:
        if self.kinds is None:
            if isinstance(table, np.ndarray):
                return table.astype(np.float64)
            return np.stack([frames.numbers(column) for column in table], axis=1)
        if isinstance(table, np.ndarray):
            named = enumerate(self.columns.array().tolist())
            table = [ArrayColumn(name, table[:, j]) for j, name in named]
        return MixedRows.of(table, self.kinds)


def _rows_of_index(X: Any) -> Any:
    """The rows in a tree of scikit-learn, or in its fitted neighbors, or X as it is."""
    if type(X).__module__.startswith("sklearn.neighbors"):
        rows = getattr(X, "_fit_X", None)
        return np.asarray(X.data) if rows is None else rows
    return X


def _readable(D: Any) -> Array | SparseRows:
    return SparseRows.of(D) if sparse.issparse(D) else floats(D)
