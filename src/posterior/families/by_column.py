"""Base class of families whose columns are numbers, independent given the group."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

import numpy as np

from posterior.data.rows import Hard
from posterior.data.typing import Array, Floats
from posterior.families.family import Family
from posterior.statistics.algebra import Statistics

S = TypeVar("S", bound=Statistics)
P = TypeVar("P")


class ByColumn(Family[S, P]):
    """Columns of numbers, independent given the group: log p(x | k) = Σⱼ log p(xⱼ | θ_kj).

    `estimate` and `log_density` work cell by cell: what `pooled` holds, and parameters, have a line
    for each line of the statistics and of x, or one for all.
    """

    __slots__ = ()

    @abstractmethod
    def log_density(self, x: Floats, parameters: P) -> Floats:
        """Of cells, under parameters that broadcast against them; 0 where a cell is missing."""

    def evidence(self, X: Array, parameters: P) -> Floats:
        return self.log_density(np.ascontiguousarray(X, np.float64)[:, None, :], parameters)

    def leave_one_out(self, X: Array, groups: Hard, statistics: S) -> Floats:
        """All rows at once: each is a group of its own, which is subtracted from its group."""
        x, codes, n = np.ascontiguousarray(X, np.float64), groups.codes, len(X)
        each = Hard(np.arange(n, dtype=np.int32), n, groups.weight)
        own, one = self.statistics(X, each), np.zeros(n, np.int64)
        everyone = statistics.pooled().take(one) - own
        score = np.empty((n, groups.n_groups))
        for k in range(groups.n_groups):
            others = self.estimate(statistics.take(one + k), everyone)
            score[:, k] = self.log_density(x, others).sum(axis=1)
        mine = self.estimate(statistics.take(codes) - own, everyone)
        score[np.arange(n), codes] = self.log_density(x, mine).sum(axis=1)
        return score
