"""Columns that are normal together, given the group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import special, stats

from posterior import kernels
from posterior.data.rows import Groups, Hard, slabs
from posterior.data.typing import Array, Floats
from posterior.families.covariance import Kind, Scatter, Whitening, shrunken, whitenings
from posterior.families.family import Family, Intervals, Scorer
from posterior.families.incomplete import LOG_2PI, check_observed, completed
from posterior.statistics.cross_products import CrossSums
from posterior.statistics.moments import floats


@dataclass(frozen=True, slots=True, eq=False)
class MultivariateGaussianParameters:
    """Means (k, d) and covariances (k, d, d), or (1, d, d) if shared, ready to measure with.

    With degrees of freedom the density is Student's t of scale Σ stretch_k.
    """

    mean: Floats
    covariance: Floats
    whitening: tuple[Whitening, ...]
    freedom: Floats | None = None  # (k,)
    stretch: Floats | None = None  # (k,)
    scatter: Scatter | None = None  # what they were estimated from
    trace: tuple[float, ...] = ()  # log likelihoods of the steps of EM

    def of_columns(self, columns: Array) -> MultivariateGaussianParameters:
        """The marginal distribution of some columns."""
        covariance = self.covariance[:, columns][:, :, columns]
        return replace(
            self,
            mean=self.mean[:, columns],
            covariance=covariance,
            whitening=whitenings(covariance, 0.0),
        )

    def precision(self, k: int) -> Floats:
        """Σ_k⁻¹, by its factor."""
        matrix = self.whitening[k if len(self.whitening) > 1 else 0].matrix
        return np.asarray(matrix @ matrix.T)


@dataclass(frozen=True, slots=True)
class MultivariateGaussian(Family[CrossSums, MultivariateGaussianParameters]):
    """Columns that are normal together, given the group.

    log p(x | k) = -½ [ d log 2π + log |Σ_k| + (x - μ_k)ᵀ Σ_k⁻¹ (x - μ_k) ]

    Covariances are each group's own, shared by all, diagonal, or spherical. Missing cells are
    integrated out when scoring and met by EM when learning. `pseudo_rows` adds rows with the mean
    and covariance of all groups to each (the normal-inverse-Wishart prior), `shrinkage` mixes in a
    sphere, `ridge` an identity. `predictive` integrates over the posterior of mean and covariance:
    Student's t. `least` drops directions in which rows deviate by less, instead of refusing them.
    """

    kind: Kind = "own"
    pseudo_rows: float = 0.0
    shrinkage: float = 0.0
    ridge: float = 0.0
    predictive: bool = False
    least: float | None = None
    shares: tuple[float, ...] | None = None  # of the groups in a shared covariance

    def statistics(self, X: Array, groups: Groups) -> CrossSums:
        return CrossSums.of(floats(X), groups)

    def estimate(
        self, statistics: CrossSums, pooled: CrossSums | None = None
    ) -> MultivariateGaussianParameters:
        if self.kind != "shared" and not self.pseudo_rows:
            check_observed(statistics)
        scatter, trace = completed(statistics, self._maximize)
        mean, covariance = self._maximize(scatter)
        weight = scatter.with_rows(self.pseudo_rows).weight
        freedom = stretch = None
        if self.predictive:
            shared = self.kind == "shared"
            freedom = np.full(len(weight), weight.sum()) if shared else weight
            with np.errstate(divide="ignore"):
                stretch = (weight + 1) / weight
        return MultivariateGaussianParameters(
            mean,
            covariance,
            whitenings(covariance, self.least),
            freedom,
            stretch,
            scatter,
            tuple(trace),
        )

    def _maximize(self, scatter: Scatter) -> tuple[Floats, Floats]:
        """Means and covariances of completed rows and of pseudo-rows."""
        prior = scatter.with_rows(self.pseudo_rows)
        covariance = shrunken(prior.covariance(self.kind, self.shares), self.shrinkage)
        if self.ridge:
            covariance = (1 - self.ridge) * covariance + self.ridge * np.eye(covariance.shape[-1])
        return prior.means(), covariance

    def scorer(self, parameters: MultivariateGaussianParameters, bias: Floats) -> Scorer:
        measure = _Measure(parameters)

        def score(X: Array, out: Floats) -> None:
            np.add(measure(X), bias, out=out)
            _score_incomplete(X, out, parameters, bias)

        return score

    def discriminant(self, parameters: MultivariateGaussianParameters, bias: Floats) -> Scorer:
        """log p(x, k) up to a term that all groups share: linear if they share a covariance."""
        if self.kind != "shared" or parameters.freedom is not None:
            return self.scorer(parameters, bias)
        weight, constant = linear_terms(parameters)
        bias_and_constant, absent = bias + constant, np.full_like(weight, np.nan)

        def score(X: Array, out: Floats) -> None:
            kernels.linear_log_joint(floats(X), weight, absent, bias_and_constant, out)
            _score_incomplete(X, out, parameters, bias)

        return score

    def evidence(self, X: Array, parameters: MultivariateGaussianParameters) -> Floats:
        """For "own" covariances the terms are those of `term_names`, else one a feature."""
        x = np.asarray(X, np.float64)
        d = x.shape[1]
        i, j = np.triu_indices(d, 1)
        many = self.kind == "own" or parameters.freedom is not None
        out = np.zeros((len(x), len(parameters.mean), d + len(i) + 1 if many else d))
        for observed, rows in _patterns(np.isnan(x)):
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
            many = self.kind == "own" or parameters.freedom is not None
            return np.zeros((len(x), k, 1 if many else 0))
        if parameters.freedom is not None:  # does not come apart
            zeros = np.zeros((len(x), k, d + d * (d - 1) // 2))
            return np.concatenate([zeros, _Measure(parameters)(x)[:, :, None]], axis=2)
        if self.kind == "shared":
            center = parameters.mean.mean(axis=0)
            slope = (parameters.mean - center) @ parameters.precision(0)
            own = slope * (x[:, None] - 0.5 * (parameters.mean + center))
            common = _Measure(parameters)(x)[:, :1] - own[:, :1].sum(axis=2)
            return own + common[:, :, None] / d
        apart = x[:, None] - parameters.mean
        if self.kind != "own":
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
        if self.kind != "own" and not self.predictive:
            return features
        i, j = np.triu_indices(len(features), 1)
        pairs = [f"{features[a]} × {features[b]}" for a, b in zip(i, j, strict=True)]
        last = "all features" if self.predictive else "spread"
        return np.array([*(str(f) for f in features), *pairs, last])

    def leave_one_out(self, X: Array, groups: Hard, statistics: CrossSums) -> Floats:
        """By downdates of rank one where there is nothing but rows; NaN asks for the long way."""
        x, codes = np.asarray(X, np.float64), groups.codes
        score = np.full((len(x), groups.n_groups), np.nan)
        plain = not (self.pseudo_rows or self.shrinkage or self.ridge or self.predictive)
        plain = plain and self.shares is None
        if not plain or self.kind not in ("own", "shared") or len(statistics.incomplete):
            return score
        parameters = self.estimate(statistics)
        if any(w.matrix.shape[1] < x.shape[1] for w in parameters.whitening):
            return score
        own_weight = np.ones(len(x)) if groups.weight is None else groups.weight
        assert parameters.scatter is not None
        return _downdated(x, codes, own_weight, parameters, self.kind == "shared")

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
        spread = {"own": k * d * (d + 1) // 2, "shared": d * (d + 1) // 2, "diagonal": k * d}
        return k * d + spread.get(self.kind, k)

    def impossible(self, statistics: CrossSums) -> Array:
        """Beyond what rounding of the products of all rows, also of those taken back, explains."""
        moments = statistics.complete.moments()
        weight, squares = moments.weight.rounded(), moments.squares.rounded()
        scale = np.maximum(squares.max(axis=0), np.abs(squares).sum(axis=0))
        w, s, q = moments.weight.pair(), moments.total.pair(), moments.squares.pair()
        with np.errstate(invalid="ignore", divide="ignore"):
            scatter = np.where(weight > 0, (q - s * (s / w)).rounded(), squares)
        left_over = (weight == 0) & (squares > 1e-9 * scale)
        overdrawn = statistics.incomplete.overdrawn()[:, None]
        return (weight < 0) | (scatter < -1e-9 * scale) | left_over | overdrawn

    def intervals(self, statistics: CrossSums, level: float) -> Intervals:
        parameters = self.estimate(statistics)
        assert parameters.scatter is not None
        weight = parameters.scatter.with_rows(self.pseudo_rows).weight[:, None]
        k, d = parameters.mean.shape
        shared = self.kind == "shared"
        freedom = weight.sum() - k if shared else weight - (0.0 if self.pseudo_rows else 1.0)
        freedom = np.broadcast_to(np.maximum(freedom, 0.0), (k, d))
        variance = np.broadcast_to(np.einsum("kii->ki", parameters.covariance), (k, d))
        squares = variance * (weight.sum() if shared else weight)
        tail = (1 - level) / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            half = -special.stdtrit(freedom, tail) * np.sqrt(squares / freedom / weight)
            low = squares / stats.chi2.ppf(1 - tail, freedom)
            high = squares / stats.chi2.ppf(tail, freedom)
        mean = Intervals.of("mean", parameters.mean, parameters.mean - half, parameters.mean + half)
        return mean + Intervals.of("variance", variance, low, high)


class _Measure:
    """log p(x | k) of rows without missing cells; rows with them come out as NaN."""

    def __init__(self, parameters: MultivariateGaussianParameters) -> None:
        self._p = p = parameters
        self._origin = p.mean.mean(axis=0)
        ranks = np.array([w.matrix.shape[1] for w in p.whitening])
        self._constant = -0.5 * (ranks * LOG_2PI + np.array([w.log_det for w in p.whitening]))
        # all groups side by side, so that one product whitens rows for each of them
        self._axes = np.zeros((p.mean.shape[1], len(ranks), ranks.max(initial=0)))
        for g, whitening in enumerate(p.whitening):
            self._axes[:, g, : ranks[g]] = whitening.matrix
        at = np.einsum("kd,dkr->kr", p.mean - self._origin, self._axes[:, self._group])
        self._centers = np.ascontiguousarray(at)

    @property
    def _group(self) -> Array:
        """Which covariance belongs to each group."""
        return np.arange(len(self._p.mean)) % len(self._p.whitening)

    @np.errstate(invalid="ignore", over="ignore")  # of cells that are missing or infinite
    def __call__(self, X: Array) -> Floats:
        axes = self._axes.reshape(len(self._axes), -1)
        distance = np.empty((len(X), len(self._centers)))
        moved = np.empty((min(len(X), next(slabs(len(X), axes.shape[1])).stop), X.shape[1]))
        white = np.empty((len(moved), axes.shape[1]))
        for rows in slabs(len(X), axes.shape[1]):
            n = len(X[rows])
            np.subtract(X[rows], self._origin, out=moved[:n])
            np.matmul(moved[:n], axes, out=white[:n])
            kernels.square_distances(white[:n], self._centers, distance[rows])
        p = self._p
        if p.freedom is None or p.stretch is None:
            distance *= -0.5
            distance += self._constant
            return distance
        rank = np.array([w.matrix.shape[1] for w in p.whitening])
        v, half = p.freedom, 0.5 * (p.freedom + rank)
        scale = special.gammaln(half) - special.gammaln(v / 2)
        scale -= 0.5 * rank * np.log(v * p.stretch / 2)
        tail = half * np.log1p(distance / (v * p.stretch))
        return np.asarray(self._constant + scale - tail)


def linear_terms(parameters: MultivariateGaussianParameters) -> tuple[Floats, Floats]:
    """(μ_k - o)ᵀ Σ⁻¹ x  - ½ (μ_k - o)ᵀ Σ⁻¹ (μ_k + o), o the middle: weights (k, d), constants."""
    origin = parameters.mean.mean(axis=0)
    matrix = parameters.whitening[0].matrix
    white = (parameters.mean - origin) @ matrix
    weight = np.ascontiguousarray(white @ matrix.T)
    return weight, -0.5 * (white**2).sum(axis=1) - weight @ origin


def _patterns(gone: Array) -> Iterator[tuple[Array, Array]]:
    """Which columns are observed, and the rows of which this is so."""
    kinds, place = np.unique(~gone, axis=0, return_inverse=True)
    for p, observed in enumerate(kinds):
        yield observed, np.flatnonzero(place.ravel() == p)


def _score_incomplete(
    X: Array, out: Floats, parameters: MultivariateGaussianParameters, bias: Floats
) -> None:
    """Rows with missing cells, by the marginal distribution of those that are there."""
    unscored = np.flatnonzero(np.isnan(out[:, 0]))
    if len(unscored) == 0:
        return
    x = np.asarray(X[unscored], np.float64)
    for observed, rows in _patterns(np.isnan(x)):
        if not observed.any():
            out[unscored[rows]] = bias
        elif not observed.all():
            columns = np.flatnonzero(observed)
            measure = _Measure(parameters.of_columns(columns))
            out[unscored[rows]] = bias + measure(x[np.ix_(rows, columns)])


def _downdated(
    x: Floats, codes: Array, own: Floats, parameters: MultivariateGaussianParameters, shared: bool
) -> Floats:
    """log p(xᵢ | k) without row i, of weight ω in class c:  δ = x - μ_c,  n' = n - ω,

    S' = S - (ω n / n') δ δᵀ,  μ_c' = μ_c - (ω / n') δ,  and Sherman and Morrison's formula.
    """
    scatter, (k, d) = parameters.scatter, parameters.mean.shape
    assert scatter is not None
    rows, everyone = np.arange(len(x)), scatter.weight.sum()
    n = scatter.weight[codes]
    whole = np.full(len(x), everyone) if shared else n  # the weight behind the covariance
    with np.errstate(divide="ignore", invalid="ignore"):
        grown = n / (n - own)
        b = own * grown / whole
        stretched = (whole - own) / whole
        white = np.stack(
            [
                (x - parameters.mean[g]) @ parameters.whitening[0 if shared else g].matrix
                for g in range(k)
            ],
            axis=1,
        )
        distance = (white**2).sum(axis=2)
        mine = white[rows, codes]
        room = 1 - b * distance[rows, codes]
        log_det = np.array([w.log_det for w in parameters.whitening]) + np.zeros((len(x), k))
        changed = np.log(room) - d * np.log(stretched)
        if shared:
            across = np.einsum("nkd,nd->nk", white, mine)
            moved = np.ones_like(distance)
            moved[rows, codes] = grown**2
            distance = (
                moved * stretched[:, None] * (distance + b[:, None] * across**2 / room[:, None])
            )
            log_det = log_det + changed[:, None]
        else:
            own_distance = distance[rows, codes]
            distance[rows, codes] = grown**2 * stretched * own_distance / room
            log_det[rows, codes] += changed
        score = -0.5 * (d * LOG_2PI + log_det + distance)
    # rows without which a covariance is not what it was take the long way
    lost = ~(n - own > 0) | ~(room > 0.1)
    score[lost] = np.nan
    return score


def _root(covariance: Floats) -> Floats:
    """A square root of a covariance that may have no inverse."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
