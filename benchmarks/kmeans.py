"""Workloads of k-means: whole fits from the same start, to the same inertia."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn import cluster
from sklearn.metrics import pairwise_distances_argmin_min

from benchmarks import elsewhere
from benchmarks.arrays import Array
from benchmarks.limits import Work
from benchmarks.timing import Call, Operation, Peer, Quality
from posterior.estimators.kmeans import KMeans

ITERATIONS = 30
AT_MOST = 300  # iterations, as by default


def kmeans_64_float32(shrink: int) -> Iterator[Operation]:
    """KMeans, 64 centers of 500,000 rows of 32 float32"""
    yield from fits(500_000 // shrink, 64, np.float32, 2)


def kmeans_64_float64(shrink: int) -> Iterator[Operation]:
    """KMeans, 64 centers of 500,000 rows of 32 float64"""
    yield from fits(500_000 // shrink, 64, np.float64, 2)


def kmeans_1000_float32(shrink: int) -> Iterator[Operation]:
    """KMeans, 1,000 centers of 100,000 rows of 32 float32"""
    yield from fits(100_000 // shrink, 1_000, np.float32, 1.5)


def kmeans_1000_float64(shrink: int) -> Iterator[Operation]:
    """KMeans, 1,000 centers of 100,000 rows of 32 float64"""
    yield from fits(100_000 // shrink, 1_000, np.float64, 1.5)


CASES = [kmeans_64_float32, kmeans_64_float64, kmeans_1000_float32, kmeans_1000_float64]


def fits(n: int, k: int, dtype: Any, target: float) -> Iterator[Operation]:
    """Blobs for some iterations and until the default tolerance; noise, which bounds save least."""
    for name, X, tol, iterations in (
        (f"blobs, {ITERATIONS} iterations", blobs(n, 32, dtype), 0, ITERATIONS),
        ("blobs, default tol", blobs(n, 32, dtype), 1e-4, AT_MOST),
        (f"noise, {ITERATIONS} iterations", noise(n, 32, dtype), 0, ITERATIONS),
    ):
        if tol and k == 1_000:  # hundreds of iterations, which take a peer minutes
            continue
        start = X[np.random.default_rng(1).choice(n, k, replace=False)]
        settings = {"n_clusters": k, "init": start, "n_init": 1, "tol": tol, "max_iter": iterations}
        peers = [
            Peer(
                "scikit-learn lloyd", fit(cluster.KMeans, X, settings), target, same_inertia(X), 3
            ),
            Peer("scikit-learn elkan", fit(elkan, X, settings), None, same_inertia(X), rounds=1),
        ]
        if dtype is np.float32:
            others = [intelex(X, settings), faiss(X, start, iterations)]
            if k < 100 and not tol:
                compare = same_inertia(X)
                others += [elsewhere.pomegranate_kmeans(X, start, iterations, compare)]
            peers += [peer for peer in others if peer is not None]
        # distances to all centers, of which bounds may save the most
        work = Work(flops=2.0 * n * k * 32 * iterations, single=dtype is np.float32)
        yield Operation(f"fit {name}", fit(KMeans, X, settings), peers, work=None if tol else work)


def blobs(n: int, d: int, dtype: Any) -> Array:
    """200 normal blobs that overlap: their centers are as far apart as rows lie from them."""
    rng = np.random.default_rng(0)
    centers = rng.normal(0, 1, (200, d))
    return (centers[rng.integers(200, size=n)] + rng.normal(0, 1.2, (n, d))).astype(dtype)


def noise(n: int, d: int, dtype: Any) -> Array:
    return np.random.default_rng(0).random((n, d)).astype(dtype)


def fit(make: Callable[..., Any], X: Array, settings: dict[str, Any]) -> Call:
    def call() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the last iteration is often the last allowed
            return make(**settings).fit(X)

    return call


def elkan(**settings: Any) -> Any:
    return cluster.KMeans(algorithm="elkan", **settings)


def same_inertia(X: Array) -> Callable[[Any, Any], Quality]:
    """By one ruler: what the centers leave, in float64."""

    def inertia(model: Any) -> float:
        found = model["cluster_centers_"] if isinstance(model, dict) else model.cluster_centers_
        centers = np.asarray(found, np.float64)
        _, distance = pairwise_distances_argmin_min(X.astype(np.float64), centers)
        return float(distance @ distance)

    def compare(ours: Any, theirs: Any) -> Quality:
        mine, other = inertia(ours), inertia(theirs)
        return {"inertia": mine, "peer above it": (other - mine) / mine}

    return compare


def intelex(X: Array, settings: dict[str, Any]) -> Peer | None:
    """scikit-learn-intelex (oneDAL), where it is installed."""
    try:
        from sklearnex.cluster import KMeans as Theirs
    except ImportError:
        return absent("scikit-learn-intelex")
    return Peer("scikit-learn-intelex", fit(Theirs, X, settings), 1, same_inertia(X), rounds=2)


def faiss(X: Array, start: Array, iterations: int) -> Peer | None:
    """faiss, where it is installed. It does not stop before the last iteration."""
    try:
        import faiss as theirs
    except ImportError:
        return absent("faiss")
    if iterations != ITERATIONS:
        return None

    def call() -> Any:
        model = theirs.Kmeans(X.shape[1], len(start), niter=iterations)
        model.cp.max_points_per_centroid = len(X)
        model.cp.min_points_per_centroid = 1
        model.train(X, init_centroids=start)
        model.cluster_centers_ = model.centroids
        return model

    return Peer("faiss", call, 1, same_inertia(X))


def absent(name: str) -> None:
    print(f"{name} is not installed: it takes no part", file=sys.stderr)
