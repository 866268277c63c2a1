"""Sorted keys of numbers: the value of each, and cells of them."""

from __future__ import annotations

import numpy as np

from posterior.data.typing import Array, Floats, Integers


def unpack(key: Array, bits: int) -> Floats:
    """The largest value that has each key."""
    sign = np.uint64(1 << 63)
    key = key | np.uint64((1 << bits) - 1)
    return np.where(key & sign, key ^ sign, ~key).view(np.float64)


def cells(value: Array, weight: Floats | None, limit: int) -> tuple[Integers, float]:
    """Where cells of sorted entries end, and the largest weight that one moves to its last value.

    There is a cell for each value; if there are more than `limit`, a cell ends with the value that
    reaches a multiple of n / limit.
    """
    n = len(value)
    if n == 0:
        return np.empty(0, np.int64), 0.0
    different = value[1:] != value[:-1]
    if np.count_nonzero(different) < limit:
        return np.append(np.flatnonzero(different) + 1, n), 0.0
    if weight is None:
        last = -(-np.arange(1, limit) * n // limit) - 1
    else:
        up_to = np.cumsum(weight)
        marks = up_to[-1] * np.arange(1, limit) / limit
        last = np.minimum(np.searchsorted(up_to, marks), n - 1)
    ends = np.unique(np.append(np.searchsorted(value, value[last], side="right"), n))
    starts, same = np.append(0, ends[:-1]), np.searchsorted(value, value[ends - 1])
    if weight is None:
        return ends, float((same - starts).max())
    below = np.append(0.0, up_to)
    return ends, float((below[same] - below[starts]).max())
