"""Tables learned all at once: logistic regression on cells, penalized by what rows held out say.

f(β) = Σ -w log p(y | cells) + ½ Σ β² / C
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from scipy import linalg
from scipy.special import expit, softmax

from posterior import kernels
from posterior.data.rows import Hard, Rows, SparseRows
from posterior.data.typing import Floats
from posterior.discriminative.additive.cell_design import CellDesign, coarse
from posterior.discriminative.additive.cell_rows import TINY, CellRows
from posterior.discriminative.additive.pair_gains import all_pairs, best_pairs
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.minimum import centered
from posterior.discriminative.objective import Objective, Summer
from posterior.discriminative.penalty import Penalty
from posterior.discriminative.solvers import Newton, QuasiNewton, Solver, Stop
from posterior.discriminative.solvers.quasi_newton import Metric
from posterior.readers.cells import CellColumns

PATH = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # C, one by one
FEW, SOME = 300, 1_000  # coefficients whose Hessian is worth writing down: in folds, at the end
ROUGH = Stop(tol=1e-2, max_iter=40)  # of folds, whose loss is all that is asked
FINE = Stop(tol=1e-6, max_iter=1_000)
MEMORY = 60  # steps that L-BFGS looks back: tables of the same columns overlap


class Engine(Summer, Protocol):
    """What is needed of an engine."""

    def map(self, function: Callable[[int], Any], starts: Iterable[int]) -> Iterable[Any]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Convex:
    """The minimum, and how well each penalty did on rows held out."""

    design: CellDesign
    intercept: Floats  # (outputs,)
    coef: Floats  # (outputs, size)
    information: Floats  # the diagonal of the Hessian, in the same shape
    C: tuple[float, ...]  # of single columns and, if there are pairs, of these
    losses: tuple[tuple[int, float, float], ...] = ()  # columns a table, C, mean held-out loss
    # of each row by the folds that held it out (n, outputs), NaN where none did, if asked for
    held_scores: Floats | None = None


def convex(
    rows: CellRows,
    reader: CellColumns,
    pairs: bool,
    C: tuple[float, ...] | None,
    engine: Engine,
    asked: Floats | None = None,
    stop: Stop = FINE,
) -> Convex:
    """The minimum at C, of columns and then of pairs, if there may be some.

    Without C, penalties are those of the least loss on rows held out: first of single columns,
    then, with these, of pairs, which are left out where none makes it less. If some weights to
    hold out (n_folds, n) are asked for, folds are these, and their scores are kept.
    """
    weight = rows.cell_weight(reader.sizes)
    held = rows.held_out() if asked is None else asked
    single = Problem.of(rows, held, CellDesign.of(reader, weight, []), engine)
    path = None if C is not None else _path(single, [np.zeros(single.shape)] * len(held), ())
    if pairs:
        design = CellDesign.of(reader, weight, _pairs(single, reader, weight, C, path))
        both = Problem.of(rows, held, design, engine, single.X)
        if C is not None:
            return _minimum(both, C, np.zeros(both.shape), stop)
        assert path is not None
        more = _path(both, [_with_pairs(end, both.shape[1]) for end in path.ends], path.C)
        losses = path.losses + more.losses
        path = replace(more if more.loss < path.loss else path, losses=losses)
    if path is None:
        assert C is not None
        return _minimum(single, C[:1], np.zeros(single.shape), stop)
    found = _minimum(path.problem, path.C, np.mean(path.ends, axis=0))
    scores = None if asked is None else path.held_scores()
    return replace(found, losses=path.losses, held_scores=scores)


def _pairs(
    single: Problem,
    reader: CellColumns,
    weight: list[Floats],
    C: tuple[float, ...] | None,
    path: _Path | None,
) -> list[tuple[int, int]]:
    """All pairs of columns, or those that promise most where there are many."""
    groups = coarse(reader, weight)
    pairs = all_pairs(groups, len(single.rows))
    if pairs is not None:
        return pairs
    if path is None:
        assert C is not None
        found = _minimum(single, C[:1], np.zeros(single.shape))
    else:
        found = _minimum(single, path.C, np.mean(path.ends, axis=0))
    proba = single.proba(np.column_stack([found.coef, found.intercept]))
    return best_pairs(single.rows, groups, proba)


def _with_pairs(coef: Floats, size: int) -> Floats:
    """The same coefficients, with pairs of none before the intercepts."""
    none = np.zeros((len(coef), size - coef.shape[1]))
    return np.concatenate([coef[:, :-1], none, coef[:, -1:]], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Rows of cells as those of a design."""

    rows: CellRows
    held: Floats  # (n_folds, n) the weight that each fold holds out
    design: CellDesign
    X: SparseRows
    single: SparseRows  # the columns of single columns
    engine: Engine

    @classmethod
    def of(
        cls,
        rows: CellRows,
        held: Floats,
        design: CellDesign,
        engine: Engine,
        single: SparseRows | None = None,
    ) -> Problem:
        X = design.rows(rows.codes)
        return cls(rows, held, design, X, X if single is None else single, engine)

    @property
    def shape(self) -> tuple[int, int]:
        """Outputs, and coefficients of each with the intercept."""
        return 1 if self.rows.n_classes == 2 else self.rows.n_classes, self.design.size + 1

    def objective(self, C: tuple[float, ...], weight: Floats) -> Objective:
        """With rows that count otherwise, or not at all."""
        rows = self.rows
        codes = np.where(weight > TINY * rows.weight, rows.labels, -1).astype(np.int32)
        labeled = Rows(self.X, Hard(codes, rows.n_classes, np.maximum(weight, 0.0)))
        penalty = Penalty.of(self.shape, C[0], 0.0, np.inf)
        penalty.ridge[:, self.design.n_single : -1] = 1 / C[-1]
        return Objective(labeled, LogisticLoss(self.shape[0]), penalty, self.engine)

    def metric(self, C: tuple[float, ...], coef: Floats) -> Metric:
        """g → about H⁻¹ g: the block of single columns, with the mean curvature of all outputs,
        and the diagonal of the pairs.

        Single columns are told by many pairs too, and have the largest and the smallest curvature.
        """
        objective, n = self.objective(C, self.rows.weight), self.design.n_single
        p = self.proba(coef)
        curvature = self.rows.weight * (p * (1 - p)).mean(axis=1)
        rows = Rows(self.single, Hard(self.rows.labels, self.rows.n_classes, curvature))
        ridge = np.append(objective.penalty.ridge[0, :n], 0.0)
        block = self.engine.sum(objective.loss.products, rows) + np.diag(ridge)
        block[-1, -1] += TINY * block[-1, -1]
        factor = linalg.cho_factor(block)
        diagonal = objective.diagonal(coef)[:, n:-1]

        def metric(g: Floats) -> Floats:
            alone = linalg.cho_solve(factor, np.concatenate([g[:, :n], g[:, -1:]], axis=1).T).T
            return np.concatenate([alone[:, :-1], g[:, n:-1] / diagonal, alone[:, -1:]], axis=1)

        return metric

    def proba(self, coef: Floats) -> Floats:
        """p (n, outputs) of the rows."""
        scores = LogisticLoss(self.shape[0]).scores(self.X, coef)
        return np.asarray(expit(scores) if scores.shape[1] == 1 else softmax(scores, axis=1))

    def solver(self, C: tuple[float, ...], coef: Floats, stop: Stop, few: int) -> Solver:
        """Newton's method, or L-BFGS near some coefficients."""
        if coef.size <= few:
            return Newton(stop)
        if self.design.n_single > SOME:
            return QuasiNewton(stop, MEMORY)
        return QuasiNewton(stop, MEMORY, metric=self.metric(C, coef))


