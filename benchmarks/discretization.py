"""Workloads of discretization: cuts between classes, and scikit-learn's bins."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn import preprocessing

from benchmarks.arrays import Array, n_bytes
from benchmarks.limits import Work
from benchmarks.timing import Call, Operation, Peer, Quality
from posterior import KBinsDiscretizer, NaiveBayes, SupervisedDiscretizer

STRATEGIES = "uniform", "quantile", "kmeans"


def supervised_cuts(shrink: int) -> Iterator[Operation]:
    """SupervisedDiscretizer, 1,000,000 rows of 20 float64, 3 classes"""
    yield from cuts(1_000_000 // shrink, np.float64)


def supervised_cuts_float32(shrink: int) -> Iterator[Operation]:
    """SupervisedDiscretizer, 1,000,000 rows of 20 float32, 3 classes"""
    yield from cuts(1_000_000 // shrink, np.float32)


def equal_bins(shrink: int) -> Iterator[Operation]:
    """KBinsDiscretizer, 1,000,000 rows of 20 float64 (5 for k-means), ordinal codes"""
    table, _ = rows(1_000_000 // shrink, 20, np.float64)
    for strategy in STRATEGIES:
        X = table[:, :5].copy() if strategy == "kmeans" else table  # scikit-learn takes long
        settings = {"strategy": strategy, "encode": "ordinal", "random_state": 0, "n_bins": 10}
        peer = Peer(
            "scikit-learn", fit(preprocessing.KBinsDiscretizer, settings, X), 1.0, same_codes(X)
        )
        yield Operation(f"fit {strategy}", fit(KBinsDiscretizer, settings, X), [peer])
        ours, theirs = (
            fit(thing, settings, X)()
            for thing in (KBinsDiscretizer, preprocessing.KBinsDiscretizer)
        )
        peer = Peer("scikit-learn", partial(theirs.transform, X), 1.0)
        work = Work(reads=2 * n_bytes(X))
        yield Operation(f"transform {strategy}", partial(ours.transform, X), [peer], work=work)


def binned_columns(shrink: int) -> Iterator[Operation]:
    """NaiveBayes("binned"), 200,000 rows of 20 float64, 3 classes: ten-fold against one fit"""
    X, y = rows(200_000 // shrink, 20, np.float64)
    one = Peer("one fit", lambda: NaiveBayes("binned").fit(X, y), 0.5)
    yield Operation("cross_validate", lambda: NaiveBayes("binned").cross_validate(X, y), [one])


CASES = [supervised_cuts, supervised_cuts_float32, equal_bins, binned_columns]


def cuts(n: int, dtype: Any) -> Iterator[Operation]:
    """Twice the time of sorting is allowed; what is sorted is each column, as a copy."""
    X, y = rows(n, 20, dtype)
    peer = Peer("np.sort of each column", lambda: [np.sort(column) for column in X.T], 0.5)
    yield Operation("fit", lambda: SupervisedDiscretizer().fit(X, y), [peer])
    model = SupervisedDiscretizer().fit(X, y)
    yield Operation(
        "transform", lambda: model.transform(X), [peer], work=Work(reads=2 * n_bytes(X))
    )


def rows(n: int, d: int, dtype: Any) -> tuple[Array, Array]:
    """Normal columns that tell three classes apart, the first not at all and the last well."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) + y[:, None] * np.linspace(0, 1, d)
    return X.astype(dtype), y


def fit(make: Callable[..., Any], settings: dict[str, Any], X: Array) -> Call:
    def call() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make(**settings).fit(X)

    return call


def same_codes(X: Array) -> Callable[[Any, Any], Quality]:
    """The share of cells that fall into the same bin."""
    some = X[:10_000]

    def compare(ours: Any, theirs: Any) -> Quality:
        return {"same bin": float(np.mean(ours.transform(some) == theirs.transform(some)))}

    return compare
