"""Neighbors whose distance and votes are chosen: each row is answered by the others."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, load_wine

import posterior
from posterior import KNeighborsClassifier
from posterior.neighbors import select_distance, votes
from posterior.neighbors.select_distance import WHITENINGS

OPEN = {"n_neighbors": "auto", "whiten": "auto", "weights": "auto"}


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def leaning(n, seed=0):
    """Two columns that say the same but for a little, by which classes differ; and noise."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    both = random.normal(size=n)
    noise = random.normal(size=(n, 2))
    return np.c_[both, both + 0.3 * y + 0.1 * noise[:, 0], noise[:, 1]], y


def within(X, y, shrinkage):
    """The covariance within classes by the textbook, with less between columns."""
    apart = np.concatenate([X[y == k] - X[y == k].mean(axis=0) for k in np.unique(y)])
    covariance = apart.T @ apart / len(X)
    return (1 - shrinkage) * covariance + shrinkage * np.diag(covariance.diagonal())


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
@pytest.mark.parametrize("shrinkage", [0, 0.1, 1])
def test_whitened_distances_are_those_of_mahalanobis_within_classes(wine, shrinkage, algorithm):
    X, y = wine
    model = KNeighborsClassifier(4, whiten=shrinkage, algorithm=algorithm).fit(X[:150], y[:150])
    inverse = np.linalg.inv(within(X[:150], y[:150], shrinkage))
    D = cdist(X[150:], X[:150], "mahalanobis", VI=inverse)
    order = np.argsort(D, axis=1, kind="stable")[:, :4]
    distances, numbers = model.kneighbors(X[150:])
    assert_array_equal(numbers, order)
    assert_allclose(distances, np.take_along_axis(D, order, axis=1), rtol=1e-9)


@pytest.mark.parametrize("gaps", [0, 0.05, 0.3])
@pytest.mark.parametrize("whiten", [None, 0.1, 1])
@pytest.mark.parametrize("d", [4, 9])
def test_equally_far_neighbors_vote_alike_for_a_row_alone(d, whiten, gaps):
    random = np.random.default_rng(d)
    X = random.integers(0, 3, (300, d)).astype(float)
    Q = random.integers(0, 4, (400, d)).astype(float)
    Q[random.random(Q.shape) < gaps] = np.nan
    model = KNeighborsClassifier(7, whiten=whiten).fit(X, X.sum(axis=1) > d)
    alone = np.concatenate([model.predict_proba(q[None]) for q in Q])
    assert_array_equal(alone, model.predict_proba(Q))


def test_whitened_neighbors_do_not_hang_on_units_or_order(wine):
    X, y = wine
    units = 10.0 ** np.arange(-6, 7)
    here = KNeighborsClassifier(**OPEN | {"whiten": 0.1}).fit(X, y)
    there = KNeighborsClassifier(**OPEN | {"whiten": 0.1}).fit(X * units + 5 * units, y)
    assert_allclose(here.predict_proba(X), there.predict_proba(X * units + 5 * units), rtol=1e-6)
    order = np.random.default_rng(0).permutation(len(y))
    first = KNeighborsClassifier(**OPEN).fit(X, y)
    other = KNeighborsClassifier(**OPEN).fit(X[order], y[order])
    assert (first.whiten_, first.weights_) == (other.whiten_, other.weights_)
    assert_array_equal(first.predict_proba(X), other.predict_proba(X))


def test_gaussian_votes_fall_to_those_of_the_last_neighbor():
    D = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0], [1.0, np.inf, np.inf]])
    weight = votes.vote_weights(D, "gaussian", np.ones((3, 3)))
    h = 1.0  # half the distance of the last
    assert_allclose(weight[0], np.exp(-0.5 * (D[0] / h) ** 2), rtol=1e-15)
    assert_array_equal(weight[1], [1, 1, 1])
    assert_allclose(weight[2], [np.exp(-2), 0, 0])  # nothing is known of the others
    nowhere = votes.vote_weights(np.full((1, 3), np.inf), "gaussian", np.ones((1, 3)))
    assert_array_equal(nowhere, [[1, 1, 1]])


