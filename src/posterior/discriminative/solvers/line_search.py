"""Line search: how far to go in a direction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posterior.data.typing import Floats
from posterior.statistics.quadratic import Quadratic

ENOUGH, FLAT = 1e-4, 0.9  # of the slope: decrease that is enough, and slope that is left (Wolfe)
ROUNDING = 1e-13  # of the value: less is not seen
TRIALS = 30


def search(
    function: Callable[[Floats], Quadratic], coef: Floats, q: Quadratic, direction: Floats
) -> tuple[float, Quadratic] | None:
    """A step that decreases enough and does not stop short, and what is found there.

    Brackets by doubling and cuts by cubic interpolation (Nocedal and Wright 2006, chapter 3).
    """
    slope = float((q.gradient * direction).sum())
    if not slope < 0:
        return None
    noise = ROUNDING * abs(q.value)
    low, low_value, low_slope = 0.0, q.value, slope
    high: float | None = None
    step = 1.0
    for _ in range(TRIALS):
        found = function(coef + step * direction)
        left = float((found.gradient * direction).sum())
        if not np.isfinite(found.value) or found.value > q.value + ENOUGH * step * slope + noise:
            high = step
            step = _between(low, low_value, low_slope, step, found.value)
        elif left < FLAT * slope:  # still steeply down: go on
            low, low_value, low_slope = step, found.value, left
            step = 2 * step if high is None else 0.5 * (low + high)
        else:
            return step, found
    return None


def _between(low: float, value: float, slope: float, high: float, high_value: float) -> float:
    """The minimum of the parabola through what is known, well inside the bracket."""
    width = high - low
    curve = high_value - value - slope * width
    best = -slope * width**2 / (2 * curve) if np.isfinite(curve) and curve > 0 else 0.1 * width
    return low + min(max(best, 0.1 * width), 0.5 * width)
