"""Rows of cells that are gathered batch by batch, wherever they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.memory import memory_limit
from posterior.data.rows import Blocks, Rows
from posterior.data.typing import Array, Floats
from posterior.discriminative.additive.cell_rows import CellRows
from posterior.readers.cells import CellColumns

ROW = 28  # bytes of a row besides its cells: class, fingerprint, weight twice
HEAVIEST = 1e100  # weight of a row: squares of sums must be numbers
OUTPUT = 30  # bytes of a row for each output, in each fit: its score, g and h, and on the way


@dataclass(frozen=True, slots=True, eq=False)
class CellParts:
    """Parts of rows, of which each is more than twice as long as the next.

    A part that came is merged with those before it that are not much longer, so that a row is
    sorted again once for each doubling: n log n in all, for batches of any size.
    """

    parts: tuple[CellRows, ...] = ()

    def __add__(self, other: CellParts, /) -> CellParts:
        parts = list(self.parts)
        for part in other.parts:
            parts.append(part)
            while len(parts) > 1 and len(parts[-2]) < 2 * len(parts[-1]):
                last = parts.pop()
                parts[-1] = parts[-1] + last
        check_room(2 * sum(len(part) * (len(part.codes) + ROW) for part in parts), "gather")
        return CellParts(tuple(parts))

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return sum(part.total for part in self.parts)

    def placed(self, index: Array, n_groups: int) -> CellParts:
        """The same, where classes have new codes."""
        return CellParts(tuple(part.placed(index, n_groups) for part in self.parts))

    def together(self) -> CellRows:
        """All rows, as if they had come at once."""
        first, *others = self.parts[::-1]
        for part in others:
            first = part + first
        return first


@dataclass(frozen=True, slots=True, eq=False)
class GatherCells:
    """Labeled rows to rows of cells: a byte a cell, and equal rows are one."""

    reader: CellColumns

    def __call__(self, rows: Rows) -> CellParts:
        assert isinstance(rows.X, Blocks)
        groups = rows.hard
        _check_heaviest(groups.weight)
        codes = self.reader.codes(rows.X)
        return CellParts((CellRows.of(codes, groups.codes, groups.weight, groups.n_groups),))


def check_boosting(rows: CellRows, outputs: int) -> None:
    """Refuse rows for which boosting would need more memory than there is.

    The fits that hold out a fold each, and the one of all rows, hold the cells that they learn
    from and those held out, and what each row's outputs are.
    """
    fits = rows.n_folds + 1
    needed = len(rows) * (fits * (len(rows.codes) + ROW) + rows.n_folds * OUTPUT * outputs)
    check_room(needed, "boost")


def check_room(needed: float, verb: str) -> None:
    """Refuse what needs more memory than this process may use."""
    limit = memory_limit()
    if needed > limit:
        raise ValueError(
            f"Expected rows whose cells fit into memory, got some that need {_size(needed)} to "
            f"{verb}, and there are {_size(limit)}. Fit a sample of the rows, fewer columns or "
            "fewer cells, so that more rows are equal, or a model that is a sum, such as "
            "NaiveBayes."
        )


def _size(n: float) -> str:
    return f"{n / 1e9:,.1f} GB" if np.isfinite(n) else "unknown"


def _check_heaviest(weight: Floats | None) -> None:
    if weight is not None and weight.max(initial=0.0) > HEAVIEST:
        i = int(weight.argmax())
        raise ValueError(
            f"Expected weights up to {HEAVIEST:g}, got {weight[i]:g} at row {i}. Divide all by it."
        )
