"""The different numbers of a column, rising: by counting where they have few decimals."""

from __future__ import annotations

import numpy as np

from posterior.data.typing import Floats

MANY = 10_000  # numbers that are worth a look
SOME = 1000  # numbers that show how many decimals they have
DECIMALS = range(7)
BLOCK = 1 << 13  # numbers that stay near the processor
ROOM = 8  # places for each number
LARGEST = 2.0**53


def distinct_numbers(values: Floats) -> Floats:
    """np.unique; of numbers i / 10ᵏ that lie close, by a mark at the place of each i."""
    if len(values) < MANY:
        return np.unique(values)
    low, high = values.min(), values.max()
    room = ROOM * len(values)
    if max(-low, high) > LARGEST or high - low > room:
        return np.unique(values)
    some = values[:SOME]
    scale = next((s for k in DECIMALS if _are_whole(some, s := 10.0**k)), LARGEST)
    if max(-low, high) * scale > LARGEST or (high - low) * scale > room:
        return np.unique(values)
    first = np.rint(low * scale)
    seen = np.zeros(int(np.rint(high * scale) - first) + 1, np.bool_)
    for start in range(0, len(values), BLOCK):
        block = values[start : start + BLOCK]
        if not _are_whole(block, scale):
            return np.unique(values)
        seen[(np.rint(block * scale) - first).astype(np.int64)] = True
    return (np.flatnonzero(seen) + first) / scale


def _are_whole(values: Floats, scale: float) -> bool:
    return np.array_equal(np.rint(values * scale) / scale, values)
