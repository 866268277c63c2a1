"""Newton's method without its matrix, for many coefficients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Floats
from posterior.discriminative.objective import Objective
from posterior.discriminative.solvers.line_search import ROUNDING
from posterior.discriminative.solvers.solution import STOP, Solution, Stop, Trace, Watch, ignore

INNER = 200  # products for one direction
FLAT = 1e-12  # of what the diagonal promises: no curvature at all
# Of the decrease that was promised: a step is taken, trusted less, trusted more.
ENOUGH, POOR, GOOD = 1e-4, 0.25, 0.75
SHRINK, GROW = 0.25, 2.0  # the radius, as parts of the last step
REJECTED = 30  # steps in a row: the quadratic says nothing here


@dataclass(frozen=True, slots=True)
class NewtonCG:
    """β ← β + s, where s minimizes g · s + ½ s · H s as far as the quadratic can be trusted.

    s is found by conjugate gradients, with few products far from the end and many near it (Dembo
    and Steihaug 1983). The region |s| ≤ radius, measured by the diagonal of H, shrinks where the
    objective falls by less than the quadratic promises, and grows where the promise is kept
    (Steihaug 1983; Lin, Weng and Keerthi 2008 for logistic regression).
    """

    stop: Stop = STOP

    def minimize(self, objective: Objective, start: Floats, watch: Watch = ignore) -> Solution:
        coef, trace, radius = start, Trace(objective), np.inf
        q = objective.gradient(coef)
        trace.add(q, 0.0)
        product, metric = _curvature(objective, coef)
        rejected = 0
        while True:
            size = float(np.sqrt((q.gradient**2 / metric).sum()))
            loose = min(0.1, np.sqrt(size / max(objective.weight, 1.0))) * size
            s, promise = solve(product, -q.gradient, metric, loose, radius)
            if end := trace.ended(self.stop, coef, q, promise):
                return end
            if rejected == REJECTED:
                return trace.stuck(coef, q, promise)
            found, length = objective.gradient(coef + s), float(np.sqrt((metric * s * s).sum()))
            noise = ROUNDING * abs(q.value)  # what rounding hides is taken as kept
            kept = (q.value - found.value + noise) / (promise + noise)
            if not kept > ENOUGH:
                radius, rejected = SHRINK * length, rejected + 1
                continue
            if kept < POOR:
                radius = SHRINK * length
            elif kept > GOOD:
                radius = max(radius, GROW * length)
            coef, q, rejected = coef + s, found, 0
            product, metric = _curvature(objective, coef)
            trace.add(q, length)
            watch(coef)


def _curvature(objective: Objective, coef: Floats) -> tuple[Callable[[Floats], Floats], Floats]:
    """v → H v, and the diagonal of H."""
    metric = objective.diagonal(coef)
    return objective.curvature(coef), np.where(metric > 0, metric, 1.0)


def solve(
    product: Callable[[Floats], Floats],
    target: Floats,
    metric: Floats,
    tolerance: float,
    radius: float = np.inf,
) -> tuple[Floats, float]:
    """x near H⁻¹ target with |x| ≤ radius, and by how much x · target - ½ x · H x is above zero.

    Lengths are measured by the metric. Conjugate gradients walk outward, so the first step beyond
    the radius ends on it (Steihaug 1983).
    """
    x, r = np.zeros_like(target), target
    scaled = r / metric
    p, square = scaled, float((r * scaled).sum())
    for _ in range(INNER):
        if np.sqrt(square) <= tolerance:
            break
        turned = product(p)
        curve = float((p * turned).sum())
        flat = curve <= FLAT * float((p * metric * p).sum())
        if flat and np.isinf(radius):
            break
        room = _room(x, p, metric, radius)
        length = room if flat else min(square / curve, room)
        x = x + length * p
        r = r - length * turned
        if length == room:
            break
        scaled = r / metric
        after = float((r * scaled).sum())
        p, square = scaled + after / square * p, after
    if not x.any():
        x = target / metric
        r = target - product(x)
    return x, 0.5 * float((x * (target + r)).sum())


def _room(x: Floats, p: Floats, metric: Floats, radius: float) -> float:
    """How far x + t p goes until its length is the radius."""
    if np.isinf(radius):
        return np.inf
    a, b = float((p * metric * p).sum()), float((x * metric * p).sum())
    c = radius**2 - float((x * metric * x).sum())
    return float((-b + np.sqrt(b * b + a * max(c, 0.0))) / a)
