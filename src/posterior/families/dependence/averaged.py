"""Every column in turn the parent of all others, and the average of these models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from posterior import kernels
from posterior.data.rows import Blocks, Groups, Hard
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.families.categorical import Recoding, recoded
from posterior.families.dependence.chain import Without
from posterior.families.dependence.coding import Coder, Coding
from posterior.families.dependence.dependence_graph import by_information
from posterior.families.dependence.left_out import AveragedPairs
from posterior.families.dependence.smoothing import (
    BACK_OFF,
    BackOff,
    Smoothing,
    lone_intervals,
    prior_rows,
    smoothed,
)
from posterior.families.family import Family, Intervals, Scorer, fill
from posterior.statistics.information import in_columns, mutual_information
from posterior.statistics.pair_counts import PairCounts

MOST_PARENTS = 12  # by which smoothing is chosen


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """log p(b | k, a) of all places, log p(a | k) where b is a, and what parents weigh.

    A column has a place for each value, and one behind them for a value never seen.
    """

    log_prob: Floats  # (places, places, k)
    weight: Floats  # (places,), 0 for what is no parent
    start: Integers  # of each column
    sizes: Integers


@dataclass(frozen=True, slots=True)
class AveragedOneDependence(Family[PairCounts, PairCounts]):
    """Every column in turn the parent of all others, averaged (Webb, Boughton and Wang 2005).

    p(x | k) = Σᵢ wᵢ p(xᵢ | k) ∏_{j ≠ i} p(xⱼ | k, xᵢ) / Σᵢ wᵢ

    over the parents whose value was seen in `limit` rows or more; if there are none, as naive
    Bayes. wᵢ is 1, or I(Xᵢ; Y) if weighted. With Laplace's rule and m-estimates p(k, xᵢ) is
    smoothed as one number, as the authors do.
    """

    exact: ClassVar[bool] = True
    coding: Coding
    smoothing: Smoothing = BACK_OFF
    limit: float = 1.0
    weighted: bool = False

    def statistics(self, X: Blocks, groups: Groups) -> PairCounts:
        return PairCounts.of(self.coding(X), groups)

    def estimate(self, statistics: PairCounts, pooled: PairCounts | None = None) -> PairCounts:
        return statistics

    def tables(self, counts: PairCounts) -> PairTable:
        """All probabilities that rows may ask for."""
        d = len(counts.sizes)
        start, column = counts.offset[:-1] + np.arange(d), np.repeat(np.arange(d), counts.sizes + 1)
        seen = np.delete(np.arange(len(column)), start + counts.sizes)
        n = np.zeros((len(column), len(column), counts.table.shape[0]))
        n[seen[:, None], seen] = np.moveaxis(counts.table.rounded(), 0, 2)
        own = np.einsum("aak->ak", n)
        rows = in_columns(own.T, np.append(start, len(column)))  # (k, d)
        beside = in_columns(np.moveaxis(n, 2, 0), np.append(start, len(column)))
        size = counts.sizes[column].astype(np.float64)
        size[start + counts.sizes] += 1.0
        child = column[:, None]
        alone = smoothed(own, rows[:, column].T, size[:, None], self.smoothing, column=child)
        total = np.moveaxis(beside[:, :, column], 0, 2)
        given = smoothed(n, total, size[:, None], self.smoothing, alone, column=child, level=1)
        weight = (own.sum(axis=1) >= max(self.limit, 1e-300)).astype(np.float64)
        if self.weighted:
            weight *= mutual_information(counts.single())[column]
        with np.errstate(divide="ignore"):
            log_prob, log_alone = np.log(given), np.log(alone)
        if not isinstance(self.smoothing, BackOff):
            parent = self._joint(own, rows[:, column].T, size)
            log_alone = np.where(weight[:, None] > 0, parent, log_alone)
        place = np.arange(len(column))
        log_prob[place, place] = log_alone
        return PairTable(log_prob, weight, start, counts.sizes)

    def _joint(self, own: Floats, rows: Floats, size: Floats) -> Floats:
        """log p(k, a) / p(k), where p(k, a) is smoothed as a share of all rows."""
        k, n = own.shape[1], rows.sum(axis=1, keepdims=True)
        cells = k * size[:, None]
        extra = prior_rows(self.smoothing, cells)
        with np.errstate(divide="ignore", invalid="ignore"):
            joint = np.log(own + extra / cells) - np.log(n + extra)
            found = joint - np.log(rows) + np.log(n)
            alone = np.log(smoothed(own, rows, size[:, None], self.smoothing, column=0))
        return np.where(rows > 0, found, alone)

    def scorer(self, parameters: PairCounts, bias: Floats) -> Scorer:
        model = self.tables(parameters)
        table = kernels.side_by_side_pairs(model.log_prob)
        code, recode = Coder(self.coding), Recoding(parameters.values)

        def score(X: Blocks, out: Floats) -> None:
            places = _places(recode(code(X)), model)
            kernels.one_dependence_log_joint(places, table, model.weight, out)
            out += bias

        return score

    def evidence(self, X: Blocks, parameters: PairCounts) -> Floats:
        """Terms of the columns, averaged by each parent's share in the class, and one more.

        log Σᵢ vᵢ pᵢ = Σᵢ rᵢ log pᵢ + Σᵢ rᵢ log vᵢ / rᵢ with rᵢ the share of parent i and vᵢ its
        weight: log pᵢ is a sum over columns, and what is left says how far parents differ.
        """
        model = self.tables(parameters)
        places = _places(recoded(self.coding(X), parameters.values), model)
        n, d = places.shape
        terms = np.zeros((n, model.log_prob.shape[2], d + 1))
        for i, row in enumerate(places):
            known = np.flatnonzero(row >= 0)
            place = row[known]
            w = model.weight[place]
            if not w.any():
                terms[i][:, known] = model.log_prob[place, place].T
                continue
            parts = model.log_prob[place[w > 0][:, None], place]  # (parents, columns, k)
            log_weight = np.log(w[w > 0] / w.sum())[:, None]
            each = log_weight + parts.sum(axis=1)
            total = logsumexp(each, axis=0)
            share = np.exp(each - total)
            with np.errstate(invalid="ignore"):
                mean = np.where(share[:, None] > 0, share[:, None] * parts, 0.0).sum(axis=0)
            terms[i][:, known] = mean.T
            terms[i][:, d] = total - mean.sum(axis=0)
        return terms

    def term_names(self, features: Array) -> Array:
        return np.append(features.astype(object), "averaging")

    def leave_one_out(self, X: Blocks, groups: Hard, statistics: PairCounts) -> Floats:
        """Of rows whose values others have too: only their own class changes without them.

        The weights of parents are those of all rows.
        """
        score = fill(self.scorer(statistics, np.zeros(groups.n_groups)), X, groups.n_groups)
        model = self.tables(statistics)
        codes = recoded(self.coding(X), statistics.values)
        n, offset = statistics.table.rounded(), statistics.offset
        beside, single = in_columns(n, offset), np.einsum("kaa->ka", n)
        rows = in_columns(single, offset)
        weight = np.ones(len(codes)) if groups.weight is None else groups.weight
        size = statistics.sizes.astype(np.float64)
        for i, (code, k, w) in enumerate(zip(codes, groups.codes, weight, strict=True)):
            j = np.flatnonzero(code >= 0)
            place = offset[j] + code[j]
            own = np.maximum(single[k, place] - w, 0.0)
            alone = smoothed(own, rows[k, j] - w, size[j], self.smoothing, column=j)
            count = np.maximum(n[k, place[:, None], place] - w, 0.0)
            total = beside[k, place[:, None], j] - w
            given = smoothed(count, total, size[j], self.smoothing, alone, column=j, level=1)
            np.fill_diagonal(given, alone)
            v = model.weight[model.start[j] + code[j]]
            with np.errstate(divide="ignore"):
                each = np.log(given).sum(axis=1)
                some = logsumexp(each, b=v / v.sum()) if v.any() else np.log(alone).sum()
            score[i, k] = some
        return score

    def left_out(self, X: Blocks, groups: Hard, statistics: PairCounts) -> AveragedPairs:
        """The same as a function of m, where smoothing is `BackOff`.

        A few parents stand for many: evenly from the most to the least informative of the class.
        """
        codes = recoded(self.coding(X), statistics.values)
        n, offset, size = statistics.table.rounded(), statistics.offset, statistics.sizes
        told, column = mutual_information(statistics.single()), np.arange(len(size))
        parents = np.array(by_information(told))[_spread(len(size), MOST_PARENTS)]
        known = codes >= 0
        place = np.where(known, offset[:-1] + codes, 0)
        parent, child = place[:, parents, None], place[:, None, :]
        both = known[:, parents, None] & known[:, None, :] & (parents[:, None] != column)
        alone = np.einsum("kaa->ka", n)
        weight = np.ones(len(codes)) if groups.weight is None else groups.weight
        others = alone.sum(axis=0)[place[:, parents]] - weight[:, None]
        counted = known[:, parents] & (others >= max(self.limit, 1e-9))
        own = groups.codes, weight
        return AveragedPairs(
            _without(alone[:, place], known, own),
            _without(in_columns(alone, offset)[:, None], known, own),
            _without(n[:, parent, child], both, own),
            _without(in_columns(n, offset)[:, parent, column], both, own),
            np.maximum(size, 1).astype(np.float64),
            counted * (told[parents] if self.weighted else 1.0),
        )

    def cells_left_out(self, statistics: PairCounts) -> int:
        """Numbers that `left_out` holds of a row."""
        d = len(statistics.sizes)
        return int(statistics.table.shape[0]) * d * min(d, MOST_PARENTS)

    def sample(self, codes: Array, parameters: PairCounts, random: np.random.Generator) -> Blocks:
        """A parent first, drawn by its weight, then the others given it."""
        model = self.tables(parameters)
        d = len(parameters.sizes)
        column = np.repeat(np.arange(d), model.sizes + 1)
        heavy = np.zeros(d)
        np.maximum.at(heavy, column, model.weight)
        some = heavy if heavy.any() else (model.sizes > 0).astype(np.float64)
        parent = random.choice(d, size=len(codes), p=some / some.sum())
        drawn = np.full((len(codes), d), -1, np.int64)
        for i in np.unique(parent):
            rows = np.flatnonzero(parent == i)
            own = np.arange(model.sizes[i]) + model.start[i]
            drawn[rows, i] = _draw(model.log_prob[own, own].T[codes[rows]], random)
            for j in range(d):
                if j != i and model.sizes[j]:
                    places = np.arange(model.sizes[j]) + model.start[j]
                    table = model.log_prob[own[drawn[rows, i]][:, None], places]
                    drawn[rows, j] = _draw(_of_groups(table, codes[rows]), random)
        return self.coding.drawn(drawn, parameters.values, random)

    def sizes(self, statistics: Any) -> Sequence[int]:
        return [len(values) for values in statistics.values]

    def n_parameters(self, parameters: PairCounts) -> int:
        sizes = parameters.sizes
        others = (sizes[:, None] * np.maximum(sizes - 1, 0)).sum() - (sizes * (sizes - 1)).sum()
        return int(parameters.table.shape[0] * (others + np.maximum(sizes - 1, 0).sum()))

    def intervals(self, statistics: PairCounts, parameters: PairCounts, level: float) -> Intervals:
        """Of p(xⱼ | k), which a row has of whose cells only this one is known."""
        model = self.tables(parameters)
        columns = zip(model.start, model.sizes, strict=True)
        places = [np.arange(first, first + size) for first, size in columns]
        alone = [np.exp(model.log_prob[place, place]).T for place in places]
        return lone_intervals(self.coding, parameters.single(), alone, self.smoothing, level)


def _places(codes: Array, model: PairTable) -> Codes:
    """The places of rows in the table; -1 where a cell is missing."""
    return np.where(codes < 0, -1, codes + model.start).astype(np.int32)


def _without(counts: Floats, known: Array, own: Without) -> Floats:
    """Counts (k, n, ...) of cells that are known, (n, k, ...), less the row itself in its class."""
    left = np.where(known[:, None], np.moveaxis(counts, 0, 1), 0.0)
    codes, weight = own
    place = np.arange(len(left)), codes
    left[place] = np.maximum(left[place] - weight.reshape(-1, *[1] * (left.ndim - 2)), 0.0)
    return left


def _spread(n: int, most: int) -> Integers:
    """At most so many of n, evenly."""
    some = min(n, most)
    return np.arange(some) * n // max(some, 1)


def _of_groups(table: Floats, codes: Array) -> Floats:
    """(n, v) of (n, v, k), each row of its group."""
    return np.take_along_axis(table, codes[:, None, None], axis=2)[:, :, 0]


def _draw(log_prob: Floats, random: np.random.Generator) -> Integers:
    """One value a row, by log probabilities (n, v) up to a constant."""
    p = np.exp(log_prob - log_prob.max(axis=1, keepdims=True))
    up_to = np.cumsum(p, axis=1)
    share = random.random((len(p), 1)) * up_to[:, -1:]
    return np.minimum((share >= up_to).sum(axis=1), p.shape[1] - 1)
