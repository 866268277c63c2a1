"""The workloads: each makes its arrays once and yields the operations to race on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn import discriminant_analysis as discriminant
from sklearn import naive_bayes
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

import posterior
from benchmarks import (
    containers,
    dependence,
    discretization,
    elsewhere,
    growth,
    kmeans,
    logistic,
    mixture,
    neighbors,
    others,
    text,
    thousand,
)
from benchmarks.agreement import Compare, same_accuracy, same_model, same_values
from benchmarks.arrays import Array, categories, documents, n_bytes, normal_rows
from benchmarks.limits import Work
from benchmarks.timing import Call, Operation, Peer

Case = Callable[[int], Iterator[Operation]]  # takes the number that divides the rows

CASES: dict[str, Case] = {}
SKLEARN = "scikit-learn"


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


@case
def gaussian_float64(shrink: int) -> Iterator[Operation]:
    """GaussianNB, 1,000,000 rows of 50 float64, 5 classes"""
    X, y = normal_rows(1_000_000 // shrink, 50)
    yield from fit_and_predict(both("GaussianNB"), X, y, (10, 15), [bare_sum(X)])


@case
def gaussian_float32(shrink: int) -> Iterator[Operation]:
    """GaussianNB, 1,000,000 rows of 50 float32, 5 classes"""
    X, y = normal_rows(1_000_000 // shrink, 50, np.float32)
    peers = [bare_sum(X), elsewhere.pomegranate_bayes(X, y)]
    yield from fit_and_predict(both("GaussianNB"), X, y, (10, 15), filter(None, peers))


@case
def gaussian_weighted(shrink: int) -> Iterator[Operation]:
    """GaussianNB, 1,000,000 weighted rows of 50 float64, 5 classes"""
    X, y = normal_rows(1_000_000 // shrink, 50)
    weight = np.random.default_rng(1).random(len(y))
    ours, theirs = both("GaussianNB")
    peer = Peer(SKLEARN, lambda: theirs().fit(X, y, weight), compare=same_model(X))
    yield Operation("fit", lambda: ours().fit(X, y, weight), [peer], n_bytes(X) // 4, read(X))


@case
def gaussian_missing(shrink: int) -> Iterator[Operation]:
    """GaussianNB, 1,000,000 rows of 50 float64, a tenth of the cells missing; the peer imputes"""
    X, y = normal_rows(1_000_000 // shrink, 50)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    ours, theirs = both("GaussianNB")
    models = ours, lambda: make_pipeline(SimpleImputer(), theirs())
    yield from fit_and_predict(models, X, y, compare=(None, same_accuracy(y)))


@case
def gaussian_cross_validate(shrink: int) -> Iterator[Operation]:
    """GaussianNB, ten folds of 500,000 rows of 50 float64, 5 classes"""
    X, y = normal_rows(500_000 // shrink, 50)
    ours, theirs = both("GaussianNB")
    refits = partial(cross_val_predict, theirs(), X, y, cv=10, method="predict_proba")
    compare = same_accuracy(y)  # the folds need not be the same
    peers = [
        Peer("own fit + predict", lambda: ours().fit(X, y).predict_proba(X), 1 / 1.5),
        Peer(SKLEARN, refits, 20, lambda a, b: compare(a.proba, b), rounds=2),
    ]
    yield Operation("cross_validate", lambda: ours().cross_validate(X, y, folds=10), peers)


@case
def gaussian_leave_one_out(shrink: int) -> Iterator[Operation]:
    """GaussianNB, each of 2,000 rows of 20 float64 left out in turn, 5 classes"""
    X, y = normal_rows(2_000 // shrink, 20)
    ours, theirs = both("GaussianNB")
    refits = partial(cross_val_predict, theirs(), X, y, cv=LeaveOneOut(), method="predict_proba")
    peer = Peer(SKLEARN, refits, 500, lambda a, b: same_values(a.proba, b), rounds=2)
    yield Operation("leave_one_out", lambda: ours().leave_one_out(X, y), [peer])


@case
def linear_discriminant(shrink: int) -> Iterator[Operation]:
    """LinearDiscriminantAnalysis, 1,000,000 rows of 50 float64, 5 classes"""
    X, y = normal_rows(1_000_000 // shrink, 50)
    ours, theirs = posterior.LinearDiscriminantAnalysis, discriminant.LinearDiscriminantAnalysis
    peers = [bare_products(X), solver(theirs, "lsqr", X, y, 5), solver(theirs, "eigen", X, y)]
    yield from fit_and_predict((ours, theirs), X, y, (30, 2), peers, rounds=1, work=products(X))


@case
def quadratic_discriminant(shrink: int) -> Iterator[Operation]:
    """QuadraticDiscriminantAnalysis, 1,000,000 rows of 50 float64, 5 classes"""
    X, y = normal_rows(1_000_000 // shrink, 50)
    theirs = discriminant.QuadraticDiscriminantAnalysis
    models = posterior.QuadraticDiscriminantAnalysis, theirs
    peers = [bare_products(X), solver(theirs, "eigen", X, y, 4)]
    yield from fit_and_predict(models, X, y, (20, 6), peers, rounds=1, work=products(X))


@case
def linear_cross_validate(shrink: int) -> Iterator[Operation]:
    """LinearDiscriminantAnalysis, ten folds of 200,000 rows of 50 float64, 5 classes"""
    X, y = normal_rows(200_000 // shrink, 50)
    ours, theirs = posterior.LinearDiscriminantAnalysis(), discriminant.LinearDiscriminantAnalysis()
    refits = partial(cross_val_predict, theirs, X, y, cv=10, method="predict_proba")
    compare = same_accuracy(y)  # the folds need not be the same
    peer = Peer(SKLEARN, refits, 20, lambda a, b: compare(a.proba, b), rounds=1)
    yield Operation("cross_validate", lambda: ours.cross_validate(X, y, folds=10), [peer])


@case
def multinomial(shrink: int) -> Iterator[Operation]:
    """MultinomialNB, CSR of 200,000 rows and 100,000 columns, 80 entries a row, 20 classes"""
    X, y = documents(200_000 // shrink, 100_000)
    yield from fit_and_predict(both("MultinomialNB"), X, y, (5, 5), daal_multinomial(X, y))


@case
def bernoulli(shrink: int) -> Iterator[Operation]:
    """BernoulliNB, CSR of 200,000 rows and 100,000 columns, 80 entries a row, 20 classes"""
    X, y = documents(200_000 // shrink, 100_000)
    yield from fit_and_predict(both("BernoulliNB"), X, y, (5, 5))


@case
def complement(shrink: int) -> Iterator[Operation]:
    """ComplementNB, CSR of 200,000 rows and 100,000 columns, 80 entries a row, 20 classes"""
    X, y = documents(200_000 // shrink, 100_000)
    yield from fit_and_predict(both("ComplementNB"), X, y)


@case
def categorical(shrink: int) -> Iterator[Operation]:
    """CategoricalNB, 1,000,000 rows of 20 columns of 10 values (int64), 5 classes"""
    X, y = categories(1_000_000 // shrink, 20)
    yield from fit_and_predict(both("CategoricalNB"), X, y, (10, 8))


@case
def small(_: int) -> Iterator[Operation]:
    """Iris, 150 rows of 4 columns: every call of the five shared classes"""
    iris, y = load_iris(return_X_y=True)
    tables = {
        "GaussianNB": iris,
        "MultinomialNB": iris,
        "ComplementNB": iris,
        "BernoulliNB": (iris > iris.mean(axis=0)).astype(float),
        "CategoricalNB": iris.astype(int),
    }
    for name, X in tables.items():
        ours, theirs = (every_call(model, X, y) for model in both(name))
        for verb in ours:
            compare = same_model(X) if verb.endswith("fit") else same_values
            yield Operation(f"{name} {verb}", ours[verb], [Peer(SKLEARN, theirs[verb], 1, compare)])


for other_case in (
    *thousand.CASES,
    *growth.CASES,
    *logistic.CASES,
    *mixture.CASES,
    *kmeans.CASES,
    *discretization.CASES,
    *dependence.CASES,
    *containers.CASES,
    *neighbors.CASES,
    *text.CASES,
    *others.CASES,
):
    case(other_case)


def every_call(model: Callable[[], Any], X: Array, y: Array) -> dict[str, Call]:
    classes = np.unique(y)
    fitted, stream = model().fit(X, y), model().partial_fit(X, y, classes)
    return {
        "fit": lambda: model().fit(X, y),
        "first partial_fit": lambda: model().partial_fit(X, y, classes),
        "next partial_fit": lambda: stream.partial_fit(X, y),
        "predict": lambda: fitted.predict(X),
        "predict_proba": lambda: fitted.predict_proba(X),
        "predict_log_proba": lambda: fitted.predict_log_proba(X),
        "score": lambda: fitted.score(X, y),
    }


def both(name: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
    return getattr(posterior, name), getattr(naive_bayes, name)


def fit_and_predict(
    models: tuple[Callable[[], Any], Callable[[], Any]],
    X: Array,
    y: Array,
    targets: tuple[float | None, float | None] = (None, None),
    fit_peers: Iterable[Peer] = (),
    compare: tuple[Compare | None, Compare] | None = None,
    rounds: int | None = None,
    work: Work | None = None,
) -> Iterator[Operation]:
    """Race `fit`, then `predict_proba` of the fitted models; `rounds` of the peer's slow fit."""
    ours, theirs = models
    compare_models, compare_answers = compare or (same_model(X), same_values)
    limit = n_bytes(X) // 4  # "a few chunks, not a copy of X"
    peer = Peer(SKLEARN, lambda: theirs().fit(X, y), targets[0], compare_models, rounds)
    yield Operation("fit", lambda: ours().fit(X, y), [peer, *fit_peers], limit, work or read(X))

    our_model, their_model = ours().fit(X, y), theirs().fit(X, y)
    peer = Peer(SKLEARN, lambda: their_model.predict_proba(X), targets[1], compare_answers)
    out = Work(reads=n_bytes(X) + 8 * len(y) * len(np.unique(y)))
    yield Operation("predict_proba", lambda: our_model.predict_proba(X), [peer], limit, out)


