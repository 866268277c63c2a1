"""Terms of an additive model: tables over groups of the cells of some columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from posterior import kernels
from posterior.data.typing import Array, Codes, Floats, Integers

MOST_CELLS = 1 << 14  # of a table that others are added to


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """T[group of the cell of each column], for each output.

    The last group of a column is that of values never seen, where a term says what it says on
    average over the column.
    """

    columns: tuple[int, ...]  # ascending
    groups: tuple[Array, ...]  # of each column (cells + 1,) uint8
    table: Floats  # (groups, ..., outputs)

    def plus(self, other: Term) -> Term | None:
        """One table over the cuts of both, of the same columns; None if it is no longer small."""
        pairs = zip(self.groups, other.groups, strict=True)
        joint = [_together(a, b) for a, b in pairs]
        if prod(len(mine) for _, mine, _ in joint) > MOST_CELLS:
            return None
        groups, mine, theirs = zip(*joint, strict=True)
        return Term(self.columns, groups, _spread(self.table, mine) + _spread(other.table, theirs))


def _together(a: Array, b: Array) -> tuple[Array, Integers, Integers]:
    """Groups of cells that are of one group in both, in order, and where each stands in both."""
    width = int(b[-1]) + 1  # the last cell, of values never seen, has the highest group in both
    both = a.astype(np.int64) * width + b
    found = np.zeros(int(both[-1]) + 1, bool)
    found[both] = True
    kept = np.flatnonzero(found)
    group = (np.cumsum(found) - 1)[both]
    return group.astype(np.uint8), kept // width, kept % width


def _spread(table: Floats, places: Sequence[Integers]) -> Floats:
    """The cells at some places of each axis, where one may be asked for more than once."""
    for axis, place in enumerate(places):
        table = table.take(place, axis)
    return table


def gathered(terms: Iterable[Term]) -> list[Term]:
    """Terms of the same columns added up, as long as their tables stay small."""
    kept: dict[tuple[int, ...], list[Term]] = {}
    for term in terms:
        same = kept.setdefault(term.columns, [])
        both = same[-1].plus(term) if same else None
        same[-1:] = [*same[-1:], term] if both is None else [both]
    return [term for columns in sorted(kept, key=lambda c: (len(c), c)) for term in kept[columns]]


def purified(terms: Iterable[Term], weights: Sequence[Floats]) -> tuple[Floats, list[Term]]:
    """The same sum of terms, each of which is zero on average over any of its columns.

        T_S = Σ over parts P of S of f_P,   f_P = Π_{j in P} (1 - E_j) Π_{j not in P} E_j T

    E_j is the mean over the cells of column j, by the weight of the rows in them. What a table of
    two columns says of one alone moves to that one's table, and what it says of all to the
    constant; a value never seen then adds nothing. (Lengerich et al. 2020, with columns weighed
    one by one: one sweep does, and no cell without rows is needed.)
    """
    constant, parts = np.zeros(()), list[Term]()
    for term in terms:
        pairs = zip(term.columns, term.groups, strict=True)
        shares = [group_shares(weights[j], group) for j, group in pairs]
        for axes, part in _parts(term.table, shares).items():
            if not axes:
                constant = constant + part
                continue
            columns = tuple(term.columns[a] for a in axes)
            parts.append(Term(columns, tuple(term.groups[a] for a in axes), part))
    return constant, gathered(parts)


def group_shares(weight: Floats, group: Array) -> Floats:
    """The share of each group among the rows; none is of values never seen."""
    total = np.bincount(group[:-1], weight, int(group.max()) + 1)
    return np.asarray(total / max(total.sum(), np.finfo(float).tiny))


def _parts(table: Floats, shares: Sequence[Floats]) -> dict[tuple[int, ...], Floats]:
    """What is of some axes alone, for all sets of axes: each axis in turn halves what there is."""
    parts: dict[tuple[int, ...], Floats] = {(): table}
    for a in reversed(range(len(shares))):
        halves: dict[tuple[int, ...], Floats] = {}
        for axes, part in parts.items():
            mean = _mean(part, shares[a], a)
            apart = part - np.expand_dims(mean, a)
            apart[(slice(None),) * a + (-1,)] = 0.0
            halves |= {axes: mean, (a, *axes): apart}
        parts = halves
    return parts


def _mean(table: Floats, share: Floats, axis: int) -> Floats:
    """Σ_g share_g T[.., g, ..]: summed by NumPy, as products of BLAS round by the processor."""
    lines = np.moveaxis(table, axis, -1) * share
    return np.asarray(np.moveaxis(lines, -1, 0).sum(axis=0))


def average_of_unseen(term: Term, weights: Sequence[Floats]) -> Term:
    """The same term, whose last group of each column is the mean over the others."""
    table = term.table
    for a, (j, group) in enumerate(zip(term.columns, term.groups, strict=True)):
        table = np.moveaxis(table.copy(), a, 0)
        table[-1] = _mean(table, group_shares(weights[j], group), 0)
        table = np.moveaxis(table, 0, a)
    return Term(term.columns, term.groups, np.ascontiguousarray(table))


@dataclass(frozen=True, eq=False)
class Terms:
    """Many terms, their numbers side by side as the kernel reads them."""

    axis: Integers  # (t + 1,): the axes of term t are axis[t] .. axis[t + 1]
    column: Codes  # of each axis
    first: Integers  # (axes + 1,): where the groups of an axis begin
    group: Array  # uint8
    start: Integers  # (t + 1,): where the cells of a table begin
    values: Floats  # (cells, outputs)

    @classmethod
    def of(cls, terms: Sequence[Term], outputs: int) -> Terms:
        groups = [group for term in terms for group in term.groups]
        tables = [term.table.reshape(-1, outputs) for term in terms]
        return cls(
            _ends([len(term.columns) for term in terms]),
            np.array([j for term in terms for j in term.columns], np.int32),
            _ends([len(group) for group in groups]),
            np.concatenate([*groups, np.empty(0, np.uint8)]),
            _ends([len(table) for table in tables]),
            np.concatenate([*tables, np.empty((0, outputs))]),
        )

    def __len__(self) -> int:
        return len(self.axis) - 1

    def __getitem__(self, t: int) -> Term:
        axes = range(self.axis[t], self.axis[t + 1])
        groups = tuple(self.group[self.first[a] : self.first[a + 1]] for a in axes)
        shape = [int(group.max()) + 1 for group in groups]
        table = self.values[self.start[t] : self.start[t + 1]]
        columns = tuple(int(self.column[a]) for a in axes)
        return Term(columns, groups, table.reshape(*shape, self.values.shape[1]))

    @cached_property
    def stride(self) -> Integers:
        """How many cells of its table a group of each axis counts for."""
        stride = np.ones(len(self.column), np.int64)
        for t in range(len(self)):
            for a in range(self.axis[t + 1] - 2, self.axis[t] - 1, -1):
                stride[a] = stride[a + 1] * (int(self._last_group[a + 1]) + 1)
        return stride

    @cached_property
    def _last_group(self) -> Array:
        return np.maximum.reduceat(self.group, self.first[:-1]) if len(self.column) else self.group

    @cached_property
    def columns(self) -> list[tuple[int, ...]]:
        """The columns of each term."""
        pairs = zip(self.axis[:-1], self.axis[1:], strict=True)
        return [tuple(self.column[a:b].tolist()) for a, b in pairs]

    def add_to(self, codes: Array, out: Floats) -> None:
        """out ← out + Σ_t T_t of rows of cells (d, n)."""
        tables = self.axis, self.column, self.first, self.stride, self.group, self.start
        kernels.add_tables(codes, *tables, self.values, out)

    def of_columns(self) -> dict[tuple[int, ...], list[int]]:
        """The terms of each set of columns, which are parts of one function."""
        found: dict[tuple[int, ...], list[int]] = {}
        for t, columns in enumerate(self.columns):
            found.setdefault(columns, []).append(t)
        return found

    def some(self, chosen: Sequence[int]) -> Terms:
        """A few of the terms."""
        return Terms.of([self[t] for t in chosen], self.values.shape[1])


def _ends(lengths: Sequence[int]) -> Integers:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
