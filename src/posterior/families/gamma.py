"""Gamma columns, independent given the group: amounts and durations, never zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import numpy as np
from scipy import special

from posterior.data.rows import Groups
from posterior.data.typing import Array, Floats
from posterior.families.by_column import ByColumn
from posterior.families.family import Intervals, Scorer, Support, refuse_open
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
from posterior.statistics.algebra import SumOfFields
from posterior.statistics.exact import Exact
from posterior.statistics.moments import Totals

STEPS = 8  # of Newton, always: the bits of one cell must not hang on its neighbors
LARGE = 1e3  # shapes beyond which a series is more exact than a difference
LEAST = 1e-12  # log mean - mean log: less is rounding, of a column that does not vary


@dataclass(frozen=True, slots=True, eq=False)
class LogTotals(SumOfFields):
    """w_k = Σᵢ r_ik      s_k = Σᵢ r_ik xᵢ      l_k = Σᵢ r_ik log xᵢ,  of the observed cells"""

    weight: Annotated[Exact, "k, d"]
    total: Annotated[Exact, "k, d"]
    logs: Annotated[Exact, "k, d"]

    @classmethod
    def of(cls, X: Array, groups: Groups) -> LogTotals:
        x = np.ascontiguousarray(X, np.float64)
        plain = Totals.of(x, groups)
        return cls(plain.weight, plain.total, Totals.of(np.log(x), groups).total)

    def means(self) -> tuple[Floats, Floats]:
        """Of the cells and of their logarithms; NaN where there are none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = self.weight.rounded()
            return self.total.rounded() / weight, self.logs.rounded() / weight


@dataclass(frozen=True, slots=True)
class GammaParameters:
    """Shapes a and rates b, (k, d); a rate of zero marks a column that says nothing."""

    shape: Annotated[Floats, "k, d"]
    rate: Annotated[Floats, "k, d"]


