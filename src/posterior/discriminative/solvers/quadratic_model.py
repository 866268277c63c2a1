"""An objective as its quadratic around some coefficients, written down or known by its columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from posterior import kernels
from posterior.data.rows import Rows, SparseRows
from posterior.data.typing import Array, Floats, Integers
from posterior.discriminative.loss import LogisticLoss, numbers
from posterior.discriminative.objective import Objective
from posterior.discriminative.solvers.newton import newton_direction
from posterior.discriminative.solvers.newton_cg import solve
from posterior.statistics.quadratic import Quadratic

SWEEPS = 2  # over coordinates by their columns, before equations do better
CHEAP_SWEEPS = 30  # over those of a Hessian that is written down


class Model(Protocol):
    """g·s + ½ s·H s + Σ λ |β + s| of the coefficients that take part, (outputs, columns) each."""

    coef: Floats
    gradient: Floats
    ridge: Floats
    lasso: Floats
    curve: Floats  # the diagonal of H

    def descend(self, step: Floats) -> Floats:
        """Some sweeps of coordinate descent, in place; H s."""

    def turned(self, step: Floats) -> Floats:
        """H s."""

    def solve(self, face: Array, target: Floats, left: float) -> Floats:
        """H⁻¹ target among the coordinates of a face; ½ Σ residual² / curve may be `left`."""

    def whole(self, step: Floats) -> Floats:
        """The step of all coefficients."""


@dataclass(slots=True, eq=False)
class Written:
    """H is a matrix."""

    coef: Floats
    gradient: Floats
    ridge: Floats
    lasso: Floats
    curve: Floats
    hessian: Floats

    @classmethod
    def of(cls, objective: Objective, coef: Floats, q: Quadratic) -> Written:
        assert q.hessian is not None
        penalty, curve = objective.penalty, q.hessian.diagonal().reshape(coef.shape)
        return cls(coef, q.gradient, penalty.ridge, penalty.lasso, curve, q.hessian)

    def descend(self, step: Floats) -> Floats:
        after, gradient = (self.coef + step).ravel(), (self.gradient + self.turned(step)).ravel()
        lasso = self.lasso.ravel()
        kernels.coordinate_descent(self.hessian, lasso, CHEAP_SWEEPS, 0.0, gradient, after)
        step[:] = after.reshape(step.shape) - self.coef
        return self.turned(step)

    def turned(self, step: Floats) -> Floats:
        return np.asarray(self.hessian @ step.ravel()).reshape(step.shape)

    def solve(self, face: Array, target: Floats, left: float) -> Floats:
        out, some = np.zeros(face.shape), face.ravel()
        out[face] = -newton_direction(self.hessian[np.ix_(some, some)], target[face])
        return out

    def whole(self, step: Floats) -> Floats:
        return step


@dataclass(slots=True, eq=False)
class ByColumns:
    """H = Xᵀ W X + ridge is known by products with some columns of the table.

    Row i turns the derivative by output a by w_i p_ai (z_ai - Σ_b p_bi z_bi),  z = s Xᵀ.
    """

    coef: Floats
    gradient: Floats
    ridge: Floats
    lasso: Floats
    curve: Floats
    columns: Columns
    weight: Floats  # (outputs, n): w p, or w p (1 - p) for one output, which needs no share
    share: Floats | None  # (outputs, n): p

    @classmethod
    def of(cls, objective: Objective, coef: Floats, q: Quadratic, columns: Columns) -> ByColumns:
        loss, rows, penalty = objective.loss, objective.at_hand, objective.penalty
        part = columns.part(coef)
        known = np.ascontiguousarray(columns.scores(part).T)
        if rows.offset is not None:
            known += rows.offset.reshape(known.shape)
        bare = Rows(np.empty((len(rows), 0)), rows.groups, known)  # all is known of their scores
        nothing = np.zeros((len(coef), int(loss.intercept)))
        shares = replace(loss, origin=None).shares(bare, nothing).together()
        p = np.ascontiguousarray(shares[:, :-1].T)
        w = shares[:, -1] * p
        own = w * (1 - p)
        ridge = columns.part(penalty.ridge)
        one = len(coef) == 1
        return cls(
            coef=part,
            gradient=columns.part(q.gradient),
            lasso=columns.part(penalty.lasso),
            curve=columns.squares(own) + ridge,
            ridge=ridge,
            columns=columns,
            weight=own if one else w,
            share=None if one else p,
        )

    def descend(self, step: Floats) -> Floats:
        coordinates = self.coef, self.gradient, self.curve, self.ridge, self.lasso
        curves, moved = (self.weight, self.share), self.columns.scores(step)
        kernels.column_descent(self.columns.X, curves, coordinates, SWEEPS, step, moved)
        return self._turned(step, moved)

    def turned(self, step: Floats) -> Floats:
        return self._turned(step, self.columns.scores(step))

    def _turned(self, step: Floats, z: Floats) -> Floats:
        if self.share is not None:
            z = z - (self.share * z).sum(axis=0)
        return self.columns.sums(self.weight * z) + self.ridge * step

    def solve(self, face: Array, target: Floats, left: float) -> Floats:
        metric = np.where(self.curve > 0, self.curve, 1.0)
        return solve(lambda v: np.where(face, self.turned(v), 0.0), target, metric, np.sqrt(left))[
            0
        ]

    def whole(self, step: Floats) -> Floats:
        d = self.columns.table.shape[1] + self.columns.loss.intercept
        out = np.zeros((len(step), d))
        out[:, self.columns.places()] = step
        return out


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Some columns of a table, each in one piece of memory; an intercept is the last of all."""

    table: Array | SparseRows
    loss: LogisticLoss
    X: Any  # (n, columns), an array or a csc_array
    index: Integers  # which column of the table each is

    @classmethod
    def none(cls, objective: Objective) -> Columns:
        table, loss, nobody = numbers(objective.at_hand), objective.loss, np.empty(0, np.int64)
        return cls(table, loss, _taken(table, loss, nobody), nobody)

    def including(self, wanted: Integers) -> Columns:
        """With others behind them. What has been of use once stays."""
        here = np.zeros(self.table.shape[1], bool)
        here[self.index] = True
        new = wanted[~here[wanted]]
        if len(new) == 0:
            return self
        more = _taken(self.table, self.loss, new)
        if sparse.issparse(more):
            X = sparse.hstack([self.X, more], format="csc")
        else:
            X = np.concatenate([self.X.T, more.T]).T
        return Columns(self.table, self.loss, X, np.concatenate([self.index, new]))

    def places(self) -> Integers:
        """Where they stand among all coefficients."""
        return np.append(self.index, self.table.shape[1]) if self.loss.intercept else self.index

    def part(self, coef: Floats) -> Floats:
        return np.ascontiguousarray(coef[:, self.places()])

    def scores(self, coef: Floats) -> Floats:
        """β Xᵀ, (outputs, n)."""
        d = self.X.shape[1]
        z = _times(np.ascontiguousarray(coef[:, :d]), self.X.T)
        return z + coef[:, d:] if self.loss.intercept else z

    def sums(self, z: Floats) -> Floats:
        """z X, (outputs, columns)."""
        return self._with_intercept(_times(z, self.X), z)

    def squares(self, z: Floats) -> Floats:
        """z X², (outputs, columns)."""
        return self._with_intercept(kernels.column_squares(self.X, z), z)

    def _with_intercept(self, out: Floats, z: Floats) -> Floats:
        return np.column_stack([out, z.sum(axis=1)]) if self.loss.intercept else out


def _times(z: Floats, X: Any) -> Floats:
    """z X; one row is worth a vector's product."""
    out = (X.T @ z[0])[None] if len(z) == 1 else (X.T @ np.ascontiguousarray(z.T)).T
    return np.ascontiguousarray(out)


def _taken(table: Array | SparseRows, loss: LogisticLoss, columns: Integers) -> Any:
    if isinstance(table, SparseRows):
        return kernels.take_columns(table, columns)
    X = np.asfortranarray(table[:, columns], dtype=np.float64)
    return X if loss.origin is None else X - loss.origin[columns]
