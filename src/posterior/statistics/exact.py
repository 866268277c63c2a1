"""Exact sums of doubles.

An `Exact` never rounds: `+` is associative and commutative, and `(a + b) - b` is `a`, whatever the
sizes. So the same rows give the same bits in any order, in any chunks, from any merge tree, and
with other rows added and taken back. A `Pair` is its first 106 bits, for the few formulas (a mean,
a scatter) that stand between a sum and a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.typing import Array, Floats, Integers
from posterior.kernels import limbs as fixed
from posterior.kernels.pairs import Pair


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """An array of fixed-point numbers Σᵢ limbᵢ 2^(exponent + 32 i)."""

    limbs: Integers  # (*shape, size)
    exponent: int

    @classmethod
    def zeros(cls, *shape: int) -> Exact:
        """Sums of nothing."""
        return cls(np.zeros((*shape, 1), np.int64), 0)

    @classmethod
    def of(cls, values: Any) -> Exact:
        """Whole numbers or finite doubles, as they are."""
        array = np.asarray(values)
        if array.dtype.kind in "iub":
            return cls(array.astype(np.int64)[..., None], 0)
        return cls(*fixed.of_doubles(array.astype(np.float64)))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.limbs.shape[:-1]

    def __getitem__(self, index: Any) -> Exact:
        """Numbers at some positions of the first axis."""
        return Exact(np.ascontiguousarray(self.limbs[index]), self.exponent)

    def placed(self, index: Array, n: int) -> Exact:
        """Numbers at new positions among n of the first axis, zeros elsewhere."""
        limbs = np.zeros((n, *self.limbs.shape[1:]), np.int64)
        limbs[index] = self.limbs
        return Exact(limbs, self.exponent)

    def reshape(self, *shape: int) -> Exact:
        return Exact(self.limbs.reshape(*shape, self.limbs.shape[-1]), self.exponent)

    def __add__(self, other: Exact, /) -> Exact:
        a, b, exponent = _aligned(self, other)
        total = np.ascontiguousarray(a + b)
        kernels.carry(total)
        return Exact(total, exponent)

    def __neg__(self) -> Exact:
        negative = -self.limbs
        kernels.carry(negative)
        return Exact(negative, self.exponent)

    def __sub__(self, other: Exact, /) -> Exact:
        a, b, exponent = _aligned(self, other)
        total = np.ascontiguousarray(a - b)
        kernels.carry(total)
        return Exact(total, exponent)

    def __mul__(self, factor: float) -> Exact:
        """Times a small whole number exactly; times another number rounded to a pair."""
        if float(factor).is_integer() and abs(factor) < 2**20:
            top = np.zeros((*self.shape, 1), np.int64)
            wide = np.concatenate([self.limbs, top, top], axis=-1)
            kernels.carry(wide)
            product = wide * int(factor)
            kernels.carry(product)
            return Exact(product, self.exponent).trimmed()
        product_pair = self.pair() * Pair.of(factor)
        return (Exact.of(product_pair.high) + Exact.of(product_pair.low)).trimmed()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Exact) or self.shape != other.shape:
            return NotImplemented if not isinstance(other, Exact) else False
        return not (self - other).limbs.any()

    __hash__ = None  # type: ignore[assignment]

    def sum(self, axis: int = 0) -> Exact:
        """Totals over one axis."""
        top = np.zeros((*self.shape, 1), np.int64)  # room for the carries of many numbers
        wide = np.concatenate([self.limbs, top], axis=-1)
        kernels.carry(wide)
        total = np.ascontiguousarray(wide.sum(axis=axis))
        kernels.carry(total)
        return Exact(total, self.exponent)

    def runs(self, start: Array) -> Exact:
        """Totals of the runs of the first axis that begin at some positions."""
        if self.limbs.shape[-1] == 1 and self.exponent == 0:  # whole numbers: there is room
            return Exact(np.add.reduceat(self.limbs, start, axis=0), 0)
        top = np.zeros((*self.shape, 1), np.int64)
        total = np.add.reduceat(np.concatenate([self.limbs, top], axis=-1), start, axis=0)
        kernels.carry(total)
        return Exact(total, self.exponent).trimmed()

    def trimmed(self) -> Exact:
        """The same numbers in the smallest window that holds them all."""
        limbs, exponent = self.limbs, self.exponent
        while (np.abs(limbs[..., -1]) >= 1 << (fixed.BITS - 1)).any():
            limbs = np.concatenate([limbs, np.zeros((*self.shape, 1), np.int64)], axis=-1)
            kernels.carry(limbs)
        while limbs.shape[-1] > 1 and not limbs[..., 0].any():
            limbs, exponent = limbs[..., 1:], exponent + fixed.BITS
        while limbs.shape[-1] > 1:
            below = limbs[..., -2]
            sign = -(below >> (fixed.BITS - 1))
            if not np.array_equal(limbs[..., -1], sign):
                break
            limbs = np.concatenate(
                [limbs[..., :-2], (below + (sign << fixed.BITS))[..., None]], axis=-1
            )
        if not limbs.any():
            exponent = 0
        return Exact(np.ascontiguousarray(limbs), exponent)

    def sign(self) -> Integers:
        """-1, 0 or 1 for each number, exactly."""
        top = np.sign(self.limbs[..., -1])
        return np.where(top == 0, self.limbs.any(axis=-1).astype(np.int64), top)

    def compact(self) -> Exact:
        """Trimmed where that frees memory worth the time."""
        large = self.limbs.shape[-1] > 1 and self.limbs.nbytes > 1 << 20
        return self.trimmed() if large else self

    def pair(self) -> Pair:
        """The first 106 bits; they depend on the number alone."""
        return Pair(*kernels.to_pairs(self.limbs, self.exponent))

    def rounded(self) -> Floats:
        """As doubles, within half a unit in the last place (and 2^-52 of one)."""
        if self.limbs.shape[-1] == 1 and self.exponent == 0:
            return self.limbs[..., 0].astype(np.float64)
        return kernels.to_pairs(self.limbs, self.exponent)[0]

    def arrays(self, name: str) -> dict[str, Array]:
        """As plain arrays, for a file."""
        least = self.trimmed()
        return {f"{name}.limbs": least.limbs, f"{name}.exponent": np.asarray(least.exponent)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], name: str) -> Exact:
        return cls(np.asarray(arrays[f"{name}.limbs"]), int(arrays[f"{name}.exponent"]))


def _aligned(a: Exact, b: Exact) -> tuple[Integers, Integers, int]:
    """Limbs of two sums over one window, with room for a carry."""
    if a.exponent == b.exponent and a.limbs.shape[-1] == b.limbs.shape[-1] == 1:
        return a.limbs, b.limbs, a.exponent  # whole numbers: one limb has room enough
    low = min(a.exponent, b.exponent)
    ends = [x.exponent + fixed.BITS * x.limbs.shape[-1] for x in (a, b)]
    size = (max(ends) - low) // fixed.BITS
    roomy = all(np.abs(x.limbs[..., -1]).max(initial=0) < 1 << 30 for x in (a, b))
    size += 0 if roomy and size > 1 else 1
    return _widened(a, low, size), _widened(b, low, size), low


def _widened(x: Exact, exponent: int, size: int) -> Integers:
    below = (x.exponent - exponent) // fixed.BITS
    above = size - below - x.limbs.shape[-1]
    if below == above == 0:
        return x.limbs
    wide = np.zeros((*x.shape, size), np.int64)
    wide[..., below : below + x.limbs.shape[-1]] = x.limbs
    return wide
