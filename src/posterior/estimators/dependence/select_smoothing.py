"""How many rows a shorter context counts for, by column and number of parents: by leave-one-out.

    minimize  -Σᵢ vᵢ log p(yᵢ | xᵢ, other rows) + Σ_jl (θ_jl - μ_l)² / 2σ² + Σ_l (μ_l - θ₀)² / 2τ²

over θ_jl = log m_jl, with μ_l their mean over columns and θ₀ = log 10: columns lean on each other,
and all on m = 10. Rows are taken by content and m is rounded, so that the order in which rows stand
and numbers add up does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy
from scipy.special import logsumexp

from posterior.data.rows import Blocks, Hard, Rows
from posterior.data.typing import Floats
from posterior.families.dependence import BackOff
from posterior.families.dependence.left_out import LeftOut
from posterior.generative.dealing import by_content
from posterior.generative.joint import JointStatistics

# Chosen on tables of KEEL that the manual reports nothing of.
CENTER = np.log(BackOff().m)
BETWEEN_COLUMNS = 2.0  # σ
BETWEEN_LEVELS = 3.0  # τ
# m below has no say beside one row, and m above leaves the context none.
BOUNDS = np.log(1e-2), np.log(1e5)
# A search costs about as much as some answers to all rows: a sample, and a minimum that is near.
MOST_ROWS = 5_000
MOST_CELLS = 2_000_000
FEWEST_ROWS = 100
STEPS = 25
TOLERANCE = 5e-4
DIGITS = 3  # of m that are kept


class Smoothed(Protocol):
    """A family whose scores without each row are known as a function of m."""

    def left_out(self, X: Blocks, groups: Hard, statistics: Any) -> LeftOut: ...

    def cells_left_out(self, statistics: Any) -> int: ...

    def sizes(self, statistics: Any) -> Sequence[int]: ...


def choose(
    rows: Rows,
    family: Smoothed,
    statistics: JointStatistics[Any],
    prior: Callable[[Floats], Floats],
) -> BackOff:
    """m of each column and number of parents, of least log loss of each row by the others."""
    some = _some(rows, family.cells_left_out(statistics.features))
    weight = np.ones(len(some)) if some.hard.weight is None else some.hard.weight
    # a weight of two is two rows, of which one is left out
    groups = Hard(some.hard.codes, some.hard.n_groups, np.minimum(weight, 1.0))
    log_prior = prior(_weight_without(groups, statistics))
    known = np.isfinite(log_prior[np.arange(len(some)), groups.codes])
    if not known.any() or not any(family.sizes(statistics.features)):
        return BackOff()  # no row has another one of its class, or no cell is known
    some = Rows(some.X, groups).take(np.flatnonzero(known))
    assert isinstance(some.X, Blocks)
    left_out = family.left_out(some.X, some.hard, statistics.features)
    loss = HeldOutLoss(left_out, log_prior[known], some.hard.codes, weight[known])
    start = np.full(left_out.shape, CENTER)
    found = scipy.optimize.minimize(
        loss,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[BOUNDS] * start.size,
        options={"maxiter": STEPS, "ftol": TOLERANCE},
    )
    m = np.exp(found.x).reshape(start.shape).tolist()
    return BackOff(tuple(tuple(float(f"{rows:.{DIGITS}g}") for rows in levels) for levels in m))


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutLoss:
    """The log loss of each row by the others, and how unusual m is: value and gradient by log m."""

    left_out: LeftOut
    log_prior: Floats  # (n, k), without each row too
    codes: Any  # (n,)
    weight: Floats  # (n,)

    def __call__(self, log_m: Floats) -> tuple[float, Floats]:
        theta = log_m.reshape(self.left_out.shape)
        score, gradient = self.left_out(np.exp(theta))
        log_p = score + self.log_prior
        log_p -= logsumexp(log_p, axis=1, keepdims=True)
        own = np.arange(len(log_p)), self.codes
        R = np.exp(log_p)
        R[own] -= 1.0
        R *= self.weight[:, None]
        mean = theta.mean(axis=0)
        apart, off = (theta - mean) / BETWEEN_COLUMNS, (mean - CENTER) / BETWEEN_LEVELS
        value = -self.weight @ log_p[own] + 0.5 * (apart**2).sum() + 0.5 * (off**2).sum()
        unusual = apart / BETWEEN_COLUMNS + off / BETWEEN_LEVELS / len(theta)
        return float(value), (gradient(R) + unusual).ravel()


def _some(rows: Rows, cells: int) -> Rows:
    """Rows evenly by class and content, whatever their order; not more than are worth the time."""
    order = by_content(rows)[0]
    n = min(len(order), MOST_ROWS, max(MOST_CELLS // max(cells, 1), FEWEST_ROWS))
    return rows.take(order[np.arange(n) * len(order) // n])


def _weight_without(groups: Hard, statistics: JointStatistics[Any]) -> Floats:
    """The weight of each class (n, k) without each row."""
    assert groups.weight is not None
    weight = np.tile(statistics.weight.rounded(), (len(groups.codes), 1))
    own = np.arange(len(weight)), groups.codes
    weight[own] = np.maximum(weight[own] - groups.weight, 0.0)
    return weight
