"""Where columns of numbers are cut, as the kernels read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from posterior.data.typing import Array, Floats, Integers


class Cuts(tuple[Array, ...]):
    """Ascending cuts, one array a column; and all of them one behind the other."""

    flat: Floats
    start: Integers  # (d + 1,)

    def __new__(cls, columns: Iterable[Array]) -> Cuts:
        cuts = super().__new__(cls, columns)
        cuts.flat = np.concatenate([np.empty(0), *cuts])
        cuts.start = np.cumsum([0, *map(len, cuts)])
        return cuts

    @classmethod
    def of(cls, columns: Sequence[Array]) -> Cuts:
        return columns if isinstance(columns, Cuts) else cls(columns)