def test_a_weight_of_two_is_two_rows_in_distance_and_votes(wine):
    X, y = wine
    weight = np.where(np.arange(len(y)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    settings = {"n_neighbors": 7, "smoothing": 1.0, "whiten": 0.1, "weights": "gaussian"}
    weighted = KNeighborsClassifier(**settings).fit(X, y, sample_weight=weight)
    repeated = KNeighborsClassifier(**settings).fit(X[twice], y[twice])
    # rows that are there twice are at the same distance, and may come in another order
    Q = X[::5] + 0.01
    assert_allclose(weighted.predict_proba(Q), repeated.predict_proba(Q), rtol=1e-9)


def test_the_choice_is_the_best_of_so_many_models_left_one_out(wine):
    X, y = wine
    chosen = KNeighborsClassifier(**OPEN).fit(X, y)

    def loss(whiten, weights):
        model = KNeighborsClassifier("auto", whiten=whiten, weights=weights).fit(X, y)
        p = model.predict_proba(None)[np.arange(len(y)), y]  # each row by the others
        assert min(model.selection_["log_loss"]) == pytest.approx(-np.log(p).mean(), rel=1e-12)
        return -np.log(p).mean()

    by_distance = {whiten: loss(whiten, "uniform") for whiten in WHITENINGS}
    assert chosen.whiten_ == min(by_distance, key=by_distance.__getitem__)
    by_votes = {rule: loss(chosen.whiten_, rule) for rule in ("uniform", "gaussian")}
    assert chosen.weights_ == min(by_votes, key=by_votes.__getitem__)
    assert min(chosen.selection_["log_loss"]) == pytest.approx(min(by_votes.values()), rel=1e-12)


def test_the_model_chosen_is_the_one_of_its_settings(wine):
    X, y = wine
    chosen = KNeighborsClassifier(**OPEN).fit(X, y)
    given = {
        "n_neighbors": chosen.n_neighbors_,
        "smoothing": chosen.smoothing_,
        "whiten": chosen.whiten_,
        "weights": chosen.weights_,
    }
    same = KNeighborsClassifier(**given).fit(X, y)
    assert_array_equal(chosen.predict_proba(X + 0.1), same.predict_proba(X + 0.1))
    assert chosen.whiten == chosen.weights == "auto"  # as it was asked for


def test_columns_that_say_the_same_are_whitened():
    X, y = leaning(400)
    plain = KNeighborsClassifier("auto").fit(X[:200], y[:200])
    chosen = KNeighborsClassifier("auto", whiten="auto").fit(X[:200], y[:200])
    assert chosen.whiten_ is not None and chosen.whiten_ < 0.5
    assert chosen.score(X[200:], y[200:]) > plain.score(X[200:], y[200:]) + 0.1


def test_many_rows_are_asked_in_part(monkeypatch):
    X, y = leaning(600)
    asked = []
    choose = select_distance.choose

    def spy(index, rows, numbers, smoothings, rules, some=None):
        asked.append(len(rows) if some is None else len(some))
        return choose(index, rows, numbers, smoothings, rules, some)

    monkeypatch.setattr(select_distance, "choose", spy)
    monkeypatch.setattr(select_distance, "ASKED", 200)
    KNeighborsClassifier(**OPEN).fit(X, y)
    assert asked == [200] * len(WHITENINGS) + [600]


def test_streams_keep_the_choice_and_measure_by_all_rows(wine):
    X, y = wine
    model = KNeighborsClassifier(**OPEN).fit(X[::2], y[::2])
    settings = {
        "n_neighbors": model.n_neighbors_,
        "smoothing": model.smoothing_,
        "whiten": model.whiten_,
        "weights": model.weights_,
    }
    whole = KNeighborsClassifier(**settings).fit(np.r_[X[::2], X[1::2]], np.r_[y[::2], y[1::2]])
    grown = copy.deepcopy(model).partial_fit(X[1::2], y[1::2])
    assert_array_equal(grown.predict_proba(X + 0.1), whole.predict_proba(X + 0.1))
    back = grown.forget(X[1::2], y[1::2])
    assert_array_equal(back.predict_proba(X + 0.1), model.predict_proba(X + 0.1))


def test_a_chosen_model_is_saved_with_its_choice(wine, tmp_path):
    X, y = wine
    model = KNeighborsClassifier(**OPEN).fit(X, y)
    posterior.save(model, tmp_path / "model.posterior")
    loaded = posterior.load(tmp_path / "model.posterior")
    assert (loaded.whiten_, loaded.weights_) == (model.whiten_, model.weights_)
    assert_array_equal(loaded.predict_proba(X + 0.1), model.predict_proba(X + 0.1))


def test_queries_with_missing_cells_are_measured_by_the_columns_they_have(wine):
    X, y = wine
    model = KNeighborsClassifier(3, whiten=0.1).fit(X[:150], y[:150])
    Q = X[150:].copy()
    Q[1::2, 2:5] = np.nan
    distances, numbers = model.kneighbors(Q)
    covariance = within(X[:150], y[:150], 0.1)
    some = np.r_[0:2, 5:13]
    inverse = np.linalg.inv(covariance[np.ix_(some, some)])
    D = cdist(Q[1::2][:, some], X[:150][:, some], "mahalanobis", VI=inverse) * np.sqrt(13 / 10)
    order = np.argsort(D, axis=1, kind="stable")[:, :3]
    assert_array_equal(numbers[1::2], order)
    assert_allclose(distances[1::2], np.take_along_axis(D, order, axis=1), rtol=1e-9)
    whole = model.kneighbors(X[150:])
    assert_array_equal(distances[::2], whole[0][::2])
    Q[0] = np.nan
    assert np.isinf(model.kneighbors(Q[:1])[0]).all()


def test_missing_cells_in_training_leave_columns_independent(wine):
    X, y = wine
    X = X.copy()
    X[::7, 3] = np.nan
    assert KNeighborsClassifier(**OPEN).fit(X, y).whiten_ in (None, 1.0)
    p = KNeighborsClassifier(5, whiten=1).fit(X, y).predict_proba(X)
    assert_allclose(p.sum(axis=1), 1)
    with pytest.raises(ValueError, match="complete rows"):
        KNeighborsClassifier(5, whiten=0.1).fit(X, y)


def test_a_column_that_no_class_varies_in_has_the_spread_of_all_rows():
    X, y = load_iris(return_X_y=True)
    X = np.c_[X, y, np.ones(len(y))]
    model = KNeighborsClassifier(3, whiten=0.1).fit(X, y)
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.kneighbors(X)[0]).all()


def test_several_outputs_share_one_distance(wine):
    X, y = wine
    several = np.c_[y, y == 1]
    p = KNeighborsClassifier(5, whiten=0.1).fit(X, several).predict_proba(X)
    alone = KNeighborsClassifier(5, whiten=0.1).fit(X, y).predict_proba(X)
    assert_array_equal(p[0], alone)  # the second output says nothing new


@pytest.mark.parametrize(
    ("X", "settings"),
    [
        (np.eye(6), {"metric": "manhattan"}),
        (sparse.csr_array(np.eye(6)), {}),
        (np.eye(6), {"metric": "precomputed"}),
    ],
)
@pytest.mark.parametrize("whiten", [0.5, "auto"])
def test_whitening_needs_euclidean_distances_of_dense_rows(X, settings, whiten):
    model = KNeighborsClassifier(1, whiten=whiten, **settings)
    with pytest.raises(ValueError, match="Expected Euclidean distances of dense rows"):
        model.fit(X, [0, 1] * 3)


def test_settings_out_of_range_are_refused(wine):
    for settings in ({"whiten": 1.5}, {"whiten": "yes"}, {"weights": "bell"}):
        with pytest.raises(ValueError, match="must be"):
            KNeighborsClassifier(**settings).fit(*wine)
