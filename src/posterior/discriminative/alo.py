"""Approximate leave-one-out: the score of every row had it been left out, from one fit."""

from __future__ import annotations

import numpy as np

from posterior.data.rows import slabs
from posterior.data.typing import Floats
from posterior.discriminative.design import scored
from posterior.discriminative.fisher_information import inverse_information, score_covariance
from posterior.discriminative.objective import Objective

LEAST = 1e-12  # of a row's say in its own score that belongs to others


def leave_one_out_scores(objective: Objective, coef: Floats) -> Floats:
    """η₋ᵢ ≈ ηᵢ + (I - Vᵢ Aᵢ)⁻¹ Vᵢ gᵢ, (n, outputs), at a minimum of the objective.

    gᵢ and Aᵢ are the derivatives of row i's loss by its score, and Vᵢ = x̃ᵢᵀ H⁻¹ x̃ᵢ: one Newton
    step of the fit to the other rows (Rad and Maleki 2020). With one output this is
    ηᵢ + vᵢ gᵢ / (1 - vᵢ aᵢ). A row leaves with all its weight.
    """
    inverse = inverse_information(objective, coef)
    m, n = objective.loss.outputs, len(objective.at_hand)
    out = np.empty((n, m))
    for part in slabs(n, m * m + coef.shape[1]):
        rows = objective.at_hand[part]
        at = scored(objective.loss, rows, coef)
        V = score_covariance(objective.loss, rows.X, inverse)
        g = at.weight[:, None] * at.residual
        pull = np.einsum("iab,ib->ia", V, g)
        left = np.eye(m) - V @ at.curvature()
        if m == 1:
            moved = pull / np.maximum(left[:, 0], LEAST)
        else:
            moved = np.linalg.solve(left + LEAST * np.eye(m), pull[:, :, None])[:, :, 0]
        out[part] = at.score + moved
    return out
