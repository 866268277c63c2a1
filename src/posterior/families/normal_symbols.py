"""The normal density and Student's t in symbols."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import special

from posterior.data.typing import Floats
from posterior.families.symbols import (
    FARTHEST,
    IMPOSSIBLE,
    Abs,
    Cell,
    Cells,
    Expression,
    Formula,
    Known,
    Log,
    Number,
    Within,
    from_zero,
    squared,
)

FLAT = 1e9  # whose square is as good as one more


def formula(
    mean: Floats, variance: Floats, freedom: Floats | None, cells: Cells, logs: bool = False
) -> list[Formula]:
    """-½ log 2πσ² - (x - μ)² / 2σ², or Student's t, of cells or of their logarithms."""
    found = []
    for j, cell in enumerate(cells):
        telling = (variance[:, j] > 0) & (variance[:, j] < np.inf)
        widest = float(np.sqrt(variance[telling, j].max(initial=0.0)))
        centers, least = (mean[:, j], 0.0) if logs else from_zero(mean[:, j], widest)
        x = replace(cell, least=least)
        scores: list[Expression] = []
        for k, center in enumerate(centers.tolist()):
            if not telling[k]:
                scores.append(Number(0.0))
            elif freedom is None:
                scores.append(_normal(x, center, float(variance[k, j]), logs))
            else:
                spread = float(variance[k, j]), float(freedom[k, j])
                scores.append(_student(x, center, *spread, logs))
        found.append(Formula.of(x, (Known(x, score) for score in scores)))
    return found


def _normal(x: Cell, mean: float, variance: float, logs: bool) -> Expression:
    """So far away that squares overflow, no class is possible; no logarithm is."""
    scale = float(np.sqrt(variance))
    read = Log(x) if logs else x
    score = float(-0.5 * np.log(2 * np.pi * variance)) + -0.5 * squared((read - mean) * (1 / scale))
    ends = mean - FARTHEST * scale, mean + FARTHEST * scale
    return score if logs else Within(x, *ends, score, Number(IMPOSSIBLE))


def _student(x: Cell, mean: float, variance: float, v: float, logs: bool) -> Expression:
    """log (1 + z²) is 2 log |z| where z² may overflow"""
    half, scale = (v + 1) / 2, float(np.sqrt(v * variance))
    height = special.gammaln(half) - special.gammaln(v / 2) - 0.5 * np.log(v * np.pi * variance)
    read = Log(x) if logs else x
    tail: Expression = Log(1.0 + squared((read - mean) * (1 / scale)))
    if not logs:
        far = 2.0 * Log(Abs(x - mean)) - float(2 * np.log(scale))
        tail = Within(x, mean - FLAT * scale, mean + FLAT * scale, tail, far)
    return float(height) + -half * tail
