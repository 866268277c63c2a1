"""Newton's method: the best for few coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Floats
from posterior.discriminative.objective import Objective
from posterior.discriminative.solvers.line_search import search
from posterior.discriminative.solvers.solution import STOP, Solution, Stop, Trace, Watch, ignore


@dataclass(frozen=True, slots=True)
class Newton:
    """β ← β - t H⁻¹ g, with t from a line search. H is factored by Cholesky."""

    stop: Stop = STOP

    def minimize(self, objective: Objective, start: Floats, watch: Watch = ignore) -> Solution:
        coef, trace = start, Trace(objective)
        q = objective.quadratic(coef)
        trace.add(q, 0.0)
        while True:
            direction = newton_direction(q.hessian, q.gradient)
            decrease = -0.5 * float((q.gradient * direction).sum())
            # the direction is there already, and doubles the digits
            if end := trace.ended(self.stop, coef, q, decrease, coef + direction):
                return end
            found = search(objective.quadratic, coef, q, direction)
            if found is None:
                return trace.stuck(coef, q, decrease)
            coef, q = coef + found[0] * direction, found[1]
            trace.add(q, found[0])
            watch(coef)


def newton_direction(hessian: Floats | None, gradient: Floats) -> Floats:
    """-H⁻¹ g; where H has no inverse, the shortest step that does as well."""
    assert hessian is not None
    g = gradient.ravel()
    scale = np.sqrt(np.maximum(hessian.diagonal(), 0.0))
    scale[scale == 0] = 1.0
    scaled = hessian / np.outer(scale, scale)
    try:
        factor = np.linalg.cholesky(scaled)
        if factor.diagonal().min(initial=1.0) ** 2 < len(g) * np.finfo(float).eps:
            raise np.linalg.LinAlgError
        step = (
            np.linalg.solve(scaled, g / scale) / scale
        )  # SciPy's triangular solver is slow to call
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(scaled)
        kept = values > len(g) * np.finfo(float).eps * values.max(initial=0.0)
        part = vectors[:, kept]
        step = part @ ((part.T @ (g / scale)) / values[kept]) / scale
    return np.asarray(-step.reshape(gradient.shape))
