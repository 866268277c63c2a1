"""Exact sums as fixed-point numbers, in NumPy.

A sum is Σᵢ limbᵢ 2^(exponent + 32 i): 32 bits a limb, held in 64, with the limbs of a number on
the last axis. Windows begin at multiples of 32, so that two sums align by whole limbs.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from posterior.data.typing import Array, Floats, Integers

Sum: TypeAlias = tuple[Integers, int]  # limbs, and the exponent of the first
BITS = 32
MASK = (1 << BITS) - 1


def window(lowest: int, top: int) -> tuple[int, int]:
    """Exponent and number of limbs that hold the bits from 2^lowest to below 2^top, and a sign."""
    exponent = lowest // BITS * BITS
    return exponent, max(1, -(-(top + 1 - exponent) // BITS))


def integers(x: Array) -> tuple[Integers, Integers]:
    """x = mantissa · 2^exponent, whole mantissas, for finite x."""
    fraction, exponent = np.frexp(np.asarray(x, np.float64))
    return np.ldexp(fraction, 53).astype(np.int64), exponent.astype(np.int64) - 53


def carry(limbs: Integers) -> None:
    """Bring every limb but the last of each number into [0, 2^32), in place."""
    for i in range(limbs.shape[-1] - 1):
        limbs[..., i + 1] += limbs[..., i] >> BITS
        limbs[..., i] &= MASK


def add_at(
    limbs: Integers, exponent: int, cell: Integers, value: Integers, position: Integers
) -> None:
    """Add value · 2^position, |value| < 2^55, to numbers of a table (cells, limbs), in place.

    The sign of a negative value may reach one limb beyond its last bit.
    """
    size = limbs.shape[1]
    shift = position - exponent
    first, bits = shift // BITS, shift % BITS
    low = value & 0x7FFFFFF  # 27 bits; the rest, with its sign, is shifted in the second round
    for part, extra in ((low, 0), ((value - low) >> 27, 27)):
        offset = first + (bits + extra) // BITS
        moved = part << ((bits + extra) % BITS)
        for digit, limb in ((moved & MASK, offset), (moved >> BITS, offset + 1)):
            some = digit != 0
            index = cell[some] * size + limb[some]
            np.add.at(limbs.reshape(-1), index, digit[some])


def of_doubles(x: Floats) -> tuple[Integers, int]:
    """Limbs and exponent of finite doubles, exactly."""
    mantissa, position = integers(x.reshape(-1))
    some = mantissa != 0
    if not some.any():
        return np.zeros((*x.shape, 1), np.int64), 0
    exponent, size = window(int(position[some].min()), int(position[some].max()) + 54 + BITS)
    limbs = np.zeros((x.size, size), np.int64)
    add_at(limbs, exponent, np.flatnonzero(some), mantissa[some], position[some])
    carry(limbs)
    return limbs.reshape(*x.shape, size), exponent


def to_pairs(limbs: Integers, exponent: int) -> tuple[Floats, Floats]:
    """Each number as high + low, about 106 bits: a function of the exact value alone."""
    sign = np.where(limbs[..., -1:] < 0, -1, 1)
    magnitude = limbs * sign
    carry(magnitude)
    high, low = np.zeros(limbs.shape[:-1]), np.zeros(limbs.shape[:-1])
    with np.errstate(over="ignore", invalid="ignore"):
        for i in reversed(range(limbs.shape[-1])):
            v = np.ldexp(magnitude[..., i].astype(np.float64), exponent + BITS * i)
            total = high + v
            part = total - high
            low += (high - (total - part)) + (v - part)
            high = total
        total = np.where(np.isfinite(high), high + low, high)
        low = np.where(np.isfinite(total), low - (total - high), 0.0)
    return total * sign[..., 0], low * sign[..., 0]


def whole(limbs: Integers) -> Array:
    """Numbers in units of their window's last bit, as Python's integers."""
    number = np.zeros(limbs.shape[:-1], object)
    for i in range(limbs.shape[-1]):
        number = number + limbs[..., i].astype(object) * (1 << (BITS * i))
    return np.asarray(number, object)


def of_whole(number: Array) -> Integers:
    """Limbs of Python's integers."""
    flat = [int(n) for n in number.reshape(-1)]
    size = max((n.bit_length() for n in flat), default=0) // BITS + 1
    limbs = np.zeros((len(flat), size), np.int64)
    for c, n in enumerate(flat):
        for i in range(size):
            limbs[c, i] = n if i == size - 1 else n & MASK
            n >>= BITS
    return limbs.reshape(*number.shape, size)
