"""Residuals of a logistic fit, and the influence of each row on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit, logsumexp

from posterior.data.names import plain
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.discriminative.design import design, labels, scored
from posterior.discriminative.fisher_information import score_covariance
from posterior.discriminative.inference import at_zero
from posterior.discriminative.minimum import Minimum

LEAST = 1e-12  # of a row's own score that other rows decide

# Of the log odds m of what a row is: (y - p) / √(p (1 - p)) = ±exp(-m / 2), and so on.
SIZES: dict[str, Callable[[Floats], Floats]] = {
    "deviance": lambda m: np.sqrt(2 * np.logaddexp(0.0, -m)),
    "pearson": lambda m: np.exp(-0.5 * m),
    "response": lambda m: np.asarray(expit(-m)),
    "working": lambda m: 1 + np.exp(-m),
}
WEIGHTED = ("deviance", "pearson")


def residuals(minimum: Minimum, kind: str) -> Floats:
    """(n,) of two classes; of several (n, classes), each against the rest.

    Response y - p, Pearson √w (y - p) / √(p (1 - p)), deviance ±√(-2 w log p(y)), working
    (y - p) / (p (1 - p)).
    """
    if kind not in SIZES:
        raise ValueError(f"Expected a kind of {', '.join(map(repr, SIZES))}, got {kind!r}.")
    objective = minimum.objective
    rows = objective.at_hand
    codes, weight = labels(rows)
    logit = _against_the_rest(scored(objective.loss, rows, minimum.coef).score)
    k = logit.shape[1]
    sign = np.where(codes[:, None] == (np.arange(k) if k > 1 else 1), 1.0, -1.0)
    with np.errstate(over="ignore"):
        found = sign * SIZES[kind](sign * logit)
    if kind in WEIGHTED:
        found *= np.sqrt(weight)[:, None]
    return found[:, 0] if k == 1 else found


def _against_the_rest(score: Floats) -> Floats:
    """Log odds of each class, from scores (n, outputs)."""
    if score.shape[1] == 1:
        return score
    rest = [logsumexp(np.delete(score, a, axis=1), axis=1) for a in range(score.shape[1])]
    return np.asarray(score - np.column_stack(rest))


def influence(minimum: Minimum, features: Array) -> Table:
    """Leverage, standardized residual, Cook's distance and dfbetas of each row (Pregibon 1981).

    hᵢ = wᵢ pᵢ (1 - pᵢ) x̃ᵢᵀ H⁻¹ x̃ᵢ        β - β₋ᵢ ≈ H⁻¹ x̃ᵢ wᵢ (yᵢ - pᵢ) / (1 - hᵢ)
    """
    objective, coef = minimum.objective, minimum.coef
    loss, rows = objective.loss, objective.at_hand
    if loss.outputs > 1:
        raise ValueError(
            f"Expected two classes, got {loss.outputs}: leverages and Cook's distances are of "
            "binary models. Fit one class against the others."
        )
    covariance, at = minimum.covariance(), scored(loss, rows, coef)
    leverage = (at.curvature() * score_covariance(loss, rows.X, covariance))[:, 0, 0]
    others = np.maximum(1 - leverage, LEAST)
    standardized = residuals(minimum, "pearson") / np.sqrt(others)
    step = design(loss, rows.X) @ covariance
    step *= (-at.weight * at.residual[:, 0] / others)[:, None]
    if loss.origin is not None and loss.intercept:
        step[:, -1] -= step[:, :-1] @ loss.origin
    dfbetas = step / np.sqrt(at_zero(loss, coef, covariance)[1].diagonal())
    names = [*features, *(["intercept"] if loss.intercept else [])]
    columns: dict[str, Array] = {
        "leverage": leverage,
        "standardized residual": standardized,
        "Cook's distance": standardized**2 * leverage / others / coef.size,
    }
    columns |= {f"dfbetas {plain(name)}": dfbetas[:, j] for j, name in enumerate(names)}
    return Table(columns)
