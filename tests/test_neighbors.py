"""k nearest neighbors: the vote, the choice of k, and what the drop-in promises."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier as Theirs
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import posterior
from posterior.estimators.neighbors import KNeighborsClassifier
from posterior.neighbors import votes
from posterior.neighbors.select_k import candidates

ALGORITHMS = ("auto", "brute", "kd_tree", "ball_tree")


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def table():
    """Three classes in five columns, and queries; no two distances are equal."""
    X, y = make_classification(
        400, 5, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.2, random_state=0
    )
    return X[:300], y[:300], X[300:]


def naive(X, y, Q, k, n_classes, weight=None, smoothing=0.0):
    """The definition, row by row."""
    weight = np.ones(len(X)) if weight is None else weight
    prior = votes.shares(np.bincount(y, weight, n_classes))
    out = np.zeros((len(Q), n_classes))
    for i, distances in enumerate(cdist(Q, X)):
        left = k
        for j in sorted(range(len(X)), key=lambda j: (distances[j], j)):
            part = min(weight[j], left)
            out[i, y[j]] += part
            left -= part
        out[i] = (out[i] + smoothing * prior) / (out[i].sum() + smoothing)
    return out


# The vote


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("smoothing", [0.0, 2.5])
def test_probabilities_are_those_of_the_definition(table, algorithm, smoothing):
    X, y, Q = table
    model = KNeighborsClassifier(7, algorithm=algorithm, smoothing=smoothing).fit(X, y)
    assert_allclose(model.predict_proba(Q), naive(X, y, Q, 7, 3, smoothing=smoothing), rtol=1e-13)


@given(
    cells=st.lists(st.integers(0, 3), min_size=6, max_size=12),
    weight=st.lists(st.integers(0, 3), min_size=12, max_size=12),
    k=st.integers(1, 4),
)
def test_a_weight_of_two_is_two_rows_and_of_zero_none(cells, weight, k):
    X = np.array(cells, np.float64)[:, None] + np.arange(len(cells))[:, None] * 1e-3
    y, w = np.arange(len(cells)) % 3, np.array(weight[: len(cells)])
    if w.sum() < k:
        return
    weighted = KNeighborsClassifier(k, smoothing=1).fit(X, y, sample_weight=w)
    repeated = KNeighborsClassifier(k, smoothing=1).fit(np.repeat(X, w, 0), np.repeat(y, w))
    Q = np.linspace(-1, 4, 7)[:, None]
    places = np.searchsorted(weighted.classes_, repeated.classes_)
    if len(places) == len(weighted.classes_):  # the prior knows of classes that have no weight
        assert_allclose(weighted.predict_proba(Q), repeated.predict_proba(Q), atol=1e-13)
    bare = clone(weighted).set_params(smoothing=0).fit(X, y, sample_weight=w)
    again = clone(repeated).set_params(smoothing=0).fit(np.repeat(X, w, 0), np.repeat(y, w))
    assert_allclose(bare.predict_proba(Q)[:, places], again.predict_proba(Q), atol=1e-13)


def test_parts_of_rows_vote_until_k_rows_are_together(table):
    X, y, Q = table
    weight = np.random.default_rng(0).uniform(0.05, 0.6, len(X))
    weight[::5] = 0
    model = KNeighborsClassifier(3).fit(X, y, sample_weight=weight)
    assert_allclose(model.predict_proba(Q), naive(X, y, Q, 3, 3, weight), rtol=1e-10, atol=1e-12)


def test_rows_without_weight_are_nobodys_neighbors():
    X, y, w = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], [0, 1, 1, 1]
    model = KNeighborsClassifier(2).fit(X, y, sample_weight=w)
    assert model.kneighbors([[0.1]], return_distance=False).tolist() == [[1, 2]]
    assert model.kneighbors(None, 1, return_distance=False).tolist() == [[1], [2], [1], [2]]
    assert model.kneighbors_graph([[0.1]]).shape == (1, 4)


def test_equal_distances_go_by_the_number_of_the_row():
    X = [[1.0], [-1.0], [1.0], [-1.0], [3.0]]
    for algorithm in ALGORITHMS:
        model = KNeighborsClassifier(3, algorithm=algorithm).fit(X, [0, 1, 0, 1, 1])
        assert model.kneighbors([[0.0]])[1].tolist() == [[0, 1, 2]]
        assert model.kneighbors(None)[1].tolist()[0] == [2, 1, 3]


def test_a_neighbor_at_distance_zero_has_all_the_say():
    model = KNeighborsClassifier(3, weights="distance").fit([[0.0], [0.0], [1.0]], [0, 1, 1])
    assert_array_equal(model.predict_proba([[0.0]]), [[0.5, 0.5]])
    assert_allclose(model.predict_proba([[1e-300]]), [[0.5, 0.5]])
    inverse = KNeighborsClassifier(3, weights=lambda d: 1 / d).fit([[0.0], [0.0], [1.0]], [0, 1, 1])
    assert_array_equal(inverse.predict_proba([[0.0]]), [[0.5, 0.5]])


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (lambda d: -d, "not negative"),
        (lambda d: d[:, :1], "shape"),
        (lambda d: d * np.nan, "not negative"),
        (lambda d: 0 * d, "zero weights"),
    ],
)
def test_weights_that_have_no_meaning_are_refused(rule, said):
    model = KNeighborsClassifier(2, weights=rule).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=said):
        model.predict([[0.3]])


def test_votes_are_added_up_by_class():
    codes, worth = np.array([[0, 2, 0], [1, 1, 2]]), np.array([[1.0, 2, 3], [4, 5, 6]])
    assert_array_equal(votes.tally(codes, worth, 3), [[4, 0, 2], [0, 9, 6]])


# Agreement with scikit-learn


@pytest.mark.parametrize("weights", ["uniform", "distance", None])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "metric",
    ["euclidean", "manhattan", "chebyshev", "cosine", "correlation", "canberra", "braycurtis"],
)
def test_answers_are_those_of_scikit_learn(table, metric, dtype, weights):
    X, y, Q = table
    if metric == "braycurtis":  # SciPy's and scikit-learn's are the same where nothing is negative
        X, Q = np.abs(X), np.abs(Q)
    X, Q = X.astype(dtype), Q.astype(dtype)
    ours, theirs = (
        cls(6, metric=metric, weights=weights, algorithm="brute").fit(X, y)
        for cls in (KNeighborsClassifier, Theirs)
    )
    tolerance = 1e-10 if dtype is np.float64 else 1e-3
    assert_array_equal(ours.kneighbors(Q)[1], theirs.kneighbors(Q)[1])
    assert_allclose(ours.kneighbors(Q)[0], theirs.kneighbors(Q)[0], rtol=tolerance, atol=1e-5)
    assert_allclose(ours.predict_proba(Q), theirs.predict_proba(Q), rtol=tolerance, atol=1e-4)
    assert_array_equal(ours.predict(Q), theirs.predict(Q))


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, np.inf])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_powers_are_those_of_scikit_learn(table, p, algorithm):
    X, y, Q = table
    ours, theirs = (
        cls(6, p=p, algorithm=algorithm).fit(X, y) for cls in (KNeighborsClassifier, Theirs)
    )
    assert ours.effective_metric_ == theirs.effective_metric_
    for a, b in zip(ours.kneighbors(Q), theirs.kneighbors(Q), strict=True):
        assert_allclose(a, b, rtol=1e-10)
    for a, b in zip(ours.kneighbors(), theirs.kneighbors(), strict=True):
        assert_allclose(a, b, rtol=1e-10)


@pytest.mark.parametrize(
    ("metric", "settings"),
    [
        ("minkowski", {"p": 3, "w": [1, 2, 3, 4, 5]}),
        ("seuclidean", {"V": [1, 2, 3, 4, 5]}),
        ("mahalanobis", {"VI": np.diag([1.0, 2, 3, 4, 5])}),
        ("sqeuclidean", None),
        (lambda a, b: abs(a - b).sum(), None),
    ],
)
def test_metrics_with_settings_are_those_of_scikit_learn(table, metric, settings):
    X, y, Q = table
    ours, theirs = (
        cls(6, p=None, metric=metric, metric_params=settings, algorithm="brute").fit(X, y)
        for cls in (KNeighborsClassifier, Theirs)
    )
    for a, b in zip(ours.kneighbors(Q[:20]), theirs.kneighbors(Q[:20]), strict=True):
        assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize("metric", ["hamming", "jaccard", "dice"])
def test_sets_are_compared_as_in_scikit_learn(metric):
    X = np.random.default_rng(0).integers(0, 2, (40, 9)).astype(bool)
    X[:, 1] = ~X[:, 0]
    y = X[:, 0].astype(int)
    ours, theirs = (
        cls(4, metric=metric, algorithm="brute").fit(X, y) for cls in (KNeighborsClassifier, Theirs)
    )
    assert_allclose(ours.kneighbors(X)[0], theirs.kneighbors(X)[0])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_sparse_rows_have_the_neighbors_of_dense_ones(metric):
    random = np.random.default_rng(0)
    X = random.random((80, 12)) * (random.random((80, 12)) > 0.6) + np.eye(80, 12)
    y = random.integers(0, 3, 80)
    dense = KNeighborsClassifier(4, metric=metric, algorithm="brute").fit(X, y)
    model = KNeighborsClassifier(4, metric=metric).fit(sparse.csr_array(X), y)
    for Q in (X, sparse.csr_array(X), sparse.coo_matrix(X)):
        for a, b in zip(model.kneighbors(Q), dense.kneighbors(Q), strict=True):
            assert_allclose(a, b, atol=1e-7)
    assert model.search_.name == "brute"


def test_distances_may_be_given(table):
    X, y, Q = table
    given = cdist(X, X), cdist(Q, X)
    plain = KNeighborsClassifier(4).fit(X, y)
    model = KNeighborsClassifier(4, metric="precomputed").fit(given[0], y)
    for asked, distances in ((Q, given[1]), (None, None)):
        for a, b in zip(plain.kneighbors(asked), model.kneighbors(distances), strict=True):
            assert_allclose(a, b)
    graph = plain.kneighbors_graph(X, 9, mode="distance")
    near = KNeighborsClassifier(4, metric="precomputed").fit(graph, y)
    assert_array_equal(near.kneighbors(None)[1], plain.kneighbors(None)[1])
    with pytest.raises(ValueError, match="neighbors per samples are required"):
        near.kneighbors(graph, 10)
    w = np.r_[np.zeros(100), np.ones(200)]
    some = KNeighborsClassifier(4, metric="precomputed").fit(given[0], y, sample_weight=w)
    assert_array_equal(
        some.predict_proba(given[1]), plain.fit(X, y, sample_weight=w).predict_proba(Q)
    )


def test_several_outputs_are_answered_each(table):
    X, y, Q = table
    Y = np.stack([y, y == 1], axis=1)
    model = KNeighborsClassifier(5, weights="distance", smoothing=1).fit(X, Y)
    assert model.outputs_2d_
    for o in range(2):
        one = KNeighborsClassifier(5, weights="distance", smoothing=1).fit(X, Y[:, o])
        assert_array_equal(model.predict(Q)[:, o], one.predict(Q))
        assert_array_equal(model.predict_proba(Q)[o], one.predict_proba(Q))


def test_it_works_in_pipelines_searches_and_graphs(iris):
    X, y = iris
    search = GridSearchCV(
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 5, 15]},
    ).fit(X, y)
    assert search.best_score_ > 0.94
    model = KNeighborsClassifier(3).fit(X, y)
    assert kneighbors_graph(model, 3).sum() == 3 * len(X)
    assert cross_val_score(model, X, y).mean() > 0.94


def test_k_and_the_rule_can_be_changed_after_the_fit(iris):
    X, y = iris
    model = KNeighborsClassifier(3).fit(X, y)
    model.set_params(n_neighbors=9, weights="distance")
    assert_array_equal(
        model.predict_proba(X + 0.01),
        KNeighborsClassifier(9, weights="distance").fit(X, y).predict_proba(X + 0.01),
    )


# Leave one out, and the choice of k


@pytest.mark.parametrize("smoothing", [0.0, 1.5])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_asking_about_nothing_is_leaving_one_out(table, weights, smoothing):
    X, y = table[0][:60], table[1][:60]
    w = np.random.default_rng(1).uniform(0.5, 2, 60)
    model = KNeighborsClassifier(4, weights=weights, smoothing=smoothing)
    left_out = []
    for i in range(60):
        rest = np.arange(60) != i
        left_out.append(clone(model).fit(X[rest], y[rest], w[rest]).predict_proba(X[[i]])[0])
    assert_allclose(model.fit(X, y, w).predict_proba(None), left_out, rtol=1e-12, atol=1e-15)
    assert model.score(None, y) == np.mean(np.argmax(left_out, axis=1) == y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", ["uniform", "distance"])
def test_the_table_of_the_choice_is_that_of_so_many_fits(table, weighted, rule):
    X, y = table[0][:120], table[1][:120]
    w = np.random.default_rng(1).uniform(0.5, 2, 120) if weighted else np.ones(120)
    given = w if weighted else None
    model = KNeighborsClassifier([1, 3, 8, 20], smoothing=1.0, weights=rule).fit(X, y, given)
    table_ = model.selection_
    for i, k in enumerate([1, 3, 8, 20]):
        one = KNeighborsClassifier(k, smoothing=1.0, weights=rule).fit(X, y, given)
        p = one.predict_proba(None)
        loss = -np.log(p[np.arange(120), y])
        assert_allclose(table_["log_loss"][i], np.average(loss, weights=w))
        assert_allclose(table_["error"][i], np.average(p.argmax(axis=1) != y, weights=w))
    if not weighted:
        assert_allclose(table_["log_loss_se"][-1], loss.std() / np.sqrt(120))
    assert model.n_neighbors_ == [1, 3, 8, 20][int(np.argmin(table_["log_loss"]))]
    assert (table_["smoothing"] == 1.0).all()


def test_auto_chooses_k_and_smoothing_of_least_log_loss(table):
    X, y, Q = table
    model = KNeighborsClassifier("auto").fit(X, y)
    best = int(np.argmin(model.selection_["log_loss"]))
    assert model.n_neighbors_ == model.selection_["n_neighbors"][best]
    assert model.smoothing_ == model.selection_["smoothing"][best] > 0
    assert_allclose(
        model.predict_proba(Q),
        naive(X, y, Q, model.n_neighbors_, 3, smoothing=model.smoothing_),
        rtol=1e-12,
    )
    fixed = KNeighborsClassifier(7, smoothing="auto").fit(X, y)
    assert fixed.n_neighbors_ == 7 and len(fixed.selection_) == 1 and fixed.smoothing_ > 0
    assert not hasattr(fixed.set_params(smoothing=None).fit(X, y), "selection_")


def test_chunks_of_rows_choose_the_same(table, monkeypatch):
    X, y, _ = table
    whole = KNeighborsClassifier("auto").fit(X, y).selection_
    monkeypatch.setattr("posterior.neighbors.select_k.CELLS", 0)
    monkeypatch.setattr("posterior.neighbors.select_k.LEAST", 50)
    parts = KNeighborsClassifier("auto").fit(X, y).selection_
    for name in whole.columns:
        assert_allclose(parts[name], whole[name], rtol=1e-12)


def test_numbers_to_choose_from_stay_below_the_number_of_rows():
    assert candidates(2).tolist() == [1]
    assert candidates(10).max() == 9
    assert candidates(10**6).max() == 200
    assert (np.diff(candidates(10**4)) > 0).all()


def test_the_choice_has_a_picture(iris):
    pytest.importorskip("altair")
    from posterior.plots.neighbors import error_by_k

    chart = error_by_k(KNeighborsClassifier("auto").fit(*iris))
    assert len(chart.to_dict()["vconcat"]) == 2
    bare = KNeighborsClassifier(range(1, 6), smoothing=0.0).fit(*iris)
    assert "How many neighbors" in str(error_by_k(bare).to_dict())
    with pytest.raises(ValueError, match="chose its number"):
        error_by_k(KNeighborsClassifier(5).fit(*iris))


# Rows that come and go


def fitted(X, y, **settings):
    return KNeighborsClassifier(3, **settings).fit(X, y)


def same_model(a, b, Q):
    assert_array_equal(a.classes_, b.classes_)
    assert a.n_samples_fit_ == b.n_samples_fit_
    for one, other in zip(a.kneighbors(Q), b.kneighbors(Q), strict=True):
        assert_array_equal(one, other)
    assert_array_equal(a.predict_proba(Q), b.predict_proba(Q))


def test_a_stream_gives_the_model_of_all_its_rows(iris):
    X, y = iris
    stream = KNeighborsClassifier(3).partial_fit(X[:40], y[:40])
    for i in range(40, 150, 30):
        stream.partial_fit(X[i : i + 30], y[i : i + 30])
    same_model(stream, fitted(X, y), X)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, np.float32])
def test_rows_taken_back_leave_no_trace(iris, make):
    X, y = make(iris[0]), iris[1]
    model = fitted(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    same_model(model.forget(X[100:], y[100:]), fitted(X[:100], y[:100]), X)


def test_what_was_never_there_cannot_be_taken_back(iris):
    X, y = iris
    model = fitted(X, y)
    before = dict(model.__dict__)
    for rows, labels, said in (
        (X[:1] + 1, y[:1], "row 0 of X is not there"),
        (X[:2], [0, 1], "row 1 of X is not there"),
        (np.repeat(X[:1], 9, 0), [0] * 9, "not as often"),
        (X[:1], [7], "never seen"),
        (X, y, "some rows to remain"),
    ):
        with pytest.raises(ValueError, match=said):
            model.forget(rows, labels)
    assert model.__dict__ == before


def test_merged_models_have_the_rows_of_both(iris):
    X, y = iris
    a, b = fitted(X[:70], y[:70]), fitted(X[70:], y[70:])
    same_model(a + b, fitted(X, y), X)
    assert a.n_samples_fit_ == 70
    same_model(a.merge(b), fitted(X, y), X)
    for other, said in (
        (fitted(X[:, :2], y), "4 features"),
        (fitted(X, y, metric="cosine"), "metric"),
    ):
        with pytest.raises(ValueError, match=said):
            a.merge(other)
    with pytest.raises(TypeError, match="another KNeighborsClassifier"):
        a.merge(Theirs().fit(X, y))


def test_weights_come_and_go_with_their_rows(iris):
    X, y = iris
    w = np.linspace(0.5, 2, 150)
    model = (
        KNeighborsClassifier(3).fit(X[:100], y[:100]).partial_fit(X[100:], y[100:], None, w[100:])
    )
    same_model(model, KNeighborsClassifier(3).fit(X, y, np.r_[np.ones(100), w[100:]]), X)
    with pytest.raises(ValueError, match="weight"):
        model.forget(X[100:], y[100:])
    model.forget(X[100:], y[100:], w[100:])
    assert model.n_samples_fit_ == 100


def test_classes_named_beforehand_close_the_set(iris):
    X, y = iris
    model = KNeighborsClassifier(3).partial_fit(X[:60], y[:60], classes=[0, 1, 2])
    assert_array_equal(model.classes_, [0, 1, 2])
    assert (model.predict_proba(X)[:, 2] == 0).all()
    model.partial_fit(X[60:], y[60:])
    same_model(model, fitted(X, y), X)
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        model.partial_fit(X[:1], [3])


def test_a_call_that_fails_leaves_the_model_as_it_was(iris):
    X, y = iris
    model = fitted(X, y)
    before = dict(model.__dict__)
    for call in (
        lambda: model.fit(X, y[:3]),
        lambda: model.fit(np.full((3, 4), np.inf), [0, 1, 2]),
        lambda: model.partial_fit(X[:, :2], y),
        lambda: model.partial_fit(X, y.astype(str)),
        lambda: model.fit(X, y, sample_weight=-np.ones(150)),
    ):
        with pytest.raises((ValueError, TypeError)):
            call()
    assert model.__dict__ == before


def test_the_model_does_not_change_with_the_users_array(iris):
    X, y = iris[0].copy(), iris[1].copy()
    model = fitted(X, y)
    before = model.predict_proba(iris[0])
    X[:], y[:] = 0, 0
    assert_array_equal(model.predict_proba(iris[0]), before)


def test_a_pickle_has_the_same_answers_and_no_index(iris):
    X, y = iris
    for model in (fitted(X, y), fitted(X, y, algorithm="kd_tree")):
        again = pickle.loads(pickle.dumps(model))
        same_model(again, model, X)
        assert again.search_ == model.search_
        assert len(pickle.dumps(model)) < 3 * X.nbytes


# Distances people really have


def test_missing_cells_are_left_out_of_distances(iris):
    X, y = iris
    gaps = X.copy()
    gaps[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    gaps[np.isnan(gaps).all(axis=1), 0] = 1.0
    whole, ours = fitted(X, y), fitted(gaps, y)
    theirs = Theirs(3, metric="nan_euclidean").fit(gaps, y)
    assert_allclose(ours.kneighbors(X)[0], theirs.kneighbors(X)[0], atol=1e-6)
    theirs.fit(X, y)
    some = ~np.isnan(gaps).all(axis=1)
    assert_allclose(whole.kneighbors(gaps[some])[0], theirs.kneighbors(gaps[some])[0], atol=1e-6)
    assert ours.score(gaps, y) > 0.9
    with pytest.raises(ValueError, match="contains NaN"):
        fitted(gaps, y, metric="manhattan")


def test_strings_are_compared_by_edits():
    names, y = ["anna", "hanna", "otto", "lotto", None], ["a", "a", "o", "o", "o"]
    for X in (names, np.array(names, object)[:, None], pd.DataFrame({"name": names})):
        model = KNeighborsClassifier(2, metric="edit").fit(X, y)
        assert model.n_features_in_ == 1
        Q = (
            pd.DataFrame({"name": ["ana", "ottto"]})
            if isinstance(X, pd.DataFrame)
            else ["ana", "ottto"]
        )
        assert model.predict(Q).tolist() == ["a", "o"]
        assert model.kneighbors(Q)[0].tolist() == [[1, 2], [1, 2]]
    model.partial_fit(pd.DataFrame({"name": ["ana"]}), ["x"])
    assert model.set_params(n_neighbors=1).predict(Q).tolist() == ["x", "o"]
    model.forget(pd.DataFrame({"name": ["ana"]}), ["x"])
    assert model.predict(Q).tolist() == ["a", "o"]
    swaps = KNeighborsClassifier(1, metric="edit", metric_params={"kind": "damerau"})
    assert swaps.fit(["ab"], [0]).kneighbors(["ba"])[0].tolist() == [[1]]
    with pytest.raises(ValueError, match="one column of strings"):
        model.fit([["a", "b"]], [0])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_mixed_tables_are_compared_column_by_column(library):
    cells = {
        "size": [1.0, 2.0, 9.0, None, 5.0],
        "color": ["red", "red", "blue", "blue", None],
        "kind": ["a", "a", "b", "b", "b"],
    }
    frame = library(cells)
    model = KNeighborsClassifier(2, metric="mixed").fit(frame, "kind")
    Q = library({"size": [1.5, 9.0], "color": ["red", "green"]})
    assert model.predict(Q).tolist() == ["a", "b"]
    assert_allclose(model.kneighbors(Q)[0][0], [0.5 / 8 / 2, 0.5 / 8 / 2])
    model.partial_fit(library({"size": [1.5], "color": ["red"], "kind": ["c"]}), "kind")
    assert model.kneighbors(Q, 1)[1].tolist() == [[5], [2]]
    model.forget(library({"size": [1.5], "color": ["red"], "kind": ["c"]}), "kind")
    assert model.classes_.tolist() == ["a", "b"] and model.n_samples_fit_ == 5


def test_mixed_arrays_of_numbers_are_scaled():
    X = np.array([[0, 0], [1, 1000], [2, 0], [3, np.nan]])
    model = KNeighborsClassifier(1, metric="mixed").fit(X, [0, 1, 0, 1])
    assert model.kneighbors([[1.0, 0.0]])[0].tolist() == [[1 / 6]]


# Which way, how strange, and why


def test_the_search_that_was_taken_is_said(table):
    X, y, _ = table
    assert "as asked" in str(fitted(X, y, algorithm="brute").search_)
    assert fitted(X, y, algorithm="ball_tree").search_.name == "kd_tree"
    assert fitted(X, y, metric="cosine").search_.name == "brute"
    random = np.random.default_rng(0)
    for d, name in ((2, "kd_tree"), (40, "brute")):
        assert fitted(random.random((3000, d)), np.arange(3000) % 2).search_.name == name
    tried = fitted(random.random((3000, 8)), np.arange(3000) % 2).search_
    assert "a query" in tried.reason


@pytest.mark.parametrize("d", [2, 8])
def test_answers_do_not_depend_on_threads_or_on_the_way(d):
    random = np.random.default_rng(d)
    X, Q = random.integers(0, 4, (3000, d)).astype(float), random.integers(0, 4, (500, d))
    y = random.integers(0, 3, 3000)
    expected = None
    for algorithm in ("brute", "kd_tree", "auto"):
        for n in (1, 3):
            with posterior.threads(n):
                model = KNeighborsClassifier(9, algorithm=algorithm, n_jobs=None).fit(X, y)
                found = model.kneighbors(Q)[1]
            expected = found if expected is None else expected
            assert_array_equal(found, expected)
    assert_array_equal(KNeighborsClassifier(9, n_jobs=2).fit(X, y).kneighbors(Q)[1], expected)


def test_rows_far_from_all_others_are_strange(iris):
    X, y = iris
    model = fitted(X, y)
    assert_allclose(np.sort(model.strangeness(None)).max(), 149 / 150)
    assert model.strangeness(X + 100).tolist() == [1.0] * 150
    assert model.strangeness(X[:1])[0] < 0.5
    weighted = KNeighborsClassifier(3).fit(X, y, np.ones(150))
    assert_array_equal(weighted.strangeness(X), model.strangeness(X))


def test_unsure_and_strange_rows_are_left_unanswered(iris):
    X, y = iris
    model = KNeighborsClassifier(9).fit(X, y)
    unsure = model.predict(X, reject=0.9)
    assert_array_equal(unsure.mask, model.predict_proba(X).max(axis=1) < 0.9)
    strange = model.predict(np.r_[X, X[:2] + 50], beyond=1.0)
    assert strange.mask[-2:].all() and not strange.mask[:-2].any()
    several = model.fit(X, np.stack([y, y], 1)).predict(X, reject=0.9, beyond=0.99)
    assert several.shape == several.mask.shape == (150, 2)


def test_costs_move_the_answer(iris):
    X, y = iris
    model = KNeighborsClassifier(9).fit(X, y)
    costs = 1 - np.eye(3)
    assert_array_equal(model.predict(X, costs=costs), model.predict(X))
    costs[2] *= 100
    assert (model.predict(X, costs=costs) == 2).sum() > (model.predict(X) == 2).sum()


def test_reasons_name_the_neighbors_and_their_say(iris):
    X, y = iris
    model = KNeighborsClassifier(4, weights="distance", smoothing=1).fit(X, y)
    why = model.explain(X[[70]] + 0.01)
    assert_allclose(why.say.sum() + why.prior_say, 1)
    assert_allclose(why.prior_say, 0.2)
    assert_array_equal(why.labels, y[why.rows])
    assert_array_equal(why.distances, model.kneighbors(X[[70]] + 0.01)[0][0])
    assert why.answer == model.predict(X[[70]])[0]
    for c, p in why.posterior.items():
        said = why.say[why.labels == c].sum() + why.prior_say / 3
        assert_allclose(p, said)
    text = str(why)
    assert text.startswith("Why 1") and "class shares" in text and "P(1)" in text
    with pytest.raises(ValueError, match="one row"):
        model.explain(X[:2])


# What bad input gets


def test_too_few_rows_for_the_vote_are_named(iris):
    X, y = iris
    with pytest.raises(ValueError, match="n_neighbors <= n_samples_fit"):
        KNeighborsClassifier(4).fit(X[:3], y[:3]).predict(X)
    with pytest.raises(ValueError, match="n_neighbors < n_samples_fit"):
        KNeighborsClassifier(3).fit(X[:3], y[:3]).predict(None)
    with pytest.raises(ValueError, match="two are two rows"):
        KNeighborsClassifier(3).fit(X, y, np.full(150, 1 / 150)).predict(X)
    with pytest.raises(ValueError, match="two rows or more"):
        KNeighborsClassifier("auto").fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="from 1 to 149"):
        KNeighborsClassifier([150]).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"algorithm": "kd_tree", "metric": "cosine"}, "kd_tree does not support"),
        ({"algorithm": "kd_tree", "metric": lambda a, b: 0.0}, "kd_tree does not support"),
        ({"algorithm": "ball_tree", "p": 0.5}, "does not support 0 < p < 1"),
        ({"metric": "nothing"}, "metric"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"smoothing": -1}, "smoothing"),
        ({"metric": "precomputed"}, "square"),
        ({"metric": "edit", "metric_params": {"kinds": "damerau"}}, "metric_params of"),
        ({"metric": "edit"}, "one column of strings"),
    ],
)
def test_settings_that_have_no_meaning_are_refused(iris, settings, said):
    with pytest.raises(ValueError, match=said):
        KNeighborsClassifier(**settings).fit(*iris)


def test_given_distances_know_no_new_rows(table):
    X, y, _ = table
    model = KNeighborsClassifier(metric="precomputed").fit(cdist(X, X), y)
    with pytest.raises(ValueError, match="metric that can be computed"):
        model.partial_fit(X, y)


@pytest.mark.parametrize("settings", [{"VI": np.eye(2)}, {"V": np.eye(3)}])
def test_a_matrix_of_another_size_is_refused_before_scipy_reads_beyond_it(settings):
    X, y = np.arange(40.0).reshape(10, 4) % 7, np.arange(10) % 2
    model = KNeighborsClassifier(2, metric="mahalanobis", metric_params=settings)
    with pytest.raises(ValueError, match=r"Expected V or VI of shape \(4, 4\)"):
        model.fit(X, y).predict(X)
