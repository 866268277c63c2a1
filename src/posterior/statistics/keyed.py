"""Weights keyed by the values that they belong to: those of different vocabularies add."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from posterior.data.typing import Array, Integers
from posterior.statistics.exact import Exact

Values = tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class Keyed(ABC):
    """Exact weights of values in each of k groups; a subclass says of which ones together."""

    values: Values  # sorted, one array a column
    table: Exact  # (k, ...), the values of a column side by side

    @cached_property
    def sizes(self) -> Integers:
        return np.array([len(v) for v in self.values], np.int64)

    @cached_property
    def offset(self) -> Integers:
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @abstractmethod
    def widened(self, values: Values) -> Self:
        """The same weights over more values."""

    @abstractmethod
    def seen(self) -> Self:
        """Without the values that no group holds any more."""

    def _index(self, values: Values) -> tuple[Integers, int]:
        """Where the values stand among others, all columns side by side, and how many these are."""
        offset = np.concatenate([[0], np.cumsum([len(v) for v in values])])
        index = [offset[j] + places(values[j], v) for j, v in enumerate(self.values)]
        return np.concatenate(index).astype(np.int64), int(offset[-1])

    def __add__(self, other: Self, /) -> Self:
        if self.values is other.values or same(self.values, other.values):
            return type(self)(self.values, self.table + other.table)
        values = tuple(union(a, b) for a, b in zip(self.values, other.values, strict=True))
        return self.widened(values) + other.widened(values)

    def __neg__(self) -> Self:
        return type(self)(self.values, -self.table)

    def __sub__(self, other: Self, /) -> Self:
        return self + -other

    def __mul__(self, factor: float, /) -> Self:
        return type(self)(self.values, self.table * factor)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        a, b = self.seen(), other.seen()
        return same(a.values, b.values) and a.table == b.table

    def take(self, groups: Any) -> Self:
        return type(self)(self.values, self.table[groups])

    def placed(self, index: Array, n_groups: int) -> Self:
        return type(self)(self.values, self.table.placed(index, n_groups))

    def pooled(self) -> Self:
        total = self.table.sum(axis=0)
        return type(self)(self.values, total.reshape(1, *total.shape))

    def compact(self) -> Self:
        return type(self)(self.values, self.table.compact())

    def keeps_rows(self) -> bool:
        return False

    def arrays(self) -> dict[str, Array]:
        parts = {f"values.{j}": v for j, v in enumerate(self.values)}
        return parts | self.table.arrays("table")

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        n = sum(name.startswith("values.") for name in arrays)
        values = tuple(np.asarray(arrays[f"values.{j}"]) for j in range(n))
        return cls(values, Exact.from_arrays(arrays, "table"))


def same(a: Values, b: Values) -> bool:
    """Whether columns have the same values."""
    return len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def union(a: Array, b: Array) -> Array:
    """The values of both, sorted."""
    if np.array_equal(a, b) or len(b) == 0:
        return a
    if len(a) == 0:
        return b
    if _is_text(a) != _is_text(b):
        a, b = (np.array([str(v) for v in x.tolist()]) for x in (a, b))
    return np.union1d(a, b)


def places(values: Array, wanted: Array) -> Integers:
    """Where some values stand among others; beyond the last if they do not."""
    if _is_text(values) != _is_text(wanted):
        place = {str(v): i for i, v in enumerate(values.tolist())}
        return np.array([place.get(str(v), len(values)) for v in wanted.tolist()], np.int64)
    place_of = np.searchsorted(values, wanted)
    known = place_of < len(values)
    known[known] = values[place_of[known]] == wanted[known]
    return np.where(known, place_of, len(values))


class Places:
    """`places` among values that are asked for again and again: looked up, not searched for."""

    def __init__(self, values: Array) -> None:
        self._values = values
        self._place = {value: i for i, value in enumerate(values.tolist())}
        self._last: tuple[Array, list[int]] = values, list(range(len(values)))

    def __len__(self) -> int:
        return len(self._values)

    def __call__(self, wanted: Array) -> list[int]:
        known, found = self._last
        if known is wanted:  # bins are the same in every chunk
            return found
        if _is_text(self._values) != _is_text(wanted):
            found = places(self._values, wanted).tolist()
        else:
            place, none = self._place, len(self._values)
            found = [place.get(value, none) for value in wanted.tolist()]
        self._last = wanted, found
        return found


def _is_text(values: Array) -> bool:
    return values.dtype.kind in "OU"
