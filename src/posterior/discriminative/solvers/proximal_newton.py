"""Proximal Newton: for coefficients of which many shall be zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Floats, Integers
from posterior.discriminative.objective import Objective
from posterior.discriminative.solvers.quadratic_model import ByColumns, Columns, Model, Written
from posterior.discriminative.solvers.solution import STOP, Solution, Stop, Trace, Watch, ignore
from posterior.sources.remote_rows import RemoteRows
from posterior.statistics.quadratic import Quadratic

WRITTEN = 300  # coefficients whose Hessian is written down
JOINING = 100  # columns that may join at a time, or twice those in use
ROUNDS = 30  # of coordinate descent, and of equations for what it left
FORCING = 1e-3  # of what there is to gain: a step may leave as much
SPARE = 0.01  # of what may be left in the end: not worth equations
ENOUGH, HALVINGS = 1e-4, 30  # of the slope: decrease that is enough (Armijo); shortest step
ROUNDING = 1e-13  # of the value: less is not seen


@dataclass(frozen=True, slots=True)
class ProximalNewton:
    """β ← β + t argmin_s (g·s + ½ s·H s + Σ λ |β + s|), with t from a line search.

    Coordinate descent finds which coefficients are zero, linear equations the others; of many
    columns only those take part that may be of use (Yuan, Ho and Lin 2012; Moré and Toraldo 1991).
    """

    stop: Stop = STOP

    def minimize(self, objective: Objective, start: Floats, watch: Watch = ignore) -> Solution:
        trace, ridge, lasso = Trace(objective), objective.penalty.ridge, objective.penalty.lasso
        away = isinstance(objective.rows, RemoteRows)  # whose columns are not at hand
        columns = None if away or objective.size <= WRITTEN else Columns.none(objective)
        look = objective.quadratic if columns is None else objective.gradient
        coef = balanced(start, ridge, lasso)
        q = look(coef)
        here = _whole(q, coef, lasso)
        trace.add(here, 0.0)
        while True:
            model: Model
            if columns is None:
                model = Written.of(objective, coef, q)
            else:
                columns = columns.including(_wanted(coef, here.gradient, objective.loss.intercept))
                model = ByColumns.of(objective, coef, q, columns)
            with np.errstate(over="ignore", invalid="ignore"):  # the search refuses such steps
                step, gain = best_step(model, SPARE * self.stop.tol**2 * abs(here.value))
            if end := trace.ended(self.stop, coef, here, gain):
                return end
            found = _search(look, coef, q, model.whole(step), lasso)
            if found is None:
                return trace.stuck(coef, here, gain)
            t, to, q = found
            coef = balanced(to, ridge, lasso)
            here = _whole(q, coef, lasso)
            trace.add(here, t)
            watch(coef)


def subgradient(gradient: Floats, coef: Floats, lasso: Floats) -> Floats:
    """The shortest of smooth part and lasso together: zero where β is best.

    g + λ sign β,   but sign(g) max(|g| - λ, 0) where β = 0
    """
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - lasso, 0.0)
    return np.where(coef == 0, at_zero, gradient + lasso * np.sign(coef))


def balanced(coef: Floats, ridge: Floats, lasso: Floats) -> Floats:
    """The same probabilities at the least lasso.

    What all outputs have in common says nothing. Without a ridge it is free to go, until the
    median of a column's coefficients is zero; where there is no lasso either, the mean.
    """
    outputs, free = len(coef), np.flatnonzero(~ridge.any(axis=0))
    if outputs == 1 or len(free) == 0:
        return coef
    some = coef[:, free]
    order = some.argsort(axis=0)
    some_up = np.take_along_axis(some, order, axis=0)
    weight = np.take_along_axis(lasso[:, free], order, axis=0).cumsum(axis=0)
    half = 0.5 * weight[-1]
    ends = np.stack([(weight < half).sum(axis=0), (weight <= half).sum(axis=0)])
    lower, upper = np.take_along_axis(some_up, np.minimum(ends, outputs - 1), axis=0)
    common = np.where(half > 0, np.clip(0.0, lower, upper), some.mean(axis=0))
    out = coef.copy()
    out[:, free] = some - common
    return out


def best_step(model: Model, spare: float) -> tuple[Floats, float]:
    """Where the model is lowest, as exactly as is worth it, and how much lower that is."""
    coef, lasso = model.coef, model.lasso
    inverse = np.divide(1.0, model.curve, out=np.zeros(coef.shape), where=model.curve > 0)

    def left(slope: Floats) -> float:
        """What single coordinates could gain."""
        return 0.5 * float((slope**2 * inverse).sum())

    def value(step: Floats, turned: Floats) -> float:
        smooth = step * (model.gradient + 0.5 * turned)
        return float((smooth + lasso * (np.abs(coef + step) - np.abs(coef))).sum())

    step, lowest = np.zeros(coef.shape), 0.0
    target = max(spare, FORCING * left(subgradient(model.gradient, coef, lasso)))
    for _ in range(ROUNDS):
        turned = model.descend(step)  # which balance leaves as it is
        after = balanced(coef + step, model.ridge, lasso)
        step = after - coef
        lowest = value(step, turned)
        slope = subgradient(model.gradient + turned, after, lasso)
        if left(slope) <= target:
            break
        face = (after != 0) | (lasso == 0)
        move = model.solve(face, np.where(face, slope, 0.0), target)
        for t in (1.0, 0.5, 0.25, 0.1, 0.01):
            to = after - t * move
            to[(np.sign(to) * np.sign(after) < 0) & (lasso > 0)] = 0.0  # not beyond zero
            if value(to - coef, model.turned(to - coef)) < lowest:
                step = to - coef
                break
        else:
            break  # as low as numbers tell
    return step, -lowest


def _whole(q: Quadratic, coef: Floats, lasso: Floats) -> Quadratic:
    """Value and slope with the lasso."""
    value = q.value + float((lasso * np.abs(coef)).sum())
    return Quadratic(value, subgradient(q.gradient, coef, lasso))


def _wanted(coef: Floats, slope: Floats, intercept: bool) -> Integers:
    """The columns in use, and those that would be steepest."""
    d = coef.shape[1] - intercept
    used = (coef[:, :d] != 0).any(axis=0)
    wish = np.where(used, 0.0, np.abs(slope[:, :d]).max(axis=0))
    joining = max(JOINING, 2 * np.count_nonzero(used))
    if intercept and not used.any() and np.abs(slope[:, d]).max() > wish.max(initial=0.0):
        joining = 0  # all columns look wrong while the intercept is
    steepest = np.argsort(-wish, kind="stable")[:joining]
    used[steepest[wish[steepest] > 0]] = True
    return np.flatnonzero(used)


def _search(
    look: Callable[[Floats], Quadratic], coef: Floats, q: Quadratic, step: Floats, lasso: Floats
) -> tuple[float, Floats, Quadratic] | None:
    """A part of the step that decreases enough, where it ends, and what is found there."""
    before = _whole(q, coef, lasso).value
    slope = float((q.gradient * step + lasso * (np.abs(coef + step) - np.abs(coef))).sum())
    if not slope < 0:
        return None
    for t in 0.5 ** np.arange(HALVINGS):
        to = coef + t * step
        found = look(to)
        if _whole(found, to, lasso).value <= before + ENOUGH * t * slope + ROUNDING * abs(before):
            return float(t), to, found
    return None
