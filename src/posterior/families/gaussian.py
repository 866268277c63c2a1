"""Columns that are normal and independent, given the group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy import special

from posterior import kernels
from posterior.data.errors import DegenerateError
from posterior.data.rows import Groups, Hard
from posterior.data.typing import Array, Codes, Floats
from posterior.families.covariance import check_ddof, divisor
from posterior.families.credible import chi2_quantile
from posterior.families.family import Family, Intervals, Scorer, Summed
from posterior.families.normal_symbols import formula
from posterior.families.priors import (
    ONE_ROW,
    AddedVariance,
    GaussianPrior,
    PseudoRows,
    VarianceFloor,
)
from posterior.families.symbols import Cells, Formula
from posterior.families.tailed_density import TailedDensity
from posterior.kernels import pairs
from posterior.kernels.pairs import Pair, two_product
from posterior.statistics.moments import Moments, floats

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, slots=True)
class GaussianParameters:
    """Means and variances (k, d); an infinite variance marks a column that says nothing.

    With degrees of freedom the density is Student's t, and the variance its squared scale.
    """

    mean: Annotated[Floats, "k, d"]
    variance: Annotated[Floats, "k, d"]
    freedom: Annotated[Floats, "k, d"] | None = None
    floor: float = 0.0  # what the prior added to every variance


@dataclass(frozen=True, slots=True)
class Sums:
    """Weight, sum and sum of squares as pairs, of any shape; rows can be added and taken away."""

    weight: Pair
    total: Pair
    squares: Pair

    @classmethod
    def of(cls, statistics: Moments) -> Sums:
        return cls(statistics.weight.pair(), statistics.total.pair(), statistics.squares.pair())

    @classmethod
    def of_rows(cls, X: Floats, weight: Floats | None) -> Sums:
        """Of each single cell; a missing one adds nothing."""
        observed = ~np.isnan(X)
        x, w = np.where(observed, X, 0.0), Pair.of(1.0 if weight is None else weight[:, None])
        return cls(w * Pair.of(observed), w * Pair.of(x), w * two_product(x, x))

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.weight + other.weight, self.total + other.total, self.squares + other.squares
        )

    def __sub__(self, other: Sums) -> Sums:
        return Sums(
            self.weight - other.weight, self.total - other.total, self.squares - other.squares
        )

    def __getitem__(self, index: Any) -> Sums:
        return Sums(self.weight[index], self.total[index], self.squares[index])

    def mean_and_scatter(self) -> tuple[Floats, Floats]:
        weight, total, squares = self.weight, self.total, self.squares
        return pairs.mean(weight, total), pairs.scatter(weight, total, squares)

    def mean_and_variance_without(
        self, X: Floats, codes: Codes, weight: Floats | None, ddof: float = 0.0
    ) -> tuple[Floats, Floats]:
        """Of each row's group without the row, (n, d)."""
        sums = (self.weight, self.total, self.squares)
        left, mean, scatter = kernels.moments_without(X, codes, weight, sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            return mean, scatter / divisor(left, ddof)


@dataclass(frozen=True, slots=True)
class Gaussian(Family[Moments, GaussianParameters]):
    """Columns that are normal and independent, given the group.

    log p(x | k) = -½ Σⱼ [ log 2πσ²_kj + (xⱼ - μ_kj)² / σ²_kj ]

    `predictive` integrates over the posterior of mean and variance instead of taking its mean:
    Student's t with as many degrees of freedom as there are rows and pseudo-rows. `alike` gives
    all columns of a group one variance. `variance` is known beforehand, if it is given: then only
    the mean is integrated over, and the density stays normal. `ddof` is what a mean costs in rows:
    squares are divided by n - ddof, where n are rows and pseudo-rows by their weights.
    """

    exact: ClassVar[bool] = True
    prior: GaussianPrior | None = ONE_ROW
    predictive: bool = False
    alike: bool = False
    variance: float | None = None
    ddof: float = 0.0

    def __post_init__(self) -> None:
        check_ddof(self.ddof)
        if self.variance is not None and not 0 < self.variance < np.inf:
            raise ValueError(f"Expected a variance above zero, got {self.variance}.")

    def statistics(self, X: Array, groups: Groups) -> Moments:
        return Moments.of(X, groups)

    def estimate(self, statistics: Moments, pooled: Moments | None = None) -> GaussianParameters:
        everyone = statistics.pooled() if pooled is None else pooled
        if isinstance(self.prior, PseudoRows):
            return self._estimate(Sums.of(statistics), Sums.of(everyone))
        return self._estimate(statistics, everyone)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def _estimate(self, sums: Moments | Sums, pooled: Moments | Sums) -> GaussianParameters:
        pooled_mean, pooled_variance = _mean_and_variance(pooled)
        self._check_finite(pooled_variance)
        if isinstance(self.prior, PseudoRows):
            assert isinstance(sums, Sums)
            m, center = Pair.of(self.prior.m), Pair.of(np.nan_to_num(pooled_mean))
            spread = Pair.of(np.nan_to_num(pooled_variance, posinf=np.inf))
            sums = sums + Sums(m, m * center, m * (center * center + spread))
        weight = sums.weight.rounded()
        observed = pooled.weight.rounded() > 0
        mean, variance = self._mean_and_variance(sums, observed, self.ddof)
        self._check_finite(variance)
        empty = weight <= 0
        if empty.any():  # a group of which no cell was observed knows what everyone knows
            mean = np.nan_to_num(np.where(empty, pooled_mean, mean))
            _, everyone = self._mean_and_variance(pooled, observed, 0.0)
            unknown = empty.all(axis=-1, keepdims=True) if self.alike else empty
            variance = np.where(unknown, np.nan_to_num(everyone, posinf=np.inf), variance)
        added = 0.0
        if self.variance is not None:
            variance = np.full_like(mean, self.variance)
        elif isinstance(self.prior, VarianceFloor | AddedVariance):
            floor = self._floor(pooled_variance)
            added = float(floor[0, 0]) if floor.size == 1 else 0.0
            variance = variance + floor
        elif isinstance(self.prior, PseudoRows):
            says_nothing = ~(pooled_variance > 0)  # never varies, or was never observed
            if self.alike:  # what varies speaks for what does not
                says_nothing = says_nothing.all(axis=-1, keepdims=True) | ~observed
            variance = np.where(np.broadcast_to(says_nothing, variance.shape), np.inf, variance)
        if not self.predictive:
            return GaussianParameters(mean, variance, floor=added)
        rows = np.where(empty, pooled.weight.rounded(), weight) + np.zeros_like(variance)
        freedom = divisor(rows, self.ddof) if self.variance is None else None
        return GaussianParameters(mean, variance * _stretch(rows), freedom, added)

    def _mean_and_variance(
        self, sums: Moments | Sums, observed: Array, ddof: float
    ) -> tuple[Floats, Floats]:
        """Of each column; alike, of all that were observed."""
        mean, variance = _mean_and_variance(sums, 0.0 if self.alike else ddof)
        if not self.alike:
            return mean, variance
        weight = np.where(observed, sums.weight.rounded(), 0.0) + np.zeros_like(variance)
        scatter = np.nan_to_num(weight * variance).sum(axis=-1, keepdims=True)
        spent = ddof * (weight > 0).sum(axis=-1, keepdims=True)  # each column has a mean
        rows = divisor(weight.sum(axis=-1, keepdims=True), spent)
        return mean, np.repeat(scatter / rows, mean.shape[-1], axis=-1)

    def _check_finite(self, variance: Floats) -> None:
        if np.isinf(variance.max(initial=0.0)) or np.isinf(variance).any():
            raise DegenerateError(
                "Expected values whose squares are finite numbers, but those of feature {feature} "
                "are too large. Rescale it.",
                feature=int(np.argwhere(np.isinf(variance))[0][-1]),
            )

    def _floor(self, pooled_variance: Floats) -> Floats:
        if isinstance(self.prior, AddedVariance):
            return np.full((*pooled_variance.shape[:-1], 1), self.prior.amount)
        assert isinstance(self.prior, VarianceFloor)
        largest = np.nan_to_num(pooled_variance).max(axis=-1, keepdims=True, initial=0.0)
        return np.asarray(self.prior.portion * largest)

    def log_prior(self, parameters: GaussianParameters, pooled: Moments) -> float:
        """m rows of variance v₀ around μ₀ in each group:

        -½ m Σ_kj [ log 2πσ²_kj + (v₀ⱼ + (μ₀ⱼ - μ_kj)²) / σ²_kj ]
        """
        if not isinstance(self.prior, PseudoRows):
            return 0.0
        center, spread = _mean_and_variance(pooled)
        variance = parameters.variance
        telling = np.isfinite(variance) & (variance > 0) & np.isfinite(center + spread)
        v = np.where(telling, variance, 1.0)
        squares = np.where(telling, spread + (center - parameters.mean) ** 2, 0.0)
        terms = np.where(telling, LOG_2PI + np.log(v) + squares / v, 0.0)
        return -0.5 * self.prior.m * float(terms.sum())

    def scorer(self, parameters: GaussianParameters, bias: Floats) -> Scorer:
        mean, variance = parameters.mean, parameters.variance
        possible = np.flatnonzero(bias > -np.inf)
        self._check_varies(variance[possible], possible)
        if parameters.freedom is not None:
            density = TailedDensity.of(mean, variance, parameters.freedom)

            def tailed(X: Array, out: Floats) -> None:
                x = np.ascontiguousarray(X, np.float64)[:, None, :]
                np.add(density(x).sum(axis=2), bias, out=out)

            return tailed
        telling = np.isfinite(variance) & (variance > 0)
        inverse_deviation = np.where(telling, 1 / np.sqrt(np.where(telling, variance, 1.0)), 0.0)
        term = np.where(telling, -0.5 * (LOG_2PI + np.log(np.where(telling, variance, 1.0))), 0.0)
        constant = bias + term.sum(axis=1)
        mean = np.ascontiguousarray(mean, np.float64)

        def score(X: Array, out: Floats) -> None:
            kernels.gaussian_log_joint(floats(X), mean, inverse_deviation, term, constant, out)

        return score

    def _check_varies(self, variance: Floats, groups: Array) -> None:
        if (variance > 0).all():
            return
        i, j = np.argwhere(~(variance > 0))[0]
        if np.isnan(variance[i, j]) and self.ddof:
            raise DegenerateError(
                f"Expected rows that weigh more than ddof={self.ddof:g} in class {{group}}, got "
                "too few cells of feature {feature} to know its variance. Add rows, or set ddof=0.",
                feature=int(j),
                group=int(groups[i]),
            )
        raise DegenerateError(
            f"Expected every feature to vary in every class, but feature {{feature}} has variance "
            f"{variance[i, j]:g} in class {{group}}. Drop it, or raise the smoothing "
            "(var_smoothing, or the prior's pseudo-rows).",
            feature=int(j),
            group=int(groups[i]),
        )

    def evidence(self, X: Array, parameters: GaussianParameters) -> Floats:
        return log_density(np.ascontiguousarray(X, np.float64)[:, None, :], parameters)

    def leave_one_out(self, X: Array, groups: Hard, statistics: Moments) -> Floats:
        x = np.ascontiguousarray(X, np.float64)
        sums, everyone = Sums.of(statistics), Sums.of(statistics.pooled())
        seen = sums.weight.rounded() > 0
        score = np.empty((len(x), groups.n_groups))
        # other groups keep their sums; only what the prior says may change from row to row
        plain = not (self.predictive or self.alike) and self.variance is None
        if isinstance(self.prior, VarianceFloor | AddedVariance) and plain and seen.all():
            _, pooled_variance = everyone.mean_and_variance_without(
                x, np.zeros_like(groups.codes), groups.weight
            )
            floor = self._floor(pooled_variance)
            mean, variance = _mean_and_variance(sums, self.ddof)
            for k in range(groups.n_groups):
                parameters = GaussianParameters(mean[k], variance[k] + floor)
                score[:, k] = _row_scores(x, parameters)
            mean, variance = sums.mean_and_variance_without(
                x, groups.codes, groups.weight, self.ddof
            )
            mine = GaussianParameters(mean, variance + floor)
        else:
            own = Sums.of_rows(x, groups.weight)
            pooled = everyone[np.zeros(len(x), int)] - own
            for k in range(groups.n_groups):
                score[:, k] = _row_scores(x, self._estimate(sums[[k]], pooled))
            mine = self._estimate(sums[groups.codes] - own, pooled)
        score[np.arange(len(x)), groups.codes] = _row_scores(x, mine)
        return score

    def sample(
        self, codes: Array, parameters: GaussianParameters, random: np.random.Generator
    ) -> Floats:
        finite = np.where(np.isfinite(parameters.variance), parameters.variance, 0.0)
        noise = random.standard_normal((len(codes), parameters.mean.shape[1]))
        if parameters.freedom is not None:
            freedom = parameters.freedom[codes]
            noise /= np.sqrt(random.chisquare(freedom) / freedom)
        return parameters.mean[codes] + np.sqrt(finite)[codes] * noise

    def n_parameters(self, parameters: GaussianParameters) -> int:
        k, d = parameters.mean.shape
        if self.variance is not None:
            return k * d
        return k * d + k if self.alike else 2 * k * d

    def silent(self, statistics: Moments) -> Sequence[int]:
        if not isinstance(self.prior, PseudoRows):
            return ()
        variance = Gaussian(None).estimate(statistics.pooled()).variance[0]
        return [int(j) for j in np.flatnonzero(variance == 0)]

    def integrated(self) -> Gaussian:
        return replace(self, predictive=True)

    def summed(self) -> Summed:
        return Summed(Moments)

    def formula(self, parameters: GaussianParameters, cells: Cells) -> list[Formula]:
        return formula(parameters.mean, parameters.variance, parameters.freedom, cells)

    @np.errstate(invalid="ignore", divide="ignore")
    def intervals(
        self, statistics: Moments, parameters: GaussianParameters, level: float
    ) -> Intervals:
        """Of mean and variance; with the degrees of freedom, if they are integrated out."""
        mean, variance, freedom = parameters.mean, parameters.variance, parameters.freedom
        # m pseudo-rows bring m degrees of freedom; without them one is spent on the mean
        prior_rows = self.prior.m if isinstance(self.prior, PseudoRows) else 0.0
        rows = statistics.weight.rounded() + prior_rows + np.zeros_like(mean)
        if self.variance is not None:
            variance = np.full_like(mean, self.variance)
        elif freedom is not None:
            variance = variance / _stretch(freedom + self.ddof)
        half, low, high = self._half_widths(variance, rows, 0.0 if prior_rows else 1.0, level)
        lines = Intervals.of("mean", mean, mean - half, mean + half)
        lines += Intervals.of("variance", variance, low, high)
        return lines if freedom is None else lines + Intervals.of("freedom", *[freedom] * 3)

    def _half_widths(
        self, variance: Floats, rows: Floats, spent: float, level: float
    ) -> tuple[Floats, Floats, Floats]:
        """Half of the interval of a mean, and both ends of that of a variance."""
        tail = (1 - level) / 2
        if self.variance is not None:
            return -special.ndtri(tail) * np.sqrt(variance / rows), variance, variance
        freedom, squares = np.maximum(rows - spent, 0.0), variance * divisor(rows, self.ddof)
        if self.alike:  # all columns inform the one variance
            telling = np.isfinite(variance)
            freedom, squares = (
                np.where(telling, a, 0.0).sum(axis=1, keepdims=True) for a in (freedom, squares)
            )
        half = -special.stdtrit(freedom, tail) * np.sqrt(squares / freedom / rows)
        low, high = (squares / chi2_quantile(p, freedom) for p in (1 - tail, tail))
        return half, np.broadcast_to(low, rows.shape), np.broadcast_to(high, rows.shape)


def _stretch(rows: Floats) -> Floats:
    """By which a variance grows where the mean of so many rows is integrated out."""
    return (rows + 1) / rows


def _mean_and_variance(sums: Moments | Sums, ddof: float = 0.0) -> tuple[Floats, Floats]:
    mean, scatter = sums.mean_and_scatter()
    with np.errstate(invalid="ignore", divide="ignore"):
        return mean, scatter / divisor(sums.weight.rounded(), ddof)


def _row_scores(x: Floats, parameters: GaussianParameters) -> Floats:
    """Log densities of rows; not a number where the data leave a parameter open."""
    known = (parameters.variance > 0).all(axis=-1)
    return np.where(known, log_density(x, parameters).sum(axis=-1), np.nan)


def log_density(x: Floats, parameters: GaussianParameters) -> Floats:
    """Log density of each cell under parameters that broadcast against it; 0 if missing."""
    mean, variance, freedom = parameters.mean, parameters.variance, parameters.freedom
    if freedom is not None:
        return TailedDensity.of(mean, variance, freedom)(x)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        square = (x - mean) ** 2 / variance
        terms = -0.5 * (LOG_2PI + np.log(variance) + square)
    return np.where(np.isnan(x) | np.isinf(variance), 0.0, terms)
