"""Columns whose logarithms are normal, independent given the group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from posterior.data.rows import Groups
from posterior.data.typing import Array, Floats
from posterior.families.by_column import ByColumn
from posterior.families.covariance import check_ddof
from posterior.families.family import Intervals, Scorer, Support
from posterior.families.gaussian import Gaussian, GaussianParameters, log_density
from posterior.families.normal_symbols import formula
from posterior.families.priors import ONE_ROW, GaussianPrior
from posterior.families.symbols import Cells, Formula
from posterior.statistics.moments import Moments


@dataclass(frozen=True, slots=True)
class LogNormal(ByColumn[Moments, GaussianParameters]):
    """Sizes that spread by factors, such as prices: their logarithms are normal.

    log p(x | k) = -½ Σⱼ [ log 2πσ²_kj + (log xⱼ - μ_kj)² / σ²_kj ] - log xⱼ,  x > 0

    `prior`, `predictive` and `ddof` are those of `Gaussian`, for the logarithms.
    """

    exact: ClassVar[bool] = True
    support: ClassVar[Support] = "positive"

    prior: GaussianPrior | None = ONE_ROW
    predictive: bool = False
    ddof: float = 0.0

    def __post_init__(self) -> None:
        check_ddof(self.ddof)

    @property
    def _normal(self) -> Gaussian:
        return Gaussian(self.prior, self.predictive, ddof=self.ddof)

    def statistics(self, X: Array, groups: Groups) -> Moments:
        return Moments.of(_logarithms(X), groups)

    def estimate(self, statistics: Moments, pooled: Moments | None = None) -> GaussianParameters:
        return self._normal.estimate(statistics, pooled)

    def log_prior(self, parameters: GaussianParameters, pooled: Moments) -> float:
        return self._normal.log_prior(parameters, pooled)

    def log_density(self, x: Floats, parameters: GaussianParameters) -> Floats:
        logs = _logarithms(x)
        known = ~np.isnan(logs) & np.isfinite(parameters.variance)
        return log_density(logs, parameters) - np.where(known, logs, 0.0)

    def scorer(self, parameters: GaussianParameters, bias: Floats) -> Scorer:
        normal = self.discriminant(parameters, bias)
        telling = np.isfinite(parameters.variance).all(axis=0)

        def score(X: Array, out: Floats) -> None:
            normal(X, out)
            out -= np.nan_to_num(_logarithms(X)[:, telling]).sum(axis=1, keepdims=True)

        return score

    def discriminant(self, parameters: GaussianParameters, bias: Floats) -> Scorer:
        normal = self._normal.scorer(parameters, bias)
        return lambda X, out: normal(_logarithms(X), out)

    def sample(
        self, codes: Array, parameters: GaussianParameters, random: np.random.Generator
    ) -> Floats:
        return np.exp(self._normal.sample(codes, parameters, random))

    def n_parameters(self, parameters: GaussianParameters) -> int:
        return self._normal.n_parameters(parameters)

    def silent(self, statistics: Moments) -> Sequence[int]:
        return self._normal.silent(statistics)

    def intervals(
        self, statistics: Moments, parameters: GaussianParameters, level: float
    ) -> Intervals:
        lines = self._normal.intervals(statistics, parameters, level)
        names = np.array([f"{name} of log" for name in lines.parameter])
        return replace(lines, parameter=names)

    def integrated(self) -> LogNormal:
        return replace(self, predictive=True)

    def formula(self, parameters: GaussianParameters, cells: Cells) -> list[Formula]:
        return formula(parameters.mean, parameters.variance, parameters.freedom, cells, logs=True)


def _logarithms(x: Array) -> Floats:
    """Side by side in memory, so that each has the same bits wherever it stands."""
    return np.log(np.ascontiguousarray(x, np.float64))
