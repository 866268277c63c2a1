"""Distances by their names, as SciPy knows them, and the index that searches by them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Floats
from posterior.neighbors.blocked import BlockedSearch
from posterior.neighbors.brute import BruteForce
from posterior.neighbors.directions import Directions, Signals
from posterior.neighbors.index import Fill, Index
from posterior.neighbors.sparse import SparseSearch

BOOLEAN = {"dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}
ALIASES = {"l1": "cityblock", "manhattan": "cityblock", "l2": "euclidean", "infinity": "chebyshev"}


def search(
    X: Array | SparseRows,
    metric: str | Callable[..., float],
    fill: Fill,
    **settings: Any,
) -> Index:
    """Every row is looked at, by a distance of SciPy's names or a function of two rows.

    Euclidean, cosine and correlation distances come from matrix products and are measured again;
    the others are computed in blocks. Functions see sparse rows as they are, names as dense ones.
    """
    if callable(metric):
        if isinstance(X, SparseRows):
            return BlockedSearch(X, partial(_pairs, partial(metric, **settings)), fill)
        return BlockedSearch(X, partial(cdist, metric=metric, **settings), fill)
    name = ALIASES.get(metric, metric)
    if name == "minkowski" and settings.get("p", 2) == 2 and settings.get("w") is None:
        name, settings = "euclidean", {}
    if not settings:
        if name == "euclidean":
            return euclidean(X, fill)
        if name == "cosine":
            return Directions(X, partial(euclidean, fill=fill))
        if name == "correlation" and not isinstance(X, SparseRows):
            return Signals(X, partial(euclidean, fill=fill))
    return BlockedSearch(X, distance(name, X, settings), fill)


def euclidean(X: Array | SparseRows, fill: Fill) -> Index:
    return SparseSearch(X, fill) if isinstance(X, SparseRows) else BruteForce(X, fill)


def distance(
    name: str, X: Array | SparseRows, settings: dict[str, Any]
) -> Callable[[Any, Any], Array]:
    """A function of two blocks. What SciPy would learn from a block, it learns from all rows X."""
    settings = {key: value for key, value in settings.items() if value is not None}
    if name == "haversine":
        return lambda A, B: haversine(dense(A), dense(B))
    if name == "seuclidean":
        settings.setdefault("V", dense(X).var(axis=0, ddof=1, dtype=np.float64))
    elif name == "mahalanobis":
        if "V" in settings:
            settings["VI"] = np.linalg.inv(settings.pop("V"))
        elif "VI" not in settings:
            settings["VI"] = np.linalg.inv(np.atleast_2d(np.cov(dense(X), rowvar=False)))
        d = X.shape[1]
        settings["VI"] = np.atleast_2d(np.asarray(settings["VI"], np.float64))
        if np.shape(settings["VI"]) != (d, d):  # SciPy would read beyond it
            raise ValueError(
                f"Expected V or VI of shape {(d, d)} for {d} columns, got "
                f"{np.shape(settings['VI'])}."
            )
    kind = bool if name in BOOLEAN else np.float64

    def blocks(A: Any, B: Any) -> Array:
        return cdist(dense(A).astype(kind), dense(B).astype(kind), name, **settings)

    return blocks


def dense(X: Any) -> Array:
    return X.scipy(copy=False).toarray() if isinstance(X, SparseRows) else X


def haversine(A: Array, B: Array) -> Floats:
    """The angle between points (latitude, longitude) of a sphere, in radians.

    2 arcsin √( sin²(Δφ/2) + cos φ₁ cos φ₂ sin²(Δλ/2) )
    """
    if A.shape[1] != 2:
        raise ValueError(
            f"Expected latitude and longitude for the haversine distance, got {A.shape[1]} "
            "columns. Choose the two columns, in radians."
        )
    A, B = A[:, None].astype(np.float64), B[None].astype(np.float64)
    latitude, longitude = np.moveaxis(np.sin(0.5 * (A - B)) ** 2, 2, 0)
    both = np.cos(A[..., 0]) * np.cos(B[..., 0])
    return 2 * np.arcsin(np.sqrt(np.minimum(latitude + both * longitude, 1.0)))


def _pairs(function: Callable[[Any, Any], float], A: SparseRows, B: SparseRows) -> Floats:
    a, b = A.scipy(), B.scipy()
    others = [b[[j]] for j in range(b.shape[0])]
    return np.array([[function(a[[i]], other) for other in others] for i in range(a.shape[0])])