def read(X: Array) -> Work:
    """Every cell once."""
    return Work(reads=n_bytes(X))


def products(X: Array) -> Work:
    """Half of XᵀX, which is symmetric."""
    n, d = X.shape
    return Work(reads=n_bytes(X), flops=n * d * (d + 1.0), single=X.dtype == np.float32)


def bare_sum(X: Array) -> Peer:
    """Two threads that each add up half of X, and nothing else: how fast memory can be read.

    Of np.sum, np.add.reduce, a dot product with ones and einsum, einsum was the fastest.
    """
    halves, pool = np.array_split(X.reshape(-1), 2), ThreadPoolExecutor(2)
    return Peer("bare sum", lambda: sum(pool.map(partial(np.einsum, "i->"), halves)), 0.5)


def bare_products(X: Array, block: int = 2000) -> Peer:
    """Two threads that each multiply half of X by itself, block by block in cache, and nothing
    else: how fast the matrix products alone can be."""
    halves, pool = np.array_split(X, 2), ThreadPoolExecutor(2)

    def multiply(half: Array) -> Array:
        blocks = (half[i : i + block] for i in range(0, len(half), block))
        return sum(x.T @ x for x in blocks)

    def call() -> Array:
        with threadpool_limits(1):
            return sum(pool.map(multiply, halves))

    return Peer("bare products", call, 0.6)


def solver(
    model: Callable[..., Any], name: str, X: Array, y: Array, target: float | None = None
) -> Peer:
    call = partial(model(solver=name).fit, X, y)
    return Peer(f"{SKLEARN} {name}", call, target, same_model(X), rounds=3)


def daal_multinomial(X: Array, y: Array) -> list[Peer]:
    """Intel's multinomial naive Bayes, where an old enough daal4py (2024) is installed."""
    try:
        from daal4py import multinomial_naive_bayes_training as training
    except ImportError:
        return []
    matrix, labels = csr_matrix(X), y.astype(float)[:, None]
    trainer = training(int(y.max()) + 1, method="fastCSR")
    return [Peer("daal4py", lambda: trainer.compute(matrix, labels))]
