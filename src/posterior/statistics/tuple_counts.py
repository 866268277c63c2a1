"""Weights of the values of columns together with those of their parents, as many as were seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from posterior import kernels
from posterior.data.rows import CodedRows, Groups, Hard
from posterior.data.typing import Array, Floats, Integers
from posterior.statistics.counts import Counts
from posterior.statistics.exact import Exact
from posterior.statistics.extent import as_codes
from posterior.statistics.keyed import Values, places, same, union

Parents: TypeAlias = tuple[tuple[int, ...] | None, ...]
"""The parents of each column, the nearest first; None for a column that is left out."""


@dataclass(frozen=True, eq=False)
class TupleCounts:
    """n_k,c = Σᵢ r_ik [row i has the values c of a column and its parents], in each of k groups.

    A cell c = (parents' codes, own code). The first parent whose cell is missing ends the context:
    its code and those behind it are -1. Rows whose own cell is missing are left out.
    """

    values: Values  # sorted, one array a column
    parents: Parents
    cells: tuple[Integers, ...]  # (m, parents + 1), in the order of their keys, one a column
    table: Exact  # (k, Σ m)

    @classmethod
    def of(cls, X: CodedRows, groups: Groups, parents: Parents) -> TupleCounts:
        """Of rows that each belong to one group."""
        assert isinstance(groups, Hard)
        given, sizes = as_codes(X.codes), [len(v) for v in X.values]
        codes = np.full(given.shape, -1, np.int32)
        cells = []
        for j, above in enumerate(parents):
            if above is None:
                cells.append(np.empty((0, 1), np.int64))
                continue
            tuples = contexts(given, sizes, above, j)
            known = (tuples[:, -1] >= 0) & (tuples[:, -1] < sizes[j]) & (groups.codes >= 0)
            radix = [sizes[a] for a in above] + [sizes[j]]
            keys, place = distinct(keyed(tuples[known], radix), n_keys(radix))
            codes[known, j] = place
            cells.append(unkeyed(keys, radix))
        m = np.array([len(c) for c in cells], np.int64)
        k, weight = groups.n_groups, groups.weight
        counted = kernels.category_counts(codes, groups.codes, weight, k, m)
        pairs = zip(X.values, parents, strict=True)
        values = tuple(v[:0] if above is None else v for v, above in pairs)
        return cls(values, parents, tuple(cells), Exact(*counted))

    @cached_property
    def sizes(self) -> list[int]:
        return [len(v) for v in self.values]

    @cached_property
    def offset(self) -> Integers:
        return np.concatenate([[0], np.cumsum([len(c) for c in self.cells])]).astype(np.int64)

    def radix(self, j: int) -> list[int]:
        """How many values a column's parents, and it, have."""
        return [self.sizes[a] for a in self.parents[j] or ()] + [self.sizes[j]]

    def columns(self, table: Array) -> list[Array]:
        """A table (..., Σ m) cut into its columns."""
        return np.split(table, self.offset[1:-1], axis=-1)

    def single(self) -> Counts:
        """The weights of values alone."""
        limbs, shape = self.table.limbs, self.table.shape
        wide = np.zeros((sum(self.sizes), shape[0], limbs.shape[-1] + 1), np.int64)
        start = np.concatenate([[0], np.cumsum(self.sizes)])
        own = [start[j] + c[:, -1] for j, c in enumerate(self.cells)]
        room = np.concatenate([limbs, np.zeros((*shape, 1), np.int64)], axis=-1)
        kernels.carry(room)
        np.add.at(wide, np.concatenate(own).astype(np.int64), room.swapaxes(0, 1))
        total = np.ascontiguousarray(wide.swapaxes(0, 1))
        kernels.carry(total)
        return Counts(self.values, Exact(total, self.table.exponent))

    def __add__(self, other: TupleCounts, /) -> TupleCounts:
        if not same(self.values, other.values):
            values = tuple(union(a, b) for a, b in zip(self.values, other.values, strict=True))
            return self.widened(values) + other.widened(values)
        if all(map(np.array_equal, self.cells, other.cells)):
            return replace(self, table=self.table + other.table)
        cells = []
        for j, (a, b) in enumerate(zip(self.cells, other.cells, strict=True)):
            radix = self.radix(j)
            cells.append(unkeyed(np.union1d(keyed(a, radix), keyed(b, radix)), radix))
        return self.with_cells(tuple(cells)) + other.with_cells(tuple(cells))

    def with_cells(self, cells: tuple[Integers, ...]) -> TupleCounts:
        """The same counts among more cells."""
        start = np.concatenate([[0], np.cumsum([len(c) for c in cells])]).astype(np.int64)
        index = []
        for j, (old, new) in enumerate(zip(self.cells, cells, strict=True)):
            radix = self.radix(j)
            index.append(start[j] + np.searchsorted(keyed(new, radix), keyed(old, radix)))
        limbs = np.zeros(
            (self.table.shape[0], int(start[-1]), self.table.limbs.shape[-1]), np.int64
        )
        limbs[:, np.concatenate(index).astype(np.int64)] = self.table.limbs
        return replace(self, cells=cells, table=Exact(limbs, self.table.exponent))

    def widened(self, values: Values) -> TupleCounts:
        """The same counts over more values."""
        index = [
            np.append(places(new, old), -1) for new, old in zip(values, self.values, strict=True)
        ]
        cells, order, start = [], [], 0
        sizes = [len(v) for v in values]
        for j, old in enumerate(self.cells):
            columns = [*(self.parents[j] or ()), j]
            cell = np.stack([index[c][old[:, i]] for i, c in enumerate(columns)], axis=1)
            ranked = np.argsort(keyed(cell, [sizes[c] for c in columns]))
            cells.append(cell[ranked].astype(np.int64))
            order.append(start + ranked)
            start += len(old)
        limbs = np.ascontiguousarray(self.table.limbs[:, np.concatenate(order).astype(np.int64)])
        return replace(
            self, values=values, cells=tuple(cells), table=Exact(limbs, self.table.exponent)
        )

    def seen(self) -> TupleCounts:
        """Without cells and values that no group holds any more."""
        keep = np.asarray(self.table.limbs.any(axis=(0, 2)))
        if keep.all():
            return self.narrowed()
        masks = self.columns(keep)
        cells = tuple(c[m] for c, m in zip(self.cells, masks, strict=True))
        limbs = np.ascontiguousarray(self.table.limbs[:, keep])
        left = replace(self, cells=cells, table=Exact(limbs, self.table.exponent))
        return left.narrowed()

    def narrowed(self) -> TupleCounts:
        """Without values that no cell has: no cell of its own, and none as a parent."""
        held = [np.zeros(n + 1, bool) for n in self.sizes]  # the last is for -1
        for j, cell in enumerate(self.cells):
            for i, c in enumerate([*(self.parents[j] or ()), j]):
                held[c][cell[:, i]] = True
        fewer = tuple(v[h[:-1]] for v, h in zip(self.values, held, strict=True))
        if same(fewer, self.values):
            return self
        index = [np.append(np.cumsum(h[:-1]) - 1, -1) for h in held]
        cells = tuple(
            np.stack([index[c][cell[:, i]] for i, c in enumerate([*(above or ()), j])], axis=1)
            for j, (above, cell) in enumerate(zip(self.parents, self.cells, strict=True))
        )
        return replace(self, values=fewer, cells=cells)

    def __neg__(self) -> TupleCounts:
        return replace(self, table=-self.table)

    def __sub__(self, other: TupleCounts, /) -> TupleCounts:
        return self + -other

    def __mul__(self, factor: float, /) -> TupleCounts:
        return replace(self, table=self.table * factor)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TupleCounts):
            return NotImplemented
        a, b = self.seen(), other.seen()
        alike = a.parents == b.parents and same(a.values, b.values)
        return alike and all(map(np.array_equal, a.cells, b.cells)) and a.table == b.table

    __hash__ = None  # type: ignore[assignment]

    def take(self, groups: Any) -> TupleCounts:
        return replace(self, table=self.table[groups])

    def placed(self, index: Array, n_groups: int) -> TupleCounts:
        return replace(self, table=self.table.placed(index, n_groups))

    def pooled(self) -> TupleCounts:
        return replace(self, table=self.table.sum(axis=0).reshape(1, -1))

    def compact(self) -> TupleCounts:
        return replace(self, table=self.table.compact())

    def keeps_rows(self) -> bool:
        return False

    def impossible(self) -> Array:
        """Columns with a count below zero, (k, d)."""
        negative = self.columns(self.table.sign() < 0)
        return np.stack([column.any(axis=1) for column in negative], axis=1)

    def numbers(self) -> Floats:
        return self.table.rounded()

    def arrays(self) -> dict[str, Array]:
        parts = {f"values.{j}": v for j, v in enumerate(self.values)}
        parts |= {f"cells.{j}": c for j, c in enumerate(self.cells)}
        parts |= {
            f"parents.{j}": np.array(p, np.int64)
            for j, p in enumerate(self.parents)
            if p is not None
        }
        return parts | self.table.arrays("table")

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> TupleCounts:
        n = sum(name.startswith("values.") for name in arrays)
        above = [arrays.get(f"parents.{j}") for j in range(n)]
        return cls(
            tuple(np.asarray(arrays[f"values.{j}"]) for j in range(n)),
            tuple(None if p is None else tuple(np.asarray(p).tolist()) for p in above),
            tuple(np.asarray(arrays[f"cells.{j}"]) for j in range(n)),
            Exact.from_arrays(arrays, "table"),
        )


