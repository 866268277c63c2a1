"""A column in short: tenths of its numbers, or counts of its values, to compare others with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Array, Floats
from posterior.preprocessing.measured_columns import MeasuredColumn

TENTHS = np.arange(1, 10) / 10
MOST_VALUES = 100  # that are listed


@dataclass(frozen=True, slots=True, eq=False)
class ColumnSummary:
    """Counts of a column's cells: between cut points of numbers, or of each value."""

    name: str
    role: str
    unit: str  # of texts: words or letters
    ends: tuple[float, float] | None  # the least and the largest number; None of categories
    cuts: Floats  # (b - 1,) cut points of numbers; a bin holds its upper end
    values: tuple[str, ...]  # of categories, the most frequent first
    complete: bool  # whether all values are listed
    counts: Floats  # (b,) of bins; or of values, and of all others as the last one
    missing: float

    @classmethod
    def of(cls, column: MeasuredColumn, weight: Floats | None = None) -> ColumnSummary:
        """Of the rows that a model learned."""
        w = np.ones(len(column.missing)) if weight is None else weight
        missing = float(w[column.missing].sum())
        told = column.name, column.role, column.unit
        if column.numbers is None:
            codes, values = column.grouped(MOST_VALUES)
            complete = len(column.values) <= MOST_VALUES
            kept = values if complete else values[:-1]
            known = codes >= 0
            counts = _sums(codes[known], w[known], len(kept) + 1)
            order = np.argsort(-counts[:-1], kind="stable")
            listed = tuple(kept[v] for v in order)
            counts = np.append(counts[order], counts[-1])
            return cls(*told, None, np.zeros(0), listed, complete, counts, missing)
        known = column.numbers[~column.missing]
        if not len(known):
            return cls(*told, None, np.zeros(0), (), True, np.zeros(1), missing)
        ends = float(known.min()), float(known.max())
        cuts = np.unique(np.quantile(known, TENTHS, method="inverted_cdf"))
        cuts = cuts[cuts < ends[1]]
        bins = np.searchsorted(cuts, known, side="left")
        counts = _sums(bins, w[~column.missing], len(cuts) + 1)
        return cls(*told, ends, cuts, (), True, counts, missing)

    def count(self, column: MeasuredColumn) -> ColumnSummary:
        """The same of other rows, in the same bins; values that are not listed are others."""
        missing = float(column.missing.sum())
        told = self.name, self.role, self.unit
        if column.numbers is None:
            assert column.codes is not None
            place = {value: v for v, value in enumerate(self.values)}
            others = len(self.values)
            codes = np.array([place.get(value, others) for value in (*column.values, "")], int)
            bins = codes[column.codes[column.codes >= 0]]
            counts = np.bincount(bins, minlength=others + 1).astype(np.float64)
            return ColumnSummary(
                *told, None, self.cuts, self.values, self.complete, counts, missing
            )
        known = column.numbers[~column.missing]
        bins = np.searchsorted(self.cuts, known, side="left")
        counts = np.bincount(bins, minlength=len(self.counts)).astype(np.float64)
        ends = (float(known.min()), float(known.max())) if len(known) else None
        return ColumnSummary(*told, ends, self.cuts, (), True, counts, missing)


def _sums(bins: Array, weight: Floats, n: int) -> Floats:
    return np.asarray(np.bincount(bins, weight, minlength=n), np.float64)
