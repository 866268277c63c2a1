"""Corrected probabilities: the arithmetic of a calibrator, of shares and of their logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from posterior.data.typing import Floats
from posterior.evaluation.calibration import (
    Beta,
    Calibrator,
    Isotonic,
    Quadratic,
    StructuredMatrix,
    Temperature,
)
from posterior.sql.expressions import SQL, column, number, plus, times, total
from posterior.sql.sql_scores import Correction, Scores


def calibrated(found: Scores, calibrator: Calibrator | None) -> Scores:
    """The same with probabilities that are corrected.

    The temperature scales the scores. What comes after it is a correction of the shares: they are
    mixed with uniform, and new scores are made of their logarithms.
    """
    if calibrator is None:
        return found
    if isinstance(calibrator, Isotonic):
        raise TypeError(
            "Expected probabilities corrected by arithmetic or not at all: the steps of isotonic "
            'calibration are too many for a query. Fit the model with calibrated="temperature", or '
            'with "auto".'
        )
    if found.correction is not None:
        raise TypeError(
            "Expected probabilities that are corrected once, got a calibrated model that is "
            "corrected again. Fit it with calibrated=None."
        )
    base = calibrator if isinstance(calibrator, Temperature) else calibrator.base
    correction = None
    if calibrator != Temperature(base.temperature):
        correction = Correction(base.uniform, *_linear(calibrator))

    def scaled(each: Scores) -> Scores:
        return replace(each, scale=each.scale / base.temperature, correction=correction)

    return found.changed(scaled)


def _linear(calibrator: Calibrator) -> tuple[Floats | None, Floats | None, float]:
    """D + I, b, and what the square of x₁ - x₀ adds to the second score; nothing without scores."""
    if isinstance(calibrator, Temperature):
        return None, None, 0.0
    if isinstance(calibrator, Beta):
        row = [-calibrator.high, calibrator.low]
        return np.array([[0.0, 0.0], row]), np.array([0.0, calibrator.intercept]), 0.0
    if isinstance(calibrator, Quadratic):
        row = [-calibrator.slope, calibrator.slope]
        constant = np.array([0.0, calibrator.intercept])
        return np.array([[0.0, 0.0], row]), constant, calibrator.curvature
    assert not isinstance(calibrator, Isotonic)
    if isinstance(calibrator, StructuredMatrix):
        D = calibrator.matrix
    else:
        D = np.diag(calibrator.slope)
    return np.eye(len(D)) + D, calibrator.intercept, 0.0


def corrected_scores(correction: Correction, logs: Sequence[str]) -> list[SQL]:
    """b_k + Σ_j D_kj x_j of each class, and the square."""
    assert correction.matrix is not None and correction.intercept is not None
    scores = []
    for k, (row, constant) in enumerate(zip(correction.matrix, correction.intercept, strict=True)):
        terms = [times(number(d), column(x)) for d, x in zip(row, logs, strict=True) if d]
        if correction.square and k == 1:
            apart = plus(column(logs[1]), times(number(-1.0), column(logs[0])))
            terms.append(times(number(correction.square), apart, apart.copy()))
        scores.append(total([number(constant), *terms]))
    return scores
