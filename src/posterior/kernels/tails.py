"""Place, scale and tails of Student's t, and the limits of their search."""

from __future__ import annotations

from dataclasses import dataclass

from posterior.data.typing import Floats

LIGHTEST, HEAVIEST = 200.0, 1.0  # degrees of freedom
STEPS, TOLERANCE = 500, 1e-6  # of a squared scale, and of the degrees of freedom


@dataclass(frozen=True, slots=True, eq=False)
class Tails:
    """Place and squared scale of each group (k,), and the degrees of freedom of all.

    `weight` (k,) is what the rows of a group weigh after those far out were weighed down.
    """

    mean: Floats
    square: Floats
    freedom: float
    weight: Floats
