"""Columns that depend on one other each, as a tree that is found from counts of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.rows import Blocks, Groups, Hard
from posterior.data.typing import Floats
from posterior.families.dependence.coding import Coding
from posterior.families.dependence.dependence_graph import by_information, spanning_tree
from posterior.families.dependence.left_out import ChainedContexts
from posterior.families.dependence.network import Network
from posterior.families.dependence.smoothing import BACK_OFF, Smoothing
from posterior.statistics.exact import Exact
from posterior.statistics.information import conditional_mutual_information, mutual_information
from posterior.statistics.pair_counts import PairCounts
from posterior.statistics.tuple_counts import Parents, TupleCounts


@dataclass(frozen=True, slots=True)
class DependenceTree(Network[PairCounts]):
    """A tree that has the greatest Σ I(Xⱼ; X_parent | Y) (Chow and Liu 1968; Friedman et al. 1997).

    Its root is the column most informative of the class. Counts of all pairs add, so the tree of
    all rows is known from the sums of their parts.
    """

    coding: Coding
    smoothing: Smoothing = BACK_OFF

    def statistics(self, X: Blocks, groups: Groups) -> PairCounts:
        return PairCounts.of(self.coding(X), groups)

    def estimate(self, statistics: PairCounts, pooled: PairCounts | None = None) -> TupleCounts:
        root = by_information(mutual_information(statistics.single()))[0]
        parents = spanning_tree(conditional_mutual_information(statistics), root)
        return counts_of(statistics, parents)

    def leave_one_out(self, X: Blocks, groups: Hard, statistics: PairCounts) -> Floats:
        """Of rows whose values others have too, by the tree of all rows."""
        return self._left_out(X, groups, self.estimate(statistics))

    def left_out(self, X: Blocks, groups: Hard, statistics: PairCounts) -> ChainedContexts:
        """The same as a function of m."""
        return self._contexts(X, groups, self.estimate(statistics))


def counts_of(pairs: PairCounts, parents: Parents) -> TupleCounts:
    """Counts of each column with its one parent, if it has one."""
    n, offset = pairs.table.rounded(), pairs.offset
    cells, tables = [], []
    for j, above in enumerate(parents):
        own = slice(offset[j], offset[j + 1])
        size = int(pairs.sizes[j])
        alone = np.einsum("kaa->ka", n[:, own, own])
        if not above:
            cells.append(np.arange(size)[:, None])
            tables.append(alone)
            continue
        (a,) = above
        both = n[:, offset[a] : offset[a + 1], own]  # (k, parent's values, values)
        lone = np.maximum(alone - both.sum(axis=1), 0.0)  # where the parent's cell is missing
        value = np.arange(size)
        codes = np.repeat(np.arange(-1, both.shape[1]), size)
        cells.append(np.column_stack([codes, np.tile(value, both.shape[1] + 1)]))
        tables.append(np.concatenate([lone, both.reshape(len(n), -1)], axis=1))
    held = [t.any(axis=0) for t in tables]
    kept = tuple(c[h].astype(np.int64) for c, h in zip(cells, held, strict=True))
    table = np.concatenate([t[:, h] for t, h in zip(tables, held, strict=True)], axis=1)
    whole = (table == np.floor(table)).all()
    counted = np.ascontiguousarray(table, np.int64 if whole else np.float64)
    return TupleCounts(pairs.values, parents, kept, Exact.of(counted))
