"""The logistic loss: what rows add to its value, its gradient and its curvature."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from posterior import kernels
from posterior.data.rows import Hard, Rows, Soft, SparseRows, slabs
from posterior.data.typing import Array, Floats
from posterior.statistics.moments import floats
from posterior.statistics.quadratic import Quadratic

LANES = 8


@dataclass(frozen=True, slots=True, eq=False)
class LogisticLoss:
    """Σᵢ wᵢ (log Σ_k exp η_ik - η_i,yᵢ),  η = X βᵀ.

    One output scores the second class against the first; more score a class each. Coefficients
    are (outputs, d), or (outputs, d + 1) with the intercepts last. With an origin, the intercepts
    are the scores there, which keeps columns of any mean apart from them.
    """

    outputs: int
    intercept: bool = True
    origin: Floats | None = None  # (d,), of dense rows

    def gradient(self, rows: Rows, coef: Floats) -> Quadratic:
        value, gradient, _ = self._pass(rows, coef, None)
        return Quadratic(value, gradient)

    def quadratic(self, rows: Rows, coef: Floats) -> Quadratic:
        """With the Hessian, (size, size) in the order of the raveled coefficients."""
        if self.outputs == 1 and not isinstance(rows.X, SparseRows):
            size = rows.X.shape[1] + 1
            hessian = np.zeros((size, -(-size // LANES) * LANES))
            value, gradient, _ = self._pass(rows, coef, None, hessian)
            kept = coef.shape[1]
            square = np.ascontiguousarray(hessian[None, :kept, :kept])
            return Quadratic(value, gradient, _whole(square)[0])
        value, gradient, shares = self._shares(rows, coef)
        proba, weight = shares[:, :-1], shares[:, -1]
        m, p = coef.shape
        blocks = np.empty((m, p, m, p))
        pairs = [(a, b) for a in range(m) for b in range(a, m)]
        h = np.stack([weight * proba[:, a] * ((a == b) - proba[:, b]) for a, b in pairs])
        for (a, b), block in zip(pairs, self._products(numbers(rows), h), strict=True):
            blocks[a, :, b, :] = block
            blocks[b, :, a, :] = block
        return Quadratic(value, gradient, blocks.reshape(m * p, m * p))

    def diagonal(self, rows: Rows, coef: Floats) -> Quadratic:
        """With the diagonal of the Hessian instead, in the shape of the coefficients."""
        value, gradient, shares = self._shares(rows, coef)
        proba, weight = shares[:, :-1], shares[:, -1:]
        h = weight * proba * (1 - proba)
        squares = self._squares(numbers(rows), h)
        if self.intercept:
            squares = np.column_stack([squares, h.sum(axis=0)])
        return Quadratic(value, gradient, squares)

    def products(self, rows: Rows) -> Floats:
        """Σ w x xᵀ, (p, p), with a one behind each row if there is an intercept."""
        groups = rows.groups
        assert isinstance(groups, Hard)
        weight = np.where(groups.codes < 0, 0.0, 1.0 if groups.weight is None else groups.weight)
        return np.asarray(self._products(numbers(rows), weight[None])[0])

    def shares(self, rows: Rows, coef: Floats) -> Shares:
        """p and w (n, outputs + 1), from which `product` makes products with the Hessian."""
        return Shares((self._shares(rows, coef)[2],))

    def product(self, rows: Rows, direction: Floats) -> Floats:
        """H v for v in the shape of the coefficients; `rows` are grouped by their shares."""
        assert isinstance(rows.groups, Soft)
        p, weight = rows.groups.R[:, :-1], rows.groups.R[:, -1:]
        X = numbers(rows)
        slope = direction[:, :-1] if self.intercept else direction
        moved = _product(X, slope)
        if self.origin is not None:
            moved = moved - slope @ self.origin
        if self.intercept:
            moved = moved + direction[:, -1]
        # with one output the other has probability 1 - p and no score of its own
        turned = weight * p * (moved - (p * moved).sum(axis=1, keepdims=True))
        product = _transposed_product(turned, X)
        if self.origin is not None:
            product = product - turned.sum(axis=0)[:, None] * self.origin
        return np.column_stack([product, turned.sum(axis=0)]) if self.intercept else product

    def scores(self, X: Array | SparseRows, coef: Floats) -> Floats:
        """η (n, outputs)."""
        table = X.scipy(copy=False) if isinstance(X, SparseRows) else X
        slope, intercept = self.parts(coef)
        return np.asarray(table @ slope.T) + intercept

    def parts(self, coef: Floats) -> tuple[Floats, Floats]:
        """Slopes (outputs, d) and intercepts (outputs,), which are the scores at zero."""
        slope, intercept = self._split(coef)
        return slope, intercept if self.origin is None else intercept - slope @ self.origin

    def joined(self, slope: Floats, intercept: Floats) -> Floats:
        """Coefficients from such parts."""
        if not self.intercept:
            return slope
        at_origin = intercept if self.origin is None else intercept + slope @ self.origin
        return np.column_stack([slope, at_origin])

    def _split(self, coef: Floats) -> tuple[Floats, Floats]:
        if not self.intercept:
            return np.ascontiguousarray(coef), np.zeros(len(coef))
        return np.ascontiguousarray(coef[:, :-1]), np.ascontiguousarray(coef[:, -1])

    def _pass(
        self, rows: Rows, coef: Floats, residual: Floats | None, hessian: Floats | None = None
    ) -> tuple[float, Floats, Floats | None]:
        groups = rows.groups
        assert isinstance(groups, Hard)
        labels = groups.codes, groups.weight, rows.offset
        value, slope, intercept = kernels.logistic_sums(
            numbers(rows), *labels, *self._split(coef), residual, self.origin, hessian
        )
        gradient = np.column_stack([slope, intercept]) if self.intercept else np.asarray(slope)
        return value, gradient, residual

    def _shares(self, rows: Rows, coef: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient, and p and w of every row, from the derivatives w (p - y)."""
        groups = rows.groups
        assert isinstance(groups, Hard)
        value, gradient, residual = self._pass(rows, coef, np.empty((len(rows), self.outputs)))
        assert residual is not None
        if groups.weight is None and self.outputs == 1 and groups.codes.min(initial=0) >= 0:
            proba = residual + groups.codes[:, None]
            return value, gradient, np.column_stack([proba, np.ones(len(proba))])
        weight = np.where(groups.codes < 0, 0.0, 1.0 if groups.weight is None else groups.weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            proba = np.where(weight[:, None] > 0, residual / weight[:, None], 0.0)
        if self.outputs == 1:
            proba[groups.codes == 1] += 1.0
        else:
            proba[np.arange(len(proba)), np.maximum(groups.codes, 0)] += 1.0
        return value, gradient, np.column_stack([proba, weight])

    def _products(self, X: Array | SparseRows, h: Floats) -> Floats:
        """Σᵢ h_ci xᵢ xᵢᵀ for each c, with a one behind each row: (c, p, p)."""
        n, d = X.shape
        size = d + 1 if self.intercept else d
        if isinstance(X, SparseRows):
            table = X.scipy(copy=False)
            return np.stack([_sparse_products(table, part, self.intercept) for part in h])
        width = -(-(d + 1) // LANES) * LANES
        out = np.zeros((len(h), 1, d + 1, width))
        nobody = np.zeros(n, np.int32)
        origin = np.zeros((1, d)) if self.origin is None else self.origin[None]
        memory = np.zeros((min(n, next(slabs(n, 2 * d)).stop), width))
        for rows in slabs(n, 2 * d):
            ends = kernels.centered_by_group(X[rows], nobody[rows], origin, memory)
            x = memory[: ends[-1]]
            for part, sums in zip(h, out, strict=True):
                kernels.add_products(x, x * part[rows, None], ends, sums)
        return _whole(out[:, 0, :size, :size])

    def _squares(self, X: Array | SparseRows, h: Floats) -> Floats:
        """Σᵢ h_ik x_ij², (outputs, d)."""
        if isinstance(X, SparseRows):
            table = X.scipy(copy=False)
            if not table.has_canonical_format:  # a cell stored in parts is squared as a whole
                table = X.canonical().scipy(copy=False)
            squares = table.data.astype(np.float64) ** 2
            squared = sparse.csr_array((squares, table.indices, table.indptr), table.shape)
            return np.asarray(squared.T @ h).T
        out = np.zeros((h.shape[1], X.shape[1]))
        origin = 0.0 if self.origin is None else self.origin
        for rows in slabs(*X.shape):
            out += _transposed_product(h[rows], (X[rows].astype(np.float64) - origin) ** 2)
        return out


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """What rows say of the curvature, chunk after chunk: p and w, (n, outputs + 1) each."""

    parts: tuple[Floats, ...]

    def __add__(self, other: Shares, /) -> Shares:
        return Shares(self.parts + other.parts)

    def together(self) -> Floats:
        return self.parts[0] if len(self.parts) == 1 else np.concatenate(self.parts)


def numbers(rows: Rows) -> Array | SparseRows:
    """The cells as kernels read them: typed columns are encoded before they come here."""
    assert isinstance(rows.X, np.ndarray | SparseRows)
    return rows.X if isinstance(rows.X, SparseRows) else floats(rows.X)


def _whole(upper: Floats) -> Floats:
    """Symmetric matrices (c, p, p) from their upper triangles."""
    i, j = _below(upper.shape[1])
    upper[:, i, j] = upper[:, j, i]
    return upper


@cache
def _below(size: int) -> tuple[Array, Array]:
    """Where a square matrix lies below its diagonal."""
    return np.tril_indices(size, -1)


def _product(X: Array | SparseRows, table: Floats) -> Floats:
    """X tableᵀ. Not by BLAS, whose threads would have a say in the last bits."""
    if isinstance(X, SparseRows):
        return np.asarray(X.scipy(copy=False) @ table.T)
    return np.einsum("nd,kd->nk", X, table)


def _transposed_product(R: Floats, X: Array | SparseRows) -> Floats:
    """Rᵀ X, likewise."""
    if isinstance(X, SparseRows):
        return np.asarray(X.scipy(copy=False).T @ R).T
    return np.stack([np.einsum("n,nd->d", r, X) for r in np.ascontiguousarray(R.T)])


def _sparse_products(X: Any, h: Floats, intercept: bool) -> Floats:
    inner = (X.T.multiply(h) @ X).toarray()
    if not intercept:
        return np.asarray(inner)
    edge = np.asarray(X.T @ h)
    return np.block([[inner, edge[:, None]], [edge[None], h.sum()]])