@dataclass(frozen=True, slots=True)
class Gamma(ByColumn[LogTotals, GammaParameters]):
    """Amounts and durations, skewed to the right and never zero.

    log p(x | k) = Σⱼ a_kj log b_kj - log Γ(a_kj) + (a_kj - 1) log xⱼ - b_kj xⱼ,  x > 0

    Shape and rate are the most probable ones: log a - ψ(a) = log mean - mean log, by the steps of
    Minka (2002), and b = a / mean. `prior` are rows with the mean, and the mean logarithm, of all
    groups together.
    """

    exact: ClassVar[bool] = True
    support: ClassVar[Support] = "positive"

    prior: PseudoRows = ONE_ROW

    def statistics(self, X: Array, groups: Groups) -> LogTotals:
        return LogTotals.of(X, groups)

    def estimate(self, statistics: LogTotals, pooled: LogTotals | None = None) -> GammaParameters:
        everyone = statistics.pooled() if pooled is None else pooled
        mean_0, log_0 = everyone.means()
        mean, log = _with_rows(statistics, self.prior.m, mean_0, log_0)
        with np.errstate(divide="ignore", invalid="ignore"):
            shape = shape_of(np.log(mean) - log)
            telling = np.log(mean_0) - log_0 > LEAST
            rate = np.where(telling, shape / mean, 0.0)
        return GammaParameters(np.where(telling, shape, 1.0), rate)

    def log_prior(self, parameters: GammaParameters, pooled: LogTotals) -> float:
        """m rows of everyone in each group: m Σ_kj [ a log b - log Γ(a) + (a - 1) l̄ - b x̄ ]"""
        mean, log = pooled.means()
        a, b = parameters.shape, parameters.rate
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = _height(a, b) + (a - 1) * log - b * mean
        return self.prior.m * float(np.where(b > 0, terms, 0.0).sum())

    def scorer(self, parameters: GammaParameters, bias: Floats) -> Scorer:
        refuse_open(
            np.isinf(parameters.shape),
            bias,
            "Expected every feature to vary in every class, but feature {feature} does not in "
            "class {group}. Drop it, or raise the prior's pseudo-rows.",
        )
        return ByColumn.scorer(self, parameters, bias)

    def log_density(self, x: Floats, parameters: GammaParameters) -> Floats:
        a, b = parameters.shape, parameters.rate
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = _height(a, b) + (a - 1) * np.log(x) - b * x
        return np.where(np.isnan(x) | (b == 0), 0.0, terms)

    def sample(
        self, codes: Array, parameters: GammaParameters, random: np.random.Generator
    ) -> Floats:
        a, b = parameters.shape[codes], parameters.rate[codes]
        with np.errstate(divide="ignore"):
            drawn = random.gamma(a, np.where(b > 0, 1 / b, 1.0))
        return np.maximum(drawn, np.finfo(np.float64).tiny)  # tiny shapes round to zero

    def n_parameters(self, parameters: GammaParameters) -> int:
        return 2 * parameters.shape.size

    def silent(self, statistics: LogTotals) -> Sequence[int]:
        return [int(j) for j in np.flatnonzero(self.estimate(statistics).rate[0] == 0)]

    def intervals(
        self, statistics: LogTotals, parameters: GammaParameters, level: float
    ) -> Intervals:
        """By the curvature of the likelihood, of the logarithms of a and b:

        1 / I(log a) = 1 / (n a (a ψ'(a) - 1)),  1 / I(log b) = ψ'(a) / (n (a ψ'(a) - 1))
        """
        a, b = parameters.shape, parameters.rate
        rows, z = statistics.weight.rounded() + self.prior.m, special.ndtri(0.5 + level / 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            bend = rows * _excess(a)
            of_shape, of_rate = (z / np.sqrt(bend * part) for part in (a, 1 / _trigamma(a)))
        lines = [
            Intervals.of(name, value, value * np.exp(-half), value * np.exp(half))
            for name, value, half in (("shape", a, of_shape), ("rate", b, of_rate))
        ]
        return lines[0] + lines[1]

    def formula(self, parameters: GammaParameters, cells: Cells) -> list[Formula]:
        pairs = zip(cells, parameters.shape.T.tolist(), parameters.rate.T.tolist(), strict=True)
        return [Formula.of(x, map(partial(_score, x), a, b)) for x, a, b in pairs]


def shape_of(gap: Floats) -> Floats:
    """a, where log a - ψ(a) is the gap, by Newton's steps for 1 / a (Minka 2002)."""
    some = gap > LEAST
    s = np.where(some, gap, 1.0)
    a = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)
    for _ in range(STEPS):
        a = 1 / (1 / a - (_gap(a) - s) / (a * _excess(a)))
    return np.where(some, a, np.inf)


def _gap(a: Floats) -> Floats:
    """log a - ψ(a)"""
    series = 1 / (2 * a) + 1 / (12 * a**2) - 1 / (120 * a**4)
    return np.where(a > LARGE, series, np.log(a) - special.psi(a))


def _trigamma(a: Floats) -> Floats:
    return np.asarray(special.polygamma(1, a))


def _excess(a: Floats) -> Floats:
    """a ψ'(a) - 1"""
    series = 1 / (2 * a) + 1 / (6 * a**2) - 1 / (30 * a**4)
    return np.where(a > LARGE, series, a * _trigamma(a) - 1)


def _with_rows(statistics: LogTotals, m: float, mean: Floats, log: Floats) -> tuple[Floats, Floats]:
    """Means of rows and of m pseudo-rows; of the pseudo-rows alone where there are no others."""
    rows = statistics.weight.rounded() + m
    sums = (statistics.total.rounded(), mean), (statistics.logs.rounded(), log)
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (np.where(rows > 0, (s + m * all_) / rows, all_) for s, all_ in sums)
    return first, second


def _height(a: Floats, b: Floats) -> Floats:
    return a * np.log(b) - special.gammaln(a)


def _score(x: Cell, a: float, b: float) -> Expression:
    if b == 0:
        return Known(x, Number(0.0))
    height = float(_height(np.asarray(a), np.asarray(b)))
    score = height + (a - 1) * Log(x) - b * x
    return Known(x, Within(x, 0.0, FARTHEST / b, score, Number(IMPOSSIBLE)))
