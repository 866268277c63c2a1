"""Columns whose cells a database adds up as whole numbers, or as doubles that do not round."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sqlglot import exp

from posterior.data.typing import Floats
from posterior.kernels import limbs
from posterior.sql.connections import Kind
from posterior.sql.expressions import SQL, column, double, less, number, times
from posterior.statistics.moments import few_bits

SOURCE = "posterior_rows"  # what the user's query is called inside ours
FEW = 13  # bits of cells whose squares add up in doubles, some 100 million of them
PART = 31  # bits of a part: products of two fit into 64
MOST = 3  # parts; beyond, it is faster to read the rows
ABOVE, BELOW = 2, 3  # bits to spare for cells larger and finer than those of a sample
FAR = 300  # exponents of two that a query can say, there and back


class NotInsideError(Exception):
    """Why sums are not for the database; the rows are read instead."""


@dataclass(frozen=True)
class Cells:
    """A column of the table, and what some of its cells say about them all."""

    name: str
    kind: Kind
    origin: float = 0.0  # near the mean
    unit: float = 1.0  # of which cells seem to be multiples, a power of two
    parts: int = 0  # to cut them into; 0 if they add up as they are
    single: bool = False  # of 32 bits
    small: bool = False  # whole numbers whose squares seem to fit into 32 bits

    @classmethod
    def of(cls, name: str, kind: Kind, sample: Floats) -> Cells:
        values = sample[np.isfinite(sample)].astype(np.float64)
        least = cls(name, kind, single=sample.dtype == np.float32)
        if not values.any():
            return least
        lowest, top = _lowest(values), int(np.frexp(np.abs(values).max())[1])
        if max(top, -lowest) > FAR:
            return replace(least, unit=0.0)
        origin = float(few_bits(values.mean()))
        if kind != "real":
            return replace(least, origin=origin, small=kind == "whole" and top <= FEW)
        lowest = min(lowest, 0) if top <= FEW else lowest  # a sample of even numbers may be chance
        if top - lowest <= FEW:
            return replace(least, origin=origin, unit=2.0**lowest)
        for parts in range(1, MOST + 1):
            unit = top + ABOVE - PART * parts
            if unit + BELOW <= lowest:
                return replace(least, origin=origin, unit=2.0**unit, parts=parts)
        return replace(least, origin=origin, unit=0.0)

    @property
    def raw(self) -> SQL:
        return column(self.name, SOURCE)

    @property
    def number(self) -> SQL:
        """A whole number or a double."""
        if self.kind == "truth":
            return exp.cast(self.raw, "int")
        if self.kind in ("whole", "long", "real"):
            return double(self.raw) if self.single else self.raw
        raise NotInsideError(f"Column {self.name!r} holds no plain numbers.")

    @property
    def centered(self) -> SQL:
        """x - o, in doubles."""
        x = self.number if self.kind == "real" else double(self.number)
        return less(x, self.origin)

    def is_finite(self) -> SQL:
        """x - x = 0, but for NaN and infinities: databases say that NaN = NaN"""
        gap = exp.Sub(this=self.number, expression=self.number)
        return exp.EQ(this=gap, expression=number(0.0))

    def is_multiple(self) -> SQL:
        """Whether a cell is a multiple of the unit u."""
        if self.unit == 0:
            raise NotInsideError(f"Cells of column {self.name!r} have too many digits.")
        if self.parts:
            last = self._in_units(int(np.log2(self.unit)))
            return exp.EQ(this=last, expression=exp.Floor(this=last.copy()))
        M = number(1.5 * 2.0**52 * self.unit)  # doubles near it are u apart
        near = exp.Paren(this=exp.Add(this=self.number, expression=M))
        return exp.EQ(this=self.number, expression=exp.Sub(this=near, expression=M.copy()))

    def words(self) -> list[tuple[SQL, int]]:
        """Whole numbers aᵢ of up to 64 bits and exponents eᵢ: x = Σᵢ aᵢ 2^eᵢ."""
        e = int(np.log2(self.unit))
        if self.parts < MOST:
            return [(_whole(self._in_units(e)), e)]
        above = exp.Floor(this=self._in_units(e + PART))
        rest = exp.Sub(this=self._in_units(e + PART), expression=above.copy())
        low = _whole(times(exp.Paren(this=rest), number(2.0**PART)))
        return [(_whole(above), e + PART), (low, e)]

    def cut(self) -> list[tuple[SQL, int]]:
        """The words, the first one in halves: all parts but the first are in [0, 2^31)."""
        (first, e), *rest = self.words()
        return [(first, e)] if self.parts == 1 else [*_halves(first, e), *rest]

    def _in_units(self, e: int) -> SQL:
        return times(self.number, number(2.0**-e)) if e else self.number


def _halves(whole: SQL, e: int) -> list[tuple[SQL, int]]:
    shift, mask = (exp.Literal.number(n) for n in (PART, 2**PART - 1))
    high = exp.BitwiseRightShift(this=whole, expression=shift)
    low = exp.BitwiseAnd(this=whole.copy(), expression=mask)
    return [(exp.Paren(this=high), e + PART), (exp.Paren(this=low), e)]


def _whole(value: SQL) -> SQL:
    return exp.cast(value, "bigint")


def _lowest(values: Floats) -> int:
    """The exponent of the largest power of two of which all values are multiples."""
    mantissa, exponent = limbs.integers(values[values != 0])
    return int((np.log2((mantissa & -mantissa).astype(np.float64)) + exponent).min())
