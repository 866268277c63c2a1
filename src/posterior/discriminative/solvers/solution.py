"""Where a solver ended, and how it got there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from posterior.data.typing import Floats
from posterior.discriminative.objective import Objective
from posterior.statistics.quadratic import Quadratic


@dataclass(frozen=True, slots=True)
class Step:
    """One iteration: where it ended, and how long its step was."""

    value: float
    gradient_norm: float  # the largest component, per row
    step: float


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    coef: Floats  # (outputs, p)
    trace: tuple[Step, ...]  # its first entry is the start
    converged: bool
    reason: str

    @property
    def n_iter(self) -> int:
        return len(self.trace) - 1


@dataclass(frozen=True, slots=True)
class Stop:
    """When to stop: `tol` bounds the gradient per row, and its square what is left to gain."""

    tol: float = 1e-4
    max_iter: int = 100

    def done(self, q: Quadratic, rows: float, decrease: float) -> bool:
        """`decrease` is what the next step promises; a loss below tol a row counts as that."""
        if decrease <= ROUNDING * abs(q.value):
            return True
        flat = largest(q.gradient) <= self.tol * rows
        return flat and decrease <= self.tol**2 * max(abs(q.value), self.tol * rows)


def near(q: Quadratic, decrease: float) -> bool:
    """Whether a solver that is stuck has arrived all the same."""
    return decrease <= NEAR * abs(q.value)


ROUNDING, NEAR = 1e-18, 1e-9  # of the value: nothing, and what does not matter
STOP = Stop()


def largest(gradient: Floats) -> float:
    return float(np.abs(gradient).max(initial=0.0))


STUCK = "no step makes the objective smaller in double precision"
CONVERGED = "the gradient is within the tolerance"
TIRED = "the number of iterations is used up"
OVERSHOT = "the steps are so long that they jump over the best coefficients"


Watch = Callable[[Floats], None]  # is told the coefficients after every iteration


def ignore(coef: Floats) -> None:
    """Nobody watches."""


class Solver(Protocol):
    """A way downhill."""

    def minimize(self, objective: Objective, start: Floats, watch: Watch = ...) -> Solution: ...
