"""Columns that are normal together, given the group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import special

from posterior import kernels
from posterior.data.rows import Groups, Hard
from posterior.data.typing import Array, Floats
from posterior.families.covariance import (
    Kind,
    Scatter,
    check_ddof,
    shrunken,
    whitenings,
)
from posterior.families.covariance_forms import FORMS, n_numbers
from posterior.families.credible import chi2_quantile
from posterior.families.family import Family, Intervals, Scorer, Summed
from posterior.families.incomplete import (
    LOG_2PI,
    Estimate,
    check_observed,
    completed,
    expected_scatter,
    log_likelihood,
    whole,
)
from posterior.families.normal_density import (
    Measure,
    MultivariateGaussianParameters,
    downdated,
    formula,
    linear_terms,
    score_incomplete,
)
from posterior.families.symbols import Cells, Formula
from posterior.statistics.cross_products import CrossSums
from posterior.statistics.incomplete_rows import patterns
from posterior.statistics.moments import floats


@dataclass(frozen=True, slots=True)
class MultivariateGaussian(Family[CrossSums, MultivariateGaussianParameters]):
    """Columns that are normal together, given the group.

    log p(x | k) = -½ [ d log 2π + log |Σ_k| + (x - μ_k)ᵀ Σ_k⁻¹ (x - μ_k) ]

    Covariances are each group's own, shared by all, diagonal, or spherical; or, by the letters of
    mclust, shared in part: "EII", "EEI", "VEI", "EVI", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV".
    Missing cells are integrated out when scoring and met by EM when learning.

    `pseudo_rows` adds rows with the mean and covariance of all groups to each (the
    normal-inverse-Wishart prior). `mix` is the part of each group's own covariance that stays, the
    rest is the shared one (Friedman 1989); `shrinkage` mixes in a sphere, `ridge` an identity;
    `added` is added to every variance. `predictive` integrates over the posterior of mean and
    covariance: Student's t. `least` drops directions in which rows deviate by less, instead of
    refusing them. `ddof` is what a mean costs in rows: scatter is divided by n_k - ddof, that of K
    groups together by n - K ddof.
    """

    kind: Kind = "own"
    pseudo_rows: float = 0.0
    shrinkage: float = 0.0
    ridge: float = 0.0
    added: float = 0.0
    predictive: bool = False
    least: float | None = None
    shares: tuple[float, ...] | None = None  # of the groups in a shared covariance
    ddof: float = 0.0
    mix: float = 1.0

    def __post_init__(self) -> None:
        check_ddof(self.ddof)
        if self.kind in FORMS and (self.ddof or self.predictive or self.shares):
            raise ValueError(
                f"Expected covariances that are own, shared, diagonal or spherical for ddof, "
                f"predictive and shares, got {self.kind!r}. Leave them out."
            )
        if self.mix != 1 and self.kind != "own":
            raise ValueError(
                f"Expected covariances of kind 'own' to mix with the shared one, got {self.kind!r}."
            )

    def statistics(self, X: Array, groups: Groups) -> CrossSums:
        return CrossSums.of(floats(X), groups)

    def estimate(
        self, statistics: CrossSums, pooled: CrossSums | None = None
    ) -> MultivariateGaussianParameters:
        if self.kind != "shared" and not self.pseudo_rows:
            check_observed(statistics)
        everyone = None if pooled is None or not self.pseudo_rows else whole(pooled)
        # EM maximizes a likelihood; what it has completed is then divided as asked
        scatter, trace = completed(statistics, partial(self._maximize, everyone=everyone, ddof=0.0))
        return self._parameters(scatter, self._maximize(scatter, everyone), tuple(trace))

    def improve(
        self,
        statistics: CrossSums,
        pooled: CrossSums,
        parameters: MultivariateGaussianParameters | None,
    ) -> MultivariateGaussianParameters:
        """One step of EM: missing cells are expected from the parameters so far."""
        everyone = whole(pooled) if self.pseudo_rows else None
        before = None if parameters is None else parameters.covariance
        if parameters is None or len(statistics.incomplete) == 0:
            scatter = whole(statistics)
        else:
            scatter = expected_scatter(statistics, (parameters.mean, parameters.covariance))
        return self._parameters(scatter, self._maximize(scatter, everyone, before=before))

    def log_prior(self, parameters: MultivariateGaussianParameters, pooled: CrossSums) -> float:
        """Of the pseudo-rows in each group."""
        if not self.pseudo_rows:
            return 0.0
        k, rows = len(parameters.mean), whole(pooled).as_rows(self.pseudo_rows)
        everywhere = Scatter(
            *(np.repeat(a, k, axis=0) for a in (rows.weight, rows.mean, rows.scatter))
        )
        return log_likelihood(everywhere, (parameters.mean, parameters.covariance))

    def _parameters(
        self, scatter: Scatter, estimate: Estimate, trace: tuple[float, ...] = ()
    ) -> MultivariateGaussianParameters:
        mean, covariance = estimate
        weight = scatter.weight + self.pseudo_rows
        freedom = stretch = None
        if self.predictive:
            shared = self.kind == "shared"
            rows = self._divisor(weight)
            freedom = np.full(len(weight), rows) if shared else np.maximum(rows, 0.0)
            with np.errstate(divide="ignore"):
                stretch = (weight + 1) / weight
        whitening = whitenings(covariance, self.least)
        return MultivariateGaussianParameters(
            mean, covariance, whitening, freedom, stretch, scatter, trace
        )

    def _maximize(
        self,
        scatter: Scatter,
        everyone: Scatter | None = None,
        ddof: float | None = None,
        before: Floats | None = None,
    ) -> Estimate:
        """Means and covariances of completed rows and of pseudo-rows."""
        prior = scatter.with_rows(self.pseudo_rows, everyone)
        ddof = self.ddof if ddof is None else ddof
        covariance = prior.covariance(self.kind, self.shares, ddof, before)
        if self.mix != 1:
            within = prior.covariance("shared", self.shares, ddof)
            covariance = self.mix * covariance + (1 - self.mix) * within
        covariance = shrunken(covariance, self.shrinkage)
        if self.ridge:
            covariance = (1 - self.ridge) * covariance + self.ridge * np.eye(covariance.shape[-1])
        if self.added:
            covariance = covariance + self.added * np.eye(covariance.shape[-1])
        return prior.means(), covariance

    def _divisor(self, weight: Floats) -> Floats:
        """By which scatter was divided, from the weights of groups and their pseudo-rows."""
        if self.kind == "shared":
            return weight.sum() - self.ddof * (weight > 0).sum()
        return weight - self.ddof

    def _tilted(self) -> bool:
        """Whether columns go together in another way in each group."""
        return self.kind not in ("shared", "diagonal", "spherical")

    def scorer(self, parameters: MultivariateGaussianParameters, bias: Floats) -> Scorer:
        measure = Measure(parameters, bias)

        def score(X: Array, out: Floats) -> None:
            measure(X, out)
            score_incomplete(X, out, parameters, bias)

        return score

    def discriminant(self, parameters: MultivariateGaussianParameters, bias: Floats) -> Scorer:
        """log p(x, k) up to a term that all groups share: linear if they share a covariance."""
        if self.kind != "shared" or parameters.freedom is not None:
            return self.scorer(parameters, bias)
        weight, constant = linear_terms(parameters)
        bias_and_constant, absent = bias + constant, np.full_like(weight, np.nan)

        def score(X: Array, out: Floats) -> None:
            kernels.linear_log_joint(floats(X), weight, absent, bias_and_constant, out)
            score_incomplete(X, out, parameters, bias)

        return score

    def evidence(self, X: Array, parameters: MultivariateGaussianParameters) -> Floats:
        """For "own" covariances the terms are those of `term_names`, else one a feature."""
        x = np.asarray(X, np.float64)
        d = x.shape[1]
        i, j = np.triu_indices(d, 1)
        many = self._tilted() or parameters.freedom is not None
        out = np.zeros((len(x), len(parameters.mean), d + len(i) + 1 if many else d))
        for observed, rows in patterns(x):
            columns = np.flatnonzero(observed)
            part = parameters if observed.all() else parameters.of_columns(columns)
            places = columns
            if many:
                pairs = np.flatnonzero(observed[i] & observed[j])
                places = np.concatenate([columns, d + pairs, [d + len(i)]])
            out[np.ix_(rows, np.arange(out.shape[1]), places)] = self._terms(
                x[np.ix_(rows, columns)], part
            )
        return out

    def _terms(self, x: Floats, parameters: MultivariateGaussianParameters) -> Floats:
        d, k = x.shape[1], len(parameters.mean)
        if d == 0:
            many = self._tilted() or parameters.freedom is not None
            return np.zeros((len(x), k, 1 if many else 0))
        if parameters.freedom is not None:  # does not come apart
            zeros = np.zeros((len(x), k, d + d * (d - 1) // 2))
            return np.concatenate([zeros, Measure(parameters)(x)[:, :, None]], axis=2)
        if self.kind == "shared":
            center = parameters.mean.mean(axis=0)
            slope = (parameters.mean - center) @ parameters.precision(0)
            own = slope * (x[:, None] - 0.5 * (parameters.mean + center))
            common = Measure(parameters)(x)[:, :1] - own[:, :1].sum(axis=2)
            return own + common[:, :, None] / d
        apart = x[:, None] - parameters.mean
        if not self._tilted():
            variance = np.einsum("kii->ki", parameters.covariance)
            return -0.5 * (LOG_2PI + np.log(variance) + apart**2 / variance)
        center = parameters.mean.mean(axis=0)
        u, m = x - center, parameters.mean - center
        i, j = np.triu_indices(d, 1)
        terms = np.empty((len(x), k, d + len(i) + 1))
        for g in range(k):
            P, log_det = parameters.precision(g), parameters.whitening[g].log_det
            terms[:, g, :d] = u * (P @ m[g]) - 0.5 * P.diagonal() * u**2
            terms[:, g, d:-1] = -P[i, j] * u[:, i] * u[:, j]
            terms[:, g, -1] = -0.5 * (d * LOG_2PI + log_det + m[g] @ P @ m[g])
        return terms

    def term_names(self, features: Array) -> Array:
        """What the terms of `evidence` are about."""
        if not self._tilted() and not self.predictive:
            return features
        i, j = np.triu_indices(len(features), 1)
        pairs = [f"{features[a]} × {features[b]}" for a, b in zip(i, j, strict=True)]
        last = "all features" if self.predictive else "spread"
        return np.array([*(str(f) for f in features), *pairs, last])

    def leave_one_out(self, X: Array, groups: Hard, statistics: CrossSums) -> Floats:
        """By downdates of rank one where there is nothing but rows; NaN asks for the long way."""
        x, codes = np.asarray(X, np.float64), groups.codes
        score = np.full((len(x), groups.n_groups), np.nan)
        plain = not (
            self.pseudo_rows or self.shrinkage or self.ridge or self.added or self.predictive
        )
        plain = plain and self.shares is None and self.mix == 1
        if not plain or self.kind not in ("own", "shared") or len(statistics.incomplete):
            return score
        parameters = self.estimate(statistics)
        if any(w.matrix.shape[1] < x.shape[1] for w in parameters.whitening):
            return score
        own_weight = np.ones(len(x)) if groups.weight is None else groups.weight
        assert parameters.scatter is not None
        shared = self.kind == "shared"
        spent = parameters.scatter.spent(self.ddof) if shared else self.ddof
        return downdated(x, codes, own_weight, parameters, shared, spent)

    def sample(
        self, codes: Array, parameters: MultivariateGaussianParameters, random: np.random.Generator
    ) -> Floats:
        noise = random.standard_normal((len(codes), parameters.mean.shape[1]))
        out = parameters.mean[codes]
        factors = [_root(c) for c in parameters.covariance]
        for k in np.unique(codes):
            mine = codes == k
            step = noise[mine] @ factors[k if len(factors) > 1 else 0].T
            if parameters.freedom is not None and parameters.stretch is not None:
                chi = random.chisquare(parameters.freedom[k], len(step)) / parameters.freedom[k]
                step *= np.sqrt(parameters.stretch[k] / chi)[:, None]
            out[mine] += step
        return out

    def n_parameters(self, parameters: MultivariateGaussianParameters) -> int:
        k, d = parameters.mean.shape
        if self.kind in FORMS:
            return k * d + n_numbers(self.kind, k, d)
        spread = {"own": k * d * (d + 1) // 2, "shared": d * (d + 1) // 2, "diagonal": k * d}
        return k * d + spread.get(self.kind, k)

    def summed(self) -> Summed:
        return Summed(CrossSums)

    def formula(self, parameters: MultivariateGaussianParameters, cells: Cells) -> list[Formula]:
        return formula(parameters, cells)

    def intervals(
        self, statistics: CrossSums, parameters: MultivariateGaussianParameters, level: float
    ) -> Intervals:
        weight = whole(statistics).weight[:, None] + self.pseudo_rows
        k, d = parameters.mean.shape
        shared = self.kind == "shared"
        freedom = weight.sum() - k if shared else weight - (0.0 if self.pseudo_rows else 1.0)
        freedom = np.broadcast_to(np.maximum(freedom, 0.0), (k, d))
        variance = np.broadcast_to(np.einsum("kii->ki", parameters.covariance), (k, d))
        squares = variance * self._divisor(weight)
        if self.kind == "spherical":  # all columns inform the one variance
            freedom, squares = d * freedom, d * squares
        tail = (1 - level) / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            half = -special.stdtrit(freedom, tail) * np.sqrt(squares / freedom / weight)
            low = squares / chi2_quantile(1 - tail, freedom)
            high = squares / chi2_quantile(tail, freedom)
        if self.kind in FORMS:  # groups inform each other, as much as nobody has worked out
            low, high = np.full_like(low, np.nan), np.full_like(high, np.nan)
        mean = Intervals.of("mean", parameters.mean, parameters.mean - half, parameters.mean + half)
        return mean + Intervals.of("variance", variance, low, high)


def _root(covariance: Floats) -> Floats:
    """A square root of a covariance that may have no inverse."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
