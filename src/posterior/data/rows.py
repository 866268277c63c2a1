"""Rows: validated input in the form that statistics and engines read.

Slicing rows costs nothing: every part is a view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from scipy import sparse

from posterior.data.typing import Array, Codes, Floats


def readable(array: Array) -> Array:
    """An array as loops can read it, aligned and in this machine's byte order: a copy if need be.

    Fields of records and parts of a buffer may begin at any byte.
    """
    return np.require(array, array.dtype.newbyteorder("="), "A")


def is_plain(X: object) -> bool:
    """Whether X is a table of numbers as loops read it: the long way of checking can be spared."""
    if type(X) is not np.ndarray or X.ndim != 2 or 0 in X.shape:
        return False
    return X.dtype.kind in "fiu" and X.dtype.itemsize <= 8 and X.flags.aligned and X.dtype.isnative


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """Compressed sparse rows; entries of row i are start[i] .. start[i + 1]."""

    data: Array
    column: Array
    start: Array
    n_columns: int

    @classmethod
    def of(cls, X: sparse.csr_matrix | sparse.csr_array) -> SparseRows:
        """Views of a CSR matrix, with values as float32 or float64, and columns that it has."""
        data = X.data if X.data.dtype in (np.float32, np.float64) else X.data.astype(np.float64)
        indices, indptr = X.indices, X.indptr
        if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
            indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
        inside = 0 <= indices.min(initial=0) and indices.max(initial=-1) < X.shape[1]
        if not (inside and len(indices) == len(data) and _one_by_one(indptr, len(data))):
            raise ValueError(
                f"Expected a sparse matrix of {X.shape[1]} columns, row by row, got places outside "
                "of it. Somebody changed its indices or indptr: X.check_format() says more."
            )
        return cls(readable(data), readable(indices), readable(indptr), X.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.start) - 1, self.n_columns

    def __getitem__(self, rows: slice) -> SparseRows:
        start, stop, _ = rows.indices(len(self.start) - 1)
        return SparseRows(self.data, self.column, self.start[start : stop + 1], self.n_columns)

    def entries(self) -> Array:
        """The values that these rows store."""
        return self.data[self.start[0] : self.start[-1]]

    def take(self, index: Array) -> SparseRows:
        """Copies of the rows at some positions, in that order."""
        return SparseRows.of(self.scipy(copy=False)[index])

    def canonical(self) -> SparseRows:
        """The same rows with columns ascending, and cells that were stored in parts added up."""
        matrix = self.scipy()
        matrix.sum_duplicates()
        return SparseRows.of(matrix)

    def scipy(self, copy: bool = True) -> sparse.csr_array:
        """The same rows as SciPy knows them; without a copy, they must not be changed."""
        first, last = self.start[0], self.start[-1]
        parts = (self.data[first:last], self.column[first:last], self.start - first)
        return sparse.csr_array(parts, shape=self.shape, copy=copy)


def _one_by_one(start: Array, n_entries: int) -> bool:
    """Whether rows follow each other, inside their entries."""
    if len(start) == 0 or (np.diff(start) < 0).any():
        return False
    return bool(0 <= start[0] and start[-1] <= n_entries)


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Categories as codes: value j of column c is values[c][j], and a missing cell is negative.

    A code beyond the last value stands for a value that is not among them. Without values, codes
    are those of whoever asks.
    """

    codes: Array  # (n, d) integers
    values: tuple[Array, ...]  # sorted, one array a column

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.codes.shape
        return n, d

    def __getitem__(self, rows: slice) -> CodedRows:
        return CodedRows(self.codes[rows], self.values)

    def take(self, index: Array) -> CodedRows:
        """Copies of the rows at some positions, in that order."""
        return CodedRows(self.codes[index], self.values)


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Columns of several kinds, one block for each family, in the order of the families."""

    parts: tuple[Array | SparseRows | CodedRows, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return self.parts[0].shape[0], sum(part.shape[1] for part in self.parts)

    def __getitem__(self, rows: slice) -> Blocks:
        return Blocks(tuple(part[rows] for part in self.parts))

    def take(self, index: Array) -> Blocks:
        """Copies of the rows at some positions, in that order."""
        return Blocks(tuple(take(part, index) for part in self.parts))  # type: ignore[misc]


class TextRows(Protocol):
    """Documents, as `posterior.text` counts them."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def __getitem__(self, rows: slice, /) -> TextRows: ...

    def take(self, index: Array, /) -> TextRows: ...

    def fingerprints(self) -> Array: ...


Features: TypeAlias = Array | SparseRows | CodedRows | Blocks | TextRows


def take(X: Features, index: Array) -> Features:
    """Copies of the rows at some positions, in that order."""
    return X[index] if isinstance(X, np.ndarray) else X.take(index)


HIDDEN = -1  # the code of a row whose group is not known


@dataclass(frozen=True, slots=True, eq=False)
class Hard:
    """Each row belongs to one of k groups, with a weight; a negative code leaves it out."""

    codes: Codes
    n_groups: int
    weight: Floats | None = None

    def __getitem__(self, rows: slice | Array) -> Hard:
        weight = None if self.weight is None else self.weight[rows]
        return Hard(self.codes[rows], self.n_groups, weight)


@dataclass(frozen=True, slots=True, eq=False)
class Soft:
    """Each group receives a part R[i, k] of each row."""

    R: Floats

    @property
    def n_groups(self) -> int:
        return self.R.shape[1]

    def __getitem__(self, rows: slice | Array) -> Soft:
        return Soft(self.R[rows])


Groups: TypeAlias = Hard | Soft


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A chunk of validated input: features, and which groups the rows belong to."""

    X: Features
    groups: Groups
    offset: Floats | None = None  # (n, outputs): what is known of the scores beforehand

    def __len__(self) -> int:
        return self.X.shape[0]

    @property
    def hard(self) -> Hard:
        """The groups, where each row belongs to one."""
        assert isinstance(self.groups, Hard)
        return self.groups

    @property
    def sample(self) -> Rows:
        """Rows in memory that stand for all: here, the rows themselves."""
        return self

    def map(self, function: Callable[[Rows], Rows]) -> Rows:
        """The same rows seen in another way, such as in other groups."""
        return function(self)

    def __getitem__(self, rows: slice) -> Rows:
        offset = None if self.offset is None else self.offset[rows]
        return Rows(self.X[rows], self.groups[rows], offset)

    def among(self, n_groups: int, code: int = HIDDEN) -> Rows:
        """The same rows, hidden among so many groups, or all in one of them."""
        codes = np.full(len(self), code, np.int32)
        return Rows(self.X, Hard(codes, n_groups, self.hard.weight))

    def take(self, index: Array) -> Rows:
        """Copies of the rows at some positions, in that order."""
        offset = None if self.offset is None else self.offset[index]
        return Rows(take(self.X, index), self.groups[index], offset)


def chunk_starts(n_rows: int, chunk_rows: int) -> Sequence[int]:
    """First rows of the chunks."""
    return range(0, max(n_rows, 1), chunk_rows)


def slabs(n_rows: int, width: float) -> Iterator[slice]:
    """Slices of rows so small that what is made of them on the way stays in cache."""
    step = max(1, int(100_000 / max(width, 1)))
    return (slice(i, i + step) for i in range(0, max(n_rows, 1), step))
