"""Steps of the ascent to the best coefficients, one by one."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from posterior.data.pictured import Run, RunStep
from posterior.data.rows import SparseRows
from posterior.data.typing import Floats
from posterior.discriminative.logistic_rule import LogisticRule
from posterior.discriminative.minimum import centered
from posterior.discriminative.objective import Objective
from posterior.discriminative.solvers import GradientAscent, Newton, Solution
from posterior.discriminative.solvers.solution import OVERSHOT
from posterior.readers.encoded import Encoded
from posterior.statistics.quadratic import Quadratic


@dataclass(frozen=True, slots=True, eq=False)
class LogisticStep(RunStep):
    """Coefficients on the way, how probable they make the classes, and which way is up."""

    number: int  # 0: the start
    length: float  # of the step that led here: η, or t of Newton's -t H⁻¹ g
    intercept: Floats  # (outputs,)
    coef: Floats  # (outputs, d)
    row: int | None  # the example that led here, if it was one alone
    place: Floats  # (outputs, p): the coefficients as the solver sees them
    ground: Objective  # what is climbed
    run: Run

    @property
    def path(self) -> Floats:
        """The coefficients of every step so far, (number + 1, outputs, p), as `gradient` is."""
        steps = self.run.steps[: self.number + 1]
        parts = [np.column_stack([step.coef, step.intercept]) for step in steps]
        return np.stack(parts)[:, :, : self.place.shape[1]]

    @property
    def log_likelihood(self) -> float:
        """Σᵢ wᵢ log p(yᵢ | xᵢ)."""
        return self.objective + self.ground.penalty.smooth_value(self.place)

    @property
    def objective(self) -> float:
        """What a solver raises: the log likelihood minus the penalty."""
        return -self._looked().value

    @property
    def gradient(self) -> Floats:
        """Of the objective, (outputs, d), and the intercepts last if there are some."""
        up, loss = 0.0 - self._looked().gradient, self.ground.loss
        if loss.origin is not None:
            up[:, :-1] += up[:, -1:] * loss.origin
        return up

    def _looked(self) -> Quadratic:
        return self.ground.gradient(self.place)

    def __str__(self) -> str:
        parts = [f"{self.number}" if self.row is None else f"{self.number} (row {self.row})"]
        parts += [f"b {_numbers(self.intercept)}"] if self.ground.loss.intercept else []
        parts += [f"w {_numbers(self.coef)}", f"log likelihood {self.log_likelihood:.6g}"]
        if not self.ground.penalty.is_flat:
            parts.append(f"less penalty {self.objective:.6g}")
        parts.append(f"gradient {_numbers(self.gradient.round(9) + 0.0)}")
        parts += [f"step {self.length:.4g}"] if self.number else []
        return "  ".join(parts)

    __repr__ = __str__


def _numbers(table: Floats) -> str:
    return " | ".join(" ".join(f"{x:.4g}" for x in np.ravel(line)) for line in table)


def _note(
    run: Run, ground: Objective, dtype: Any, length: float, place: Floats, row: Any = None
) -> None:
    """Add a step to a run."""
    slope, intercept = (v.astype(dtype) for v in ground.loss.parts(centered(place, ground)))
    number = len(run.steps)
    run.steps.append(LogisticStep(number, length, intercept, slope, row, place, ground, run))


def ascended(
    rule: LogisticRule, objective: Objective, start: Floats, reader: Encoded, dtype: Any, run: Run
) -> tuple[LogisticStep, ...]:
    """The start and every iteration of the solver, the last of which is its solution."""
    if rule.firth or not isinstance(rule.solver(objective), GradientAscent | Newton):
        used = "firth=True" if rule.firth else type(rule.solver(objective)).__name__
        raise ValueError(
            "Expected solver='gradient-ascent' or 'newton-cholesky' to go step by step, got "
            f"{used}. Set one of them, and no lasso."
        )
    way = [start]
    told = replace(rule, ended=partial(_ended, rule, objective))
    solution = told.solve(objective, start, reader, way.append).solution
    if solution.coef is not way[-1]:  # Newton's last direction, which doubles the digits
        way.append(solution.coef)
    lengths = [0.0, *(step.step for step in solution.trace[1:]), 1.0]
    for length, coef in zip(lengths, way, strict=False):
        _note(run, objective, dtype, length, coef)
    return tuple(run.steps)


def by_examples(
    objective: Objective, start: Floats, step: float, passes: int, dtype: Any, run: Run
) -> tuple[LogisticStep, ...]:
    """w ← w + η (y - ŷ) x for one row after the other, ŷ = 1 / (1 + exp(-w · x))."""
    if len(start) > 1:
        raise ValueError(
            f"Expected two classes for the one-example rule, got {len(start)}. Leave it out: all "
            "examples together climb for any number of classes."
        )
    if not objective.penalty.is_flat:
        raise ValueError("Expected C=np.inf for the one-example rule, which has no penalty.")
    rows = objective.at_hand
    X = rows.X.scipy().toarray() if isinstance(rows.X, SparseRows) else rows.X
    X = np.asarray(X, np.float64)
    X = np.column_stack([X, np.ones(len(X))]) if objective.loss.intercept else X
    y, weight = rows.hard.codes, rows.hard.weight
    known = None if rows.offset is None else rows.offset[:, 0]
    w = start[0]
    _note(run, objective, dtype, 0.0, start)
    for n in range(passes * len(X)):
        i = n % len(X)
        score = w @ X[i] if known is None else w @ X[i] + known[i]
        rate = step if weight is None else step * weight[i]
        with np.errstate(over="ignore"):
            ahead = w + rate * (y[i] - 1 / (1 + np.exp(-score))) * X[i]
            if not np.isfinite(ahead @ ahead):
                _beyond(step, n + 1, objective)
                break
        w = ahead
        _note(run, objective, dtype, rate, w[None], i)
    return tuple(run.steps)


def _ended(rule: LogisticRule, objective: Objective, used: str, solution: Solution) -> None:
    """Names an ascent that went astray, with steps that would not."""
    if solution.reason != OVERSHOT:
        rule.ended(used, solution)
        return
    value, length = -np.array([step.value for step in solution.trace]), solution.trace[-1].step
    if not (np.diff(value) < 0).any():  # the first that would fall is not among the steps
        _beyond(length, len(value), objective, stacklevel=6)
        return
    fell, most = int(np.argmin(np.diff(value))), largest_curvature(objective)
    warnings.warn(
        f"Expected steps that climb, got step={length:g}, which jumps over the "
        f"best coefficients: step {fell + 1} went from {value[fell]:.6g} down to "
        f"{value[fell + 1]:.6g}. Take step={shortened(1 / most):g}, or any below 2/L = "
        f"{shortened(2 / most):g}, with which none goes down (L bounds the curvature).",
        ConvergenceWarning,
        stacklevel=5,
    )


def _beyond(length: float, number: int, objective: Objective, stacklevel: int = 4) -> None:
    """Tells of a step so long that no number is left to tell where it went."""
    best = shortened(1 / largest_curvature(objective))
    warnings.warn(
        f"Expected steps that climb, got step={length:g}, with which step {number} goes beyond all "
        f"numbers. The steps before it are given. Take step={best:g} or less.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )


def largest_curvature(objective: Objective) -> float:
    """L, the largest eigenvalue that the Hessian can have anywhere.

    None is larger than that of ¼ Σ w x xᵀ + ridge with two classes, ½ with more (Böhning 1992). A
    step of η along the gradient g gains η (1 - η L / 2) |g|² or more: something for any η < 2 / L.
    """
    products = objective.engine.sum(objective.loss.products, objective.rows)
    products = (0.25 if objective.loss.outputs == 1 else 0.5) * products
    return float(
        max(np.linalg.eigvalsh(products + np.diag(r))[-1] for r in objective.penalty.ridge)
    )


def shortened(length: float) -> float:
    """To two digits, and never longer."""
    unit = 10.0 ** (math.floor(math.log10(length)) - 1)
    return float(f"{math.floor(length / unit) * unit:.2g}")
