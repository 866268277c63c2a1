"""Directions that leave no row on the wrong side: linear programs over the rows that matter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse

from posterior.data.rows import Features, SparseRows
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.discriminative.design import table

Bools: TypeAlias = NDArray[np.bool_]

LARGEST = 1e6  # coefficient, of columns within ±1: classes closer than its inverse touch
EXACT = 1e-9  # a margin short by no more than this is kept
FIRST, MORE = 200, 400  # rows that a linear program begins with, and that may join in a round


@dataclass(frozen=True, slots=True, eq=False)
class Margins:
    """m_ic = (b_y - b_c) · x̃ᵢ of rows of class y and other classes c, for B (k - 1, p), b_0 = 0.

    Columns are moved to their middle (if an intercept can follow) and scaled to within ±1.
    """

    X: Any  # (n, d), dense or CSR
    codes: Codes
    k: int
    intercept: bool
    center: Floats
    scale: Floats

    @classmethod
    def of(cls, X: Features, codes: Codes, k: int, intercept: bool) -> Margins:
        X = table(X)
        low, high = extremes(X)
        center = np.zeros_like(low)
        if intercept and not isinstance(X, SparseRows):  # moved, sparse rows would be full
            center = 0.5 * (low + high)
        scale = np.maximum(np.abs(low - center), np.abs(high - center))
        scale[scale == 0] = 1.0
        if isinstance(X, SparseRows):
            return cls((X.scipy() / scale).tocsr(), codes, k, intercept, center, scale)
        return cls((np.asarray(X, float) - center) / scale, codes, k, intercept, center, scale)

    def only(self, columns: Integers) -> Margins:
        """The same of some columns."""
        center, scale = self.center[columns], self.scale[columns]
        return replace(self, X=self.X[:, columns], center=center, scale=scale)

    def some(self) -> Bools:
        """Rows and other classes (n, k) to begin with, evenly spread."""
        n = self.X.shape[0]
        chosen = np.zeros((n, self.k), bool)
        chosen[:: max(1, n // FIRST)] = True
        chosen[np.arange(n), self.codes] = False  # a class has no margin to itself
        return chosen

    def in_units(self, B: Floats) -> tuple[Floats, Floats]:
        """Slopes (k - 1, d) and intercepts for the columns as they were given."""
        d = self.X.shape[1]
        slope = B[:, :d] / self.scale
        return slope, B[:, d:].sum(axis=1) - slope @ self.center

    def cheapest(self, complete: bool, chosen: Bools) -> Floats | None:
        """The B of least Σ |slopes| with m ≥ 1 (complete), or with m ≥ 0 and Σ m = 1, if any.

        Few rows decide. Those that a solution leaves on the wrong side join the chosen, until none
        is left, or until those so far have no solution, which proves that all have none.
        """
        n, d = self.X.shape
        p, floor = d + self.intercept, float(complete)
        cost = np.tile(np.r_[np.ones(d), np.zeros(p - d)], self.k - 1)
        total = None if complete else self._total()
        while True:
            B = _least(cost, self._constraints(*np.nonzero(chosen)), floor, total)
            if B is None:
                return None
            B = B.reshape(self.k - 1, p)
            short = self._values(B) < floor - EXACT
            short[np.arange(n), self.codes] = False
            short &= ~chosen
            if not short.any():
                return B
            chosen.ravel()[self._worst(B, np.flatnonzero(short))] = True

    def _values(self, B: Floats) -> Floats:
        """(n, k)."""
        d = self.X.shape[1]
        score = np.zeros((self.X.shape[0], self.k))
        score[:, 1:] = self.X @ B[:, :d].T + B[:, d:].sum(axis=1)
        return np.asarray(score[np.arange(len(score)), self.codes][:, None] - score)

    def _worst(self, B: Floats, short: Integers) -> Integers:
        """Half of those to join are the worst; the others, evenly spread, are not all alike."""
        ordered = short[np.argsort(self._values(B).ravel()[short], kind="stable")]
        spread = np.linspace(0, len(ordered) - 1, min(len(ordered), MORE // 2)).astype(int)
        return np.concatenate([ordered[: MORE // 2], ordered[spread]])

    def _total(self) -> Floats:
        """Σ m as a function of the raveled B: row i adds k e_y - 1 times x̃ᵢ."""
        share = np.full((self.X.shape[0], self.k), -1.0)
        share[np.arange(len(share)), self.codes] += self.k
        total = np.asarray(self.X.T @ share).T
        if self.intercept:
            total = np.column_stack([total, share.sum(axis=0)])
        return np.asarray(total[1:].ravel())

    def _constraints(self, row: Integers, other: Integers) -> Any:
        """Margins of some rows with some classes, as rows that multiply the raveled B."""
        cells, own = self.X[row], self.codes[row]
        side_by_side = np.hstack if isinstance(cells, np.ndarray) else sparse.hstack
        cells = side_by_side([cells, np.ones((len(row), int(self.intercept)))])
        signs = [(own == c) * 1.0 - (other == c) for c in range(1, self.k)]
        out = side_by_side([sparse.diags_array(sign) @ cells for sign in signs])
        return np.unique(out, axis=0) if isinstance(out, np.ndarray) else out


def extremes(X: Array | SparseRows) -> tuple[Floats, Floats]:
    """The least and the largest value of every column."""
    if isinstance(X, SparseRows):
        cells = X.scipy()
        return cells.min(axis=0).toarray().ravel() * 1.0, cells.max(axis=0).toarray().ravel() * 1.0
    return X.min(axis=0).astype(float), X.max(axis=0).astype(float)


def _least(cost: Floats, margins: Any, floor: float, total: Floats | None) -> Floats | None:
    """argmin cost · |b| with margins b ≥ floor and total · b = 1; None if there is no such b."""
    side_by_side = np.hstack if isinstance(margins, np.ndarray) else sparse.hstack
    found = scipy.optimize.linprog(
        np.concatenate([cost, cost]),  # b = what it has above zero less what below
        A_ub=side_by_side([-margins, margins]),
        b_ub=np.full(margins.shape[0], -floor),
        A_eq=None if total is None else np.concatenate([total, -total])[None],
        b_eq=None if total is None else [1.0],
        bounds=(0.0, LARGEST),
        options={"primal_feasibility_tolerance": EXACT},
    )
    if found.x is None:
        return None
    above, below = np.split(found.x, 2)
    return np.asarray(above - below)
