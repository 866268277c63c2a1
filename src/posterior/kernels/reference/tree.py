"""The search of a k-d tree, in NumPy."""

from __future__ import annotations

import numpy as np

from posterior.data.rows import slabs
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.kernels.kd_tree import BRANCHES, Tree


def grow_tree(X: Array) -> Tree:
    """Rows in leaves that lie near each other: here, all in one."""
    n, d = X.shape
    blocks = -(-n // BRANCHES)
    rows, number = np.full((blocks * BRANCHES, d), np.nan, X.dtype), np.full(blocks * BRANCHES, -1)
    rows[:n], number[:n] = X, np.arange(n)
    return Tree(
        np.empty((0, d, 2, BRANCHES), X.dtype),
        np.empty((0, BRANCHES), np.int32),
        np.array([0, blocks], np.int32),
        np.ascontiguousarray(rows.reshape(blocks, BRANCHES, d).swapaxes(1, 2)),
        number.astype(np.int32).reshape(blocks, BRANCHES),
    )


def find_leaves(tree: Tree, Q: Floats, leaf: Codes) -> None:
    """A leaf near each query; queries of one leaf have much of their search in common."""
    leaf[:] = 0


def search_tree(
    tree: Tree,
    Q: Floats,
    leaf: Codes,
    order: Integers,
    p: float,
    distances: Floats,
    numbers: Integers,
) -> None:
    """The k rows nearest to queries Q[order], by (distance, number), in lines of (m, k) tables.

    (Σⱼ |xⱼ - qⱼ|^p)^(1/p), summed column by column. The compiled twin leaves out boxes that are
    farther than the k-th row so far.
    """
    k = distances.shape[1]
    known = tree.number.ravel() >= 0
    X = tree.points.swapaxes(1, 2).reshape(len(known), -1)[known]
    for part in slabs(len(order), len(X)):
        query = order[part]
        with np.errstate(over="ignore", under="ignore"):  # the farthest are all at ∞
            D = _distances(Q[query], X, p)
        limit = np.partition(D, k - 1, axis=1)[:, k - 1 : k]
        first = np.argsort(np.where(limit >= D, D, np.nan), axis=1, kind="stable")[:, :k]
        distances[query] = np.take_along_axis(D, first, axis=1)
        numbers[query] = first


def _distances(Q: Floats, X: Array, p: float) -> Floats:
    D = np.zeros((len(Q), len(X)))
    for x, q in zip(X.T, Q.T, strict=True):
        apart = np.abs(x - q[:, None])
        if np.isinf(p):
            np.maximum(D, apart, out=D)
        else:
            D += apart if p == 1 else apart * apart if p == 2 else apart**p
    return D if p == 1 or np.isinf(p) else np.sqrt(D) if p == 2 else D ** (1 / p)