@dataclass(frozen=True, slots=True, eq=False)
class _Path:
    """The best penalty of a path, where the folds ended there, and all losses."""

    problem: Problem
    C: tuple[float, ...]
    ends: list[Floats]
    loss: float
    losses: tuple[tuple[int, float, float], ...]

    def held_scores(self) -> Floats:
        """What each row's score is where the folds that held it out ended."""
        problem, held = self.problem, self.problem.held
        loss = LogisticLoss(problem.shape[0])
        pairs = zip(held, self.ends, strict=True)
        total = sum(part[:, None] * loss.scores(problem.X, coef) for part, coef in pairs)
        with np.errstate(invalid="ignore"):
            return np.asarray(total / held.sum(axis=0)[:, None])


def _path(problem: Problem, start: list[Floats], C: tuple[float, ...]) -> _Path:
    """Penalties from large to small besides those that stand, until held-out rows lose by it.

    Each fold goes on from where it ended before. One that began where all rows end would have seen
    what it holds out.
    """
    best = _Path(problem, (*C, PATH[0]), start, np.inf, ())
    ends, losses, held = start, [], problem.held
    for c in PATH:
        solver = problem.solver((*C, c), np.mean(ends, axis=0), ROUGH, FEW)
        fit = partial(_fold, problem, (*C, c), solver, held, ends)
        # a fold alone has all threads for its own sums
        found = [fit(0)] if len(held) == 1 else list(problem.engine.map(fit, range(len(held))))
        ends = [coef for coef, _ in found]
        loss = sum(loss for _, loss in found) / float(held.sum())
        losses.append((len(C) + 1, c, loss))
        if loss >= best.loss:
            break
        best = _Path(problem, (*C, c), ends, loss, ())
    return replace(best, losses=tuple(losses))


def _fold(
    problem: Problem,
    C: tuple[float, ...],
    solver: Solver,
    held: Floats,
    start: list[Floats],
    fold: int,
) -> tuple[Floats, float]:
    """Where a fold ends, and its loss on what it holds out."""
    rows = problem.rows
    objective = problem.objective(C, rows.weight - held[fold])
    coef = solver.minimize(objective, start[fold]).coef
    scores = np.ascontiguousarray(objective.loss.scores(problem.X, coef))
    return coef, kernels.log_loss(scores, rows.labels, held[fold])


def _minimum(problem: Problem, C: tuple[float, ...], start: Floats, stop: Stop = FINE) -> Convex:
    """Of all rows."""
    objective = problem.objective(C, problem.rows.weight)
    solver = problem.solver(C, start, stop, SOME)
    coef = centered(solver.minimize(objective, start).coef, objective)
    information = objective.diagonal(coef)
    return Convex(problem.design, coef[:, -1], coef[:, :-1], information[:, :-1], C)
