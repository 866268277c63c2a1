"""The compiled fit of Student's t."""

from __future__ import annotations

import numpy as np

import posterior.kernels._compiled as _compiled
from posterior.data.typing import Floats
from posterior.kernels.tails import HEAVIEST, LIGHTEST, STEPS, TOLERANCE, Tails


def student_fit(x: Floats, W: Floats, start: Tails, m: float, least: float) -> Tails:
    """The most probable t of values (m,) with weights (k, m), from a start to which m rows pull."""
    mean, square, total = start.mean.copy(), start.square.copy(), np.zeros(len(W))
    x, W = np.ascontiguousarray(x), np.ascontiguousarray(W)
    prior, stop = (m, start.mean, start.square, least), (STEPS, TOLERANCE, HEAVIEST, LIGHTEST)
    nu = _compiled.student_fit(x, W, *prior, *stop, mean, square, total, start.freedom)
    return Tails(mean, square, nu, total)
