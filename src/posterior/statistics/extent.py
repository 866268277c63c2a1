"""The largest code of each column: it merges, and cannot be taken back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior import kernels
from posterior.data.rows import slabs
from posterior.data.typing import Array, Integers


@dataclass(frozen=True, slots=True, eq=False)
class Extent:
    """Column by column, the largest whole number of the rows seen."""

    largest: Integers

    @classmethod
    def of(cls, X: Array) -> Extent:
        parts = [kernels.code_range(as_codes(X[rows]))[1] for rows in slabs(*X.shape)]
        return cls(np.max(parts, axis=0))

    def __add__(self, other: Extent, /) -> Extent:
        return Extent(np.maximum(self.largest, other.largest))


LARGEST = 2**31 - 128  # a code that float32 holds too
CODE_TYPES = (np.int64, np.int32, np.int16, np.uint8)


def as_codes(X: Array) -> Array:
    """A chunk of categories as the kernels read them; a missing cell is negative."""
    if X.dtype in CODE_TYPES:
        return X
    if X.dtype.kind != "f":
        return X.astype(np.int64)
    codes = np.empty(X.shape, np.int32)
    for rows in slabs(*X.shape):
        codes[rows] = np.nan_to_num(np.clip(X[rows], -1, LARGEST), nan=-1).astype(np.int32)
    return codes
