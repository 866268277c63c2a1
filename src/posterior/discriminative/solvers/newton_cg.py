"""Newton's method without its matrix, for many coefficients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Floats
from posterior.discriminative.objective import Objective
from posterior.discriminative.solvers.line_search import search
from posterior.discriminative.solvers.solution import (
    CONVERGED,
    STOP,
    STUCK,
    TIRED,
    Solution,
    Step,
    Stop,
    Watch,
    ignore,
    largest,
    near,
)

INNER = 200  # products for one direction
FLAT = 1e-12  # of what the diagonal promises: no curvature at all


@dataclass(frozen=True, slots=True)
class NewtonCG:
    """β ← β - t H⁻¹ g, the direction by conjugate gradients, as exactly as it is worth.

    Few products far from the end, many near it (Dembo and Steihaug 1983).
    """

    stop: Stop = STOP

    def minimize(self, objective: Objective, start: Floats, watch: Watch = ignore) -> Solution:
        coef, rows = start, objective.weight
        q = objective.gradient(coef)
        trace = [Step(q.value, largest(q.gradient) / rows, 0.0)]
        while True:
            metric = objective.diagonal(coef)
            metric = np.where(metric > 0, metric, 1.0)
            size = float(np.sqrt((q.gradient**2 / metric).sum()))
            loose = min(0.1, np.sqrt(size / max(rows, 1.0))) * size
            direction = -solve(objective.curvature(coef), q.gradient, metric, loose)
            decrease = -0.5 * float((q.gradient * direction).sum())
            if self.stop.done(q, rows, decrease):
                return Solution(coef, tuple(trace), True, CONVERGED)
            if len(trace) > self.stop.max_iter:
                return Solution(coef, tuple(trace), False, TIRED)
            found = search(objective.gradient, coef, q, direction)
            if found is None:
                return Solution(coef, tuple(trace), near(q, decrease), STUCK)
            coef, q = coef + found[0] * direction, found[1]
            trace.append(Step(q.value, largest(q.gradient) / rows, found[0]))
            watch(coef)


def solve(
    product: Callable[[Floats], Floats], target: Floats, metric: Floats, tolerance: float
) -> Floats:
    """H⁻¹ target by conjugate gradients, lengths measured by the diagonal of H."""
    x, r = np.zeros_like(target), target.copy()
    scaled = r / metric
    p, square = scaled, float((r * scaled).sum())
    for _ in range(INNER):
        if np.sqrt(square) <= tolerance:
            break
        turned = product(p)
        curve = float((p * turned).sum())
        if curve <= FLAT * float((p * metric * p).sum()):
            break
        length = square / curve
        x = x + length * p
        r = r - length * turned
        scaled = r / metric
        after = float((r * scaled).sum())
        p, square = scaled + after / square * p, after
    return x if x.any() else target / metric
