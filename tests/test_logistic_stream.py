"""Streams of logistic regression: `fit` on all rows so far, in any order and in any chunks."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics import log_loss

from posterior import LogisticRegression, SeparationWarning, to_sql
from posterior.discriminative.reservoir import Reservoir

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore::posterior.SeparationWarning")]


def table(n, n_classes=2, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4)) * [1.0, 10.0, 0.1, 1.0] + [0, 0, 0, 100]
    scores = (X - [0, 0, 0, 100]) @ random.normal(size=(4, n_classes)) * 0.5
    return X, (scores + random.gumbel(size=scores.shape)).argmax(axis=1)


def streamed(X, y, chunk, weight=None, **settings):
    model = LogisticRegression(**settings)
    for i in range(0, len(y), chunk):
        some = slice(i, i + chunk)
        model.partial_fit(X[some], y[some], sample_weight=None if weight is None else weight[some])
    return model


ORDERS = {
    "shuffled": lambda y: np.arange(len(y)),
    "sorted by class": lambda y: np.argsort(y, kind="stable"),
    "sorted by class, the other way": lambda y: np.argsort(-y, kind="stable"),
}


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("chunk", [1, 5, 200])
def test_a_stream_is_a_fit(chunk, order, n_classes, C):
    """Row by row it gave coefficients of 0 or of 2e18, and chance for an answer."""
    X, y = table(250 if chunk == 1 else 1000, n_classes)
    index = ORDERS[order](y)
    stream = streamed(X[index], y[index], chunk, C=C)
    whole = LogisticRegression(C=C).fit(X, y)
    assert stream.classes_.tolist() == whole.classes_.tolist()
    worse = log_loss(y, stream.predict_proba(X)) - log_loss(y, whole.predict_proba(X))
    assert abs(worse) < 1e-5  # the newest hundredth of the rows came by single steps
    assert_allclose(stream.decision_function(X), whole.decision_function(X), atol=0.02)


@pytest.mark.parametrize(
    "settings",
    [
        {"l1_ratio": 1.0, "C": 0.1},
        {"l1_ratio": 0.5, "C": 0.1},
        {"class_weight": "balanced"},
        {"class_weight": {0: 1.0, 1: 3.0}},
        {"fit_intercept": False},
        {"firth": True},
        {"solver": "lbfgs"},
        {"prior": {0: (1.0, 0.1)}},
    ],
    ids=str,
)
def test_every_setting_streams(settings):
    X, y = table(606)
    X[:, 3] -= 100  # a lasso has no better coordinates than the columns themselves
    random = np.random.default_rng(1)
    weight = random.integers(0, 3, len(y)).astype(float)
    stream, whole = streamed(X, y, 6, weight, **settings), LogisticRegression(**settings)
    whole.fit(X, y, weight)
    assert_allclose(stream.decision_function(X), whole.decision_function(X), atol=0.05)


def test_sparse_and_dense_rows_of_a_stream_are_one():
    X, y = table(300)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    whole = LogisticRegression().fit(X, y)
    for first, then in ((sparse.csr_array, np.asarray), (np.asarray, sparse.csr_array)):
        model = LogisticRegression().partial_fit(first(X[:100]), y[:100])
        model.partial_fit(then(X[100:]), y[100:])
        assert_allclose(model.coef_, whole.coef_, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("chunk", [1, 40])
def test_a_stream_of_frames_learns_levels_and_gaps_as_they_come(frame, chunk):
    random = np.random.default_rng(0)
    n = 400
    words = random.choice(["b", "c", "d", "a"], n, p=[0.4, 0.3, 0.2, 0.1])
    size = np.where(random.random(n) < 0.2, np.nan, random.normal(size=n))
    y = np.where((words == "a") + random.normal(size=n) > 0.5, "yes", "no")
    cells = {
        "size": [None if np.isnan(v) else float(v) for v in size],
        "word": [None if random.random() < 0.1 else str(w) for w in words],
        "flag": [bool(v) for v in random.random(n) < 0.3],
        "number": random.normal(size=n).tolist(),
    }
    parts = [{k: v[i : i + chunk] for k, v in cells.items()} for i in range(0, n, chunk)]
    model = LogisticRegression()
    for i, part in enumerate(parts):
        model.partial_fit(frame(part), y[i * chunk : (i + 1) * chunk])
    whole = LogisticRegression().fit(frame(cells), y)
    assert model.encoding_.names().tolist() == whole.encoding_.names().tolist()
    asked = frame(cells)
    assert_allclose(model.predict_proba(asked), whole.predict_proba(asked), atol=0.01)
    with pytest.raises(ValueError, match="Expected a number in column 'number', as in the rows"):
        model.partial_fit(frame({k: v[:1] for k, v in cells.items()} | {"number": ["x"]}), y[:1])
    with pytest.raises(TypeError, match="Expected a frame, as the rows before"):
        model.partial_fit(np.zeros((1, 4)), y[:1])


def test_the_name_of_the_target_is_enough():
    rows = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "b", "a", "b"]})
    by_name = LogisticRegression().partial_fit(rows, "y")
    assert_allclose(by_name.coef_, LogisticRegression().fit(rows, "y").coef_)


def test_one_class_is_certain_until_another_comes():
    model = LogisticRegression().partial_fit([[1.0], [2.0]], ["b", "b"])
    assert model.predict_proba([[3.0]]).tolist() == [[1.0]]
    assert model.predict([[3.0]]).tolist() == ["b"]
    assert model.evidence([[3.0]]).terms.shape == (1, 1, 1)
    model.partial_fit([[-1.0], [-2.0]], ["a", "a"])
    assert_allclose(
        model.predict_proba([[3.0]]),
        LogisticRegression()
        .fit([[1.0], [2.0], [-1.0], [-2.0]], ["b", "b", "a", "a"])
        .predict_proba([[3.0]]),
        atol=1e-6,
    )
    assert "p_a" in to_sql(LogisticRegression().partial_fit(pd.DataFrame({"x": [1.0]}), ["a"]))


def test_classes_named_beforehand_close_the_set():
    X, y = table(50)
    model = LogisticRegression().partial_fit(X, y, classes=[0, 1, 2])
    assert model.predict_proba(X).shape == (50, 3) and model.predict_proba(X)[:, 2].max() < 0.02
    with pytest.raises(ValueError, match=r"got \[7\]\. Name all"):
        model.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X[:1], [1], classes=[0, 1])
    with pytest.raises(TypeError, match="do not add up"):
        model.merge(model)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_a_stream_goes_on_from_a_fit(form):
    X, y = table(300, 3)
    weight = np.random.default_rng(0).random(300)
    model = LogisticRegression().fit(form(X[:200]), y[:200], weight[:200])
    model.partial_fit(form(X[200:]), y[200:], sample_weight=weight[200:])
    whole = LogisticRegression().fit(form(X), y, weight)
    assert_allclose(model.predict_proba(form(X)), whole.predict_proba(form(X)), atol=1e-6)


def test_a_stream_goes_on_from_the_fit_of_a_mixed_frame():
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"x": random.normal(size=200), "k": random.choice(list("bcda"), 200)})
    rows.loc[::5, "x"], rows.loc[::7, "k"], y = np.nan, None, random.integers(0, 2, 200)
    first = rows["k"] != "a"  # which comes later
    model = LogisticRegression().fit(rows[first], y[first]).partial_fit(rows[~first], y[~first])
    whole = LogisticRegression().fit(rows, y)
    assert model.encoding_.names().tolist() == whole.encoding_.names().tolist()
    assert_allclose(model.predict_proba(rows), whole.predict_proba(rows), atol=1e-6)


def test_a_stream_does_not_go_on_from_a_fit_whose_rows_are_gone():
    X, y = table(50)
    for model in (
        copy.deepcopy(LogisticRegression().fit(X, y)),
        LogisticRegression(class_weight="balanced").fit(X, y),
        LogisticRegression().fit(X, y, offset=np.ones(50)),
    ):
        with pytest.raises(ValueError, match=r"fit\(\) has learned from rows in memory"):
            model.partial_fit(X, y)
    stream = LogisticRegression().partial_fit(X, y)
    with pytest.raises(ValueError, match="does not keep them"):
        stream.summary()
    assert_allclose(stream.fit(X, y).coef_, LogisticRegression().fit(X, y).coef_)


def test_rows_of_no_weight_do_not_matter():
    X, y = table(200)
    model = LogisticRegression().partial_fit(X[:3], y[:3], sample_weight=[0, 0, 1])
    model.partial_fit(X[3:], y[3:])
    whole = LogisticRegression().fit(X[2:], y[2:])
    assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-4)


def test_firth_answers_shares_until_the_rows_determine_its_coefficients():
    X, y = table(100)
    model = LogisticRegression(firth=True).partial_fit(X[:3], [0, 0, 1])
    assert_allclose(model.predict_proba(X[:1]), [[2.5 / 4, 1.5 / 4]])
    model.partial_fit(X[3:], y[3:])
    whole = LogisticRegression(firth=True).fit(X, [0, 0, 1, *y[3:]])
    assert_allclose(model.coef_, whole.coef_, rtol=1e-6)


def test_the_rows_that_a_stream_keeps_are_its_own():
    X, y = table(100)
    model, mine = LogisticRegression().partial_fit(X[:50], y[:50]), X[50:].copy()
    model.partial_fit(mine, y[50:])
    before = LogisticRegression().fit(X, y)
    mine[:] = 0.0
    model.partial_fit(X[:9], y[:9])
    after = LogisticRegression().fit(np.vstack([X, X[:9]]), np.append(y, y[:9]))
    assert_allclose(model.coef_, after.coef_, atol=0.02)
    assert np.abs(model.coef_ - before.coef_).max() > 0


def test_separated_rows_of_a_stream_are_named():
    x = np.arange(40.0)[:, None]
    y = (x[:, 0] > 19).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(C=np.inf).partial_fit(x[18:22], y[18:22])  # any four might be
    with pytest.warns(SeparationWarning, match=r"by column\(s\) 0"):
        model.partial_fit(x, y)


@pytest.mark.parametrize("order", ORDERS)
def test_a_stream_longer_than_its_memory_is_learned_from_a_sample(order, monkeypatch):
    monkeypatch.setattr("posterior.discriminative.logistic_stream.ROOM", 1000)
    X, y = table(12_000, 3)
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.9, np.minimum(y, 1), y)  # 2 is rare
    index = ORDERS[order](y)
    stream = streamed(X[index], y[index], 50)
    assert sum(map(len, stream.fitted_.stream.kept)) <= 3200  # 200 for each of 15 coefficients
    assert sum(part.n_seen for part in stream.fitted_.stream.kept) == len(y)
    whole = LogisticRegression().fit(X, y)
    worse = log_loss(y, stream.predict_proba(X)) - log_loss(y, whole.predict_proba(X))
    assert worse < 0.01


def test_equal_rows_take_the_room_of_one(monkeypatch):
    monkeypatch.setattr("posterior.discriminative.logistic_stream.ROOM", 100)
    monkeypatch.setattr("posterior.discriminative.logistic_stream.EACH", 1)
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (3000, 4)).astype(float)
    y = (X @ [1, -1, 0.5, 0] + random.logistic(size=3000) > 0).astype(int)
    for form in (np.asarray, sparse.csr_array):
        stream = LogisticRegression()
        for i in range(0, 3000, 100):
            stream.partial_fit(form(X[i : i + 100]), y[i : i + 100])
        assert_allclose(stream.coef_, LogisticRegression().fit(X, y).coef_, atol=1e-6)


def test_thinned_rows_count_for_all_in_expectation():
    random = np.random.default_rng(0)
    X, codes = random.normal(size=(900, 2)), np.repeat([0, 1, 2], [600, 290, 10]).astype(np.int32)
    weight = random.exponential(size=900) ** 3
    sums = []
    for seed in range(300):
        kept = Reservoir(X, codes, weight, seed).within(200)
        assert len(kept) <= 100
        assert_allclose(kept.class_weight(3), np.bincount(codes, weight))
        assert np.bincount(kept.codes, minlength=3)[2] == 10  # a rare class stays
        sums.append(kept.weight @ kept.X)
    error = np.std(sums, axis=0) / np.sqrt(len(sums))
    assert (np.abs(np.mean(sums, axis=0) - weight @ X) < 4 * error).all()
