"""p(x | k, context) of one column, from the shortest context to the longest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Array, Floats, Integers
from posterior.families.dependence.smoothing import Smoothing, smoothed
from posterior.statistics.tuple_counts import keyed

Without = tuple[Array, Floats]
"""A group and a weight for each row: what the row itself has added."""


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Counts of the values, and of their contexts, of as many parents."""

    cell: Integers  # sorted keys of (context, value)
    count: Floats  # (cells, k)
    context: Integers  # sorted keys
    total: Floats  # (contexts, k)


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """What tuples (parents, own value) have been seen, level by level."""

    level: tuple[Level, ...]
    radix: tuple[int, ...]
    smoothing: Smoothing
    column: int

    @classmethod
    def of(
        cls, cells: Integers, count: Floats, radix: list[int], smoothing: Smoothing, column: int
    ) -> Chain:
        """From all cells (m, parents + 1) and their counts (m, k)."""
        levels = []
        for depth in range(len(radix)):
            known = cells[:, depth - 1] >= 0 if depth else np.ones(len(cells), bool)
            part = _at_depth(cells[known], depth)
            cell, by_cell = _summed(keyed(part, [*radix[:depth], radix[-1]]), count[known])
            context, total = _summed(keyed(part[:, :-1], radix[:depth]), count[known])
            levels.append(Level(cell, by_cell, context, total))
        return cls(tuple(levels), tuple(radix), smoothing, column)

    def __call__(self, tuples: Integers) -> Floats:
        """p(x | k, context) (n, k); an own code beyond the last is a value never seen."""
        *_, last = self.levels(tuples)
        return last

    def levels(self, tuples: Integers, without: Without | None = None) -> Iterator[Floats]:
        """The same with the first l parents only, for l = 0, 1, ...; without each row itself."""
        size = self.radix[-1]
        n_values = (size + (tuples[:, -1] >= size)).astype(np.float64)[:, None]
        p: Floats | None = None
        for depth, (count, total) in enumerate(self.counts(tuples, without)):
            at = {"column": self.column, "level": depth}
            longer = smoothed(count, total, n_values, self.smoothing, p, **at)
            if p is not None:  # a context that ended before says no more
                longer = np.where(tuples[:, depth - 1, None] >= 0, longer, p)
            p = longer
            yield p

    def counts(
        self, tuples: Integers, without: Without | None = None
    ) -> Iterator[tuple[Floats, Floats]]:
        """Rows of the own value, and of the context, with the first l parents, (n, k) each."""
        size, radix = self.radix[-1], self.radix
        unseen = tuples[:, -1] >= size
        for depth, level in enumerate(self.level):
            part = _at_depth(tuples, depth)
            part[:, -1] = np.minimum(part[:, -1], size - 1)
            count = looked_up(level.cell, level.count, keyed(part, [*radix[:depth], size]))
            count[unseen] = 0.0
            total = looked_up(level.context, level.total, keyed(part[:, :-1], list(radix[:depth])))
            if without is not None:
                own = np.arange(len(tuples)), without[0]
                for table in (count, total):
                    table[own] = np.maximum(table[own] - without[1], 0.0)
            yield count, total


def _at_depth(tuples: Integers, depth: int) -> Integers:
    """With fewer parents."""
    return np.concatenate([tuples[:, :depth], tuples[:, -1:]], axis=1)


def _summed(keys: Integers, count: Floats) -> tuple[Integers, Floats]:
    found, place = np.unique(keys, return_inverse=True)
    total = np.zeros((len(found), count.shape[1]))
    np.add.at(total, place, count)
    return found, total


def looked_up(keys: Integers, table: Floats, wanted: Integers) -> Floats:
    """Lines of a table by sorted keys, zero where there is none."""
    if len(keys) == 0:
        return np.zeros((len(wanted), table.shape[1]))
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where((keys[place] == wanted)[:, None], table[place], 0.0)
