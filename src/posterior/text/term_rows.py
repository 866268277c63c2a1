"""Documents as rows: how much each has of each term, by a rule that knows the document alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.fingerprints import of_entries
from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Codes
from posterior.kernels.terms import PRUNED, Terms
from posterior.text.damping import Damping

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

    def cells(self, damping: Damping) -> SparseRows:
        """How much each document has of each term, in whole numbers of the damping's unit."""
        first, last = self.counts.start[0], self.counts.start[-1]
        start = self.counts.start - first
        cells = damping.cells(self.counts.entries(), start)
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
