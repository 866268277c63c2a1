"""k-means: what its two steps promise, on rows that are dense, sparse or have missing cells."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from sklearn import cluster
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import nan_euclidean_distances

import posterior
from posterior.data.rows import SparseRows
from posterior.engines.local import Local
from posterior.estimators.kmeans import KMeans, MiniBatchKMeans
from posterior.generative.kmeans.geometries import Dense, Gaps, Sparse
from posterior.generative.kmeans.lloyd import STILL, TIRED, UNMOVED
from posterior.generative.kmeans.points import Points
from posterior.generative.kmeans.seeding import drawn, plus_plus
from posterior.generative.kmeans.space import Plain

KINDS = ["dense", "sparse", "gaps"]
seeds = st.integers(0, 2**32 - 1)
sizes = st.tuples(st.integers(2, 60), st.integers(1, 5))
IRIS = load_iris().data
some = settings(max_examples=max(25, settings.default.max_examples // 5))  # a fit is no small thing


def as_kind(X, kind, random):
    """A table with half of its cells zero, or some of them missing."""
    if kind == "sparse":
        return sparse.csr_array(np.where(random.random(X.shape) < 0.5, 0.0, X))
    if kind == "gaps":
        gaps = random.random(X.shape) < 0.3
        gaps[: X.shape[1]] = False  # every column has a value
        return np.where(gaps, np.nan, X)
    return X


def table(seed, size, kind="dense"):
    """Rows, weights and centers to begin at, with no two distances the same."""
    random = np.random.default_rng(seed)
    scale, far = random.choice([1e-3, 1.0, 1e4]), 1e2 if kind == "sparse" else 1e8
    X = scale * (random.normal(size=size) + random.choice([0.0, far]))
    n_centers = int(random.integers(1, min(len(X), 8) + 1))
    start = random.permutation(X)[:n_centers] + 0.1 * scale * random.normal(
        size=(n_centers, size[1])
    )
    weight = random.integers(1, 4, len(X)).astype(float)
    return as_kind(X, kind, random), weight, start


def fitted(X, start, weight=None, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(len(start), init=start, n_init=1, **{"tol": 0.0, **given})
        return model.fit(X, sample_weight=weight)


@pytest.mark.parametrize("kind", KINDS)
@some
@given(seed=seeds, size=sizes)
def test_the_inertia_never_rises_and_ends_at_that_of_the_centers(kind, seed, size):
    X, weight, start = table(seed, size, kind)
    model = fitted(X, start, weight)
    assert (np.diff(model.inertias_) <= 0).all()
    assert model.inertias_[-1] == model.inertia_
    assert_allclose(-model.score(X, sample_weight=weight), model.inertia_, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@some
@given(seed=seeds, size=sizes)
def test_each_iteration_tells_the_inertia_of_its_means(kind, seed, size):
    X, weight, start = table(seed, size, kind)
    model, whole = fitted(X, start, weight), fitted(X, start[:1], weight).inertia_
    unit = np.finfo(float).eps * np.nanmax(np.abs(X.data if kind == "sparse" else X), initial=0)
    rounding = 4 * unit * np.sqrt(whole * weight.sum() * X.shape[1])  # of means far from zero
    for i, told in enumerate(model.inertias_[:-1], start=1):
        after = fitted(X, start, weight, max_iter=i).inertia_
        assert model.inertia_ * (1 - 1e-12) <= after <= told + 1e-12 * whole + rounding


@pytest.mark.parametrize("kind", KINDS)
@some
@given(seed=seeds, size=sizes)
def test_every_center_is_the_mean_of_its_rows_and_every_row_at_its_nearest(kind, seed, size):
    X, weight, start = table(seed, size, kind)
    model = fitted(X, start, weight)
    assert model.converged_
    cells = X.toarray() if kind == "sparse" else X
    for k in range(len(start)):
        own = np.ma.masked_invalid(cells[model.labels_ == k])
        w = np.broadcast_to(weight[model.labels_ == k][:, None], own.shape)
        if own.size:
            mean = np.ma.average(own, axis=0, weights=w)
            seen = ~np.ma.getmaskarray(mean)
            scale = 1e-12 * np.abs(np.nan_to_num(cells)).max()
            assert_allclose(model.cluster_centers_[k][seen], mean[seen], rtol=1e-9, atol=scale)
    D = np.nansum((cells[:, None] - model.cluster_centers_) ** 2, axis=2)
    own = D[np.arange(len(D)), model.labels_]
    assert_allclose(own, D.min(axis=1), rtol=1e-6, atol=1e-12 * D.max())
    assert_allclose(model.inertia_, weight @ own, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@some
@given(seed=seeds, size=sizes)
def test_a_row_of_weight_two_is_two_rows(kind, seed, size):
    X, weight, start = table(seed, size, kind)
    again = np.repeat(np.arange(X.shape[0]), weight.astype(int))
    one, two = fitted(X, start, weight, max_iter=3), fitted(X[again], start, max_iter=3)
    assert_array_equal(one.labels_[again], two.labels_)
    assert_allclose(one.cluster_centers_, two.cluster_centers_, rtol=1e-12)
    assert_allclose(one.inertias_, two.inertias_, rtol=1e-9, atol=1e-12 * one.inertias_[0])


@pytest.mark.parametrize("kind", KINDS)
@some
@given(seed=seeds, size=sizes)
def test_the_order_of_rows_does_not_matter_from_the_same_start(kind, seed, size):
    X, weight, start = table(seed, size, kind)
    order = np.random.default_rng(seed).permutation(X.shape[0])
    here, there = fitted(X, start, weight), fitted(X[order], start, weight[order])
    assert_array_equal(here.labels_[order], there.labels_)
    assert_array_equal(here.cluster_centers_, there.cluster_centers_)  # sums are exact


@some
@given(seed=seeds, size=sizes)
def test_sparse_rows_are_dense_rows(seed, size):
    X, weight, start = table(seed, size, "sparse")
    here, there = fitted(X, start, weight), fitted(X.toarray(), start, weight)
    assert_array_equal(here.labels_, there.labels_)
    assert_array_equal(here.cluster_centers_, there.cluster_centers_)


@some
@given(seed=seeds, size=sizes)
def test_rows_without_a_gap_are_measured_as_complete_ones(seed, size):
    X, weight, start = table(seed, size)
    spaces = [
        Plain(geometry, X, weight, len(start), Local().fill, Local().sum)
        for geometry in (Dense(), Gaps())
    ]
    for space in spaces:
        space.assign(start)
    dense, gaps = spaces
    assert_array_equal(dense.labels, gaps.labels)
    assert_array_equal(dense.sums()[1], gaps.sums()[1])
    assert_array_equal(dense.distances(), gaps.distances())


@pytest.mark.parametrize("geometry", [Dense(), Sparse(), Gaps()], ids=lambda g: type(g).__name__)
def test_distances_keep_their_digits_however_near_and_far(geometry):
    X = np.array([[1e8, 1.0], [1e8, 1.0 + 1e-6], [0.0, 0.0], [-3.0, 1e-9]])
    centers = np.array([[1e8, 1.0], [0.0, 1e-9], [5.0, -1e8]])
    rows = SparseRows.of(sparse.csr_array(X)) if isinstance(geometry, Sparse) else X
    points = Points(rows, None, geometry, *engine())
    exact = ((X[:, None].astype(np.longdouble) - centers) ** 2).sum(axis=2)
    assert_allclose(points.squared(centers), exact.astype(float), rtol=1e-8)


def engine():
    return Local().fill, Local().sum


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 3, 7, 20])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_scikit_learn_ends_at_the_same_place_from_the_same_start(kind, k, weighted, dtype):
    blobs, _ = make_blobs(2000, 8, centers=12, cluster_std=3.0, random_state=k)
    random = np.random.default_rng(k)
    X = as_kind(blobs.astype(dtype), kind, random).astype(dtype)
    start = blobs[:k].astype(dtype)
    weight = random.uniform(0.1, 3.0, len(blobs)) if weighted else None
    ours = fitted(X, start, weight)
    theirs = cluster.KMeans(k, init=start, n_init=1, tol=0.0).fit(X, sample_weight=weight)
    assert ours.cluster_centers_.dtype == theirs.cluster_centers_.dtype == dtype
    assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-6 if dtype == np.float64 else 1e-4)
    if dtype == np.float64:
        assert_array_equal(ours.labels_, theirs.labels_)
        assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-7, atol=1e-9)
        assert ours.n_iter_ == theirs.n_iter_


def test_greedy_draws_are_those_of_scikit_learn():
    X, _ = make_blobs(500, 4, centers=9, random_state=1)
    for seed in range(5):
        theirs, _ = cluster.kmeans_plusplus(X, 9, random_state=seed)
        points = Points.of(X, None, True, *engine())
        ours = plus_plus(points, 9, X.mean(axis=0), np.random.RandomState(seed))
        assert_array_equal(ours, theirs)


@pytest.mark.parametrize("seed", range(5))
def test_neither_order_nor_repetition_of_rows_changes_the_clusters_of_a_seed(seed):
    X, _ = make_blobs(300, 4, centers=9, random_state=1)
    random = np.random.default_rng(seed)
    weight, order = random.integers(1, 4, 300), random.permutation(300)
    repeated = np.repeat(X, weight, axis=0)
    a = KMeans(7, random_state=seed).fit(repeated)
    b = KMeans(7, random_state=seed).fit(X[order], sample_weight=weight[order])
    assert_allclose(a.cluster_centers_, b.cluster_centers_, rtol=1e-9)


@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("Model", [KMeans, MiniBatchKMeans])
def test_the_same_seed_gives_the_same_model(Model, init):
    a, b = (Model(5, init=init, random_state=3).fit(IRIS) for _ in range(2))
    assert_array_equal(a.cluster_centers_, b.cluster_centers_)
    assert_array_equal(a.labels_, b.labels_)


def test_rows_of_no_weight_are_never_drawn():
    random = np.random.RandomState(0)
    mass = np.array([0.0, 1.0, 0.0, 2.0, 0.0])
    assert set(drawn(mass, 1000, random)) == {1, 3}
    X = np.arange(20.0)[:, None]
    weight = (np.arange(20) % 2).astype(float)
    for seed in range(10):
        points = Points.of(X, weight, True, *engine())
        start = plus_plus(points, 10, X.mean(axis=0), np.random.RandomState(seed))
        assert_array_equal(np.sort(start[:, 0]), np.arange(1.0, 20.0, 2.0))


def test_a_row_that_is_a_center_is_not_drawn_while_others_remain():
    X = np.repeat([[0.0, 1e8], [1.0, 1e8], [1e8, 0.0], [1e8, 1.0]], 50, axis=0)
    for seed in range(10):
        points = Points.of(X, None, True, *engine())
        start = plus_plus(points, 4, X.mean(axis=0), np.random.RandomState(seed))
        assert len(np.unique(start, axis=0)) == 4


def test_the_number_of_threads_changes_nothing():
    X, _ = make_blobs(50_000, 8, centers=12, cluster_std=4.0, random_state=0)
    models = []
    for n in (1, 2, 3):
        with posterior.threads(n):
            models.append(KMeans(20, random_state=0, max_iter=5).fit(X))
    for model in models[1:]:
        assert_array_equal(model.labels_, models[0].labels_)
        assert_array_equal(model.cluster_centers_, models[0].cluster_centers_)


def test_an_empty_center_takes_the_row_farthest_from_its_own():
    X = [[0.0], [1.0], [2.0], [9.0]]
    model = fitted(X, [[0.0], [50.0]])
    assert_array_equal(model.labels_, [0, 0, 0, 1])
    assert_array_equal(model.cluster_centers_, [[1.0], [9.0]])


def test_reasons_to_stop():
    assert fitted(IRIS, IRIS[:5]).reason_ == UNMOVED
    still = fitted(IRIS, IRIS[:5], tol=0.1)
    assert still.reason_ == STILL and still.converged_
    tired = fitted(IRIS, IRIS[:5], max_iter=1)
    assert tired.reason_ == TIRED and not tired.converged_
    assert len(tired.inertias_) == tired.n_iter_ == 1


@pytest.mark.parametrize("Model", [KMeans, MiniBatchKMeans])
@pytest.mark.parametrize("max_iter", [1, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_what_predict_says(kind, max_iter, Model):
    X = as_kind(IRIS.astype(np.float32), kind, np.random.default_rng(0))
    model = Model(4, random_state=0, max_iter=max_iter).fit(X)
    assert_array_equal(model.labels_, model.predict(X))
    assert_array_equal(model.fit_predict(X), model.labels_)
    assert model.labels_.dtype == np.int32


def test_missing_cells_are_left_out_of_distances_and_means():
    X = np.array([[0.0, np.nan], [2.0, 1.0], [np.nan, 3.0], [10.0, 10.0], [12.0, np.nan]])
    model = fitted(X, [[0.0, 0.0], [10.0, 10.0]])
    assert_array_equal(model.labels_, [0, 0, 0, 1, 1])
    assert_array_equal(model.cluster_centers_, [[1.0, 2.0], [11.0, 10.0]])
    assert model.inertia_ == 1 + 1 + 1 + 1 + 1 + 1
    assert_allclose(model.transform(X), nan_euclidean_distances(X, model.cluster_centers_))
    assert_array_equal(model.predict([[np.nan, 9.0], [1.0, np.nan]]), [1, 0])


def test_a_cell_that_no_row_of_a_cluster_has_stays_where_it_was():
    X = np.array([[0.0, np.nan], [1.0, np.nan], [10.0, 5.0], [11.0, 7.0]])
    model = fitted(X, [[0.0, 3.0], [10.0, 4.0]])
    assert_array_equal(model.cluster_centers_, [[0.5, 3.0], [10.5, 6.0]])


def test_clusters_are_found_although_cells_are_missing():
    X, truth = make_blobs(600, 6, centers=4, cluster_std=0.5, random_state=0)
    gaps = np.random.default_rng(0).random(X.shape) < 0.3
    gaps[gaps.all(axis=1)] = False
    model = KMeans(4, n_init=5, random_state=0).fit(np.where(gaps, np.nan, X))
    assert len(np.unique(np.column_stack([truth, model.labels_]), axis=0)) == 4


@pytest.mark.parametrize("Model", [KMeans, MiniBatchKMeans])
def test_probabilities_are_those_of_the_mixture_of_spheres_of_one_size(Model):
    model = Model(3, random_state=0).fit(IRIS)
    assert_allclose(model.weights_.sum(), 1.0)
    D = ((IRIS[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    expected = softmax(np.log(model.weights_) - D / (2 * model.variance_), axis=1)
    assert_allclose(model.predict_proba(IRIS), expected, rtol=1e-7, atol=1e-12)
    assert_allclose(model.variance_, model.inertia_ / IRIS.size)


def test_the_mixture_has_the_shares_and_the_variance_that_are_most_likely():
    model = KMeans(3, random_state=0).fit(IRIS)
    assert_allclose(model.weights_, np.bincount(model.labels_) / 150)
    own = ((IRIS - model.cluster_centers_[model.labels_]) ** 2).mean()
    assert_allclose(model.variance_, own)


def test_probabilities_of_clusters_of_sparse_rows_are_refused():
    model = KMeans(3, random_state=0).fit(sparse.csr_array(IRIS))
    with pytest.raises(AttributeError, match="predict_proba") as error:
        model.predict_proba(IRIS)
    assert "fitted to sparse rows" in str(error.value.__cause__)
    model.fit(IRIS)
    assert_array_equal(model.predict_proba(sparse.csr_array(IRIS)).shape, (150, 3))


def test_a_row_with_no_cell_is_as_probable_as_the_clusters_are():
    model = KMeans(3, random_state=0).fit(IRIS)
    assert_allclose(model.predict_proba(np.full((1, 4), np.nan))[0], model.weights_)


@pytest.mark.parametrize("Model", [KMeans, MiniBatchKMeans])
def test_a_row_with_no_cell_is_at_no_distance_and_as_near_to_all(Model):
    model = Model(3, random_state=0).fit(IRIS)
    X = np.vstack([IRIS[:2], np.full((1, 4), np.nan)])
    with pytest.raises(ValueError, match="at no known distance, got none in row 2"):
        model.transform(X)
    assert model.predict(X)[2] == 0
    assert model.score(X) == model.score(IRIS[:2])
    before = model.fitted_
    with pytest.raises(ValueError, match="none in row 150"):
        model.fit_transform(np.vstack([IRIS, X[2:]]))
    assert model.fitted_ is before


@pytest.mark.parametrize("Model", [KMeans, MiniBatchKMeans])
def test_what_was_learned_may_be_set_by_hand(Model):
    model = Model(3, random_state=0).fit(IRIS)
    centers, labels = model.cluster_centers_ + 1.0, model.labels_.copy()
    model.cluster_centers_, model.labels_ = centers, labels
    assert model.cluster_centers_ is centers and model.labels_ is labels
    assert_array_equal(model.predict(centers), [0, 1, 2])
    for names in (("cluster_centers_", "n_features_in_"), ("n_features_in_", "cluster_centers_")):
        stated = Model(3)
        for name in names:
            setattr(stated, name, getattr(model, name))
        assert_array_equal(stated.predict(IRIS), model.predict(IRIS))
        assert not hasattr(stated, "predict_proba") and not hasattr(stated, "labels_")


def test_batches_go_on_from_centers_that_are_set_by_hand():
    model = MiniBatchKMeans(2, reassignment_ratio=0.0)
    model.cluster_centers_ = [[0], [10]]
    model.partial_fit([[1.0], [4.0], [11.0]])
    assert_array_equal(model.cluster_centers_, [[2.5], [11.0]])
    assert model.n_steps_ == 1


def test_clusters_of_no_width_have_probabilities_too():
    model = fitted([[0.0], [0.0], [1.0]], [[0.0], [1.0]])
    assert_array_equal(model.predict_proba([[0.1], [0.9]]), [[1.0, 0.0], [0.0, 1.0]])
    assert_allclose(model.predict_proba([[0.5]]), [[2 / 3, 1 / 3]])


@pytest.mark.parametrize("kind", KINDS)
def test_fewer_distinct_rows_than_clusters_are_named(kind):
    X = as_kind(np.repeat([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], 20, axis=0), "dense", None)
    X = sparse.csr_array(X) if kind == "sparse" else X
    if kind == "gaps":
        X[0, 0] = np.nan
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(3\) found smaller"):
        model = KMeans(5, random_state=0).fit(X)
    assert model.inertia_ == 0.0
    assert np.isfinite(model.cluster_centers_).all()
    if kind != "sparse":
        assert np.isfinite(model.predict_proba(X)).all()


def test_all_rows_the_same_are_one_cluster():
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(1\)"):
        model = KMeans(3, random_state=0).fit(np.full((10, 2), 1e8 + 0.1))
    assert_array_equal(model.labels_, np.zeros(10))
    assert model.inertia_ == 0.0


def test_as_many_clusters_as_rows():
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = KMeans(30, random_state=0).fit(X)
    assert_array_equal(np.sort(model.labels_), np.arange(30))
    assert model.inertia_ == 0.0


@pytest.mark.parametrize("far", [1e6, 1e12, 1e100])
def test_one_row_far_away_gets_a_cluster_of_its_own(far):
    X, truth = make_blobs(200, 3, centers=[[0] * 3, [20] * 3], random_state=0)
    X = np.vstack([X, [[far] * 3]])
    model = KMeans(3, n_init=3, random_state=0).fit(X)
    assert (model.labels_ == model.labels_[-1]).sum() == 1
    assert_allclose(model.cluster_centers_[model.labels_[-1]], far)
    assert len(np.unique(np.column_stack([truth, model.labels_[:-1]]), axis=0)) == 2


def test_columns_that_never_vary_change_nothing():
    X = np.column_stack([IRIS, np.full(150, 1e9)])
    a, b = fitted(IRIS, IRIS[:4]), fitted(X, X[:4])
    assert_array_equal(a.labels_, b.labels_)
    assert_allclose(a.inertia_, b.inertia_)


@pytest.mark.parametrize("Model", [KMeans, MiniBatchKMeans])
@pytest.mark.parametrize(
    ("X", "settings", "weight", "message"),
    [
        (IRIS[:3], {}, None, r"n_samples=3 should be >= n_clusters=8"),
        (IRIS, {}, np.eye(1, 150)[0], r"n_samples=1, of those with a weight, should be >="),
        (IRIS, {}, np.zeros(150), "positive weight"),
        (IRIS, {}, np.full(150, -1.0), "non-negative weights"),
        (IRIS * np.inf, {}, None, "infinity, first in row 0, column 0"),
        (
            np.full((20, 1), 1e300) * [[(-1) ** i] for i in range(20)],
            {},
            None,
            "squares can be added",
        ),
        (np.column_stack([IRIS, np.full(150, np.nan)]), {}, None, "none at all in column 4"),
        (sparse.csr_array(np.where(IRIS > 7, np.nan, IRIS)), {}, None, "contains NaN"),
        (IRIS, {"init": IRIS[:5]}, None, "does not match the number of clusters 8"),
        (IRIS, {"init": IRIS[:8, :2]}, None, "does not match the number of features"),
        (IRIS, {"init": IRIS[:8] * np.nan}, None, "NaN"),
        (IRIS, {"n_clusters": 0}, None, "n_clusters"),
        (IRIS, {"init": "middle"}, None, "init"),
    ],
)
def test_a_fit_that_fails_says_why_and_leaves_the_model(Model, X, settings, weight, message):
    model = Model(4, random_state=0, n_init=1).fit(IRIS)
    before, names = model.fitted_, ("cluster_centers_", "labels_", "n_features_in_", "inertia_")
    values = [getattr(model, name) for name in names]
    model.set_params(**{"n_clusters": 8, **settings})
    with pytest.raises(ValueError, match=message):
        model.fit(X, sample_weight=weight)
    assert model.fitted_ is before
    for name, value in zip(names, values, strict=True):
        assert getattr(model, name) is value


@pytest.mark.parametrize("Model", [KMeans, MiniBatchKMeans])
def test_single_precision_in_is_single_precision_out(Model):
    model = Model(3, random_state=0).fit(IRIS.astype(np.float32))
    assert model.cluster_centers_.dtype == np.float32
    assert model.transform(IRIS.astype(np.float32)).dtype == np.float32
    assert model.transform(IRIS).dtype == np.float64


def test_the_table_is_never_changed():
    X = IRIS.copy()
    KMeans(3, copy_x=False, random_state=0).fit(X)
    assert_array_equal(X, IRIS)


def test_a_sparse_cell_stored_in_parts_is_their_sum():
    parts = sparse.csr_array(
        (np.array([1.0, 2.0, 5.0, 9.0]), np.array([0, 0, 1, 0]), np.array([0, 2, 3, 4])), (3, 2)
    )
    start = np.array([[3.0, 0.0], [0.0, 5.0], [9.0, 0.0]])
    assert fitted(parts, start).inertia_ == 0.0


def test_a_callable_start_sees_the_table_and_the_seed():
    seen = []

    def start(X, k, random_state):
        seen.append(X)
        return X[random_state.permutation(len(X))[:k]]

    KMeans(3, init=start, random_state=0).fit(IRIS)
    assert len(seen) == 10
    assert_array_equal(seen[0], IRIS)


def test_small_batches_agree_with_scikit_learn_from_the_same_start():
    X, _ = make_blobs(900, 4, centers=6, cluster_std=2.0, random_state=0)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    settings = {"init": X[:6], "n_init": 1, "reassignment_ratio": 0.0}
    ours, theirs = MiniBatchKMeans(6, **settings), cluster.MiniBatchKMeans(6, **settings)
    for i in range(0, 900, 100):
        for model in (ours, theirs):
            model.partial_fit(X[i : i + 100], sample_weight=weight[i : i + 100])
        assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-9)
        assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-9)
        assert ours.n_steps_ == theirs.n_steps_
    ours.set_params(random_state=0).fit(X)
    theirs.set_params(random_state=0).fit(X)
    assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-9)
    assert ours.n_iter_ == theirs.n_iter_


@pytest.mark.parametrize("kind", KINDS)
def test_a_center_of_small_batches_is_the_mean_of_all_that_it_received(kind):
    X, weight, start = table(5, (60, 3), kind)
    model = MiniBatchKMeans(len(start), init=start, n_init=1, reassignment_ratio=0.0)
    received = np.zeros(60, int)
    for i in range(0, 60, 20):
        part = slice(i, i + 20)
        if i:
            received[part] = model.predict(X[part])
        else:
            first = KMeans(len(start), init=start, n_init=1)
            first.cluster_centers_, first.n_features_in_ = start, 3
            received[part] = first.predict(X[part])
        model.partial_fit(X[part], sample_weight=weight[part])
    cells = np.ma.masked_invalid(X.toarray() if kind == "sparse" else X)
    for k in np.unique(received):
        own = received == k
        w = np.broadcast_to(weight[own][:, None], cells[own].shape)
        mean = np.ma.average(cells[own], axis=0, weights=w)
        assert_allclose(model.cluster_centers_[k], mean.filled(start[k]), rtol=1e-9)


def test_small_batches_find_what_all_rows_find():
    X, _ = make_blobs(5000, 5, centers=6, random_state=2)
    whole, parts = (K(6, random_state=0, n_init=5).fit(X) for K in (KMeans, MiniBatchKMeans))
    assert parts.inertia_ < 1.02 * whole.inertia_


def test_labels_of_rows_before_are_not_kept():
    model = MiniBatchKMeans(3, random_state=0).fit(IRIS)
    model.set_params(compute_labels=False).fit(IRIS[:100])
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize("row", [[1e300] * 4, [np.nan, 1e300, 1.0, 1.0]])
def test_a_row_beyond_all_measure_is_infinitely_far_and_as_probable_as_the_clusters(row):
    model = KMeans(3, random_state=0).fit(IRIS)
    assert np.isinf(model.transform([row])).all()
    assert_allclose(model.predict_proba([row])[0], model.weights_)


def test_small_batches_without_labels_tell_about_the_inertia():
    X, _ = make_blobs(5000, 5, centers=6, random_state=2)
    model = MiniBatchKMeans(6, random_state=0, compute_labels=False).fit(X)
    assert not hasattr(model, "labels_")
    assert_allclose(model.inertia_, -model.score(X), rtol=0.1)


def test_another_number_of_clusters_asked_for_in_a_stream_changes_nothing():
    X = np.random.default_rng(0).normal(size=(60, 4))
    model = MiniBatchKMeans(3, n_init=1, random_state=0).fit(X)
    model.set_params(n_clusters=5).partial_fit(X)
    assert model.cluster_centers_.shape == (3, 4)
    assert set(model.labels_) <= {0, 1, 2}
