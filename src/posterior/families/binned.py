"""Columns of numbers cut into bins that separate the groups, or into ranges that are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from posterior import kernels
from posterior.data.rows import CodedRows, Groups, Hard
from posterior.data.typing import Array, Floats
from posterior.families.categorical import Categorical, CategoricalParameters
from posterior.families.family import Family, Intervals, Scorer
from posterior.families.priors import DiscretePrior, MEstimate
from posterior.families.symbols import Cells, Formula, Steps
from posterior.kernels.cut_points import Cuts
from posterior.statistics.class_cuts import cuts_between_cells, ranges
from posterior.statistics.counts import Counts
from posterior.statistics.exact import Exact
from posterior.statistics.extent import as_codes
from posterior.statistics.histograms import Histograms, gathered
from posterior.statistics.moments import floats

AS_ALL_GROUPS = MEstimate(1.0, None)
MOST_BINS = 1_000_000  # of equal frequency: no picture and no sum tells more apart
STEEP = 100.0  # by which log p falls on the way of a bin's width beyond the values seen


@dataclass(frozen=True, slots=True, eq=False)
class BinnedParameters:
    """Edges of the bins of each column, from the lowest to the highest value, and their shares."""

    edges: tuple[Floats, ...]  # NaN at both ends if no cell is known, ±∞ if ranges were given
    bins: CategoricalParameters

    def cuts(self) -> list[Floats]:
        """Where a bin ends and the next begins."""
        return [edges[1:-1] for edges in self.edges]

    def log_density(self) -> list[Floats]:
        """(k, bins) of each column; 0 where a column says nothing, not even how wide it is."""
        parts = zip(self.bins.log_prob, self.edges, strict=True)
        return [
            log_prob[:, :-1] - _log_areas(edges)
            if edges[0] < edges[-1]
            else np.zeros((len(log_prob), len(edges) - 1))
            for log_prob, edges in parts
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Beyond:
    """How much log p falls beyond the lowest and the highest value of each column."""

    low: Floats  # (d,)
    high: Floats
    first: Floats  # how wide the outer bins are
    last: Floats

    @classmethod
    def of(cls, edges: tuple[Floats, ...]) -> Beyond:
        low, high = (np.array([e[end] for e in edges]) for end in (0, -1))
        ended = [e if np.isfinite(e[[0, -1]]).all() else np.arange(2.0) for e in edges]
        widths = [np.exp(_log_widths(e)) for e in ended]
        return cls(low, high, *(np.array([w[end] for w in widths]) for end in (0, -1)))

    def __call__(self, X: Array) -> Floats:
        """Of cells (n, d); none where the column does not vary, or ranges were given."""
        x, low, high = np.asarray(X, np.float64), self.low, self.high
        with np.errstate(invalid="ignore", over="ignore"):
            fallen = np.maximum(low - x, 0.0) / self.first + np.maximum(x - high, 0.0) / self.last
            steep = np.minimum(STEEP * fallen, 1e15)
        return np.where((low < high) & ~np.isnan(steep), steep, 0.0)


@dataclass(frozen=True, slots=True)
class Binned(Family[Histograms, BinnedParameters]):
    """Columns of numbers cut where their groups change, each bin with a share of every group.

    p(x | k) = P(b | k) / |b|   for x in bin b of width |b|

    The density is level inside a bin. The first and the last bin reach to the lowest and the
    highest value seen; beyond, it falls steeply, for all groups alike: no value is impossible, and
    the odds are those of the bin. A tail is as much as 1 % of its bin, and shares the bin's share.

    Cuts are those of Fayyad and Irani (1993), which stop where a cut costs more than it says, or,
    with `n_bins`, of equal frequency where every group counts as much as any other. A column that
    says nothing has one bin.

    With `edges` the ranges are given, such as (-∞, 50), [50, 60), [60, ∞) for edges 50 and 60:
    every column of the family has these, and p(x | k) is the probability of the range that x is in,
    since the outer ones have no width. No range is impossible: the shares of all groups, as which
    pseudo-rows are spread, have one row more in each.

    `prior` adds pseudo-rows to the bins of each group; by default one, spread as all groups are.
    All is learned from the weight of each group at each value, or, beyond `max_values` values, in
    cells of numbers that share their first digits: the weights of bins are exact, and cuts lie
    between cells.

    Examples
    --------
    >>> from posterior import Binned, Laplace, NaiveBayes
    >>> degrees, y = [[41], [55], [58], [64], [75], [81]], ["no", "no", "yes", "no", "yes", "yes"]
    >>> model = NaiveBayes(Binned(Laplace(1), edges=[50, 60])).fit(degrees, y)
    >>> print(model.parameters())
    feature  parameter    class   value       low    high
          0  P((-∞, 50))  no     0.3333   0.05274  0.7164
          0  P((-∞, 50))  yes    0.1667  0.005051  0.5218
          0  P([50, 60))  no     0.3333   0.05274  0.7164
          0  P([50, 60))  yes    0.3333   0.05274  0.7164
          0  P([60, ∞))   no     0.3333   0.05274  0.7164
          0  P([60, ∞))   yes       0.5    0.1466  0.8534
    """

    exact: ClassVar[bool] = True
    prior: DiscretePrior = AS_ALL_GROUPS
    n_bins: int | None = None
    max_values: int = 4096
    edges: Sequence[float] | None = None  # kept as a tuple

    def __post_init__(self) -> None:
        if self.edges is not None:
            object.__setattr__(self, "edges", _given(self.edges, self.n_bins))
        if self.n_bins is not None and not 2 <= self.n_bins <= MOST_BINS:
            raise ValueError(
                f"Expected two bins or more, up to {MOST_BINS:,}, or None, got "
                f"n_bins={self.n_bins}."
            )
        if self.max_values < 2:
            raise ValueError(f"Expected two values or more, got max_values={self.max_values}.")

    @property
    def _shares(self) -> Categorical:
        return Categorical(self.prior)

    def statistics(self, X: Array, groups: Groups) -> Histograms:
        if self.edges is None:
            return Histograms.of(X, groups, self.max_values)
        return Histograms.of(_lower_edges(X, self.edges), groups, len(self.edges) + 1)

    def estimate(
        self, statistics: Histograms, pooled: Histograms | None = None
    ) -> BinnedParameters:
        return self._estimate(statistics, pooled, self._edges(statistics))

    def improve(
        self, statistics: Histograms, pooled: Histograms, parameters: BinnedParameters | None
    ) -> BinnedParameters:
        """Shares of the bins that there are: other cuts might make the rows less probable."""
        edges = self._edges(statistics) if parameters is None else parameters.edges
        return self._estimate(statistics, pooled, edges)

    def _estimate(
        self, statistics: Histograms, pooled: Histograms | None, edges: tuple[Floats, ...]
    ) -> BinnedParameters:
        counts = _bins(statistics, edges)
        everyone = self._everyone(statistics.pooled() if pooled is None else pooled, edges)
        shares = self._shares.estimate(counts, everyone)
        log_prob = tuple(  # a column that was never observed has one bin, of which all is
            np.zeros_like(p) if np.isnan(e[0]) else p
            for p, e in zip(shares.log_prob, edges, strict=True)
        )
        return BinnedParameters(edges, CategoricalParameters(shares.values, log_prob))

    def _everyone(self, pooled: Histograms, edges: tuple[Floats, ...]) -> Counts:
        """Rows of all groups by bin, and one more in each range that was given: none is
        impossible."""
        counts = _bins(pooled, edges)
        if self.edges is None:
            return counts
        one = Exact.of(np.ones(counts.table.shape))
        return Counts(counts.values, counts.table + one)

    def _edges(self, statistics: Histograms) -> tuple[Floats, ...]:
        seen = statistics.seen()
        first, last = seen.counts.values, seen.last()
        if self.edges is not None:
            given = np.r_[-np.inf, self.edges, np.inf]
            return tuple(given if len(a) else np.full(2, np.nan) for a in first)
        columns = seen.counts.columns(np.maximum(seen.counts.table.rounded(), 0.0))
        cuts = cuts_between_cells(columns, first, last, self.n_bins)
        return tuple(
            np.r_[a[0], cut, _end(b[-1], cut)] if len(a) else np.full(2, np.nan)
            for a, b, cut in zip(first, last, cuts, strict=True)
        )

    def log_prior(self, parameters: BinnedParameters, pooled: Histograms) -> float:
        return self._shares.log_prior(parameters.bins, self._everyone(pooled, parameters.edges))

    def discriminant(self, parameters: BinnedParameters, bias: Floats) -> Scorer:
        density, cuts = parameters.log_density(), Cuts(parameters.cuts())
        table = kernels.side_by_side(np.hstack(density))
        offset = np.cumsum([0, *(part.shape[1] for part in density)]).astype(np.int64)
        bias = np.ascontiguousarray(bias)

        def score(X: Array, out: Floats) -> None:
            kernels.table_log_joint(_codes(X, cuts), table, offset, bias, out)

        return score

    def scorer(self, parameters: BinnedParameters, bias: Floats) -> Scorer:
        contrast, beyond = self.discriminant(parameters, bias), Beyond.of(parameters.edges)

        def score(X: Array, out: Floats) -> None:
            contrast(X, out)
            out -= beyond(X).sum(axis=1, keepdims=True)

        return score

    def evidence(self, X: Array, parameters: BinnedParameters) -> Floats:
        codes, density = _codes(X, parameters.cuts()), parameters.log_density()
        terms = np.zeros((len(codes), len(density[0]), codes.shape[1]))
        for j, column in enumerate(density):
            seen = codes[:, j] >= 0
            terms[seen, :, j] = column[:, codes[seen, j]].T
        return terms - Beyond.of(parameters.edges)(X)[:, None, :]

    def leave_one_out(self, X: Array, groups: Hard, statistics: Histograms) -> Floats:
        """Bins of all rows, with the shares that the others give them."""
        edges = self._edges(statistics)
        counts, codes = _bins(statistics, edges), _codes(X, [e[1:-1] for e in edges])
        score = self._shares.leave_one_out(CodedRows(codes, counts.values), groups, counts)
        for j, ends in enumerate(edges):
            if ends[0] < ends[-1]:
                seen = codes[:, j] >= 0
                score[seen] -= _log_areas(ends)[codes[seen, j], None]
        return score

    def sample(
        self, codes: Array, parameters: BinnedParameters, random: np.random.Generator
    ) -> Floats:
        """Level between the edges of a bin, without its tail; NaN in a column never observed. A
        range that has no end is drawn from as if it were as wide as its neighbor."""
        drawn = self._shares.sample(codes, parameters.bins, random).codes
        place = random.random(drawn.shape)
        for j, edges in enumerate(parameters.edges):
            edges = _within_reach(edges)
            low, high = edges[drawn[:, j]], edges[drawn[:, j] + 1]
            place[:, j] = low + place[:, j] * (high - low)
        return place

    def n_parameters(self, parameters: BinnedParameters) -> int:
        cuts = sum(len(cut) for cut in parameters.cuts()) if self.edges is None else 0
        return self._shares.n_parameters(parameters.bins) + cuts

    def summary(self, statistics: Histograms, parameters: BinnedParameters, column: int) -> str:
        cuts = [f"{cut:.4g}" for cut in parameters.cuts()[column]]
        shown = ", ".join(cuts[:4]) + (", ..." if len(cuts) > 4 else "")
        return f"{len(cuts) + 1} bins, cut at {shown}" if cuts else "1 bin"

    def formula(self, parameters: BinnedParameters, cells: Cells) -> list[Formula]:
        """log P(bin | k) - log width; x ≥ c is x > the number before c"""
        before = [tuple(np.nextafter(cuts, -np.inf).tolist()) for cuts in parameters.cuts()]
        return [
            Formula.of(x, (Steps(x, cuts, tuple(p)) for p in density.tolist()))
            for x, cuts, density in zip(cells, before, parameters.log_density(), strict=True)
        ]

    def intervals(
        self, statistics: Histograms, parameters: BinnedParameters, level: float
    ) -> Intervals:
        return self._shares.intervals(_bins(statistics, parameters.edges), parameters.bins, level)


def _bins(statistics: Histograms, edges: tuple[Floats, ...]) -> Counts:
    """The weight of each group in each bin; bins are named by their ranges."""
    seen = statistics.seen().counts
    cuts = [e[1:-1] for e in edges]
    place = [np.searchsorted(c, v, side="right") for c, v in zip(cuts, seen.values, strict=True)]
    filled = tuple(np.unique(p) for p in place)
    names = tuple(np.array(ranges(c)) for c in cuts)
    some = gathered(seen, place, filled)
    return Counts(names, some.widened(tuple(np.arange(len(n)) for n in names)).table)


def _given(edges: Sequence[float], n_bins: int | None) -> tuple[float, ...]:
    """Edges of ranges, or an error."""
    try:
        found = tuple(float(edge) for edge in edges)
    except (TypeError, ValueError):
        found = ()
    if not found or not np.isfinite(found).all() or not (np.diff(found) > 0).all():
        raise ValueError(
            "Expected edges of ranges to be numbers that increase and are finite, such as "
            f"[50, 60, 70], got {edges!r}."
        )
    if n_bins is not None:
        raise ValueError(f"Expected edges or n_bins, got both, edges={found} and n_bins={n_bins}.")
    return found


def _lower_edges(X: Array, edges: Sequence[float]) -> Floats:
    """Where the range of each cell begins; the lowest range is known by the last number in it."""
    starts = np.r_[np.nextafter(edges[0], -np.inf), edges, np.nan]
    codes = _codes(X, [np.array(edges)] * X.shape[1])
    return np.asarray(starts[np.where(codes < 0, len(starts) - 1, codes)])


def _within_reach(edges: Floats) -> Floats:
    """Ends of ranges that have none: as far away as the edge beside them is from the next."""
    if not np.isinf(edges[0]):
        return edges
    inner = edges[1:-1]
    width = np.diff(inner) if len(inner) > 1 else np.ones(1)
    return np.r_[inner[0] - width[0], inner, inner[-1] + width[-1]]


def _end(highest: float, cuts: Floats) -> float:
    """Where the last bin ends: if it begins with the highest number, at the next one."""
    alone = len(cuts) > 0 and cuts[-1] == highest
    return float(np.nextafter(highest, np.inf)) if alone else float(highest)


def _codes(X: Array, cuts: Sequence[Floats]) -> Array:
    return as_codes(kernels.digitize(floats(X), cuts))


def _log_widths(edges: Floats) -> Floats:
    """Of the bins; one that has no width is as wide as the way to the next number."""
    with np.errstate(over="ignore"):
        width = np.maximum(np.diff(edges), np.spacing(np.abs(edges[1:])))
    halves = np.diff(edges * 0.5)  # the whole may be too large for a number
    return np.where(np.isinf(width), np.log(np.maximum(halves, 1.0)) + np.log(2.0), np.log(width))


def _log_areas(edges: Floats) -> Floats:
    """Of the bins at a height of one: the first and the last have a tail of ∫ exp(-STEEP u) du.

    Of ranges that were given probabilities are compared, not densities."""
    if np.isinf(edges[0]):
        return np.zeros(len(edges) - 1)
    tails = np.zeros(len(edges) - 1)
    tails[0] += 1 / STEEP
    tails[-1] += 1 / STEEP
    return _log_widths(edges) + np.log1p(tails)
