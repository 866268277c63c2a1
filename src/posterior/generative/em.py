"""EM: expect the sums of hidden groups, take the most probable model of them, and so on.

The log likelihood never falls (Dempster, Laird and Rubin 1977); with a prior, the log posterior.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

import numpy as np

from posterior.data.errors import DegenerateError
from posterior.families.family import Family
from posterior.generative.expectation import Expected
from posterior.generative.joint import Joint, JointStatistics
from posterior.statistics.algebra import Statistics

S = TypeVar("S", bound=Statistics)
P = TypeVar("P")

LONGEST = 1e6  # steps at a stride, of sums that move along a line

Reason: TypeAlias = Literal["converged", "max_iter"]
Watch: TypeAlias = Callable[[int, float, float], None]
"""Told after each step: its number, the objective, and the change."""


@dataclass(frozen=True, slots=True)
class Hidden(Generic[S, P]):
    """What EM asks of a model: one pass over the rows, and the best model of its sums."""

    expect: Callable[[Joint[S, P]], Expected[S]]
    maximize: Callable[[JointStatistics[S], Joint[S, P] | None], Joint[S, P]]
    log_prior: Callable[[Joint[S, P]], float]
    weight: float  # of all rows
    keeps_rows: bool = False  # which no sums stand for

    def value(self, joint: Joint[S, P], expected: Expected[S]) -> float:
        """What EM raises: log likelihood and log prior, of an average row."""
        value = (expected.log_likelihood + self.log_prior(joint)) / self.weight
        if np.isnan(value):  # which no step would ever change
            raise DegenerateError(
                "Expected a log likelihood that is a number, got NaN. Scale columns of very large "
                "numbers down."
            )
        return value


@dataclass(frozen=True, slots=True)
class Ascent(Generic[S, P]):
    """Where EM arrived, and how."""

    joint: Joint[S, P]
    statistics: JointStatistics[S]  # that the joint is the best model of
    trace: tuple[float, ...]  # the objective before each step
    reason: Reason

    @property
    def value(self) -> float:
        return self.trace[-1] if self.trace else -np.inf


@dataclass(frozen=True, slots=True)
class Stop:
    """After so many steps, or when one changes the objective by less than tol."""

    max_iter: int = 100
    tol: float = 1e-3


def climb(
    hidden: Hidden[S, P],
    joint: Joint[S, P],
    stop: Stop,
    watch: Watch,
    before: float = -np.inf,
) -> Ascent[S, P]:
    """Plain EM from a first guess, which takes a step at least."""
    trace: list[float] = []
    for step in range(1, max(stop.max_iter, 1) + 1):
        expected = hidden.expect(joint)
        value = hidden.value(joint, expected)
        joint = hidden.maximize(expected.statistics, joint)
        trace.append(value)
        watch(step, value, value - before)
        if abs(value - before) < stop.tol:
            return Ascent(joint, expected.statistics, tuple(trace), "converged")
        before = value
    return Ascent(joint, expected.statistics, tuple(trace), "max_iter")


def leap(
    hidden: Hidden[S, P], joint: Joint[S, P], stop: Stop, watch: Watch, before: float = -np.inf
) -> Ascent[S, P]:
    """EM in strides: SQUAREM (Varadhan and Roland 2008), on sums instead of parameters.

    S₁ and S₂ are the sums that EM makes of S₀ and of S₁:
    r = S₁ - S₀,  v = (S₂ - S₁) - r,  S' = S₀ - 2α r + α² v,  α = -|r| / |v|

    Sums add, subtract and scale, whatever the family. A stride that does not raise the objective
    is not taken, so it never falls.
    """
    trace: list[float] = []
    sums = hidden.expect(joint).statistics
    joint = hidden.maximize(sums, joint)
    first = hidden.expect(joint)
    for step in range(1, max(stop.max_iter, 1) + 1):
        value = hidden.value(joint, first)
        trace.append(value)
        watch(step, value, value - before)
        if abs(value - before) < stop.tol:
            return Ascent(joint, sums, tuple(trace), "converged")
        before = value
        joint = hidden.maximize(first.statistics, joint)
        second = hidden.expect(joint)
        least = hidden.value(joint, second)
        far = _stride(joint.family, sums, first.statistics, second.statistics)
        try:
            joint_far = hidden.maximize(far, joint)
            first_far = hidden.expect(joint_far)
            taken = hidden.value(joint_far, first_far) >= least
        except DegenerateError:  # no rows have such sums
            taken = False
        if taken:
            sums, joint, first = far, joint_far, first_far
        else:
            sums = second.statistics
            joint = hidden.maximize(sums, joint)
            first = hidden.expect(joint)
    return Ascent(joint, sums, tuple(trace), "max_iter")


def _stride(
    family: Family[S, P],
    zeroth: JointStatistics[S],
    first: JointStatistics[S],
    second: JointStatistics[S],
) -> JointStatistics[S]:
    """Columns are compared in the units of their largest sum. Not beyond what rows can have."""
    s0, s1, s2 = zeroth.numbers(), first.numbers(), second.numbers()
    unit = np.maximum(np.abs(s0).max(axis=0), 1e-300)
    r, v = (s1 - s0) / unit, (s2 - 2 * s1 + s0) / unit
    steps = float(np.linalg.norm(r)) / max(float(np.linalg.norm(v)), 1e-300)
    alpha = -min(max(1.0, steps), LONGEST)
    # S₀ (1 + α)² - S₁ 2α (1 + α) + S₂ α²
    far = zeroth * (1 + alpha) ** 2 - first * (2 * alpha * (1 + alpha)) + second * alpha**2
    possible = (far.weight.rounded() >= 0).all() and not family.impossible(far.features).any()
    return far if possible else second
