"""How much of each group lies at each value of columns of numbers: sums, in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.rows import CodedRows, Groups, Hard
from posterior.data.typing import Array, Floats, Integers
from posterior.statistics.counts import Counts
from posterior.statistics.exact import Exact
from posterior.statistics.extent import as_codes
from posterior.statistics.keyed import Values
from posterior.statistics.moments import floats

SIGN = np.uint64(1 << 63)
BELOW_ZERO = np.nextafter(0.0, -1.0)  # -0.0 is no number of its own
WIDEST = 52  # bits: a cell is then all numbers between two powers of two


@dataclass(frozen=True, eq=False)
class Histograms:
    """The weight of each of k groups at each value of a column or, if many, in each of its cells.

    Numbers that differ in their last `shift` bits only share a cell. The shift of a column is the
    least that leaves at most `limit` cells, so it depends on the rows alone, not on their order or
    parts. It never falls again: rows taken back leave their neighbors' cells as wide as they are.
    Every weight is exact; all that is lost is where in a cell it lies, one part in 2^(52 - shift).
    """

    counts: Counts  # whose values are where cells begin
    shift: Integers  # (d,)
    limit: int

    @classmethod
    def of(cls, X: Array, groups: Groups, limit: int) -> Histograms:
        x = floats(X)
        shift, starts = np.zeros(x.shape[1], np.int64), list[Floats]()
        for j, column in enumerate(_counted(x, groups).T):
            ordered = np.sort(keys(column[~np.isnan(column)].astype(np.float64)))
            shift[j] = _least_shift(ordered, 0, limit)
            starts.append(numbers(_distinct(_floor(ordered, shift[j]))))
        codes = as_codes(kernels.digitize(x, [start[1:] for start in starts]))
        return cls(Counts.of(CodedRows(codes, tuple(starts)), groups), shift, limit)

    def last(self) -> list[Floats]:
        """The largest number of each cell, (m,) for each column."""
        pairs = zip(self.counts.values, self.shift, strict=True)
        ends = [numbers(keys(start) | np.uint64((1 << int(s)) - 1)) for start, s in pairs]
        return [np.where(np.signbit(end) & (end == 0), BELOW_ZERO, end) for end in ends]

    def points(self) -> list[tuple[Floats, Floats]]:
        """Of each column the values seen, or the middles of their cells, and weights (k, m)."""
        seen = self.seen()
        weights = seen.counts.columns(np.maximum(seen.counts.table.rounded(), 0.0))
        ends = zip(seen.counts.values, seen.last(), strict=True)
        middles = [first * 0.5 + last * 0.5 for first, last in ends]
        return list(zip(middles, weights, strict=True))

    def coarser(self, shift: Integers) -> Histograms:
        """The same in wider cells."""
        if (shift == self.shift).all():
            return self
        pairs = list(zip(self.counts.values, shift, strict=True))
        cells = [_floor(keys(start), s) for start, s in pairs]
        values = tuple(numbers(_distinct(cell)) for cell in cells)
        return Histograms(gathered(self.counts, cells, values), shift, self.limit)

    def limited(self) -> Histograms:
        """In cells wide enough that no column has more than the limit."""
        pairs = zip(self.counts.values, self.shift, strict=True)
        shift = [_least_shift(keys(start), int(s), self.limit) for start, s in pairs]
        return self.coarser(np.array(shift, np.int64))

    def __add__(self, other: Histograms, /) -> Histograms:
        shift = np.maximum(self.shift, other.shift)
        counts = self.coarser(shift).counts + other.coarser(shift).counts
        return Histograms(counts, shift, min(self.limit, other.limit)).limited()

    def _with(self, counts: Counts) -> Histograms:
        return Histograms(counts, self.shift, self.limit)

    def __neg__(self) -> Histograms:
        return self._with(-self.counts)

    def __sub__(self, other: Histograms, /) -> Histograms:
        return self + -other

    def __mul__(self, factor: float, /) -> Histograms:
        return self._with(self.counts * factor)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Histograms):
            return NotImplemented
        return bool((self.shift == other.shift).all()) and self.counts == other.counts

    __hash__ = None  # type: ignore[assignment]

    def take(self, groups: Any) -> Histograms:
        return self._with(self.counts.take(groups))

    def placed(self, index: Array, n_groups: int) -> Histograms:
        return self._with(self.counts.placed(index, n_groups))

    def pooled(self) -> Histograms:
        return self._with(self.counts.pooled())

    def compact(self) -> Histograms:
        return self._with(self.counts.compact())

    def seen(self) -> Histograms:
        """Without the cells that no group holds any more."""
        return self._with(self.counts.seen())

    def keeps_rows(self) -> bool:
        return False

    def numbers(self) -> Floats:
        return self.counts.numbers()

    def impossible(self) -> Array:
        return self.counts.impossible()

    def arrays(self) -> dict[str, Array]:
        return self.counts.arrays() | {"shift": self.shift, "limit": np.asarray(self.limit)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Histograms:
        shift, limit = np.asarray(arrays["shift"]), int(arrays["limit"])
        return cls(Counts.from_arrays(arrays), shift, limit)


def gathered(counts: Counts, cells: list[Array], values: Values) -> Counts:
    """Neighbors of one cell added up: cells (m,) of the values of each column, ascending."""
    first = [np.append(True, c[1:] != c[:-1])[: len(c)] for c in cells]
    starts = np.flatnonzero(np.concatenate(first))
    table = counts.table
    room = np.zeros((*table.shape, 1), np.int64)  # for the carries of many numbers
    limbs = np.concatenate([table.limbs, room], axis=-1)
    kernels.carry(limbs)
    limbs = np.ascontiguousarray(np.add.reduceat(limbs, starts, axis=1) if len(starts) else limbs)
    kernels.carry(limbs)
    return Counts(values, Exact(limbs, table.exponent).trimmed())


def keys(x: Floats) -> Array:
    """Whole numbers in the order of the doubles, -0 as 0."""
    plain = (x + 0.0).view(np.uint64)
    return np.where(plain & SIGN, ~plain, plain | SIGN)


def numbers(key: Array) -> Floats:
    """The doubles of keys."""
    return np.where(key & SIGN, key ^ SIGN, ~key).view(np.float64)


def _counted(x: Array, groups: Groups) -> Array:
    """The rows that add something."""
    if not isinstance(groups, Hard):
        return x
    counted = groups.codes >= 0
    if groups.weight is not None:
        counted &= groups.weight > 0
    return x if counted.all() else x[counted]


def _floor(key: Array, shift: int) -> Array:
    return key >> np.uint64(shift) << np.uint64(shift)


def _distinct(ordered: Array) -> Array:
    return ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]


def _least_shift(ordered: Array, shift: int, limit: int) -> int:
    """The least shift, from the one given, that leaves at most `limit` cells of sorted keys.

    Neighbors whose highest different bit is the b-th share a cell from the shift b on.
    """
    differ = ordered[1:] ^ ordered[:-1]
    if np.count_nonzero(differ) < limit:
        return shift
    top = differ & ~(differ >> np.uint64(1))  # as long, and no rounding makes it longer
    _, bits = np.frexp(top.astype(np.float64))
    apart = np.cumsum(np.bincount(bits, minlength=65)[::-1])[::-1]  # of b bits or more
    enough = np.flatnonzero(apart[1:] < limit)  # at the shift s, those of s + 1 bits or more
    return max(shift, min(int(enough[0]), WIDEST))
