"""Workloads of logistic regression: time to the same objective, to 1e-8 of it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from sklearn import linear_model

import posterior
from benchmarks.arrays import Array
from benchmarks.timing import Call, Operation, Peer

LONG = 20.0  # seconds of a fit after which no tighter tolerance is tried
CLOSE = 1e-8  # of the smallest objective found: how near a contestant must come
SETTLED = 1e-6  # of its own objective: liblinear penalizes the intercept, and comes no nearer
TOLERANCES = 10.0 ** -np.arange(3, 10)


def logistic_dense(shrink: int) -> Iterator[Operation]:
    """LogisticRegression, 1,000,000 rows of 50 float64, two classes, L2"""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000 // shrink, 50))
    y = answers(rng, X @ rng.normal(0, 0.5, (50, 1)) + 0.3)
    yield fit(X, y, {}, ["lbfgs", "newton-cholesky"], 3, [glum(X, y)])


def logistic_multinomial(shrink: int) -> Iterator[Operation]:
    """LogisticRegression, 200,000 rows of 50 float64, ten classes, L2"""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000 // shrink, 50))
    y = answers(rng, X @ rng.normal(0, 0.5, (50, 10)))
    yield fit(X, y, {}, ["lbfgs"], 3)


def logistic_sparse(shrink: int) -> Iterator[Operation]:
    """LogisticRegression, CSR of 200,000 rows and 100,000 columns, 80 entries a row, L2"""
    X, y = texts(200_000 // shrink, 100_000)
    yield fit(X, y, {}, ["lbfgs", "liblinear", "saga"], 3)


def logistic_lasso(shrink: int) -> Iterator[Operation]:
    """LogisticRegression, CSR of 200,000 rows and 100,000 columns, 80 entries a row, L1"""
    X, y = texts(200_000 // shrink, 100_000)
    yield fit(X, y, {"l1_ratio": 1.0, "C": 0.1}, ["liblinear", "saga"], 2)


def logistic_small(_: int) -> Iterator[Operation]:
    """LogisticRegression, 1,000 rows of 20 float64, two classes, as the defaults are"""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000, 20))
    y = answers(rng, X @ rng.normal(0, 0.5, (20, 1)))
    ours, theirs = posterior.LogisticRegression(), linear_model.LogisticRegression()
    peer = Peer("scikit-learn", lambda: theirs.fit(X, y), 1)
    yield Operation("fit", lambda: ours.fit(X, y), [peer])
    peer = Peer("scikit-learn", lambda: theirs.predict_proba(X), 1)
    yield Operation("predict_proba", lambda: ours.predict_proba(X), [peer])


CASES = [logistic_dense, logistic_multinomial, logistic_sparse, logistic_lasso, logistic_small]


def answers(rng: np.random.Generator, scores: Array) -> Array:
    """Classes drawn from the model itself."""
    if scores.shape[1] == 1:
        return (scores[:, 0] + rng.logistic(size=len(scores)) > 0).astype(int)
    return (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def texts(n: int, d: int, entries: int = 80) -> tuple[Array, Array]:
    """Word counts, frequent words first, of which some hundred tell two classes apart."""
    rng = np.random.default_rng(0)
    columns = np.sort((rng.random((n, entries)) ** 2 * d).astype(np.int32), axis=1)
    counts = rng.geometric(0.6, columns.size).astype(float)
    starts = np.arange(0, columns.size + 1, entries, dtype=np.int32)
    X = scipy.sparse.csr_array((counts, columns.ravel(), starts), shape=(n, d))
    X.sum_duplicates()
    weight = np.zeros((d, 1))
    weight[rng.permutation(d // 10)[:500]] = rng.normal(0, 1, (500, 1))
    return X, answers(rng, X @ weight)


def fit(
    X: Array,
    y: Array,
    settings: dict[str, Any],
    solvers: Sequence[str],
    target: float,
    others: Sequence[Peer | None] = (),
) -> Operation:
    """Every contestant with the loosest tolerance that reaches the same objective."""
    objective = Objective(X, y, **settings)
    make = {
        "posterior": lambda tol: posterior.LogisticRegression(tol=tol, max_iter=3000, **settings)
    }
    for solver in solvers:
        make[solver] = lambda tol, solver=solver: linear_model.LogisticRegression(
            solver=solver, tol=tol, max_iter=50 if solver == "saga" else 3000, **settings
        )
    best = objective(posterior.LogisticRegression(tol=1e-8, max_iter=3000, **settings).fit(X, y))
    calls = {name: reaching(maker, X, y, objective, best) for name, maker in make.items()}
    peers = [
        Peer(f"scikit-learn {name}", calls[name], target, same_objective(objective), rounds=1)
        for name in solvers
    ]
    return Operation("fit", calls["posterior"], [*peers, *filter(None, others)])


class Objective:
    """Σ log loss + penalty of a fitted model, the intercept free."""

    def __init__(self, X: Array, y: Array, C: float = 1.0, l1_ratio: float = 0.0) -> None:
        self.X, self.y, self.C, self.ratio = X, y, C, l1_ratio

    def __call__(self, model: Any) -> float:
        own = model.predict_log_proba(self.X)[np.arange(len(self.y)), self.y]
        coef = model.coef_
        size = self.ratio * np.abs(coef).sum() + (1 - self.ratio) / 2 * (coef**2).sum()
        return float(size / self.C - own.sum())


def reaching(
    maker: Callable[[float], Any], X: Array, y: Array, objective: Objective, best: float
) -> Call:
    """A fit with the loosest tolerance that comes close, or that already takes long.

    liblinear penalizes the intercept and cannot come close to the others' objective: it gets the
    tolerance at which its own result hardly changes.
    """
    before = np.inf
    for tol in TOLERANCES:
        model, start = maker(tol), time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = objective(model.fit(X, y))
        settled = abs(before - value) <= SETTLED * value and model.solver == "liblinear"
        tired = np.max(model.n_iter_) >= model.max_iter  # no tolerance will change that
        close = value <= best * (1 + CLOSE)
        if close or settled or tired or time.perf_counter() - start > LONG:
            break
        before = value

    def call() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return maker(tol).fit(X, y)

    return call


def same_objective(objective: Objective) -> Callable[[Any, Any], dict[str, float]]:
    def compare(ours: Any, theirs: Any) -> dict[str, float]:
        mine, other = objective(ours), objective(theirs)
        return {"objective": mine, "peer above it": (other - mine) / mine}

    return compare


def glum(X: Array, y: Array) -> Peer | None:
    """glum, where it is installed: the same penalty, per row."""
    try:
        from glum import GeneralizedLinearRegressor
    except ImportError:
        return None
    model = GeneralizedLinearRegressor(
        family="binomial", alpha=1 / len(y), l1_ratio=0, gradient_tol=1e-7
    )
    return Peer("glum", lambda: model.fit(X, y), 3, rounds=2)
