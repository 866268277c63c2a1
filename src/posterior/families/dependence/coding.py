"""A table of numbers and categories as one table of codes: numbers by the bins they fall in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior import kernels
from posterior.data.rows import Blocks, CodedRows
from posterior.data.typing import Array
from posterior.kernels.cut_points import Cuts
from posterior.statistics.extent import as_codes
from posterior.statistics.keyed import Values


@dataclass(frozen=True, slots=True)
class Coding:
    """Where numbers are cut, and where the columns stand in the table.

    A number of bin b has edges b ≤ x < b + 1 among (lowest, cuts, highest).
    """

    numbers: tuple[int, ...]  # columns of numbers
    categories: tuple[int, ...]
    cuts: tuple[tuple[float, ...], ...]  # ascending, one a column of numbers
    ends: tuple[tuple[float, float], ...]  # the lowest and the highest number seen

    def __call__(self, X: Blocks) -> CodedRows:
        """Numbers first in the blocks, then categories; all columns in order in the codes."""
        return Coder(self)(X)

    def drawn(self, codes: Array, values: Values, random: np.random.Generator) -> Blocks:
        """Rows of given codes: numbers anywhere in their bins, alike; a code of -1 is missing."""
        numbers = np.full((len(codes), len(self.numbers)), np.nan)
        for i, (j, cuts, ends) in enumerate(zip(self.numbers, self.cuts, self.ends, strict=True)):
            known = codes[:, j] >= 0
            edges = np.array([min(ends[0], *cuts, np.inf), *cuts, max(ends[1], *cuts, -np.inf)])
            bins = values[j][codes[known, j]]
            share = random.random(len(bins))
            numbers[known, i] = edges[bins] + share * (edges[bins + 1] - edges[bins])
        kept = codes[:, self.categories]
        return Blocks((numbers, CodedRows(kept, tuple(values[j] for j in self.categories))))


class Coder:
    """A coding prepared once, for chunk after chunk."""

    def __init__(self, coding: Coding) -> None:
        self._numbers, self._categories = list(coding.numbers), list(coding.categories)
        self._cuts = Cuts(np.array(cuts, np.float64) for cuts in coding.cuts)
        self._bins = {
            j: np.arange(len(cuts) + 1) for j, cuts in zip(self._numbers, self._cuts, strict=True)
        }

    def __call__(self, X: Blocks) -> CodedRows:
        numbers, coded = X.parts
        assert isinstance(numbers, np.ndarray) and isinstance(coded, CodedRows)
        codes = np.empty(X.shape, np.int32)
        if self._categories:
            codes[:, self._categories] = as_codes(coded.codes)
        if self._numbers:
            bins = kernels.digitize(np.ascontiguousarray(numbers, np.float64), self._cuts)
            codes[:, self._numbers] = np.where(np.isnan(bins), -1.0, bins)
        values = self._bins | dict(zip(self._categories, coded.values, strict=True))
        return CodedRows(codes, tuple(values[j] for j in range(len(values))))
