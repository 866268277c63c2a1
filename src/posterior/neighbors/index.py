"""Rows that can be asked which of them are nearest, whatever the distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from posterior.data.typing import Array, Floats, Integers

# A method of the local engine: function(chunk, its rows, its part of out) for all chunks.
Fill: TypeAlias = Callable[[Callable[[Any, slice, Any], None], Any, Any], None]


class Index(Protocol):
    """Rows that can be asked which of them are nearest to a query."""

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        """Distances (m, k), ascending, and numbers (m, k) of the k rows nearest to each query.

        Equal distances are in the order of the rows' numbers. `skip` (m,) is for each query a row
        that may not be among its neighbors, or -1.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Among:
    """Some of the rows, under the numbers that they have among all."""

    index: Index
    numbers: Integers  # ascending

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        if skip is not None:
            place = np.searchsorted(self.numbers, skip)
            place[place == len(self.numbers)] = 0
            skip = np.where(self.numbers[place] == skip, place, -1)
        distances, rows = self.index.nearest(Q, k, skip)
        return distances, self.numbers[rows]
