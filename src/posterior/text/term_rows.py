"""Documents as rows: how much each has of each term, by a rule that knows the document alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from posterior.data.fingerprints import of_entries
from posterior.data.rows import SparseRows, slabs
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.kernels.terms import PRUNED, Terms

UNIT = 2.0**-20  # cells are whole numbers of it: their sums are integers, and exact
FINE = 2.0**12  # the same of the logarithms, whose squares are added up
MOST = 1 << 16  # a larger count says no more
ABSENT = np.uint64(1)  # the fingerprint of a missing document


@dataclass(frozen=True, slots=True, eq=False)
class TermRows:
    """The counts of some documents; a missing one has none, and says nothing."""

    terms: Terms  # of the columns
    counts: SparseRows
    absent: Array | None = None  # (n,) True where a document is missing; None: nowhere

    @property
    def shape(self) -> tuple[int, int]:
        return self.counts.shape

    def __getitem__(self, rows: slice) -> TermRows:
        absent = None if self.absent is None else self.absent[rows]
        return TermRows(self.terms, self.counts[rows], absent)

    def take(self, index: Array) -> TermRows:
        """Copies of the rows at some positions, in that order."""
        absent = None if self.absent is None else self.absent[index]
        return TermRows(self.terms, self.counts.take(index), absent)

    def fingerprints(self) -> Array:
        counts = self.counts.entries().astype(np.uint64)
        first, last = self.counts.start[0], self.counts.start[-1]
        found = of_entries(self.counts.column[first:last], counts, self.counts.start)
        return without(found, self.absent)

    def among(self, columns: Array) -> TermRows:
        """As a model sees them that knows these terms alone, which ascend."""
        if len(columns) == len(self.terms):
            return self
        place = np.full(len(self.terms), PRUNED, np.int32)
        place[columns] = np.arange(len(columns), dtype=np.int32)
        return TermRows(self.terms[columns], moved(self.counts, place, len(columns)), self.absent)

    def cells(self) -> SparseRows:
        """x_ij = log(1 + c_ij) / ‖log(1 + cᵢ)‖, in whole numbers of UNIT.

        A word said twice says less than two words, and a long document no more than a short one
        (Rennie et al. 2003). Nothing but the document is looked at, and squares of whole numbers
        are added up: a document has the same cells in any company.
        """
        start = self.counts.start - self.counts.start[0]
        counts, cells = self.counts.entries(), np.empty(start[-1], np.float32)
        logs = logarithms()
        for rows in slabs(self.shape[0], start[-1] / max(self.shape[0], 1)):
            bounds = start[rows.start : rows.stop + 1]
            some = slice(bounds[0], bounds[-1])
            cells[some] = _damped(counts[some], bounds - bounds[0], logs)
        first, last = self.counts.start[0], self.counts.start[-1]
        return SparseRows(cells, self.counts.column[first:last], start, len(self.terms))


def without(fingerprints: Array, absent: Array | None) -> Array:
    """Fingerprints of documents, of which a missing one is not an empty one."""
    return fingerprints if absent is None else np.where(absent, ABSENT, fingerprints)


def moved(counts: SparseRows, place: Codes, n_columns: int) -> SparseRows:
    """Rows with their columns in other places, which ascend; those without one are left out."""
    first, last = counts.start[0], counts.start[-1]
    column = place[counts.column[first:last]].astype(counts.column.dtype)
    known = column >= 0
    kept = np.concatenate([[0], np.cumsum(known)]).astype(counts.start.dtype)
    start = kept[counts.start - first]
    return SparseRows(counts.entries()[known], column[known], start, n_columns)


@cache
def logarithms() -> Integers:
    """log(1 + c) of every count c, in whole numbers."""
    return np.rint(FINE * np.log1p(np.arange(MOST + 1))).astype(np.int64)


def _damped(counts: Array, start: Array, logs: Integers) -> Floats:
    """The logarithms of rows, each scaled to length one; in cache."""
    values = logs[np.minimum(counts, MOST).astype(np.int32)]
    squares = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values * values, out=squares[1:])
    length = np.sqrt((squares[start[1:]] - squares[start[:-1]]).astype(np.float64))
    scale = 1 / (UNIT * np.maximum(length, 1.0))
    return np.rint(values * np.repeat(scale, np.diff(start)))
