"""L-BFGS: curvature from the last few steps, on top of what is known beforehand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from posterior.data.typing import Floats
from posterior.discriminative.objective import Objective
from posterior.discriminative.solvers.line_search import search
from posterior.discriminative.solvers.newton import Newton
from posterior.discriminative.solvers.solution import STOP, Solution, Stop, Trace, Watch, ignore

Metric = Callable[[Floats], Floats]
Pair = tuple[Floats, Floats, float]

WRITTEN = 400  # columns whose products are worth writing down
SAMPLE = 300  # rows of a sample for each coefficient: its Hessian is then good to some percent


@dataclass(frozen=True, slots=True)
class QuasiNewton:
    """Steps measured by an approximate Hessian that costs little (Nocedal 1980).

    `sample` learns the model of a few rows first: where it ends, with its Hessian as the metric,
    all rows need a handful of passes. Otherwise the metric is the one given, from g to about H⁻¹ g,
    or a bound of the Hessian, or of many columns its diagonal.
    """

    stop: Stop = STOP
    memory: int = 10
    sample: bool = False
    metric: Metric | None = None

    def minimize(self, objective: Objective, start: Floats, watch: Watch = ignore) -> Solution:
        coef, trace = start, Trace(objective)
        if self.sample:
            coef, metric = _sampled_metric(objective, start)
        else:
            metric = self.metric or _metric(objective, start)
        scaled = not self.sample and self.metric is None
        q = objective.gradient(coef)
        trace.add(q, 0.0)
        pairs: deque[Pair] = deque(maxlen=self.memory)
        while True:
            direction = -_inverse(pairs, metric, q.gradient, scaled)
            decrease = -0.5 * float((q.gradient * direction).sum())
            if end := trace.ended(self.stop, coef, q, decrease):
                return end
            found = search(objective.gradient, coef, q, direction)
            if found is None and pairs:
                pairs.clear()
                continue
            if found is None:
                return trace.stuck(coef, q, decrease)
            step, after = found
            moved, turned = step * direction, after.gradient - q.gradient
            curve = float((moved * turned).sum())
            if curve > 1e-14 * float((moved * moved).sum()):
                pairs.append((moved, turned, curve))
            coef, q = coef + moved, after
            trace.add(q, step)
            watch(coef)


def _inverse(pairs: deque[Pair], metric: Metric, gradient: Floats, scaled: bool) -> Floats:
    """The approximate inverse Hessian times the gradient, by two loops over the last steps.

    A metric that knows no more than sizes is scaled to the last step.
    """
    q, parts = gradient, []
    for moved, turned, curve in reversed(pairs):
        part = float((moved * q).sum()) / curve
        parts.append(part)
        q = q - part * turned
    q = metric(q)
    if scaled and pairs:
        _, turned, curve = pairs[-1]
        q = q * (curve / float((turned * metric(turned)).sum()))
    for (moved, turned, curve), part in zip(pairs, reversed(parts), strict=True):
        q = q + moved * (part - float((turned * q).sum()) / curve)
    return q


def _metric(objective: Objective, coef: Floats) -> Metric:
    """From a bound of the Hessian, ½ Σ w x xᵀ for each output (Böhning 1992), or its diagonal."""
    if objective.shape[1] <= WRITTEN:
        try:
            factors = [linalg.cho_factor(part) for part in objective.bound(SAMPLE)]
        except linalg.LinAlgError:
            factors = []
        if factors:
            return lambda g: np.stack(
                [linalg.cho_solve(f, part) for f, part in zip(factors, g, strict=True)]
            )
    diagonal = objective.diagonal(coef)
    scale = np.where(diagonal > 0, diagonal, 1.0)
    return lambda g: g / scale


def _sampled_metric(objective: Objective, start: Floats) -> tuple[Floats, Metric]:
    some = objective.sampled(SAMPLE * objective.size)
    coef = Newton(Stop(tol=1e-3, max_iter=20)).minimize(some, start).coef
    hessian = some.quadratic(coef).hessian
    assert hessian is not None
    try:
        factor = linalg.cho_factor(hessian, lower=True)
    except linalg.LinAlgError:
        return start, _metric(objective, start)
    if start.any() and objective.gradient(start).value < objective.gradient(coef).value:
        coef = start  # somebody knew better
    return coef, lambda g: np.asarray(linalg.cho_solve(factor, g.ravel()).reshape(g.shape))
