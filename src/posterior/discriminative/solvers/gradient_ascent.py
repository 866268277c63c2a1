"""Gradient ascent as in lectures: a step of η along the gradient of the log-likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Floats
from posterior.discriminative.objective import Objective
from posterior.discriminative.solvers.solution import (
    CONVERGED,
    OVERSHOT,
    TIRED,
    Solution,
    Step,
    Trace,
    Watch,
    ignore,
)

ROUNDING = 1e-9  # of the objective: growth that is none


@dataclass(frozen=True, slots=True)
class GradientAscent:
    """β ← β + η ∇ log p(y | X, β), until no coefficient changes by ε or more.

    No line search, no momentum, nothing is scaled: what a textbook loop does.
    """

    step: float = 1e-4
    tol: float = 0.0
    max_iter: int = 10_000

    def minimize(self, objective: Objective, start: Floats, watch: Watch = ignore) -> Solution:
        coef, trace, converged = start, Trace(objective), self.tol == 0
        q = objective.gradient(coef)
        trace.add(q, self.step)
        for _ in range(self.max_iter):
            with np.errstate(over="ignore", invalid="ignore"):
                change = -self.step * q.gradient
                ahead = objective.gradient(coef + change)
            if np.isfinite(q.value) and not np.isfinite(ahead.value):
                return trace.end(coef, False, OVERSHOT)  # beyond all numbers
            coef, q = coef + change, ahead
            trace.add(q, self.step)
            watch(coef)
            if np.abs(change).max(initial=0.0) < self.tol:
                converged = True
                break
        # without a tolerance the steps are all that was asked, unless they lead away
        if diverged(trace.steps) or (not converged and overshot(trace.steps)):
            return trace.end(coef, False, OVERSHOT)
        return trace.end(coef, converged, CONVERGED if converged else TIRED)


def diverged(trace: Sequence[Step]) -> bool:
    """Whether the end is worse than the start."""
    return not trace[-1].value <= trace[0].value * (1 + ROUNDING)


def overshot(trace: Sequence[Step]) -> bool:
    """Whether the objective still grew in the later half of the steps: they jump over the best."""
    value = np.array([step.value for step in trace[len(trace) // 2 :]])
    return not bool((np.diff(value) <= ROUNDING * np.abs(value[:-1])).all())
