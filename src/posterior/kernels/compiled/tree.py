"""The compiled k-d tree."""

from __future__ import annotations

import posterior.kernels._compiled as _compiled
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.kernels.kd_tree import Tree


def grow_tree(X: Array) -> Tree:
    """Rows in leaves that lie near each other, parted at medians of the widest columns."""
    return Tree(*_compiled.grow_tree(X))


def find_leaves(tree: Tree, Q: Floats, leaf: Codes) -> None:
    """A leaf near each query; queries of one leaf have much of their search in common."""
    _compiled.find_leaves(*tree.arrays(), Q, leaf)


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

    (Σⱼ |xⱼ - qⱼ|^p)^(1/p), summed column by column.
    """
    _compiled.search_tree(*tree.arrays(), Q, leaf, order, p, distances, numbers)
