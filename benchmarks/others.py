"""Workloads that scikit-learn does not have: river's streams, standard errors, Firth's method."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import optimize
from scipy.special import chdtri, expit
from sklearn import naive_bayes

import posterior
from benchmarks.agreement import same_model
from benchmarks.arrays import Array, normal_rows
from benchmarks.kmeans import absent
from benchmarks.logistic import answers
from benchmarks.timing import Operation, Peer, Quality

BATCHES = 1, 100, 10_000  # rows that come at a time


def stream(shrink: int) -> Iterator[Operation]:
    """GaussianNB, a stream of 10,000 rows of 10 float64, 5 classes, learned as the rows come"""
    X, y = normal_rows(10_000 // shrink, 10)
    one_by_one = river(X, y)
    for size in BATCHES:
        ours, theirs = (
            partial(in_batches, module.GaussianNB, X, y, size)
            for module in (posterior, naive_bayes)
        )
        peers = [Peer("scikit-learn", theirs, None, same_model(X)), one_by_one]
        yield Operation(
            f"learn, {size:,} row{'s' * (size > 1)} at a time",
            ours,
            [peer for peer in peers if peer],
        )


def inference(shrink: int) -> Iterator[Operation]:
    """LogisticRegression without a penalty, 100,000 rows of 20 float64: the table of errors"""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000 // shrink, 20))
    y = answers(rng, X @ rng.normal(0, 0.5, (20, 1)))
    peer = statsmodels(X, y)
    yield Operation("fit and standard errors", lambda: errors(X, y), [peer] if peer else [])


def firth(_: int) -> Iterator[Operation]:
    """LogisticRegression(firth=True), 100 rows of 4 float64, which one column separates"""
    X = np.random.default_rng(0).standard_normal((100, 4))
    y = (X[:, 0] > 0).astype(int)
    model = posterior.LogisticRegression(firth=True)

    def ours() -> Array:
        table = model.fit(X, y).summary().coefficients
        return np.array([table["low"], table["high"]])

    peer = Peer("SciPy, a fit for each point", partial(by_fits, X, y), None, same_ends, rounds=1)
    yield Operation("fit and profile intervals", ours, [peer])


CASES = [stream, inference, firth]


def in_batches(make: Callable[[], Any], X: Array, y: Array, size: int) -> Any:
    model, classes = make(), np.unique(y)
    for i in range(0, len(y), size):
        model.partial_fit(X[i : i + size], y[i : i + size], classes)
    return model


def river(X: Array, y: Array) -> Peer | None:
    """river's GaussianNB, which takes one row at a time."""
    try:
        from river.naive_bayes import GaussianNB
    except ImportError:
        return absent("river")
    rows = [dict(enumerate(row)) for row in X.tolist()]
    labels = y.tolist()

    def call() -> Any:
        model = GaussianNB()
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)
        return model

    def compare(ours: Any, theirs: Any) -> Quality:
        some = rows[:500]
        agree = ours.predict(X[:500]) == [theirs.predict_one(row) for row in some]
        return {"same answers": float(np.mean(agree))}

    return Peer("river, row by row", call, None, compare, rounds=1)


def errors(X: Array, y: Array) -> Array:
    model = posterior.LogisticRegression(C=np.inf, tol=1e-8).fit(X, y)
    return np.asarray(model.summary().coefficients["error"])


def statsmodels(X: Array, y: Array) -> Peer | None:
    try:
        from statsmodels.api import Logit, add_constant
    except ImportError:
        return absent("statsmodels")

    def call() -> Array:
        return np.asarray(Logit(y, add_constant(X)).fit(disp=0).bse)

    def compare(ours: Array, theirs: Array) -> Quality:
        return {"max |Δ|": float(np.abs(np.sort(ours) - np.sort(theirs)).max())}

    return Peer("statsmodels", call, None, compare)


def by_fits(X: Array, y: Array) -> Array:
    """Ends of profile intervals as a root finder meets them: every point is a fit of its own.

    One end differs: this search takes a lower of two maxima there.
    """
    x = np.column_stack([X, np.ones(len(X))])

    def fallen(beta: Array) -> float:
        score = x @ beta
        p = expit(score)
        information = (x.T * (p * expit(-score))) @ x
        likelihood = y @ score - np.logaddexp(0, score).sum()
        return float(-likelihood - 0.5 * np.linalg.slogdet(information)[1])

    best = optimize.minimize(fallen, np.zeros(x.shape[1]))

    def end(j: int, side: float) -> float:
        last = {"start": np.delete(best.x, j)}

        def beyond(b: float) -> float:
            found = optimize.minimize(lambda rest: fallen(np.insert(rest, j, b)), last["start"])
            last["start"] = found.x
            return 2 * float(found.fun - best.fun) - chdtri(1, 0.05)

        reach = 1.0
        while beyond(best.x[j] + side * reach) < 0:
            reach *= 1.5
        inside, outside = best.x[j], best.x[j] + side * reach
        return float(optimize.brentq(beyond, inside, outside, xtol=1e-4))

    return np.array([[end(j, side) for j in range(len(best.x))] for side in (-1.0, 1.0)])


def same_ends(ours: Array, theirs: Array) -> Quality:
    return {"max |Δ| / width": float((np.abs(ours - theirs) / (ours[1] - ours[0])).max())}
