"""Goodness of fit, beside a model that knows no columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import pinvh
from scipy.special import chdtrc, xlogy

from posterior.data.rows import Hard, Rows
from posterior.data.typing import Floats
from posterior.discriminative.design import labels
from posterior.discriminative.fisher_information import loss_alone
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.objective import Objective
from posterior.discriminative.penalty import Penalty
from posterior.discriminative.solvers.newton import Newton
from posterior.discriminative.solvers.solution import Stop
from posterior.sources.remote_rows import RemoteRows


@dataclass(frozen=True, slots=True)
class FitStatistics:
    """ℓ of a fit, ℓ₀ of the model without columns, and what follows from them."""

    n_rows: float  # the sum of their weights
    n_parameters: float  # as they count: tr (H + ridge)⁻¹ H under a penalty
    log_likelihood: float
    null_log_likelihood: float
    null_parameters: int

    @property
    def aic(self) -> float:
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        return float(np.log(self.n_rows)) * self.n_parameters - 2 * self.log_likelihood

    @property
    def mcfadden(self) -> float:
        """1 - ℓ / ℓ₀."""
        return (
            1 - self.log_likelihood / self.null_log_likelihood if self.null_log_likelihood else 0.0
        )

    @property
    def cox_snell(self) -> float:
        """1 - exp(2 (ℓ₀ - ℓ) / n)."""
        return -float(np.expm1(-self.chi2 / self.n_rows))

    @property
    def nagelkerke(self) -> float:
        """Cox and Snell's, divided by the largest value that it can have."""
        largest = -float(np.expm1(2 * self.null_log_likelihood / self.n_rows))
        return self.cox_snell / largest if largest else 0.0

    @property
    def chi2(self) -> float:
        """2 (ℓ - ℓ₀), the likelihood-ratio statistic."""
        return 2 * (self.log_likelihood - self.null_log_likelihood)

    @property
    def df(self) -> float:
        return self.n_parameters - self.null_parameters

    @property
    def p(self) -> float:
        """Of a statistic at least as large if no column mattered; a guide only under a penalty."""
        return float(chdtrc(self.df, max(self.chi2, 0.0))) if self.df > 0 else 1.0


def fit_statistics(objective: Objective, coef: Floats) -> FitStatistics:
    """The penalty is no part of the likelihood. The null model has the intercepts and offsets."""
    q = loss_alone(objective, coef)
    assert q.hessian is not None
    m = objective.loss.outputs
    return FitStatistics(
        objective.weight,
        _n_parameters(q.hessian, objective.penalty, coef),
        -q.value,
        null_log_likelihood(objective),
        max(1, m - 1) if objective.loss.intercept else 0,
    )


def _n_parameters(hessian: Floats, penalty: Penalty, coef: Floats) -> float:
    """The rank of the Hessian, or with a ridge the trace of what is left of it (Gray 1992).

    Coefficients that a lasso holds at zero do not count (Zou, Hastie and Tibshirani 2007).
    """
    kept = np.flatnonzero((penalty.lasso == 0) | (coef != 0))
    ridge = penalty.ridge.ravel()[kept]
    H = hessian[np.ix_(kept, kept)] + np.diag(ridge)
    scale = np.sqrt(np.maximum(H.diagonal(), 0.0))
    scale[scale == 0] = 1.0
    inverse, rank = pinvh(H / np.outer(scale, scale), return_rank=True)
    # tr H⁺ (H - ridge)
    return float(rank - (inverse.diagonal() * ridge / scale**2).sum())


def null_log_likelihood(objective: Objective) -> float:
    """ℓ of the model that gives every row the same scores, but for its offset."""
    rows, m = objective.rows, objective.loss.outputs
    offset = None if isinstance(rows, RemoteRows) else rows.offset
    if offset is None:
        share = objective.class_weight()
        chance = share / share.sum() if objective.loss.intercept else 1 / len(share)
        return float(xlogy(share, chance).sum())
    codes, weight = labels(objective.at_hand)
    rows = Rows(np.zeros((len(codes), 0)), Hard(codes, max(m, 2), weight), offset)
    loss = LogisticLoss(m, objective.loss.intercept)
    start = np.zeros((m, int(loss.intercept)))
    null = replace(objective, rows=rows, loss=loss, penalty=Penalty.none(start.shape))
    if loss.intercept:
        start = Newton(Stop(tol=1e-10)).minimize(null, start).coef
    return -null.gradient(start).value
