"""Counts of words: draws from one urn a group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from posterior.data.errors import DegenerateError
from posterior.data.rows import Groups, Hard, SparseRows
from posterior.data.typing import Array, Floats
from posterior.families.credible import beta_interval
from posterior.families.family import Family, Intervals, Scorer, Summed, Support
from posterior.families.linear import affine_evidence, affine_scorer, dense
from posterior.families.log_rising import log_rising
from posterior.families.priors import LAPLACE, DiscretePrior, Laplace, pseudo_log_likelihood
from posterior.families.symbols import Cell, Cells, Expression, Formula, Number, Within
from posterior.kernels import pairs
from posterior.statistics.moments import Totals


@dataclass(frozen=True, slots=True)
class MultinomialParameters:
    """Log probabilities of the words, (k, d); the pseudo-counts too if the urn is uncertain."""

    log_prob: Annotated[Floats, "k, d"]
    concentration: Annotated[Floats, "k, d"] | None = None


@dataclass(frozen=True, slots=True)
class Multinomial(Family[Totals, MultinomialParameters]):
    """Counts of words: each is a draw from the group's urn.

    log p(x | k) = Σⱼ xⱼ log p_kj, up to the number of orders of the draws, which no group changes.

    `predictive` draws from an urn that is itself uncertain: the Dirichlet-multinomial.
    """

    exact: ClassVar[bool] = True
    support: ClassVar[Support] = "count"
    reads_missing = False
    reads_sparse = True

    prior: DiscretePrior = LAPLACE
    predictive: bool = False

    def statistics(self, X: Array | SparseRows, groups: Groups) -> Totals:
        return Totals.of(X, groups)

    def _counts(self, total: Floats, pooled: Floats) -> Floats:
        """Words and pseudo-words."""
        if isinstance(self.prior, Laplace):
            return total + np.asarray(self.prior.alpha, np.float64)
        frequency = pooled / np.maximum(pooled.sum(axis=-1, keepdims=True), 1e-300)
        return total + self.prior.pseudo_counts(frequency, total.shape[-1])

    def estimate(self, statistics: Totals, pooled: Totals | None = None) -> MultinomialParameters:
        total = statistics.total.rounded()
        everyone = total.sum(axis=0, keepdims=True) if pooled is None else pooled.total.rounded()
        counts = self._counts(total, everyone)
        check_finite(counts)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_words = np.log(counts.sum(axis=1, keepdims=True))
            log_prob = np.log(counts, out=None if self.predictive else counts)
            log_prob -= log_words
        if np.isnan(log_words).any() or np.isneginf(log_words).any():  # an empty urn: words alike
            np.copyto(log_prob, -np.log(max(log_prob.shape[1], 1)), where=np.isnan(log_prob))
        return MultinomialParameters(log_prob, counts if self.predictive else None)

    def log_prior(self, parameters: MultinomialParameters, pooled: Totals) -> float:
        everyone = pooled.total.rounded()
        more = self._counts(np.zeros_like(everyone), everyone)
        return pseudo_log_likelihood(more, parameters.log_prob)

    def scorer(self, parameters: MultinomialParameters, bias: Floats) -> Scorer:
        log_prob = np.ascontiguousarray(parameters.log_prob, np.float64)
        if parameters.concentration is None:
            return affine_scorer(None, log_prob, bias)
        return Family.scorer(self, parameters, bias)

    def evidence(self, X: Array | SparseRows, parameters: MultinomialParameters) -> Floats:
        x = dense(X)
        if parameters.concentration is None:
            zero = np.zeros_like(parameters.log_prob)
            return affine_evidence(zero, np.asarray(parameters.log_prob), x)
        # log Γ(A) / Γ(A + N) Πⱼ Γ(aⱼ + xⱼ) / Γ(aⱼ), with the first part shared out by count
        a, counts = parameters.concentration, x[:, None, :]
        words, urn = x.sum(axis=1)[:, None], a.sum(axis=1)
        shared = -log_rising(urn, words)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.nan_to_num(counts / words[:, :, None])
        return log_rising(a, counts) + share * shared[:, :, None]

    def leave_one_out(self, X: Array | SparseRows, groups: Hard, statistics: Totals) -> Floats:
        exact, codes = statistics.total.pair(), groups.codes
        total = exact.rounded()
        w = np.ones(len(codes)) if groups.weight is None else groups.weight
        score = np.empty((len(codes), groups.n_groups))
        pooled, words = total.sum(axis=0), total.sum(axis=1)
        for i, (column, x) in enumerate(_entries(X)):
            everyone = pooled[column] - w[i] * x
            counts = total[:, column].copy()
            own = exact[codes[i]][column] - pairs.two_product(np.full(len(x), w[i]), x)
            counts[codes[i]] = own.rounded()
            left = words.copy()
            left[codes[i]] -= w[i] * x.sum()
            more, all_more = self._pseudo(column, everyone, pooled.sum() - w[i] * x.sum(), total)
            with np.errstate(divide="ignore", invalid="ignore"):
                a, urn = counts + more, left + all_more
                if self.predictive:
                    terms = log_rising(a, x)
                    shared = -log_rising(urn, x.sum())
                    score[i] = terms.sum(axis=1) + shared
                else:
                    score[i] = (x * (np.log(a) - np.log(urn)[:, None])).sum(axis=1)
        return score

    def _pseudo(
        self, column: Array, everyone: Floats, words: float, total: Floats
    ) -> tuple[Floats, float]:
        """Pseudo-words of some columns, and of all together."""
        d = total.shape[1]
        if isinstance(self.prior, Laplace):
            alpha = np.broadcast_to(np.asarray(self.prior.alpha, np.float64), (d,))
            return alpha[column], float(alpha.sum())
        frequency = np.zeros(d)
        frequency[column] = everyone / max(words, 1e-300)
        return self.prior.pseudo_counts(frequency, d)[column], self.prior.m

    def sample(
        self, codes: Array, parameters: MultinomialParameters, random: np.random.Generator
    ) -> Floats:
        p = np.exp(parameters.log_prob)
        p /= p.sum(axis=1, keepdims=True)
        return np.stack([random.multinomial(LENGTH, p[k]) for k in codes]).astype(np.float64)

    def n_parameters(self, parameters: MultinomialParameters) -> int:
        k, d = parameters.log_prob.shape
        return k * (d - 1)

    def intervals(
        self, statistics: Totals, parameters: MultinomialParameters, level: float
    ) -> Intervals:
        total = statistics.total.rounded()
        counts = self._counts(total, total.sum(axis=0, keepdims=True))
        words = counts.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = beta_interval(level, counts, words - counts)
            return Intervals.of("probability", np.exp(parameters.log_prob), low, high)

    def integrated(self) -> Multinomial:
        return replace(self, predictive=True)

    def summed(self) -> Summed:
        return Summed(Totals)

    def formula(self, parameters: MultinomialParameters, cells: Cells) -> list[Formula]:
        """xⱼ log p_kj"""
        if parameters.concentration is not None:
            raise without_gamma("an urn that is known")
        return linear(np.asarray(parameters.log_prob), cells)


def linear(weight: Floats, cells: Cells) -> list[Formula]:
    """w_kj xⱼ"""
    return [
        Formula.of(x, (weighed(x, w) for w in column))
        for x, column in zip(cells, weight.T.tolist(), strict=True)
    ]


def weighed(x: Cell, weight: float) -> Expression:
    """w x; 0 times infinity is 0"""
    if abs(weight) < SETTLED:
        return weight * x
    return Within(x, 0.0, 0.0, Number(0.0), Number(weight))


def without_gamma(expected: str) -> TypeError:
    """Why a predictive distribution has no formula."""
    return TypeError(
        f"Expected {expected}: predictive=True needs log Γ, which SQL does not have. Fit the model "
        "with predictive=False."
    )


def check_finite(counts: Floats) -> None:
    """Refuse sums that no double holds."""
    with np.errstate(over="ignore"):
        if np.isfinite(counts.sum()):
            return
    raise DegenerateError(
        "Expected counts whose sums are finite numbers, but those of feature {feature} are too "
        "large. Rescale them.",
        feature=int(np.argmax(counts.max(axis=0))),
    )


SETTLED = 1e300  # stands for infinity
LENGTH = 100  # words of a sampled document: the model does not say how long documents are


def _entries(X: Array | SparseRows) -> list[tuple[Array, Floats]]:
    """Columns and values of each row's entries that are not zero."""
    if isinstance(X, SparseRows):
        bounds = zip(X.start[:-1], X.start[1:], strict=True)
        return [(X.column[a:b], X.data[a:b].astype(np.float64)) for a, b in bounds]
    rows = np.asarray(X, np.float64)
    return [(np.flatnonzero(x), x[x != 0]) for x in rows]
