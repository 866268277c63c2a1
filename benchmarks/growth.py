"""What a fit costs as the rows, the columns, the groups and the words grow, beside scikit-learn.

A line ends where the next fit would take longer than some seconds, if time grew as it did before.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from sklearn import cluster, discriminant_analysis, linear_model, mixture, naive_bayes, neighbors
from sklearn.feature_extraction import text

import posterior
from benchmarks.arrays import Array
from benchmarks.timing import Operation, Peer

LONGEST = 6.0  # seconds that a fit may be expected to take
SHARE = 1.0  # seconds of turns
STEPS = 5  # of EM and of Lloyd's iterations
WORDS = 60  # a document
QUERIES = 500  # of nearest neighbors

Fit = Callable[[Array, Array], Any]
Makers = dict[str, tuple[Fit, Fit]]


def growth_rows(shrink: int) -> Iterator[Operation]:
    """Cost as the rows grow: 20 float64 columns, 5 classes or components"""
    sizes = [1_000, 10_000, 100_000, 1_000_000]
    yield from lines(sizes, lambda n: normal(n // shrink, 20, 5), lambda _: dense_models(5))
    millions = {"GaussianNB": gaussian()}
    yield from lines([10_000_000], lambda n: normal(n // shrink, 20, 5), lambda _: millions)


def growth_columns(shrink: int) -> Iterator[Operation]:
    """Cost as the columns grow: 5,000 rows of float64, 5 classes or components"""
    sizes = [10, 30, 100, 300, 1_000, 3_000]
    yield from lines(sizes, lambda d: normal(5_000 // shrink, d, 5), lambda _: dense_models(5))


def growth_groups(shrink: int) -> Iterator[Operation]:
    """Cost as the classes, components or centers grow: 20,000 rows of 20 float64"""
    yield from lines([2, 10, 100, 1_000], lambda k: normal(20_000 // shrink, 20, k), dense_models)


def growth_words(shrink: int) -> Iterator[Operation]:
    """Cost as the vocabulary grows: 20,000 documents of 60 words, 5 classes"""
    sizes = [1_000, 10_000, 100_000, 1_000_000]
    models: Makers = {
        name: (fit(getattr(posterior, name)), fit(getattr(naive_bayes, name)))
        for name in ("MultinomialNB", "BernoulliNB")
    }
    yield from lines(sizes, lambda d: counted(20_000 // shrink, d), lambda _: models)
    vectorizers: Makers = {"CountVectorizer": tuple(map(vectorize, (posterior, text)))}
    yield from lines(sizes, lambda d: (written(20_000 // shrink, d), None), lambda _: vectorizers)


CASES = [growth_rows, growth_columns, growth_groups, growth_words]


@dataclass(slots=True)
class Contestant:
    """A fit that remembers how long it took at best, by size."""

    fit: Fit | None = None
    seconds: dict[float, float] = field(default_factory=dict)

    def expects(self, size: float) -> float:
        """By a power of the size: that of the last two, or the first."""
        if not self.seconds:
            return 0.0
        (n, t), (m, s) = list(self.seconds.items())[-1], list(self.seconds.items())[-2:][0]
        power = 1.0 if n == m else math.log(t / s) / math.log(n / m)
        return t * (size / n) ** min(max(power, 0.0), 3.0)

    def __call__(self, X: Array, y: Array, size: float) -> Any:
        assert self.fit is not None
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the iterations end before they converge
            answer = self.fit(X, y)
        seconds = time.perf_counter() - start
        self.seconds[size] = min(seconds, self.seconds.get(size, math.inf))
        return answer


def lines(
    sizes: Sequence[int],
    make: Callable[[int], tuple[Array, Array]],
    models: Callable[[int], Makers],
) -> Iterator[Operation]:
    """Every model at every size, as long as both are fast enough."""
    contestants = {name: (Contestant(), Contestant()) for name in models(sizes[0])}
    for size in sizes:
        X, y = make(size)
        for name, fits in models(size).items():
            ours, theirs = contestants[name]
            ours.fit, theirs.fit = fits
            if max(ours.expects(size), theirs.expects(size)) < LONGEST:
                peer = Peer("scikit-learn", partial(theirs, X, y, size), rounds=3)
                call = partial(ours, X, y, size)
                yield Operation(f"{name}, {size:,}", call, [peer], size=size, share=SHARE)


def dense_models(k: int) -> Makers:
    em = {"n_components": k, "covariance_type": "diag", "max_iter": STEPS, "tol": 0}
    lloyd = {"n_clusters": k, "n_init": 1, "max_iter": STEPS, "tol": 0}
    return {
        "GaussianNB": gaussian(),
        "LinearDiscriminantAnalysis": (
            fit(posterior.LinearDiscriminantAnalysis),
            fit(discriminant_analysis.LinearDiscriminantAnalysis),
        ),
        "LogisticRegression, equal objective": (
            fit(posterior.LogisticRegression),
            # its default tolerance would stop it where the objective is up to half above ours
            fit(partial(linear_model.LogisticRegression, tol=1e-7, max_iter=1000)),
        ),
        f"KMeans, {STEPS} iterations": (
            from_rows(posterior.KMeans, lloyd, "init", k),
            from_rows(cluster.KMeans, lloyd, "init", k),
        ),
        f"GaussianMixture diag, {STEPS} steps": (
            from_rows(posterior.GaussianMixture, em, "means_init", k),
            from_rows(mixture.GaussianMixture, em, "means_init", k),
        ),
        f"KNeighborsClassifier, {QUERIES} queries": (
            fit_and_ask(posterior.KNeighborsClassifier),
            fit_and_ask(neighbors.KNeighborsClassifier),
        ),
    }


def gaussian() -> tuple[Fit, Fit]:
    return fit(posterior.GaussianNB), fit(naive_bayes.GaussianNB)


def fit(make: Callable[[], Any]) -> Fit:
    return lambda X, y: make().fit(X, y)


def from_rows(make: Callable[..., Any], settings: dict[str, Any], name: str, k: int) -> Fit:
    """Starts at the first k rows, whoever fits, and finds no start of its own."""

    def call(X: Array, y: Array) -> Any:
        start: dict[str, Any] = {name: X[:k]}
        if name == "means_init":
            start |= {
                "weights_init": np.full(k, 1 / k),
                "precisions_init": np.ones((k, X.shape[1])),
            }
        return make(**settings, **start).fit(X)

    return call


def fit_and_ask(make: Callable[[], Any]) -> Fit:
    return lambda X, y: make().fit(X, y).predict(X[:QUERIES])


def vectorize(module: Any) -> Fit:
    return lambda documents, _: module.CountVectorizer().fit_transform(documents)


def normal(n: int, d: int, k: int) -> tuple[Array, Array]:
    """Classes of normal rows that overlap; each has a row at least."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    return rng.standard_normal((n, d)) + rng.normal(0, 0.5, (k, d))[y], y


def counted(n: int, d: int) -> tuple[Array, Array]:
    """Counts of words in CSR, each as likely as the others."""
    rng = np.random.default_rng(0)
    columns = rng.integers(d, size=n * WORDS, dtype=np.int32)
    starts = np.arange(0, n * WORDS + 1, WORDS)
    X = scipy.sparse.csr_array((np.ones(n * WORDS), columns, starts), shape=(n, d))
    X.sum_duplicates()
    return X, rng.integers(5, size=n)


def written(n: int, types: int) -> list[str]:
    """Documents of words of letters, each as likely as the others."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfw"))
    digits = np.arange(types)[:, None] // 16 ** np.arange(5) % 16
    words = np.array(["".join(row) for row in letters[digits]], dtype=object)
    return [" ".join(row) for row in words[rng.integers(types, size=(n, WORDS))]]
