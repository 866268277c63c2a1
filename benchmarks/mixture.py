"""Workloads of mixtures: so many steps of EM from the same start, to the same likelihood."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn import mixture

import posterior
from benchmarks import elsewhere
from benchmarks.arrays import Array
from benchmarks.limits import Work
from benchmarks.timing import Call, Operation, Peer, Quality

STEPS = 20
K = 16


def mixture_full(shrink: int) -> Iterator[Operation]:
    """GaussianMixture full, 16 components of 200,000 rows of 16 float64, 20 steps"""
    yield fit(200_000 // shrink, "full", 8)


def mixture_diag(shrink: int) -> Iterator[Operation]:
    """GaussianMixture diag, 16 components of 200,000 rows of 16 float64, 20 steps"""
    yield fit(200_000 // shrink, "diag", 5)


def mixture_tied(shrink: int) -> Iterator[Operation]:
    """GaussianMixture tied, 16 components of 200,000 rows of 16 float64, 20 steps"""
    yield fit(200_000 // shrink, "tied", None)


CASES = [mixture_full, mixture_diag, mixture_tied]


def fit(n: int, kind: str, target: float | None) -> Operation:
    X = overlapping(n, 16)
    means = X[np.random.default_rng(1).choice(n, K, replace=False)]
    spread = X.var(axis=0)
    precisions = {
        "full": np.repeat(np.diag(1 / spread)[None], K, axis=0),
        "tied": np.diag(1 / spread),
        "diag": np.repeat(1 / spread[None], K, axis=0),
    }[kind]
    settings = {
        "n_components": K,
        "covariance_type": kind,
        "max_iter": STEPS,
        "tol": 0,
        "weights_init": np.full(K, 1 / K),
        "means_init": means,
        "precisions_init": precisions,
    }
    peers = [
        Peer(
            "scikit-learn",
            steps(mixture.GaussianMixture, X, settings),
            target,
            same_likelihood(X),
            rounds=2,
        )
    ]
    full = np.repeat(np.diag(spread)[None], K, axis=0)
    others = [one_dal(X, means, full)] if kind == "full" else []
    if kind != "tied":
        start = full if kind == "full" else np.repeat(spread[None], K, axis=0)
        score = partial(same_likelihood(X), kind=kind)
        others += [elsewhere.pomegranate_mixture(X, means, start, STEPS, score)]
    peers += [other for other in others if other is not None]
    # a step: of each row and component a product with a triangle, and half of a cross product
    cells = X.shape[1] * (X.shape[1] + 1.0 if kind == "full" else 4.0)
    work = Work(flops=2 * STEPS * n * K * cells)
    ours = steps(posterior.GaussianMixture, X, settings)
    return Operation("20 steps", ours, peers, work=None if kind == "tied" else work)


def overlapping(n: int, d: int) -> Array:
    """Normal heaps, correlated inside, of which most touch others."""
    rng = np.random.default_rng(0)
    centers, shapes = rng.normal(0, 1.5, (K, d)), rng.normal(0, 0.4, (K, d, d)) + np.eye(d)
    heap = rng.integers(K, size=n)
    noise = rng.standard_normal((n, d))
    X = np.empty((n, d))
    for k in range(K):
        X[heap == k] = centers[k] + noise[heap == k] @ shapes[k]
    return X


def steps(make: Callable[..., Any], X: Array, settings: dict[str, Any]) -> Call:
    def call() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the steps end before convergence
            return make(**settings).fit(X)

    return call


def same_likelihood(X: Array) -> Callable[[Any, Any], Quality]:
    """By one ruler: scikit-learn's density of the parameters."""

    def score(model: Any) -> float:
        ruler = mixture.GaussianMixture(K, covariance_type=model.covariance_type)
        for name in ("weights_", "means_", "precisions_cholesky_"):
            setattr(ruler, name, getattr(model, name))
        return float(ruler.score(X))

    def compare(ours: Any, theirs: Any, kind: str | None = None) -> Quality:
        mine = score(ours)
        other = score(theirs if kind is None else from_arrays(theirs, kind))
        return {"log likelihood a row": mine, "peer above it": other - mine}

    return compare


def from_arrays(arrays: dict[str, Array], kind: str) -> Any:
    """Parameters that came from another process, under scikit-learn's names."""
    given = arrays["covariances"].astype(np.float64)
    roots = np.linalg.inv(np.linalg.cholesky(given)) if kind == "full" else 1 / np.sqrt(given)
    return SimpleNamespace(
        covariance_type=kind,
        weights_=arrays["weights"].astype(np.float64),
        means_=arrays["means"].astype(np.float64),
        precisions_cholesky_=roots.transpose(0, 2, 1) if kind == "full" else roots,
    )


def one_dal(X: Array, means: Array, covariances: Array) -> Peer | None:
    """oneDAL's EM by daal4py, where it is installed (a part of scikit-learn-intelex)."""
    try:
        import daal4py
    except ImportError:
        print("  oneDAL is not installed: pip install scikit-learn-intelex")
        return None
    weights = np.full((1, K), 1 / K)

    def call() -> Any:
        em = daal4py.em_gmm(K, maxIterations=STEPS, accuracyThreshold=0.0)
        return em.compute(X, weights, means, list(covariances))

    def compare(ours: Any, theirs: Any) -> Quality:
        model = posterior.GaussianMixture(K)
        model.__dict__.update(ours.__dict__)
        given = [np.asarray(c) for c in theirs.covariances]
        model.weights_, model.means_ = np.ravel(theirs.weights), np.asarray(theirs.means)
        roots = [np.linalg.inv(np.linalg.cholesky(c)).T for c in given]
        model.precisions_cholesky_ = np.stack(roots)
        return {
            "log likelihood a row": ours.score(X),
            "peer above it": model.score(X) - ours.score(X),
        }

    return Peer("oneDAL em_gmm", call, 1, compare, rounds=2)
