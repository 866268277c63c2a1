"""Likelihood-ratio test of two nested logistic models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from posterior.data.names import plain
from posterior.data.typing import Floats
from posterior.discriminative.design import design, labels
from posterior.discriminative.fisher_information import loss_alone
from posterior.discriminative.fitted_logistic import FittedLogistic
from posterior.discriminative.minimum import Minimum

NEAR = 1e-8  # of its length, a column that others make up may miss


@dataclass(frozen=True, slots=True)
class LikelihoodRatio:
    """χ² = 2 (ℓ - ℓ₀) of a model and one within it, and how often chance alone gives so much."""

    chi2: float
    df: int
    p: float

    def __str__(self) -> str:
        degrees = "degree" if self.df == 1 else "degrees"
        return (
            f"likelihood ratio χ² {self.chi2:.5g} on {self.df} {degrees} of freedom, p {self.p:.3g}"
        )


def likelihood_ratio(one: FittedLogistic, other: FittedLogistic) -> LikelihoodRatio:
    """Whether the larger of two nested models says more than chance would."""
    _check_likelihoods(one.at_hand, other.at_hand)
    _check_rows(one, other)
    small, large = sorted([_Columns.of(one), _Columns.of(other)], key=lambda each: each.rank)
    small.check_within(large)
    if small.rank == large.rank:
        raise ValueError(
            "Expected one model with more coefficients than the other, got two of "
            f"{large.rank} that say the same. Leave out the columns to be tested in one."
        )
    df = (large.rank - small.rank) * (len(one.classes) - 1)
    chi2 = 2 * (large.log_likelihood - small.log_likelihood)
    return LikelihoodRatio(chi2, df, float(chdtrc(df, max(chi2, 0.0))))


def _check_likelihoods(*fits: Minimum) -> None:
    if any(fit.firth is not None or not fit.objective.penalty.is_flat for fit in fits):
        raise ValueError(
            "Expected two fits of maximum likelihood, got a penalized one: the ratio then has no "
            "χ² distribution. Fit both with C=np.inf."
        )


def _check_rows(one: FittedLogistic, other: FittedLogistic) -> None:
    a, b = (fitted.at_hand.objective.at_hand for fitted in (one, other))
    if len(a) != len(b):
        raise ValueError(
            f"Expected two fits of the same rows, got {len(a)} and {len(b)} rows. Fit both again "
            "to the rows that both can read."
        )
    (codes, weight), (its_codes, its_weight) = labels(a), labels(b)
    same = np.array_equal(one.classes, other.classes) and np.array_equal(codes, its_codes)
    if not (same and np.array_equal(weight, its_weight)):
        raise ValueError(
            "Expected two fits of the same rows, got rows of other classes or weights. Fit both "
            "to the same y and sample_weight."
        )
    offset, another = (np.zeros(1) if r.offset is None else r.offset for r in (a, b))
    if not (offset == another).all():
        raise ValueError(
            "Expected two fits of the same rows, got rows of other offsets. Give both the same."
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """Columns of a model, of length one, around their means if there is an intercept."""

    x: Floats  # (n, p)
    names: list[str]
    rank: int
    log_likelihood: float

    @classmethod
    def of(cls, fitted: FittedLogistic) -> _Columns:
        objective, coef = fitted.at_hand.objective, fitted.at_hand.coef
        x = design(objective.loss, objective.at_hand.X)
        if objective.loss.intercept:
            x[:, :-1] -= x[:, :-1].mean(axis=0)
        length = np.linalg.norm(x, axis=0)
        x = x / np.where(length > 0, length, 1.0)
        names = [str(plain(name)) for name in fitted.reader.names]
        rank = int(np.linalg.matrix_rank(x, NEAR))
        return cls(x, [*names, "intercept"], rank, -loss_alone(objective, coef).value)

    def check_within(self, larger: _Columns) -> None:
        """Every column must be a combination of those of the larger model."""
        missed = self.x - larger.x @ np.linalg.lstsq(larger.x, self.x)[0]
        outside = np.flatnonzero(np.linalg.norm(missed, axis=0) > NEAR)
        if len(outside):
            said = ", ".join(repr(self.names[j]) for j in outside[:5])
            raise ValueError(
                "Expected nested models, but the columns of the larger one do not make up "
                f"{said} of the smaller one, or have their rows in another order. Fit both to one "
                "table, the smaller one without the columns to be tested."
            )
