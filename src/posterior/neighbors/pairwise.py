"""All distances of some rows from others, by any metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Floats
from posterior.neighbors.cosine import centered, directions
from posterior.neighbors.edit_distance import edit_distances, longest
from posterior.neighbors.gower import MixedIndex
from posterior.neighbors.index import Fill
from posterior.neighbors.metrics import ALIASES, Metric, dense, distance, learned
from posterior.neighbors.nan_euclidean import NanEuclideanIndex


def settled(metric: Metric, X: Any, fill: Fill) -> Metric:
    """The metric with what it learns from all rows, so that by a few of them it is the same."""
    settings = metric.settings
    if metric.name == "edit":
        return replace(metric, settings={**settings, "longest": longest(X)})
    if metric.name == "mixed":
        return replace(metric, settings={**settings, "ranges": MixedIndex(X, fill).ranges})
    if metric.name in ("seuclidean", "mahalanobis"):
        return replace(metric, settings=learned(metric.name, X, settings))
    return metric


def between(metric: Metric, Q: Any, X: Any, fill: Fill) -> Floats:
    """Distances (m, n) of rows Q from rows X, by a metric that has learned what it must."""
    if metric.name == "edit":
        return edit_distances(Q, X, **metric.settings)
    if metric.name == "mixed":
        return MixedIndex(X, fill, **metric.settings).distances(Q)
    plain = not isinstance(X, SparseRows)
    if plain and metric.euclidean and (np.isnan(Q).any() or np.isnan(X).any()):
        return NanEuclideanIndex(X, fill).distances(Q)
    out = np.empty((Q.shape[0], X.shape[0]))
    block = _blocks(metric, Q, X)

    def measure(_: Array, part: slice, distances: Floats) -> None:
        distances[...] = block(part)

    fill(measure, np.broadcast_to(np.arange(len(out))[:, None], out.shape), out)
    return out


def _blocks(metric: Metric, Q: Any, X: Any) -> Callable[[slice], Array]:
    """The distances of a part of the queries."""
    name = metric.name
    if name in ("cosine", "correlation"):  # as angles, so that small ones keep their digits
        A, B = (
            directions(_around_mean(R) if name == "correlation" else dense(R))[0] for R in (Q, X)
        )
        return lambda part: 0.5 * scipy.spatial.distance.cdist(A[part], B, "sqeuclidean")
    if isinstance(name, str):
        name = "euclidean" if metric.euclidean else ALIASES.get(name, name)
    apart = distance(name, X, metric.settings)
    return lambda part: apart(Q[part], X)


def _around_mean(X: Any) -> Floats:
    return centered(dense(X))
