"""The compiled arithmetic of exact sums."""

from __future__ import annotations

import numpy as np

import posterior.kernels._compiled as _compiled
from posterior.data.typing import Floats, Integers

carry = _compiled.carry


def to_pairs(table: Integers, exponent: int) -> tuple[Floats, Floats]:
    """Each number as high + low, about 106 bits: a function of the exact value alone."""
    high, low = np.empty(table.shape[:-1]), np.empty(table.shape[:-1])
    _compiled.to_pairs(table, exponent, high, low)
    return high, low
