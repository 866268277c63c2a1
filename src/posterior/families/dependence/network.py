"""Columns that depend on given parents: p(x | k) = ∏ⱼ p(xⱼ | k, parents of j)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from posterior import kernels
from posterior.data.rows import Blocks, Groups, Hard
from posterior.data.typing import Array, Codes, Floats
from posterior.families.categorical import Recoding, recoded
from posterior.families.dependence.chain import Chain
from posterior.families.dependence.coding import Coder, Coding
from posterior.families.dependence.dependence_graph import in_order
from posterior.families.dependence.left_out import ChainedContexts
from posterior.families.dependence.row_at_once import RowAtOnce
from posterior.families.dependence.smoothing import BACK_OFF, Smoothing, lone_intervals
from posterior.families.family import Family, Intervals, Scorer
from posterior.statistics.algebra import Statistics
from posterior.statistics.tuple_counts import (
    Parents,
    TupleCounts,
    contexts,
    distinct,
    keyed,
    n_keys,
    unkeyed,
)

S = TypeVar("S", bound=Statistics)


class Network(Family[S, TupleCounts]):
    """What families of any structure have in common; their parameters are counts of tuples."""

    exact: ClassVar[bool] = True
    coding: Coding
    smoothing: Smoothing

    __slots__ = ()

    def chains(self, counts: TupleCounts) -> list[tuple[int, Chain]]:
        """The columns that are not left out, each with its probabilities."""
        tables = counts.columns(counts.table.rounded())
        return [
            (j, Chain.of(counts.cells[j], tables[j].T, counts.radix(j), self.smoothing, j))
            for j, above in enumerate(counts.parents)
            if above is not None
        ]

    def scorer(self, parameters: TupleCounts, bias: Floats) -> Scorer:
        chains, bias = self.chains(parameters), np.ascontiguousarray(bias)
        code, recode = Coder(self.coding), Recoding(parameters.values)
        at_once = RowAtOnce.of(chains, parameters.parents)

        def score(X: Blocks, out: Floats) -> None:
            codes = recode(code(X))
            if len(codes) == 1 and at_once is not None:
                place, log_prob = at_once(codes[0].tolist())
                offset = np.arange(len(log_prob) + 1)
                table = kernels.side_by_side(log_prob.T)
                kernels.table_log_joint(place, table, offset, bias, out)
                return
            terms = [_terms(codes, parameters, j, chain) for j, chain in chains]
            place = np.stack([each for each, _ in terms], axis=1)
            table = kernels.side_by_side(np.concatenate([log_prob for _, log_prob in terms]).T)
            offset = np.cumsum([0, *(len(log_prob) for _, log_prob in terms)])
            kernels.table_log_joint(place, table, offset, bias, out)

        return score

    def evidence(self, X: Blocks, parameters: TupleCounts) -> Floats:
        codes = self.codes(X, parameters)
        terms = np.zeros((len(codes), parameters.table.shape[0], codes.shape[1]))
        for j, chain in self.chains(parameters):
            place, log_prob = _terms(codes, parameters, j, chain)
            terms[place >= 0, :, j] = log_prob[place[place >= 0]]
        return terms

    def codes(self, X: Blocks, counts: TupleCounts) -> Codes:
        """The values of rows (n, d) by their numbers among those counted; -1 is not known."""
        return recoded(self.coding(X), counts.values)

    def levels_left_out(
        self, codes: Codes, groups: Hard, counts: TupleCounts, j: int, chain: Chain
    ) -> Iterator[Floats]:
        """log p(xⱼ | k, the first l parents) (n, k) without each row itself, for l = 0, 1, ..."""
        tuples = contexts(codes, counts.sizes, counts.parents[j] or (), j)
        known = tuples[:, -1] >= 0
        weight = np.ones(len(codes)) if groups.weight is None else groups.weight
        without = groups.codes[known], weight[known]
        for p in chain.levels(tuples[known], without):
            terms = np.zeros((len(codes), p.shape[1]))
            with np.errstate(divide="ignore"):
                terms[known] = np.log(p)
            yield terms

    def _contexts(self, X: Blocks, groups: Hard, counts: TupleCounts) -> ChainedContexts:
        """The same as a function of m, where smoothing is `BackOff`."""
        codes = self.codes(X, counts)
        weight = np.ones(len(codes)) if groups.weight is None else groups.weight
        depth = 1 + max(len(above or ()) for above in counts.parents)
        shape = depth, len(codes), groups.n_groups, codes.shape[1]
        count, total = np.zeros(shape), np.zeros(shape)
        for j, chain in self.chains(counts):
            tuples = contexts(codes, counts.sizes, counts.parents[j] or (), j)
            known = tuples[:, -1] >= 0
            without = groups.codes[known], weight[known]
            for level, found in enumerate(chain.counts(tuples[known], without)):
                ended = level > 0 and tuples[known, level - 1] < 0
                for table, rows in zip((count, total), found, strict=True):
                    table[level, known, :, j] = np.where(np.atleast_1d(ended)[:, None], 0.0, rows)
        return ChainedContexts(count, total, np.maximum(counts.sizes, 1).astype(np.float64))

    def cells_left_out(self, statistics: S) -> int:
        """Numbers that `left_out` holds of a row."""
        counts = self.estimate(statistics)
        depth = 1 + max(len(above or ()) for above in counts.parents)
        return int(counts.table.shape[0]) * len(counts.parents) * depth

    def _left_out(self, X: Blocks, groups: Hard, counts: TupleCounts) -> Floats:
        codes, score = self.codes(X, counts), np.zeros((X.shape[0], groups.n_groups))
        for j, chain in self.chains(counts):
            *_, last = self.levels_left_out(codes, groups, counts, j, chain)
            score += last
        return score

    def sample(self, codes: Array, parameters: TupleCounts, random: np.random.Generator) -> Blocks:
        """Parents before children; a column that is left out is missing."""
        drawn = np.full((len(codes), len(parameters.values)), -1, np.int64)
        chains = dict(self.chains(parameters))
        for j in in_order(parameters.parents):
            size = parameters.sizes[j]
            if size == 0:
                continue
            tuples = contexts(drawn, parameters.sizes, parameters.parents[j] or (), j)
            each = np.repeat(tuples, size, axis=0)
            each[:, -1] = np.tile(np.arange(size), len(codes))
            p = chains[j](each)[np.arange(len(each)), np.repeat(codes, size)]
            up_to = np.cumsum(p.reshape(len(codes), size), axis=1)
            share = random.random((len(codes), 1)) * up_to[:, -1:]
            drawn[:, j] = np.minimum((share >= up_to).sum(axis=1), size - 1)
        return self.coding.drawn(drawn, parameters.values, random)

    def sizes(self, statistics: Any) -> Sequence[int]:
        return [len(values) for values in statistics.values]

    def n_parameters(self, parameters: TupleCounts) -> int:
        total = 0
        for j, above in enumerate(parameters.parents):
            if above is not None:
                *contexts_of, size = parameters.radix(j)
                total += int(np.prod(contexts_of, dtype=object)) * max(size - 1, 0)
        return int(parameters.table.shape[0]) * total

    def intervals(self, statistics: S, parameters: TupleCounts, level: float) -> Intervals:
        """Of p(xⱼ | k), which a cell has whose parents are not known."""
        alone = [np.zeros((parameters.table.shape[0], 0))] * len(parameters.values)
        for j, chain in self.chains(parameters):
            unknown = np.full((parameters.sizes[j], len(chain.radix)), -1)
            unknown[:, -1] = np.arange(len(unknown))
            alone[j] = next(chain.levels(unknown)).T
        return lone_intervals(self.coding, parameters.single(), alone, self.smoothing, level)


@dataclass(frozen=True, slots=True)
class KDependence(Network[TupleCounts]):
    """Columns that depend on at most k others, which were chosen before (Sahami 1996)."""

    coding: Coding
    structure: Parents
    smoothing: Smoothing = BACK_OFF

    def statistics(self, X: Blocks, groups: Groups) -> TupleCounts:
        return TupleCounts.of(self.coding(X), groups, self.structure)

    def estimate(self, statistics: TupleCounts, pooled: TupleCounts | None = None) -> TupleCounts:
        return statistics

    def leave_one_out(self, X: Blocks, groups: Hard, statistics: TupleCounts) -> Floats:
        """Of rows whose values others have too, at the same structure."""
        return self._left_out(X, groups, statistics)

    def left_out(self, X: Blocks, groups: Hard, statistics: TupleCounts) -> ChainedContexts:
        """The same as a function of m."""
        return self._contexts(X, groups, statistics)


def _terms(codes: Array, counts: TupleCounts, j: int, chain: Chain) -> tuple[Codes, Floats]:
    """log p(xⱼ | k, parents) of each tuple once, (m, k), and which each row has; -1 if missing."""
    known = np.flatnonzero(codes[:, j] >= 0)
    tuples = contexts(codes[known], counts.sizes, counts.parents[j] or (), j)
    tuples[:, -1] = np.minimum(tuples[:, -1], counts.sizes[j])
    radix: list[Any] = counts.radix(j)
    radix[-1] += 1  # a value never seen is one more
    keys = keyed(tuples, radix)
    found, own = distinct(keys, n_keys(radix))
    place = np.full(len(codes), -1, np.int32)
    place[known] = own
    with np.errstate(divide="ignore"):
        return place, np.log(chain(unkeyed(found, radix)))
