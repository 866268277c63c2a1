"""The cell of each value of a table, by cuts and categories that are known beforehand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posterior import kernels
from posterior.data.rows import Blocks, CodedRows
from posterior.data.typing import Array, Floats
from posterior.kernels.cut_points import Cuts
from posterior.statistics.keyed import Places

MISSING = 0  # the cell of missing values


class CellCodes:
    """Rows of numbers and categories to their cells, prepared once for chunk after chunk."""

    def __init__(
        self,
        places: tuple[list[int], list[int]],
        cuts: Sequence[Floats],
        values: Sequence[Array],
        beyond: Sequence[int],
    ) -> None:
        self._numbers, self._categories = places
        self._cuts = Cuts(cuts)
        self._values = [Places(each) for each in values]
        self._beyond = beyond  # the cell of a category that is not among the values

    def __call__(self, X: Blocks) -> Array:
        """Column after column, (d, n)."""
        measured, coded = X.parts
        assert isinstance(measured, np.ndarray) and isinstance(coded, CodedRows)
        out = np.empty((len(self._numbers) + len(self._categories), X.shape[0]), np.uint8)
        if self._numbers:
            bins = kernels.digitize(np.ascontiguousarray(measured, np.float64), self._cuts)
            out[self._numbers] = np.where(np.isnan(bins), MISSING, bins + 1).T
        columns = zip(self._categories, self._values, self._beyond, coded.values, strict=True)
        for i, (j, known, beyond, given) in enumerate(columns):
            place, n = known(given), len(known)
            cell = [at + 1 if at < n else beyond for at in place]
            # a code of -1 is missing
            out[j] = np.array([*cell, MISSING], np.uint8)[coded.codes[:, i]]
        return out
