"""One feature: the points where the most probable class changes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from posterior.data.table import text
from posterior.data.typing import Array, Floats
from posterior.evaluation.quadratics import Quadratics, rising


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The most probable class of a number x: classes[i] between at[i - 1] and at[i]."""

    at: Floats  # (m,), rising
    classes: Array  # (m + 1,)
    feature_name: str = "x"

    def __str__(self) -> str:
        name, cuts = self.feature_name, [text(x) for x in self.at]
        if not cuts:
            return f"any {name}: {self.classes[0]}"
        between = [f"{low} < {name} < {high}" for low, high in pairwise(cuts)]
        spans = [f"{name} < {cuts[0]}", *between, f"{name} > {cuts[-1]}"]
        width = max(len(span) for span in spans)
        return "\n".join(
            f"{span:{width}}: {label}" for span, label in zip(spans, self.classes, strict=True)
        )

    __repr__ = __str__


def points(model: Quadratics, feature_name: str = "x") -> Points:
    """Walk from -∞ to ∞ along the largest of k parabolas.

    Class j leads class i where q(x) = log p(x, j) - log p(x, i) > 0: between its two roots if q
    is concave, and outside the roots of -q if not. All leads are known before the walk starts,
    so two parabolas that only touch, or three that meet in a point, need no tolerance.
    """
    a, b, c = (part - part[:, None] for part in (model.A[:, 0, 0], model.b[:, 0], model.c))
    convex = a > 0
    low, high = _between(*(np.where(convex, -part, part) for part in (a, b, c)))
    events = np.unique(np.concatenate([low[low < high], high[low < high]]))
    events = events[np.isfinite(events)]
    # roots that differ by rounding alone are one point
    apart = np.diff(events) > 8 * np.finfo(float).eps * abs(events[1:])
    events = events[np.append(apart, np.ones(min(1, len(events)), bool))]

    def largest_after(x: float, leader: int) -> int:
        passed = {leader}
        while True:
            ahead = ((low[leader] <= x) & (x < high[leader])) != convex[leader]
            better = [int(j) for j in np.flatnonzero(ahead) if j not in passed]
            if not better:
                return leader
            leader = better[0]
            passed.add(leader)

    leaders, at = [largest_after(-np.inf, 0)], []
    for x in events:
        if (leader := largest_after(x, leaders[-1])) != leaders[-1]:
            leaders.append(leader)
            at.append(x)
    return Points(np.array(at, dtype=np.float64), model.classes[leaders], feature_name)


def _between(a: Floats, b: Floats, c: Floats) -> tuple[Floats, Floats]:
    """The interval (low, high) where a x² + b x + c > 0, for a ≤ 0; empty if low ≥ high."""
    low, high = rising(a, b, c), -rising(a, -b, c)
    everywhere = (a == 0) & (b == 0) & (c > 0)
    return np.where(everywhere, -np.inf, low), np.where(everywhere, np.inf, high)
