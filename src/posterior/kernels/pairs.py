"""Pairs of doubles: about 106 bits, for the few formulas between a sum and a parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.typing import Floats

_SPLIT = 134217729.0  # 2^27 + 1 (Dekker 1971)
_RESOLUTION = 2.0**-94  # of a difference of pairs: a scatter below it is a constant column


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """An array of unevaluated sums high + low, about 106 bits (Dekker 1971, Knuth 1969)."""

    high: Floats
    low: Floats

    @classmethod
    def of(cls, values: Any) -> Pair:
        high = np.asarray(values, np.float64)
        return cls(high, np.zeros_like(high))

    def __getitem__(self, index: Any) -> Pair:
        return Pair(self.high[index], self.low[index])

    @property
    def shape(self) -> tuple[int, ...]:
        return self.high.shape

    def pair(self) -> Pair:
        return self

    def rounded(self) -> Floats:
        """As doubles."""
        return self.high

    def __add__(self, other: Pair) -> Pair:
        high = self.high + other.high
        part = high - self.high
        low = (self.high - (high - part)) + (other.high - part)
        return _renormalized(high, low + (self.low + other.low))

    def __neg__(self) -> Pair:
        return Pair(-self.high, -self.low)

    def __sub__(self, other: Pair) -> Pair:
        return self + -other

    def __mul__(self, other: Pair) -> Pair:
        product = two_product(self.high, other.high)
        cross = self.high * other.low + self.low * other.high
        return _renormalized(product.high, product.low + cross)

    def __truediv__(self, other: Pair) -> Pair:
        quotient = self.high / other.high
        rest = self - other * Pair.of(quotient)
        near = np.where(np.isfinite(rest.high), rest.high / other.high, 0.0)  # near the end: none
        return _renormalized(quotient, near)

    def sum(self, axis: int = 0) -> Pair:
        """Totals over one axis, to the rounding of the low parts."""
        total = Pair(np.zeros(()), np.zeros(()))
        for part in np.moveaxis(np.stack([self.high, self.low], axis=-1), axis, 0):
            total = total + Pair(part[..., 0], part[..., 1])
        return total


def _renormalized(high: Floats, low: Floats) -> Pair:
    total = high + low
    return Pair(total, low - (total - high))


def two_product(a: Floats, b: Floats) -> Pair:
    """a b without rounding: the rounded product and its error."""
    product = a * b
    x, y = _SPLIT * a, _SPLIT * b
    a_high, b_high = x - (x - a), y - (y - b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return Pair(product, error)


def scatter(weight: Pair, total: Pair, squares: Pair) -> Floats:
    """q - s² / w in pairs, rounded once.

    A difference below their resolution is zero; infinity stands for numbers too large to square.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        difference = (squares - total * (total / weight)).rounded()
        varied = np.where(difference > _RESOLUTION * squares.rounded(), difference, 0.0)
        overflown = ~np.isfinite(difference) & (weight.rounded() != 0)
    return np.where(overflown, np.inf, varied)


def less(total: Pair, own: Floats) -> Floats:
    """A sum without one of its terms, which may be nearly all of it."""
    return (total - Pair.of(own)).rounded()


def mean(weight: Pair, total: Pair) -> Floats:
    """s / w in pairs, rounded once; not a number where nothing was seen."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return (total / weight).rounded()
