"""Waiting times: exponential columns, independent given the group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

import numpy as np
from scipy import special

from posterior.data.rows import Groups
from posterior.data.typing import Array, Floats
from posterior.families.by_column import ByColumn
from posterior.families.family import Intervals, Scorer, Summed, Support, refuse_open
from posterior.families.priors import ONE_ROW, PseudoRows
from posterior.families.symbols import (
    FARTHEST,
    IMPOSSIBLE,
    Cell,
    Cells,
    Expression,
    Formula,
    Known,
    Log,
    Number,
    Within,
)
from posterior.statistics.moments import Totals


@dataclass(frozen=True, slots=True)
class ExponentialParameters:
    """Events in a unit of time, (k, d), and the rows that say so if the rate is uncertain.

    A rate of zero marks a column that says nothing.
    """

    rate: Annotated[Floats, "k, d"]
    rows: Annotated[Floats, "k, d"] | None = None


@dataclass(frozen=True, slots=True)
class Exponential(ByColumn[Totals, ExponentialParameters]):
    """Waiting times: how long until something happens that happens at a rate.

    log p(x | k) = Σⱼ log λ_kj - λ_kj xⱼ,  x ≥ 0

    `prior` are rows that waited as long as all groups do on average: the gamma prior of the rate.
    `predictive` integrates over the gamma posterior: Lomax's distribution.
    """

    exact: ClassVar[bool] = True
    support: ClassVar[Support] = "not negative"

    prior: PseudoRows = ONE_ROW
    predictive: bool = False

    def statistics(self, X: Array, groups: Groups) -> Totals:
        return Totals.of(X, groups)

    def estimate(self, statistics: Totals, pooled: Totals | None = None) -> ExponentialParameters:
        everyone = np.nan_to_num((statistics.pooled() if pooled is None else pooled).mean())
        weight, total = statistics.weight.rounded(), statistics.total.rounded()
        rows, time = weight + self.prior.m, total + self.prior.m * everyone
        rows, time = np.where(rows > 0, rows, 1.0), np.where(rows > 0, time, everyone)
        with np.errstate(divide="ignore"):
            rate = np.where(everyone > 0, rows / time, 0.0)  # all zeros, or none known: silent
        return ExponentialParameters(rate, rows if self.predictive else None)

    def log_prior(self, parameters: ExponentialParameters, pooled: Totals) -> float:
        """m rows of the mean of everyone in each group: m Σ_kj [ log λ_kj - λ_kj x̄ⱼ ]"""
        rate, everyone = parameters.rate, np.nan_to_num(pooled.mean())
        terms = np.log(np.where(rate > 0, rate, 1.0)) - rate * everyone
        return self.prior.m * float(terms.sum())

    def scorer(self, parameters: ExponentialParameters, bias: Floats) -> Scorer:
        refuse_open(
            np.isinf(parameters.rate),
            bias,
            "Expected times above zero in every class, but all of feature {feature} are zero in "
            "class {group}. Drop it, or raise the prior's pseudo-rows.",
        )
        return ByColumn.scorer(self, parameters, bias)

    def log_density(self, x: Floats, parameters: ExponentialParameters) -> Floats:
        rate, rows = parameters.rate, parameters.rows
        with np.errstate(divide="ignore", invalid="ignore"):
            if rows is None:
                terms = np.log(rate) - rate * x
            else:
                terms = np.log(rate) - (rows + 1) * np.log1p(x * rate / rows)
        return np.where(np.isnan(x) | (rate == 0), 0.0, terms)

    def sample(
        self, codes: Array, parameters: ExponentialParameters, random: np.random.Generator
    ) -> Floats:
        rate = parameters.rate[codes]
        if parameters.rows is not None:
            rows = parameters.rows[codes]
            rate = rate * random.gamma(rows, 1 / rows)
        with np.errstate(divide="ignore"):
            return random.exponential(np.where(rate > 0, 1 / rate, 0.0))

    def n_parameters(self, parameters: ExponentialParameters) -> int:
        return parameters.rate.size

    def intervals(
        self, statistics: Totals, parameters: ExponentialParameters, level: float
    ) -> Intervals:
        """Of the gamma posterior: λ ~ Γ(n + m, (n + m) / λ̂)."""
        rows = statistics.weight.rounded() + self.prior.m + np.zeros_like(parameters.rate)
        tail = (1 - level) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (special.gammaincinv(rows, p) / rows for p in (tail, 1 - tail))
        return Intervals.of("rate", parameters.rate, parameters.rate * low, parameters.rate * high)

    def integrated(self) -> Exponential:
        return replace(self, predictive=True)

    def summed(self) -> Summed:
        return Summed(Totals)

    def formula(self, parameters: ExponentialParameters, cells: Cells) -> list[Formula]:
        rows = np.zeros_like(parameters.rate) if parameters.rows is None else parameters.rows
        return [
            Formula.of(x, map(partial(_score, x), rate, n))
            for x, rate, n in zip(cells, parameters.rate.T.tolist(), rows.T.tolist(), strict=True)
        ]


def _score(x: Cell, rate: float, rows: float) -> Expression:
    """log λ - λ x, or log λ - (n + 1) log(1 + λ x / n) of n rows"""
    if rate == 0:
        return Known(x, Number(0.0))
    tail = -rate * x if rows == 0 else -(rows + 1) * Log(1.0 + rate / rows * x)
    score = float(np.log(rate)) + tail
    return Known(x, Within(x, 0.0, FARTHEST / rate, score, Number(IMPOSSIBLE)))
