"""Workloads of logistic regression: time to the same objective, to 1e-8 of it.

Every contestant gets the loosest tolerance that comes so near, and so many iterations as fit into
its share of seconds. One that does not arrive is cut: its time is a lower bound, and what it had
reached is told beside it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from sklearn import linear_model

import posterior
from benchmarks import elsewhere
from benchmarks.arrays import Array
from benchmarks.timing import Call, Operation, Peer

SHARE = 12.0  # seconds of one fit of a peer, and of all that are tried before the last
PROBE = 3  # iterations that tell how long one takes
CLOSE = 1e-8  # of the smallest objective found: how near a contestant must come
SETTLED = 1e-6  # of its own objective: liblinear penalizes the intercept, and comes no nearer
TOLERANCES = 10.0 ** -np.arange(4, 10)
MOST = 3_000  # iterations


def logistic_dense(shrink: int) -> Iterator[Operation]:
    """LogisticRegression, 1,000,000 rows of 50 float64, two classes, L2"""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000 // shrink, 50))
    y = answers(rng, X @ rng.normal(0, 0.5, (50, 1)) + 0.3)
    yield fit(X, y, {}, ["lbfgs", "newton-cholesky"], 3, [elsewhere.glum(X, y)])


def logistic_multinomial(shrink: int) -> Iterator[Operation]:
    """LogisticRegression, 200,000 rows of 50 float64, ten classes, L2"""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000 // shrink, 50))
    y = answers(rng, X @ rng.normal(0, 0.5, (50, 10)))
    yield fit(X, y, {}, ["lbfgs"], 3)


def logistic_sparse(shrink: int) -> Iterator[Operation]:
    """LogisticRegression, CSR of 50,000 rows and 25,000 columns, 80 entries a row, L2"""
    X, y = texts(50_000 // shrink, 25_000)
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

    def ours(tol: float, max_iter: int = MOST) -> Any:
        return posterior.LogisticRegression(tol=tol, max_iter=max_iter, **settings)

    best = objective(quiet(ours(1e-8), X, y))
    mine = reaching(ours, X, y, objective, best)
    peers = []
    for solver in solvers:
        theirs = partial(linear_model.LogisticRegression, solver=solver, **settings)
        found = reaching(
            lambda tol, n, make=theirs: make(tol=tol, max_iter=n), X, y, objective, best
        )
        compare = same_objective(objective)
        peers.append(Peer(f"scikit-learn {solver}", found.call, target, compare, 1, found.cut))
    return Operation("fit", mine.call, [*peers, *filter(None, others)])


class Objective:
    """Σ log loss + penalty of a fitted model, the intercept free."""

    def __init__(self, X: Array, y: Array, C: float = 1.0, l1_ratio: float = 0.0) -> None:
        self.X, self.y, self.C, self.ratio = X, y, C, l1_ratio

    def __call__(self, model: Any) -> float:
        own = model.predict_log_proba(self.X)[np.arange(len(self.y)), self.y]
        coef = model.coef_
        size = self.ratio * np.abs(coef).sum() + (1 - self.ratio) / 2 * (coef**2).sum()
        return float(size / self.C - own.sum())


@dataclass(frozen=True, slots=True)
class Found:
    call: Call
    cut: bool  # before it came close


def reaching(
    maker: Callable[[float, int], Any], X: Array, y: Array, objective: Objective, best: float
) -> Found:
    """A fit with the loosest tolerance that comes close within its share of seconds.

    liblinear penalizes the intercept and cannot come close to the others' objective: it gets the
    tolerance at which its own result hardly changes.
    """
    start = time.perf_counter()
    quiet(maker(TOLERANCES[-1], PROBE), X, y)
    most = max(1, min(MOST, int(PROBE * SHARE / (time.perf_counter() - start))))
    start, before = time.perf_counter(), np.inf
    for tol in TOLERANCES:
        begun = time.perf_counter()
        model = quiet(maker(tol, most), X, y)
        value = objective(model)
        settled = abs(before - value) <= SETTLED * value and model.solver == "liblinear"
        arrived = value <= best * (1 + CLOSE) or settled
        tired = np.max(model.n_iter_) >= most  # no tolerance will change that
        now = time.perf_counter()
        if arrived or tired or now - start + (now - begun) > SHARE:
            break
        before = value
    return Found(lambda: quiet(maker(tol, most), X, y), not arrived)


def quiet(model: Any, X: Array, y: Array) -> Any:
    """The fitted model; that its iterations may end before it converges is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def same_objective(objective: Objective) -> Callable[[Any, Any], dict[str, float]]:
    def compare(ours: Any, theirs: Any) -> dict[str, float]:
        mine, other = objective(ours), objective(theirs)
        return {"objective": mine, "peer above it": (other - mine) / mine}

    return compare
