"""Weights of words from all groups but one (Rennie et al. 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from posterior.data.rows import Groups, Hard, SparseRows
from posterior.data.typing import Array, Floats
from posterior.families.family import Family, Intervals, Scorer, Summed, Support
from posterior.families.linear import affine_evidence, affine_scorer, dense
from posterior.families.multinomial import SETTLED, MultinomialParameters, check_finite, linear
from posterior.families.priors import LAPLACE, Laplace
from posterior.families.symbols import Cells, Formula
from posterior.statistics.moments import Totals


@dataclass(frozen=True, slots=True)
class Complement(Family[Totals, MultinomialParameters]):
    """Words weigh against a group as they occur outside it.

    score(x, k) = -Σⱼ xⱼ log p_k̄j,  where k̄ is every group but k; normed to Σⱼ |log p_k̄j| = 1.

    A score, not a density: it ranks groups, and has no samples.
    """

    exact: ClassVar[bool] = True
    support: ClassVar[Support] = "count"
    reads_missing = False
    reads_sparse = True

    prior: Laplace = LAPLACE
    norm: bool = False

    def statistics(self, X: Array | SparseRows, groups: Groups) -> Totals:
        return Totals.of(X, groups)

    def estimate(self, statistics: Totals, pooled: Totals | None = None) -> MultinomialParameters:
        total = statistics.total.rounded()
        check_finite(total)
        return MultinomialParameters(
            self._weights(np.subtract(total.sum(axis=0), total, out=total))
        )

    def _weights(self, outside: Floats) -> Floats:
        """In the place of the counts: vocabularies are long."""
        weights = outside
        weights += np.asarray(self.prior.alpha, np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            weights /= weights.sum(axis=-1, keepdims=True)
            np.log(weights, out=weights)
            if not self.norm:
                return np.negative(weights, out=weights)
            weights /= weights.sum(axis=-1, keepdims=True)
            return np.nan_to_num(weights, copy=False)  # 0 / 0 says nothing

    def scorer(self, parameters: MultinomialParameters, bias: Floats) -> Scorer:
        # a word that occurs nowhere else settles it, if it occurs: 0 times infinity would be NaN
        weights = np.minimum(parameters.log_prob, SETTLED)
        return affine_scorer(None, weights, bias)

    def evidence(self, X: Array | SparseRows, parameters: MultinomialParameters) -> Floats:
        zero = np.zeros_like(parameters.log_prob)
        return affine_evidence(zero, np.minimum(parameters.log_prob, SETTLED), dense(X))

    def leave_one_out(self, X: Array | SparseRows, groups: Hard, statistics: Totals) -> Floats:
        x, total = dense(X), statistics.total.rounded()
        w = np.ones(len(x)) if groups.weight is None else groups.weight
        outside = total.sum(axis=0) - total
        score = np.empty((len(x), groups.n_groups))
        for i, row in enumerate(x):
            less = np.where(np.arange(groups.n_groups) == groups.codes[i], 0.0, w[i])
            score[i] = self._weights(outside - less[:, None] * row) @ row
        return score

    def sample(
        self, codes: Array, parameters: MultinomialParameters, random: np.random.Generator
    ) -> Floats:
        raise TypeError(
            "Complement naive Bayes scores classes and models no documents: it has no samples. "
            "Use MultinomialNB."
        )

    def n_parameters(self, parameters: MultinomialParameters) -> int:
        k, d = parameters.log_prob.shape
        return k * (d - 1)

    def summed(self) -> Summed:
        return Summed(Totals)

    def formula(self, parameters: MultinomialParameters, cells: Cells) -> list[Formula]:
        return linear(np.asarray(parameters.log_prob), cells)

    def intervals(
        self, statistics: Totals, parameters: MultinomialParameters, level: float
    ) -> Intervals:
        unknown = np.full_like(parameters.log_prob, np.nan)
        return Intervals.of("weight", parameters.log_prob, unknown, unknown)
