"""Reads categories as they are, and numbers to be cut into bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from posterior.data.table import Table
from posterior.data.typing import Floats
from posterior.families.dependence import BackOff, Coding
from posterior.readers.reader import Reader
from posterior.readers.two_kinds import NumbersAndCategories

Parents: TypeAlias = tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BinnedColumns(NumbersAndCategories):
    """What all rows have said of the columns beforehand: where to cut, who depends on whom."""

    cuts: tuple[tuple[float, ...], ...] | None = None  # of the columns of numbers,
    ends: tuple[tuple[float, float], ...] = ()  # and the lowest and highest number seen
    structure: tuple[tuple[int, ...] | None, ...] | None = (
        None  # who depends on whom, where that is chosen first
    )
    selection: Table | None = None  # among which structures it was chosen
    smoothing: BackOff | None = None  # how contexts of few rows are smoothed, where fit chose it

    def coding(self) -> Coding:
        """How cells become codes, once cuts are known."""
        numbers, categories = self.places()
        assert self.cuts is not None
        return Coding(tuple(numbers), tuple(categories), self.cuts, self.ends)

    def cut_points(self) -> dict[Any, Floats]:
        """Where each column of numbers is cut."""
        pairs = zip(self.numbers(), self.cuts or (), strict=True)
        return {name: np.array(cuts, np.float64) for name, cuts in pairs}

    def check_same(self, other: Reader) -> None:
        self.columns.check_same(other.columns)
        assert isinstance(other, BinnedColumns)
        if self.kinds != other.kinds or self.cuts != other.cuts:
            raise ValueError(
                "Expected a model whose numbers are cut at the same points to merge. Fit the other "
                "with bins=model.cut_points_."
            )
        if self.structure != other.structure:
            raise ValueError(
                "Expected a model of the same structure to merge. Fit the other with "
                "structure=model.structure_."
            )
