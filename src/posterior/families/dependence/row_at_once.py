"""All columns of one row at once: p(xⱼ | k, parents) of every column j, level by level.

Many rows repeat their contexts, so `Chain` looks each up once, column by column; in one row nothing
repeats, and the calls are what it costs. Cells are computed by the operations of `Chain`, to the
bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Codes, Floats
from posterior.families.dependence.chain import Chain, Level, looked_up
from posterior.families.dependence.smoothing import Smoothing, smoothed
from posterior.statistics.tuple_counts import n_keys

MOST_KEYS = 1 << 62  # of all columns together


@dataclass(frozen=True, slots=True, eq=False)
class Depth:
    """The counts of the columns that have so many parents, the keys of one behind the other's."""

    columns: tuple[int, ...]  # which of the chains
    first_cell: tuple[int, ...]  # where the keys of each begin
    first_context: tuple[int, ...]
    counts: Level

    @classmethod
    def of(cls, chains: Sequence[Chain], depth: int) -> Depth | None:
        """None where there are more keys than whole numbers."""
        columns = tuple(i for i, chain in enumerate(chains) if depth < len(chain.level))
        cells, contexts = [0], [0]
        for i in columns:
            radix = list(chains[i].radix)
            cells.append(cells[-1] + n_keys([*radix[:depth], radix[-1]]))
            contexts.append(contexts[-1] + n_keys(radix[:depth]))
        if max(cells[-1], contexts[-1]) >= MOST_KEYS:
            return None
        levels = [chains[i].level[depth] for i in columns]
        counts = Level(
            np.concatenate([a.cell + first for a, first in zip(levels, cells, strict=False)]),
            np.concatenate([a.count for a in levels]),
            np.concatenate([a.context + first for a, first in zip(levels, contexts, strict=False)]),
            np.concatenate([a.total for a in levels]),
        )
        return cls(columns, tuple(cells[:-1]), tuple(contexts[:-1]), counts)


@dataclass(frozen=True, slots=True, eq=False)
class RowAtOnce:
    """Chains side by side, prepared once."""

    depths: tuple[Depth, ...]
    own: tuple[int, ...]  # the column of each chain,
    parents: tuple[tuple[int, ...], ...]  # and those that it depends on
    radix: tuple[tuple[int, ...], ...]
    smoothing: Smoothing

    @classmethod
    def of(
        cls, chains: Sequence[tuple[int, Chain]], parents: Sequence[tuple[int, ...] | None]
    ) -> RowAtOnce | None:
        """None where columns must be asked one by one."""
        if not chains:
            return None
        own, each = zip(*chains, strict=True)
        depths = [Depth.of(each, depth) for depth in range(max(len(c.level) for c in each))]
        found = tuple(depth for depth in depths if depth is not None)
        if len(found) < len(depths):
            return None
        above = tuple(parents[j] or () for j in own)
        return cls(found, own, above, tuple(c.radix for c in each), each[0].smoothing)

    def __call__(self, codes: Sequence[int]) -> tuple[Codes, Floats]:
        """Whether each cell is known, 0 or -1, and log p(xⱼ | k, parents) (columns, k)."""
        values = [codes[j] for j in self.own]
        sizes = [radix[-1] for radix in self.radix]
        unseen = np.array([v >= size for v, size in zip(values, sizes, strict=True)])
        shown = [max(min(v, size - 1), -1) + 1 for v, size in zip(values, sizes, strict=True)]
        n_values = (np.array(sizes) + unseen).astype(np.float64)[:, None]
        context = [0] * len(values)  # the key of the parents so far; -1: one is not known
        p: Floats = np.empty(0)
        for level, depth in enumerate(self.depths):
            cells, contexts, known = [], [], []
            for i, cell, above in zip(
                depth.columns, depth.first_cell, depth.first_context, strict=True
            ):
                if level and context[i] >= 0:
                    parent, size = codes[self.parents[i][level - 1]], self.radix[i][level - 1]
                    context[i] = context[i] * (size + 1) + parent + 1 if 0 <= parent < size else -1
                if context[i] >= 0:
                    known.append(i)
                    cells.append(cell + context[i] * (sizes[i] + 1) + shown[i])
                    contexts.append(above + context[i])
            if not known:
                break
            count = looked_up(depth.counts.cell, depth.counts.count, np.array(cells))
            total = looked_up(depth.counts.context, depth.counts.total, np.array(contexts))
            count[unseen[known]] = 0.0
            column = np.array([self.own[i] for i in known])[:, None]
            size, shorter = n_values[known], p[known] if level else None
            longer = smoothed(
                count, total, size, self.smoothing, shorter, column=column, level=level
            )
            if level:
                p[known] = longer
            else:
                p = longer
        with np.errstate(divide="ignore"):
            return np.array([[-1 if v < 0 else 0 for v in values]], np.int32), np.log(p)