def contexts(codes: Array, sizes: list[int], above: tuple[int, ...], j: int) -> Integers:
    """Cells (n, parents + 1) of rows: a parent that is missing or never seen ends the context."""
    out = np.empty((len(codes), len(above) + 1), np.int64)
    known = np.ones(len(codes), bool)
    for i, a in enumerate(above):
        known &= (codes[:, a] >= 0) & (codes[:, a] < sizes[a])
        out[:, i] = np.where(known, codes[:, a], -1)
    out[:, -1] = codes[:, j]
    return out


def n_keys(radix: list[int]) -> int:
    """How many keys there can be."""
    n = int(np.prod([r + 1 for r in radix], dtype=object))
    if n >= 1 << 62:
        raise ValueError(
            f"Expected values of a column and its parents that make up fewer than 2^62 kinds of "
            f"rows, got {radix} of them. Lower k, or leave columns of many values out."
        )
    return n


def keyed(cells: Integers, radix: list[int]) -> Integers:
    """Cells as numbers, in the order of their codes; -1 comes before 0."""
    n_keys(radix)
    key = np.zeros(len(cells), np.int64)
    for i, size in enumerate(radix):
        key = key * (size + 1) + (cells[:, i] + 1)
    return key


def unkeyed(keys: Integers, radix: list[int]) -> Integers:
    """The cells of keys."""
    cells = np.empty((len(keys), len(radix)), np.int64)
    for i in range(len(radix) - 1, -1, -1):
        keys, code = np.divmod(keys, radix[i] + 1)
        cells[:, i] = code - 1
    return cells


def distinct(keys: Integers, n: int) -> tuple[Integers, Integers]:
    """The sorted keys, each once, and the place of each among them; all are below n."""
    if n > 4 * len(keys) + 1024:
        found, place = np.unique(keys, return_inverse=True)
        return found, place
    held = np.zeros(n, bool)
    held[keys] = True
    return np.flatnonzero(held), (np.cumsum(held) - 1)[keys]
