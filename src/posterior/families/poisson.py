"""Counts of events, independent given the group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

import numpy as np
from scipy import special

from posterior.data.rows import Groups, Hard, SparseRows
from posterior.data.typing import Array, Floats
from posterior.families.credible import gamma_interval
from posterior.families.family import Family, Intervals, Scorer, Summed, Support
from posterior.families.linear import affine_scorer, dense
from posterior.families.log_rising import log_rising
from posterior.families.multinomial import check_finite, weighed
from posterior.families.priors import ONE_ROW, PseudoRows, pseudo_log_likelihood
from posterior.families.symbols import (
    Cell,
    Cells,
    Expression,
    Formula,
    Known,
    LogRising,
    Number,
    Within,
)
from posterior.kernels import pairs
from posterior.statistics.moments import Totals


@dataclass(frozen=True, slots=True)
class PoissonParameters:
    """Events expected in a row, (k, d), and the rows that say so if the rate is uncertain."""

    rate: Annotated[Floats, "k, d"]
    rows: Annotated[Floats, "k, d"] | None = None


@dataclass(frozen=True, slots=True)
class Poisson(Family[Totals, PoissonParameters]):
    """Counts of events, independent given the group.

    log p(x | k) = Σⱼ xⱼ log λ_kj - λ_kj - log xⱼ!

    `predictive` integrates over the gamma posterior of the rate: the negative binomial.
    """

    exact: ClassVar[bool] = True
    support: ClassVar[Support] = "count"
    reads_sparse = True

    prior: PseudoRows = ONE_ROW
    predictive: bool = False

    def statistics(self, X: Array | SparseRows, groups: Groups) -> Totals:
        return Totals.of(X, groups)

    def estimate(self, statistics: Totals, pooled: Totals | None = None) -> PoissonParameters:
        everyone = statistics.pooled() if pooled is None else pooled
        weight, total = statistics.weight.rounded(), statistics.total.rounded()
        check_finite(total)
        return self._estimate(weight, total, np.nan_to_num(everyone.mean()))

    def _estimate(self, weight: Floats, total: Floats, pooled_rate: Floats) -> PoissonParameters:
        rows, events = weight + self.prior.m, total + self.prior.m * pooled_rate
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(rows > 0, events / rows, pooled_rate)
        return PoissonParameters(rate, rows + np.zeros_like(rate) if self.predictive else None)

    def log_prior(self, parameters: PoissonParameters, pooled: Totals) -> float:
        """m rows of the rate of everyone in each group: m Σ_kj [ λ₀ⱼ log λ_kj - λ_kj ]"""
        if self.prior.m == 0:
            return 0.0
        rate, everyone = parameters.rate, np.nan_to_num(pooled.mean())
        with np.errstate(divide="ignore"):
            events = pseudo_log_likelihood(everyone, np.log(rate))
        return self.prior.m * (events - float(rate.sum()))

    def scorer(self, parameters: PoissonParameters, bias: Floats) -> Scorer:
        if parameters.rows is not None:
            return Family.scorer(self, parameters, bias)
        rate = np.asarray(parameters.rate, np.float64)
        with np.errstate(divide="ignore"):
            plain = affine_scorer(-rate, np.log(rate) - rate, bias)

        def score(X: Array | SparseRows, out: Floats) -> None:
            plain(X, out)
            out -= _log_factorials(X)[:, None]

        return score

    def evidence(self, X: Array | SparseRows, parameters: PoissonParameters) -> Floats:
        return log_mass(dense(X)[:, None, :], parameters)

    def leave_one_out(self, X: Array | SparseRows, groups: Hard, statistics: Totals) -> Floats:
        x = dense(X)
        w = (np.ones(len(x)) if groups.weight is None else groups.weight)[:, None]
        own_weight, own_total = np.where(np.isnan(x), 0.0, w), np.nan_to_num(x) * w
        total, weight = statistics.total.pair(), statistics.weight.pair()
        with np.errstate(divide="ignore", invalid="ignore"):
            events = pairs.less(total.sum(axis=0), own_total)
            pooled = events / pairs.less(weight.sum(axis=0), own_weight)
        pooled = np.nan_to_num(pooled)
        score = np.empty((len(x), groups.n_groups))
        for k in range(groups.n_groups):
            mine = (groups.codes == k)[:, None]
            parameters = self._estimate(
                pairs.less(weight[k], np.where(mine, own_weight, 0.0)),
                pairs.less(total[k], np.where(mine, own_total, 0.0)),
                pooled,
            )
            score[:, k] = log_mass(x, parameters).sum(axis=1)
        return score

    def sample(
        self, codes: Array, parameters: PoissonParameters, random: np.random.Generator
    ) -> Floats:
        rate = parameters.rate[codes]
        if parameters.rows is not None:
            rows = parameters.rows[codes]
            rate = random.gamma(rate * rows, 1 / rows)
        return random.poisson(rate).astype(np.float64)

    def n_parameters(self, parameters: PoissonParameters) -> int:
        return parameters.rate.size

    def intervals(
        self, statistics: Totals, parameters: PoissonParameters, level: float
    ) -> Intervals:
        pooled = np.nan_to_num(statistics.pooled().mean())
        weight, total = statistics.weight.rounded(), statistics.total.rounded()
        rows, events = weight + self.prior.m, total + self.prior.m * pooled
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = gamma_interval(level, events, 1 / rows)
            return Intervals.of("rate", parameters.rate, low, high)

    def integrated(self) -> Poisson:
        return replace(self, predictive=True)

    def summed(self) -> Summed:
        return Summed(Totals)

    def formula(self, parameters: PoissonParameters, cells: Cells) -> list[Formula]:
        """xⱼ log λ_kj - λ_kj; of an uncertain rate, the negative binomial up to log xⱼ!"""
        if parameters.rows is not None:
            pairs = zip(cells, parameters.rate.T.tolist(), parameters.rows.T.tolist(), strict=True)
            return [Formula.of(x, map(partial(_uncertain, x), rate, n)) for x, rate, n in pairs]
        with np.errstate(divide="ignore"):
            log_rate = np.log(np.asarray(parameters.rate, np.float64))
        slopes, rates = log_rate.tolist(), parameters.rate.tolist()
        return [
            Formula.of(
                x,
                (
                    Known(x, weighed(x, slope[j]) - rate[j])
                    for slope, rate in zip(slopes, rates, strict=True)
                ),
            )
            for j, x in enumerate(cells)
        ]


def _uncertain(x: Cell, rate: float, rows: float) -> Expression:
    """log Γ(r + x) / Γ(r) + r log n / (n + 1) - x log (n + 1),  r = λ n events in n rows"""
    events = rate * rows
    if events == 0:
        return Known(x, Within(x, 0.0, 0.0, Number(0.0), Number(-np.inf)))
    height = -events * np.log1p(1 / rows)
    return Known(x, LogRising(events, x) - float(np.log(rows + 1)) * x + float(height))


def _log_factorials(X: Array | SparseRows) -> Floats:
    """Σⱼ log xⱼ! of each row, observed cells only."""
    if isinstance(X, SparseRows):
        matrix = X.scipy()
        matrix.data = special.gammaln(matrix.data.astype(np.float64) + 1)
        return np.asarray(matrix.sum(axis=1)).reshape(-1)
    return np.nan_to_num(special.gammaln(np.ascontiguousarray(X, np.float64) + 1)).sum(axis=1)


def log_mass(x: Floats, parameters: PoissonParameters) -> Floats:
    """Log probability of each count under rates that broadcast against it; 0 if missing."""
    rate, rows = parameters.rate, parameters.rows
    with np.errstate(divide="ignore", invalid="ignore"):
        if rows is None:
            terms = special.xlogy(x, rate) - rate - special.gammaln(x + 1)
        else:
            events = rate * rows
            terms = log_rising(events, x) - special.gammaln(x + 1)
            terms -= events * np.log1p(1 / rows) + special.xlogy(x, rows + 1)
            terms = np.where(events == 0, np.where(x == 0, 0.0, -np.inf), terms)
    return np.where(np.isnan(x), 0.0, terms)
