"""Weightings of terms: how much a document has of a term, by its counts alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from posterior.data.rows import slabs
from posterior.data.typing import Array, Floats, Integers

UNIT = 2.0**-20  # cells are whole numbers of it: their sums are integers, and exact
FINE = 2.0**12  # the same of the logarithms, whose squares are added up
MOST = 1 << 16  # a larger count has no larger logarithm


@dataclass(frozen=True, slots=True)
class Damping:
    """Cells x of a document with counts c, in whole numbers of `unit`.

    x = c, or log(1 + c), or log(1 + c) / ‖log(1 + c)‖

    A word said twice says less than two words, and a long document no more than a short one
    (Rennie et al. 2003). Nothing but the document is looked at, and squares of whole numbers are
    added up: a document has the same cells in any company.
    """

    logs: bool = False
    unit_length: bool = False

    @property
    def unit(self) -> float:
        if self.unit_length:
            return UNIT
        return 1 / FINE if self.logs else 1.0

    def rule(self) -> tuple[Integers, float]:
        """Logarithms and unit, as the kernels know them."""
        logs = logarithms() if self.logs else np.empty(0, np.int64)
        return logs, UNIT if self.unit_length else 0.0

    def cells(self, counts: Array, start: Array) -> Array:
        """Of rows that begin at `start`; in cache."""
        if not self.logs:
            return counts
        cells, logs = np.empty(len(counts), np.float32), logarithms()
        n = len(start) - 1
        for rows in slabs(n, len(counts) / max(n, 1)):
            bounds = start[rows.start : rows.stop + 1]
            some = slice(bounds[0], bounds[-1])
            values = logs[np.minimum(counts[some], MOST).astype(np.int32)]
            cells[some] = _scaled(values, bounds - bounds[0]) if self.unit_length else values
        return cells


COUNTS, LOG_COUNTS, UNIT_LOG_COUNTS = "counts", "log counts", "unit log counts"
WEIGHTINGS: dict[str, Damping] = {
    COUNTS: Damping(),
    LOG_COUNTS: Damping(logs=True),
    UNIT_LOG_COUNTS: Damping(logs=True, unit_length=True),
}


@cache
def logarithms() -> Integers:
    """log(1 + c) of every count c, in whole numbers."""
    return np.rint(FINE * np.log1p(np.arange(MOST + 1))).astype(np.int64)


def _scaled(values: Integers, start: Array) -> Floats:
    """Rows of whole numbers, each to length one."""
    squares = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values * values, out=squares[1:])
    length = np.sqrt((squares[start[1:]] - squares[start[:-1]]).astype(np.float64))
    scale = 1 / (UNIT * np.maximum(length, 1.0))
    return np.rint(values * np.repeat(scale, np.diff(start)))
