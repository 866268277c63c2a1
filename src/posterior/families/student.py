"""Columns with heavy tails, independent given the group."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from posterior import kernels
from posterior.data.rows import Hard
from posterior.data.typing import Array, Floats
from posterior.families.family import Intervals, OfValues, Scorer
from posterior.families.gaussian import Gaussian, GaussianParameters, log_density
from posterior.families.symbols import Cells, Formula
from posterior.kernels.tails import LIGHTEST, Tails
from posterior.statistics.histograms import Histograms

DENSITY = Gaussian()  # whose parameters may have degrees of freedom


@dataclass(frozen=True, slots=True)
class StudentT(OfValues[GaussianParameters]):
    """Columns with heavy tails: Student's t around a place of each group, independent.

    p(x | k) ∝ (1 + (x - μ_k)² / νσ²_k)^(-(ν + 1) / 2) / σ_k

    The degrees of freedom ν, from 1 to 200, are one number for all groups of a column. EM finds the
    most probable parameters (Liu and Rubin 1995), where a row counts (ν + 1) / (ν + (x - μ)² / σ²)
    times. It reads the weight of each group at each value
    instead of rows: exact up to `max_values` values, and to the width of their cells beyond.

    `prior` are pseudo-rows at the place and of the scale that all groups have together.
    """

    def estimate(
        self, statistics: Histograms, pooled: Histograms | None = None
    ) -> GaussianParameters:
        return self._parameters(self._columns(statistics, pooled))

    def _parameters(self, columns: list[Tails]) -> GaussianParameters:
        k = len(columns[0].mean)
        return GaussianParameters(
            np.stack([column.mean for column in columns], axis=1),
            np.stack([column.square for column in columns], axis=1),
            np.repeat([[column.freedom for column in columns]], k, axis=0),
        )

    def _columns(self, statistics: Histograms, pooled: Histograms | None) -> list[Tails]:
        whole = statistics.pooled() if pooled is None else pooled
        own, everyone = statistics.points(), whole.points()
        return [self._column(*mine, *all_) for mine, all_ in zip(own, everyone, strict=True)]

    def _column(self, x: Floats, W: Floats, all_x: Floats, all_W: Floats) -> Tails:
        """Of values (m,) with weights (k, m); and of all groups, to which the prior looks."""
        k, total = len(W), float(all_W.sum())
        if total <= 0 or all_x[0] == all_x[-1]:  # never observed, or never varies: says nothing
            center = all_x[0] if len(all_x) else 0.0
            return Tails(np.full(k, center), np.full(k, np.inf), LIGHTEST, np.zeros(k))
        origin, least = _median(all_x, all_W[0]), float(np.diff(all_x).min()) ** 2 / 12
        least = max(least, 1e-300)
        start = Tails(np.zeros(1), _spread(all_x - origin, all_W[0], least), 4.0, np.zeros(1))
        whole = kernels.student_fit(all_x - origin, all_W, start, 0.0, least)
        start = Tails(
            np.repeat(whole.mean, k), np.repeat(whole.square, k), whole.freedom, whole.weight
        )
        fit = kernels.student_fit(x - origin, W, start, self.prior.m, least)
        return replace(fit, mean=fit.mean + origin)

    def scorer(self, parameters: GaussianParameters, bias: Floats) -> Scorer:
        return DENSITY.scorer(parameters, bias)

    def evidence(self, X: Array, parameters: GaussianParameters) -> Floats:
        return DENSITY.evidence(X, parameters)

    def leave_one_out(self, X: Array, groups: Hard, statistics: Histograms) -> Floats:
        """Without the row, one step of EM from the fit of all rows: closed, and all but exact."""
        columns = self._columns(statistics, None)
        everyone = self._parameters(columns)
        x, codes = np.asarray(X, np.float64), groups.codes
        score = DENSITY.evidence(x, everyone).sum(axis=2)
        mean, square = everyone.mean[codes], everyone.variance[codes]
        assert everyone.freedom is not None
        freedom, total = (
            everyone.freedom[codes],
            np.stack([c.weight for c in columns], axis=1)[codes],
        )
        w = (np.ones(len(x)) if groups.weight is None else groups.weight)[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = x - mean
            u = w * (freedom + 1) / (freedom + apart**2 / square)
            left = np.maximum(total - u, 1e-9 * total)
            moved = mean - u * apart / left
            less = np.maximum(total * square - u * apart**2 * total / left, 1e-9 * square) / left
        known = np.isfinite(square) & ~np.isnan(x)
        mine = GaussianParameters(
            np.where(known, moved, mean), np.where(known, less, square), freedom
        )
        score[np.arange(len(x)), codes] = log_density(x, mine).sum(axis=1)
        return score

    def sample(
        self, codes: Array, parameters: GaussianParameters, random: np.random.Generator
    ) -> Floats:
        return DENSITY.sample(codes, parameters, random)

    def n_parameters(self, parameters: GaussianParameters) -> int:
        k, d = parameters.mean.shape
        return 2 * k * d + d

    def summary(self, statistics: Histograms, parameters: GaussianParameters, column: int) -> str:
        assert parameters.freedom is not None
        return f"{parameters.freedom[0, column]:.3g} degrees of freedom"

    def formula(self, parameters: GaussianParameters, cells: Cells) -> list[Formula]:
        return DENSITY.formula(parameters, cells)

    def intervals(
        self, statistics: Histograms, parameters: GaussianParameters, level: float
    ) -> Intervals:
        """By the curvature of the likelihood: 1 / I(μ) = σ² (ν + 3) / (n (ν + 1)), and
        1 / I(log σ) = (ν + 3) / (2 n ν). The degrees of freedom come without."""
        p = parameters
        counts = statistics.counts.columns(statistics.counts.table.rounded())
        rows = np.stack([c.sum(axis=1) for c in counts], axis=1) + self.prior.m
        assert p.freedom is not None
        scale, z = np.sqrt(p.variance), special.ndtri(0.5 + level / 2)
        with np.errstate(invalid="ignore", divide="ignore"):
            half = z * scale * np.sqrt((p.freedom + 3) / (p.freedom + 1) / rows)
            factor = np.exp(z * np.sqrt((p.freedom + 3) / (2 * p.freedom * rows)))
            place = Intervals.of("mean", p.mean, p.mean - half, p.mean + half)
            spread = Intervals.of("scale", scale, scale / factor, scale * factor)
        open_ = np.full_like(scale, np.nan)
        return place + spread + Intervals.of("freedom", p.freedom, open_, open_)


def _median(x: Floats, w: Floats) -> float:
    return float(x[np.searchsorted(np.cumsum(w), 0.5 * w.sum())])


def _spread(z: Floats, w: Floats, least: float) -> Floats:
    """The squared median of the distances to zero, or their mean square if that is nothing."""
    order = np.argsort(np.abs(z))
    middle = _median(np.abs(z)[order], w[order]) ** 2
    return np.array([max(middle or float(np.average(z**2, weights=w)), least)])
