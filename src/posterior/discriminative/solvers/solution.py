"""Solutions: where a solver ended, and how it got there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from posterior.data.typing import Floats
from posterior.discriminative.objective import Objective
from posterior.statistics.quadratic import Quadratic

ROUNDING, NEAR = 1e-18, 1e-9  # of the value: nothing, and what does not matter
STUCK = "no step makes the objective smaller in double precision"
CONVERGED = "the gradient is within the tolerance"
TIRED = "the number of iterations is used up"
OVERSHOT = "the steps are so long that they jump over the best coefficients"
Watch = Callable[[Floats], None]  # gets the coefficients after every iteration


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


STOP = Stop()


class Trace:
    """The iterations of a solver so far, which end in a solution."""

    def __init__(self, objective: Objective) -> None:
        self.rows = objective.weight
        self.steps: list[Step] = []

    def add(self, q: Quadratic, step: float) -> None:
        self.steps.append(Step(q.value, largest(q.gradient) / self.rows, step))

    def end(self, coef: Floats, converged: bool, reason: str) -> Solution:
        return Solution(coef, tuple(self.steps), converged, reason)

    def ended(
        self, stop: Stop, coef: Floats, q: Quadratic, decrease: float, last: Floats | None = None
    ) -> Solution | None:
        """The solution, if there is nothing left to gain, or no iteration; `last` if converged."""
        if stop.done(q, self.rows, decrease):
            return self.end(coef if last is None else last, True, CONVERGED)
        return self.end(coef, False, TIRED) if len(self.steps) > stop.max_iter else None

    def stuck(self, coef: Floats, q: Quadratic, decrease: float) -> Solution:
        """No step leads down; the solver may have arrived all the same."""
        return self.end(coef, decrease <= NEAR * abs(q.value), STUCK)


def largest(gradient: Floats) -> float:
    return float(np.abs(gradient).max(initial=0.0))


def ignore(coef: Floats) -> None:
    """Nobody watches."""


class Solver(Protocol):
    """A minimizer of objectives."""

    def minimize(self, objective: Objective, start: Floats, watch: Watch = ...) -> Solution: ...
