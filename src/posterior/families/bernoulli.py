"""Columns of yes and no, independent given the group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from posterior.data.rows import Groups, Hard, SparseRows
from posterior.data.typing import Array, Floats
from posterior.families.credible import beta_interval
from posterior.families.family import Family, Intervals, Scorer, Summed
from posterior.families.linear import affine_evidence, affine_scorer, dense
from posterior.families.priors import LAPLACE, DiscretePrior, Laplace, pseudo_log_likelihood
from posterior.families.symbols import Cells, Formula, Steps
from posterior.kernels import pairs
from posterior.statistics.moments import Totals, indicators


@dataclass(frozen=True, slots=True)
class BernoulliParameters:
    """Log probabilities of yes and of no, (k, d)."""

    log_yes: Annotated[Floats, "k, d"]
    log_no: Annotated[Floats, "k, d"]


@dataclass(frozen=True, slots=True)
class Bernoulli(Family[Totals, BernoulliParameters]):
    """Columns of yes (x > threshold) and no, independent given the group.

    log p(x | k) = Σⱼ xⱼ log p_kj + (1 - xⱼ) log(1 - p_kj)
    """

    exact: ClassVar[bool] = True
    reads_sparse = True

    prior: DiscretePrior = LAPLACE
    threshold: float | None = 0.0

    @property
    def _above(self) -> float:
        return 0.5 if self.threshold is None else self.threshold

    def statistics(self, X: Array | SparseRows, groups: Groups) -> Totals:
        return Totals.of(X, groups, above=self._above)

    def estimate(self, statistics: Totals, pooled: Totals | None = None) -> BernoulliParameters:
        no, yes = (statistics.weight - statistics.total).rounded(), statistics.total.rounded()
        rows = statistics.weight.rounded() + self._pseudo_rows()
        return self._estimate(yes, no, self._share(statistics, pooled), rows)

    def _pseudo_rows(self) -> Floats:
        """How many rows the prior adds to a column."""
        prior = self.prior
        return 2 * np.asarray(prior.alpha) if isinstance(prior, Laplace) else np.asarray(prior.m)

    def _share(self, statistics: Totals, pooled: Totals | None = None) -> Floats:
        """How often everyone says yes, for a prior that asks."""
        if isinstance(self.prior, Laplace):
            return np.zeros((1, statistics.total.shape[1]))
        everyone = statistics.pooled() if pooled is None else pooled
        return np.nan_to_num(everyone.mean())

    def _counts(self, yes: Floats, no: Floats, share: Floats) -> tuple[Floats, Floats]:
        """Rows and pseudo-rows of yes and of no, in the place of the rows."""
        more_yes = self.prior.pseudo_counts(share, 2)
        if isinstance(self.prior, Laplace):
            more_no = more_yes
        else:
            more_no = self.prior.m - more_yes
        yes += more_yes
        no += more_no
        return yes, no

    def _estimate(
        self, yes: Floats, no: Floats, share: Floats, rows: Floats | None = None
    ) -> BernoulliParameters:
        n_yes, n_no = self._counts(yes, no, share)
        rows = n_yes + n_no if rows is None else rows
        with np.errstate(divide="ignore", invalid="ignore"):
            log_rows = np.log(rows)
            log_yes, log_no = np.log(n_yes, out=n_yes), np.log(n_no, out=n_no)
            log_yes -= log_rows
            log_no -= log_rows
        unknown = rows <= 0  # nothing seen and nothing believed: both alike
        if unknown.any():
            log_yes = np.where(unknown, np.log(0.5), log_yes)
            log_no = np.where(unknown, np.log(0.5), log_no)
        return BernoulliParameters(log_yes, log_no)

    def log_prior(self, parameters: BernoulliParameters, pooled: Totals) -> float:
        zero = np.zeros((1, pooled.total.shape[1]))
        yes, no = self._counts(zero, zero.copy(), self._share(pooled, pooled))
        return pseudo_log_likelihood(yes, parameters.log_yes) + pseudo_log_likelihood(
            no, parameters.log_no
        )

    def scorer(self, parameters: BernoulliParameters, bias: Floats) -> Scorer:
        return affine_scorer(parameters.log_no, parameters.log_yes, bias, self._above)

    def evidence(self, X: Array | SparseRows, parameters: BernoulliParameters) -> Floats:
        bits = indicators(dense(X), self._above)
        return affine_evidence(parameters.log_no, parameters.log_yes, bits)

    def leave_one_out(self, X: Array | SparseRows, groups: Hard, statistics: Totals) -> Floats:
        x = indicators(dense(X), self._above)
        w = np.ones(len(x)) if groups.weight is None else groups.weight
        own_yes, own_no = (np.where(x == bit, w[:, None], 0.0) for bit in (1, 0))
        yes, no = statistics.total.pair(), (statistics.weight - statistics.total).pair()
        all_yes = pairs.less(yes.sum(axis=0), own_yes)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.nan_to_num(all_yes / (all_yes + pairs.less(no.sum(axis=0), own_no)))
        score = np.empty((len(x), groups.n_groups))
        for k in range(groups.n_groups):
            mine = (groups.codes == k)[:, None]
            p = self._estimate(
                pairs.less(yes[k], np.where(mine, own_yes, 0.0)),
                pairs.less(no[k], np.where(mine, own_no, 0.0)),
                share,
            )
            terms = np.where(x == 1, p.log_yes, np.where(x == 0, p.log_no, 0.0))
            score[:, k] = terms.sum(axis=1)
        return score

    def sample(
        self, codes: Array, parameters: BernoulliParameters, random: np.random.Generator
    ) -> Floats:
        p = np.exp(parameters.log_yes)[codes]
        return (random.random(p.shape) < p).astype(np.float64)

    def n_parameters(self, parameters: BernoulliParameters) -> int:
        return parameters.log_yes.size

    def impossible(self, statistics: Totals) -> Array:
        more_yes_than_rows = statistics.weight - statistics.total
        return statistics.impossible() | (more_yes_than_rows.sign() < 0)

    def intervals(
        self, statistics: Totals, parameters: BernoulliParameters, level: float
    ) -> Intervals:
        yes, no = statistics.total.rounded(), (statistics.weight - statistics.total).rounded()
        yes, no = self._counts(yes, no, self._share(statistics))
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = beta_interval(level, yes, no)
        return Intervals.of("probability", np.exp(parameters.log_yes), low, high)

    def sizes(self, statistics: Totals) -> Sequence[int]:
        return [2] * statistics.total.shape[1]

    def summed(self) -> Summed:
        return Summed(Totals, self._above)

    def formula(self, parameters: BernoulliParameters, cells: Cells) -> list[Formula]:
        """log p or log (1 - p), as x is above the threshold or not"""
        log_prob, cut = np.stack([parameters.log_no, parameters.log_yes], axis=2), (self._above,)
        return [
            Formula.of(x, (Steps(x, cut, tuple(p)) for p in log_prob[:, j].tolist()))
            for j, x in enumerate(cells)
        ]
