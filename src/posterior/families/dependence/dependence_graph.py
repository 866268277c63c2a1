"""Graphs of the columns that depend on each other."""

from __future__ import annotations

import numpy as np

from posterior.data.typing import Floats
from posterior.statistics.tuple_counts import Parents


def spanning_tree(weight: Floats, root: int) -> Parents:
    """The parents in a tree of greatest total weight (Prim 1957); the first of equals."""
    d = len(weight)
    parent = np.full(d, root)
    inside = np.zeros(d, bool)
    inside[root] = True
    best = weight[root].copy()
    for _ in range(d - 1):
        j = int(np.where(inside, -np.inf, best).argmax())
        inside[j] = True
        closer = ~inside & (weight[j] > best)
        best[closer], parent[closer] = weight[j, closer], j
    return tuple(() if j == root else (int(parent[j]),) for j in range(d))


def k_dependence(information: Floats, weight: Floats, k: int) -> Parents:
    """Each column depends on the k of the more informative columns that it shares most with.

    Columns are taken by I(X; Y); parents by I(X; parent | Y), the closest first (Sahami 1996).
    """
    parents: list[tuple[int, ...]] = [()] * len(information)
    before: list[int] = []
    for j in by_information(information):
        ranked = sorted(before, key=lambda i: (-weight[j, i], i))
        parents[j] = tuple(ranked[:k])
        before.append(j)
    return tuple(parents)


def by_information(information: Floats) -> list[int]:
    """The most informative columns first; the first of equals."""
    return [int(j) for j in np.argsort(-information, kind="stable")]


def selected(parents: Parents, order: list[int], n_columns: int, k: int) -> Parents:
    """The first columns of an order, with at most k parents each; the others are left out."""
    kept = set(order[:n_columns])
    return tuple(tuple((above or ())[:k]) if j in kept else None for j, above in enumerate(parents))


def in_order(parents: Parents) -> list[int]:
    """The columns that are not left out, parents before children."""
    left = {j: set(above) for j, above in enumerate(parents) if above is not None}
    done: list[int] = []
    while left:
        free = [j for j, above in left.items() if above <= set(done)]
        if not free:
            raise ValueError(f"Expected columns that do not depend on themselves, got {parents}.")
        done += free
        left = {j: above for j, above in left.items() if j not in free}
    return done


def check_structure(structure: object, n_columns: int) -> Parents:
    """Parents of each column, as someone gave them."""
    if not isinstance(structure, tuple | list) or len(structure) != n_columns:
        raise ValueError(
            f"Expected the parents of {n_columns} columns, each a tuple of column numbers or None, "
            f"got {structure!r}."
        )
    parents = tuple(None if above is None else tuple(int(a) for a in above) for above in structure)
    kept = {j for j, above in enumerate(parents) if above is not None}
    if not kept or any(not set(above) <= kept for above in parents if above is not None):
        raise ValueError(f"Expected parents among the columns that are kept, got {structure!r}.")
    in_order(parents)
    return parents
