"""log p(x | k) in symbols, for those who write it down elsewhere, such as in SQL.

A family builds it with the usual signs, `a - b * (x - m) ** 2`, where x is a cell of the row.
`at` works it out for rows of numbers, which tests compare with the family's own evidence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import special

from posterior.data.typing import Array, Floats
from posterior.families.log_rising import log_rising

NEAREST = 1e-40  # deviations: what is closer to zero is zero
FARTHEST = 1e140  # deviations, beyond which squares are on their way to overflow
IMPOSSIBLE = -np.inf


class Expression(ABC):
    """A number that depends on the cells of a row."""

    __slots__ = ()
    __array_ufunc__ = None  # a number of NumPy on the left leaves the sign to us

    @abstractmethod
    def at(self, cells: Mapping[Cell, Array]) -> Floats:
        """The number of each row, of columns of cells (n,)."""

    def __add__(self, other: Expression | float) -> Expression:
        return Sum(self, _expression(other))

    def __radd__(self, other: float) -> Expression:
        return Sum(Number(other), self)

    def __sub__(self, other: Expression | float) -> Expression:
        return Sum(self, -_expression(other))

    def __rsub__(self, other: float) -> Expression:
        return Sum(Number(other), -self)

    def __mul__(self, other: Expression | float) -> Expression:
        return Times(self, _expression(other))

    def __rmul__(self, other: float) -> Expression:
        return Times(Number(other), self)

    def __neg__(self) -> Expression:
        return Times(Number(-1.0), self)


@dataclass(frozen=True, slots=True)
class Number(Expression):
    """A constant."""

    value: float

    def at(self, cells: Mapping[Cell, Array]) -> Floats:
        return np.asarray(self.value, np.float64)

    def __neg__(self) -> Expression:
        return Number(-self.value)

    def __mul__(self, other: Expression | float) -> Expression:
        other = _expression(other)
        return Number(self.value * other.value) if isinstance(other, Number) else Times(self, other)


@dataclass(frozen=True, slots=True)
class Cell(Expression):
    """The cell of a column, from an origin, at most as far as the farthest.

    Zero if it is closer to zero than `least`: there are databases to which a product that vanishes
    is an error.
    """

    name: str
    place: int
    origin: float = 0.0
    least: float = 0.0
    farthest: float = np.inf

    def at(self, cells: Mapping[Cell, Array]) -> Floats:
        x = np.asarray(cells[Cell(self.name, self.place)], np.float64)
        x = np.where(np.abs(x) < self.least, 0.0, x) - self.origin
        return np.clip(x, -self.farthest, self.farthest)


@dataclass(frozen=True, slots=True)
class Sum(Expression):
    """left + right"""

    left: Expression
    right: Expression

    def at(self, cells: Mapping[Cell, Array]) -> Floats:
        return np.asarray(self.left.at(cells) + self.right.at(cells))


@dataclass(frozen=True, slots=True)
class Times(Expression):
    """left · right"""

    left: Expression
    right: Expression

    def at(self, cells: Mapping[Cell, Array]) -> Floats:
        return np.asarray(self.left.at(cells) * self.right.at(cells))

    def __neg__(self) -> Expression:
        return Times(-self.left, self.right)


@dataclass(frozen=True, slots=True)
class Log(Expression):
    """The natural logarithm."""

    of: Expression

    def at(self, cells: Mapping[Cell, Array]) -> Floats:
        return np.asarray(np.log(self.of.at(cells)))


@dataclass(frozen=True, slots=True)
class LogRising(Expression):
    """log Γ(start + of) / Γ(start)"""

    start: float
    of: Expression

    def at(self, cells: Mapping[Cell, Array]) -> Floats:
        return log_rising(self.start, self.of.at(cells))


@dataclass(frozen=True, slots=True)
class Abs(Expression):
    """The distance to zero."""

    of: Expression

    def at(self, cells: Mapping[Cell, Array]) -> Floats:
        return np.asarray(np.abs(self.of.at(cells)))


@dataclass(frozen=True, slots=True)
class Known(Expression):
    """The number, or 0 where the cell is missing."""

    cell: Cell
    of: Expression

    def at(self, cells: Mapping[Cell, Array]) -> Floats:
        return np.where(np.isnan(self.cell.at(cells)), 0.0, self.of.at(cells))


@dataclass(frozen=True, slots=True)
class Within(Expression):
    """One number where the cell is between two ends, and another where it is not."""

    cell: Cell
    low: float
    high: float
    inside: Expression
    outside: Expression

    def at(self, cells: Mapping[Cell, Array]) -> Floats:
        x = self.cell.at(cells)
        there = (x >= self.low) & (x <= self.high)
        value = np.where(there, self.inside.at(cells), self.outside.at(cells))
        return np.where(np.isnan(x), np.nan, value)


@dataclass(frozen=True, slots=True)
class Steps(Expression):
    """values[0] up to the first cut, values[i] above the i-th; 0 where the cell is missing."""

    cell: Cell
    cuts: tuple[float, ...]  # ascending
    values: tuple[float, ...]  # one more than cuts

    def at(self, cells: Mapping[Cell, Array]) -> Floats:
        x = self.cell.at(cells)
        step = np.searchsorted(np.array(self.cuts), x, side="left")
        return np.where(np.isnan(x), 0.0, np.array(self.values)[np.minimum(step, len(self.cuts))])


@dataclass(frozen=True, slots=True)
class Lookup(Expression):
    """The value of the cell's level, or of one never seen; 0 where the cell is missing."""

    cell: Cell
    levels: tuple[Any, ...]
    values: tuple[float, ...]
    otherwise: float

    def at(self, cells: Mapping[Cell, Array]) -> Floats:
        known = dict(zip(self.levels, self.values, strict=True)) | {None: 0.0}
        column = cells[Cell(self.cell.name, self.cell.place)]
        return np.array([known.get(level, self.otherwise) for level in column.tolist()])


@dataclass(frozen=True, slots=True)
class Kernels(Expression):
    """log Σ exp(wᵢ - ½ ((x - vᵢ) / h)²) - height; 0 where the cell is missing."""

    cell: Cell
    values: tuple[float, ...]
    log_weights: tuple[float, ...]
    width: float
    height: float

    def at(self, cells: Mapping[Cell, Array]) -> Floats:
        x = self.cell.at(cells)
        z = (x[:, None] - np.array(self.values)) / self.width
        total = special.logsumexp(np.array(self.log_weights) - 0.5 * z * z, axis=1)
        return np.where(np.isnan(x), 0.0, total - self.height)


@dataclass(frozen=True, slots=True)
class Formula:
    """What one term adds to the score of each group, and what it is about."""

    name: str
    scores: tuple[Expression, ...]

    @classmethod
    def of(cls, cell: Cell, scores: Iterable[Expression]) -> Formula:
        """The term of one cell."""
        return cls(cell.name, tuple(scores))


Cells: TypeAlias = Sequence[Cell]


def squared(x: Expression) -> Expression:
    return Times(x, x)


def from_zero(centers: Floats, deviation: float) -> tuple[Floats, float]:
    """Centers, with those next to zero at zero, and how close to zero a cell is as good as there.

    A cell is rounded only where there is such a center: distances to others do not vanish.
    """
    least = NEAREST * deviation
    at_zero = np.abs(centers) <= least
    return np.where(at_zero, 0.0, centers), least if at_zero.any() else 0.0


def _expression(value: Expression | float) -> Expression:
    return value if isinstance(value, Expression) else Number(float(value))
