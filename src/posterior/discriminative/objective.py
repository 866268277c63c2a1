"""What solvers minimize: loss and penalty as a function of the coefficients alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from posterior.data.rows import Hard, Rows, Soft, take
from posterior.data.typing import Floats
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.penalty import Penalty
from posterior.sources.remote_rows import RemoteRows
from posterior.statistics.quadratic import Quadratic


class Summer(Protocol):
    """What is needed of an engine."""

    def sum(self, function: Callable[[Rows], Any], rows: Rows | RemoteRows) -> Any: ...


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """f(β) = loss(rows, β) + penalty(β), β (outputs, p). Every answer is a pass over the rows.

    What is summed holds the loss and not the objective: it may travel to where the rows are.
    """

    rows: Rows | RemoteRows
    loss: LogisticLoss
    penalty: Penalty
    engine: Summer

    @property
    def shape(self) -> tuple[int, int]:
        m, p = self.penalty.ridge.shape
        return m, p

    @property
    def size(self) -> int:
        return self.penalty.ridge.size

    @property
    def at_hand(self) -> Rows:
        """The rows, for those who look at them one by one."""
        if isinstance(self.rows, RemoteRows):
            raise ValueError(
                "Expected rows in memory, which this looks at one by one, got a remote "
                "table. Fit the model to an array or a frame, of some of the rows if need be."
            )
        return self.rows

    @property
    def weight(self) -> float:
        """How many rows there are, as they count."""
        if isinstance(self.rows, RemoteRows):
            return self.rows.weight
        weight = self.rows.hard.weight
        return float(len(self.rows) if weight is None else weight.sum())

    def class_weight(self) -> Floats:
        """The weight of the rows of each class."""
        n_classes = max(self.loss.outputs, 2)
        weigh = partial(_class_weight, n_classes=n_classes)
        return np.asarray(self.engine.sum(weigh, self.rows))

    def gradient(self, coef: Floats) -> Quadratic:
        """Value and gradient of the smooth part: all but the lasso."""
        q = self.engine.sum(partial(self.loss.gradient, coef=coef), self.rows)
        return self._with_penalty(q, coef)

    def quadratic(self, coef: Floats) -> Quadratic:
        """With the Hessian (size, size)."""
        q = self.engine.sum(partial(self.loss.quadratic, coef=coef), self.rows)
        q = self._with_penalty(q, coef)
        assert q.hessian is not None
        q.hessian[np.diag_indices(self.size)] += self.penalty.ridge.ravel()
        m, p = self.shape
        free = ~(self.penalty.ridge + self.penalty.lasso).any(axis=0) & (m > 1)
        if free.any():
            # what all outputs gain alike changes no probability and costs nothing: a curvature
            # there, on top of none, keeps their sum where it is
            blocks = q.hessian.reshape(m, p, m, p)
            scale = np.where(free, np.einsum("apap->p", blocks) / m**2, 0.0)
            blocks[:, range(p), :, range(p)] += scale[:, None, None]
        return q

    def diagonal(self, coef: Floats) -> Floats:
        """The diagonal of the Hessian, in the shape of the coefficients."""
        q = self.engine.sum(partial(self.loss.diagonal, coef=coef), self.rows)
        assert q.hessian is not None
        return np.asarray(q.hessian + self.penalty.ridge)

    def bound(self, rows_per_column: int) -> Floats:
        """½ Σ w x xᵀ + ridge of each output, (outputs, p, p), from a sample of the rows.

        No Hessian is larger, whatever the coefficients.
        """
        some = self.sampled(rows_per_column * self.shape[1])
        products = 0.5 * self.engine.sum(self.loss.products, some.rows)
        return np.stack([products + np.diag(ridge) for ridge in self.penalty.ridge])

    def curvature(self, coef: Floats) -> Callable[[Floats], Floats]:
        """v → H v. Rows that are elsewhere find their shares anew for each product."""
        loss = self.loss

        def shared(rows: Rows) -> Rows:
            return Rows(rows.X, Soft(loss.shares(rows, coef).together()))

        if isinstance(self.rows, RemoteRows):
            grouped: Rows | RemoteRows = self.rows.map(shared)
        else:
            shares = self.engine.sum(partial(loss.shares, coef=coef), self.rows)
            grouped = Rows(self.rows.X, Soft(shares.together()))

        def product(v: Floats) -> Floats:
            sums = self.engine.sum(partial(loss.product, direction=v), grouped)
            return np.asarray(sums + self.penalty.ridge * v)

        return product

    def sampled(self, n_rows: int) -> Objective:
        """The same of every so many-th row, each counting for those left out."""
        if isinstance(self.rows, RemoteRows):
            return replace(self, rows=self.rows.sample).sampled(n_rows)
        groups = self.rows.hard
        n = len(self.rows)
        if n_rows >= n:
            return self
        index = np.arange(n_rows) * n // n_rows
        weight = np.full(n_rows, n / n_rows)
        if groups.weight is not None:
            weight *= groups.weight[index]
        some = Hard(groups.codes[index], groups.n_groups, weight)
        offset = None if self.rows.offset is None else self.rows.offset[index]
        return replace(self, rows=Rows(take(self.rows.X, index), some, offset))

    def _with_penalty(self, q: Quadratic, coef: Floats) -> Quadratic:
        value = q.value + self.penalty.smooth_value(coef)
        return Quadratic(value, q.gradient + self.penalty.gradient(coef), q.hessian)


def _class_weight(rows: Rows, n_classes: int) -> Floats:
    groups = rows.hard
    known = groups.codes >= 0
    weight = None if groups.weight is None else groups.weight[known]
    return np.bincount(groups.codes[known], weight, n_classes).astype(np.float64)
