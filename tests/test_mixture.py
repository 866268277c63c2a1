"""Mixtures: known fits, agreement with scikit-learn, hidden labels, choices and bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn import mixture
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from posterior import (
    Bernoulli,
    DegenerateError,
    DegenerateWarning,
    Gaussian,
    GaussianDiscriminantAnalysis,
    GaussianMixture,
    GaussianNB,
    LinearDiscriminantAnalysis,
    Mixture,
    MixtureClassifier,
    Multinomial,
    MultinomialNB,
    MultivariateGaussian,
    NaiveBayes,
    Poisson,
)

KINDS = ["full", "tied", "diag", "spherical"]
each_kind = pytest.mark.parametrize("kind", KINDS)


def heaps(seed=0, n=300, d=3, k=3, apart=4.0):
    random = np.random.default_rng(seed)
    codes = random.integers(0, k, n)
    centers = apart * random.standard_normal((k, d))
    return centers[codes] + random.standard_normal((n, d)), codes


@pytest.fixture
def faithful(shared_data):
    return pd.read_csv(shared_data / "faithful.csv")


# ---- known fits ----


def test_old_faithful_has_the_fit_that_mclust_prints(faithful):
    """logLik -1130.264; pro .6441, .3559; means as printed by mclust (VVV, 2)."""
    model = GaussianMixture(2, random_state=0).fit(faithful)
    order = np.argsort(-model.weights_)
    assert round(model.score(faithful) * len(faithful), 3) == -1130.264
    assert_array_equal(model.weights_[order].round(4), [0.6441, 0.3559])
    assert_array_equal(model.means_[order].round(4), [[4.2898, 79.9695], [2.0365, 54.4799]])


@each_kind
def test_faithful_integers_give_what_floats_give(faithful, kind):
    whole = (100 * faithful.to_numpy()).round().astype(np.int64)
    a, b = (GaussianMixture(2, covariance_type=kind, random_state=0) for _ in range(2))
    a.fit(whole)
    b.fit(whole.astype(float))
    assert_array_equal(a.score_samples(whole), b.score_samples(whole.astype(float)))
    assert_array_equal(a.covariances_, b.covariances_)


@each_kind
@pytest.mark.parametrize("k", [1, 2, 4])
def test_fits_are_those_of_scikit_learn_at_matched_settings(faithful, kind, k):
    X = faithful.to_numpy()
    first = X[np.random.default_rng(k).choice(len(X), k, replace=False)]
    settings = {"means_init": first, "covariance_type": kind, "max_iter": 25, "tol": 1e-7}
    labels = np.random.default_rng(0).dirichlet(np.ones(k), len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = mixture.GaussianMixture(k, weights_init=np.full(k, 1 / k), **settings)
        theirs.precisions_init = precisions(kind, X, k)
        theirs.fit(X)
        ours = GaussianMixture(k, weights_init=np.full(k, 1 / k), init_params=labels, **settings)
        ours.precisions_init = precisions(kind, X, k)
        ours.fit(X)
    assert ours.n_iter_ == theirs.n_iter_
    assert_allclose(ours.lower_bounds_, theirs.lower_bounds_, rtol=1e-9)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-9)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    assert_allclose(ours.bic(X), theirs.bic(X), rtol=1e-9)
    assert_allclose(ours.aic(X), theirs.aic(X), rtol=1e-9)


def precisions(kind, X, k):
    spread = X.var(axis=0)
    return {
        "full": np.repeat(np.diag(1 / spread)[None], k, axis=0),
        "tied": np.diag(1 / spread),
        "diag": np.repeat(1 / spread[None], k, axis=0),
        "spherical": np.full(k, 1 / spread.mean()),
    }[kind]


def test_known_variance_is_a_setting_of_the_family():
    """The lecture's EM: z_ij ∝ exp(-(x - μ_j)² / 2σ²), μ_j = Σ z x / Σ z."""
    x = np.concatenate([np.random.default_rng(0).normal(m, 2, 200) for m in (0, 9)])
    model = Mixture(Gaussian(None, variance=4.0), 2, prior_rows=0, random_state=0, tol=1e-12)
    model.fit(x[:, None])
    mean = np.sort(model.joint_.parameters.mean[:, 0])
    assert_array_equal(model.joint_.parameters.variance, 4.0)
    weight = model.weights_[np.argsort(model.joint_.parameters.mean[:, 0])]
    for _ in range(2000):
        z = weight * np.exp(-((x[:, None] - mean) ** 2) / 8)
        z /= z.sum(axis=1, keepdims=True)
        mean, weight = (z * x[:, None]).sum(axis=0) / z.sum(axis=0), z.mean(axis=0)
    assert_allclose(np.sort(model.joint_.parameters.mean[:, 0]), mean, atol=1e-4)
    assert model.n_parameters_ == 3


# ---- laws that a fit keeps ----


@each_kind
def test_weight_two_is_two_rows(kind):
    X, _ = heaps(n=60)
    weight = np.random.default_rng(1).integers(1, 4, len(X))
    R = np.random.default_rng(2).dirichlet(np.ones(3), len(X))
    settings = {"covariance_type": kind, "max_iter": 20, "tol": 0}
    with pytest.warns(ConvergenceWarning):
        once = GaussianMixture(3, init_params=R, **settings).fit(X, sample_weight=weight)
    again = np.repeat(np.arange(len(X)), weight)
    with pytest.warns(ConvergenceWarning):
        rows = GaussianMixture(3, init_params=R[again], **settings).fit(X[again])
    assert_allclose(once.means_, rows.means_, rtol=1e-9)
    assert_allclose(once.covariances_, rows.covariances_, rtol=1e-8)
    assert_allclose(once.lower_bound_, rows.lower_bound_, rtol=1e-12)


def test_the_number_of_threads_changes_no_bit():
    import posterior

    X, _ = heaps(n=40_000, d=5)
    models = []
    for n in (1, 2):
        with posterior.threads(n):
            models.append(GaussianMixture(3, random_state=0, max_iter=20).fit(X))
    assert_array_equal(models[0].means_, models[1].means_)
    assert_array_equal(models[0].covariances_, models[1].covariances_)


@pytest.mark.parametrize("model", [GaussianMixture(4, tol=1e-9), Mixture(None, 4, tol=1e-9)])
def test_acceleration_takes_fewer_steps_to_the_same_height(model):
    X, _ = heaps(apart=1.5, n=400)
    R = np.random.default_rng(0).dirichlet(np.ones(4), len(X))
    plain = model.set_params(init_params=R, max_iter=5000, n_init=1, accelerate=False).fit(X)
    slow, height = plain.n_iter_, plain.lower_bound_
    quick = model.set_params(accelerate=True).fit(X)
    assert (np.diff(quick.lower_bounds_) >= -1e-12).all()
    assert quick.n_iter_ < slow
    assert quick.lower_bound_ > height - 1e-2


# ---- any table ----


def messy(n=200, seed=0):
    random = np.random.default_rng(seed)
    codes = random.integers(0, 2, n)
    table = pd.DataFrame(
        {
            "size": random.normal(10 * codes, 1),
            "city": np.where(random.random(n) < 0.9, np.where(codes, "Rome", "Oslo"), "Bonn"),
            "visits": random.poisson(1 + 8 * codes),
        }
    )
    for column in table:
        table[column] = table[column].astype(object).where(random.random(n) > 0.1, None)
    table["size"] = table["size"].astype(float)
    return table, codes


def test_mixed_columns_with_missing_cells_fall_into_their_groups():
    table, codes = messy()
    model = Mixture({"visits": Poisson()}, 2, random_state=0).fit(table)
    answer = model.predict(table)
    right = (answer == codes).mean()
    assert max(right, 1 - right) > 0.97
    assert model.columns_["family"].tolist() == ["Gaussian", "Categorical", "Poisson"]
    proba = model.predict_proba(table)
    assert_allclose(proba.sum(axis=1), 1)
    evidence = model.evidence(table)
    assert_allclose(evidence.log_joint(), model.predict_joint_log_proba(table))
    rows, components = model.sample(50, random_state=0)
    assert list(rows.columns) == list(table.columns) and len(components) == 50


def test_columns_that_depend_on_each_other_share_a_family():
    X, codes = heaps(k=2)
    model = Mixture(MultivariateGaussian(pseudo_rows=1), 2, random_state=0).fit(X)
    same = (model.predict(X) == codes).mean()
    assert max(same, 1 - same) > 0.97
    assert model.n_parameters_ == 1 + 2 * (3 + 6)


def test_yes_and_no_columns_cluster():
    random = np.random.default_rng(0)
    codes = random.integers(0, 2, 300)
    X = (random.random((300, 12)) < np.where(codes, 0.8, 0.2)[:, None]).astype(float)
    model = Mixture(Bernoulli(), 2, random_state=0).fit(X)
    same = (model.predict(X) == codes).mean()
    assert max(same, 1 - same) > 0.95


# ---- missing cells ----


@each_kind
def test_missing_cells_are_integrated_out(kind):
    X, _ = heaps(n=400)
    gaps = X.copy()
    gaps[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    model = GaussianMixture(3, covariance_type=kind, random_state=0, n_init=3).fit(gaps)
    assert (np.diff(model.lower_bounds_) >= -1e-9).all()
    whole = GaussianMixture(3, covariance_type=kind, random_state=0, n_init=3).fit(X)
    order = [np.abs(whole.means_ - m).sum(axis=1).argmin() for m in model.means_]
    assert_allclose(model.means_, whole.means_[order], atol=0.5)
    nothing = model.score_samples(np.full((1, 3), np.nan))
    assert_allclose(nothing, 0, atol=1e-12)


def test_one_component_with_gaps_is_the_maximum_of_the_likelihood():
    """Of all Gaussians: no nearby mean makes the observed cells more probable."""
    X, _ = heaps(n=80, k=1)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    model = GaussianMixture(1, reg_covar=0, tol=1e-13, max_iter=3000).fit(X)
    best = model.score(X)
    for j in range(3):
        for step in (-1e-3, 1e-3):
            moved = GaussianMixture(1)
            moved.__dict__.update(model.__dict__)
            moved.means_ = model.means_ + step * np.eye(3)[j]
            assert moved.score(X) < best


def test_imputed_cells_are_their_expectation_given_the_others():
    X, _ = heaps(n=500)
    model = GaussianMixture(3, random_state=0).fit(X)
    row = X[:1].copy()
    row[0, 1] = np.nan
    part = model.conditional({0: X[0, 0], 2: X[0, 2]})
    expected = float(part.weights_ @ part.means_[:, 0])
    assert_allclose(model.impute(row)[0], [X[0, 0], expected, X[0, 2]])
    drawn = model.impute(np.repeat(row, 20_000, axis=0), draw=True, random_state=0)[:, 1]
    assert_allclose(drawn.mean(), expected, atol=0.05)
    assert_array_equal(model.impute(X), X)


def test_conditionals_and_marginals_make_up_the_joint(faithful):
    model = GaussianMixture(2, random_state=0).fit(faithful)
    marginal = model.marginal(["waiting"])
    given = model.conditional({"waiting": 70.0})
    assert given.feature_names_in_.tolist() == ["eruptions"]
    row = pd.DataFrame({"eruptions": [3.0], "waiting": [70.0]})
    joint = marginal.score_samples(row[["waiting"]]) + given.score_samples(row[["eruptions"]])
    assert_allclose(joint, model.score_samples(row))
    gap = row.assign(eruptions=np.nan)
    assert_allclose(marginal.score_samples(row[["waiting"]]), model.score_samples(gap))
    with pytest.raises(ValueError, match="Expected one of the columns"):
        model.conditional({"length": 1.0})


# ---- how many ----


@pytest.mark.parametrize("criterion", ["bic", "icl", "held_out"])
def test_three_heaps_are_found_to_be_three(criterion):
    X, _ = heaps(n=300, apart=6.0)
    model = GaussianMixture(range(1, 6), criterion=criterion, random_state=0, n_init=2).fit(X)
    assert model.n_components_ == 3 == len(model.weights_)
    assert model.selection_["n_components"].tolist() == [1, 2, 3, 4, 5]
    line = model.selection_["n_components"].tolist().index(3)
    assert_allclose(model.selection_["bic"][line], model.bic(X))
    assert_allclose(model.selection_["icl"][line], model.icl(X))


def test_a_name_chooses_among_one_to_nine():
    X, _ = heaps(n=200, apart=6.0)
    model = Mixture(n_components="bic", random_state=0, n_init=2).fit(X)
    assert model.selection_["n_components"].tolist() == list(range(1, 10))
    assert model.n_components_ == 3


def test_restarts_keep_the_best_and_show_all():
    X, _ = heaps(k=5, apart=2.0)
    model = GaussianMixture(5, n_init=6, init_params="random", random_state=0, max_iter=200)
    model.fit(X)
    assert len(model.starts_) == 6
    assert model.lower_bound_ == model.starts_["objective"].max()


# ---- streams and parts ----


def test_a_stream_comes_near_the_fit_of_all_rows():
    X, _ = heaps(n=6000, apart=5.0)
    stream = GaussianMixture(3, random_state=0)
    for chunk in np.array_split(X, 12):
        stream.partial_fit(chunk)
    whole = GaussianMixture(3, random_state=0).fit(X)
    assert stream.score(X) > whole.score(X) - 0.01
    before = stream.means_.copy()
    with pytest.raises(ValueError, match="infinity"):
        stream.partial_fit(np.full((5, 3), np.inf))
    assert_array_equal(stream.means_, before)


def test_models_grown_from_one_start_merge():
    X, _ = heaps(n=2000, apart=5.0)
    first = GaussianMixture(3, random_state=0).fit(X[:500])
    parts = [
        GaussianMixture(3, means_init=first.means_, tol=1e-6).fit(half)
        for half in np.array_split(X, 2)
    ]
    merged = parts[0].merge(parts[1])
    whole = GaussianMixture(3, means_init=first.means_, tol=1e-6).fit(X)
    assert merged.score(X) > whole.score(X) - 0.01
    with pytest.raises(ValueError, match="3 components to merge"):
        merged.merge(GaussianMixture(2).fit(X))


# ---- labels known for some rows ----


@pytest.mark.parametrize(
    "classifier",
    [GaussianNB(), NaiveBayes(), GaussianDiscriminantAnalysis("own"), LinearDiscriminantAnalysis()],
    ids=repr,
)
def test_all_labels_known_is_the_classifier_itself(classifier):
    X, y = load_iris(return_X_y=True)
    plain, mixed = classifier.fit(X, y), MixtureClassifier(classifier).fit(X, y)
    assert_allclose(mixed.predict_proba(X), plain.predict_proba(X), atol=1e-12)
    assert_allclose(mixed.classifier_.predict_proba(X), plain.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("marker", [-1, None, "?"])
def test_hidden_labels_help_where_heaps_are_plain(marker):
    X, codes = heaps(n=400, apart=3.0)
    random = np.random.default_rng(3)
    known = np.concatenate([random.choice(np.flatnonzero(codes == k), 3) for k in range(3)])
    if marker == -1:
        y = np.full(400, -1)
        y[known] = codes[known]
        truth = codes
    else:
        truth = np.array(["red", "green", "blue"])[codes]
        y = np.full(400, marker, dtype=object)
        y[known] = truth[known]
    few = GaussianNB().fit(X[known], truth[known]).score(X, truth)
    model = MixtureClassifier(GaussianNB(), hidden_label=marker).fit(X, y)
    assert model.score(X, truth) >= few
    assert model.score(X, truth) > 0.95
    assert (np.diff(model.lower_bounds_) >= -1e-9).all()


def test_hidden_rows_of_no_weight_change_nothing():
    X, codes = heaps(n=100)
    y = np.where(np.arange(100) < 30, codes, -1)
    model = MixtureClassifier(GaussianNB(), hidden_label=-1, hidden_weight=0.0).fit(X, y)
    plain = GaussianNB().fit(X[:30], codes[:30])
    assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-6)


def test_documents_without_labels_join_in():
    random = np.random.default_rng(0)
    topics = random.dirichlet(np.full(50, 0.1), 2)
    codes = random.integers(0, 2, 400)
    X = np.stack([random.multinomial(20, topics[k]) for k in codes])
    y = np.where(np.arange(400) < 6, codes, -1)
    few = MultinomialNB().fit(X[:6], codes[:6]).score(X, codes)
    assert MixtureClassifier(MultinomialNB(), hidden_label=-1).fit(X, y).score(X, codes) >= few


def test_classes_of_several_heaps_need_several_components():
    random = np.random.default_rng(0)
    corner = random.integers(0, 4, 800)
    X = 4 * np.stack([corner % 2, corner // 2], axis=1) + random.standard_normal((800, 2))
    y = (corner % 2) ^ (corner // 2)
    one = GaussianDiscriminantAnalysis("shared").fit(X, y).score(X, y)
    model = MixtureClassifier(
        GaussianDiscriminantAnalysis("shared"), n_components=2, n_init=3, random_state=0
    ).fit(X, y)
    assert one < 0.7
    assert model.score(X, y) > 0.93
    assert model.component_class_.tolist() == [0, 0, 1, 1]
    assert_allclose(model.predict_components(X).sum(axis=1), 1)
    assert (np.diff(model.lower_bounds_) >= -1e-9).all()


def test_whether_hidden_rows_help_is_said_on_held_out_rows():
    X, codes = heaps(n=300, apart=2.5)
    y = np.where(np.arange(300) < 30, codes, -1)
    model = MixtureClassifier(GaussianNB(), hidden_label=-1)
    table = model.hidden_rows_help(X, y)
    assert table["learned from"].tolist() == ["labeled rows", "and hidden rows", "gain"]
    assert_allclose(table["log_loss"][2], table["log_loss"][0] - table["log_loss"][1])
    assert table["log_loss"][2] > 0


def test_all_labels_hidden_is_refused():
    with pytest.raises(ValueError, match="Use Mixture"):
        MixtureClassifier().fit([[1.0], [2.0]], [None, None])


# ---- degenerate data ----


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prior_rows", [None, 1.0])
def test_degenerate_rows_end_in_an_answer_or_a_clear_error(kind, prior_rows):
    random = np.random.default_rng(0)
    tables = {
        "duplicates": np.repeat(random.standard_normal((3, 2)), 20, axis=0),
        "constant column": np.column_stack([random.standard_normal(40), np.ones(40)]),
        "outlier": np.vstack([random.standard_normal((40, 2)), [[1e9, 1e9]]]),
        "all the same": np.ones((10, 2)),
    }
    for name, X in tables.items():
        model = GaussianMixture(
            4, covariance_type=kind, prior_rows=prior_rows, random_state=0, max_iter=200
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(X)
            except DegenerateError as error:
                assert "decrease the number of components" in str(error), name
                continue
        assert np.isfinite(model.means_).all(), name
        assert np.isfinite(model.score_samples(X)).all(), name


def test_mixtures_with_a_prior_survive_duplicates_and_constants():
    X = np.repeat([[1.0, 5.0], [2.0, 5.0]], 10, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Mixture(n_components=4, random_state=0).fit(X)
    assert np.isfinite(model.score_samples(X)).all()


def test_a_collapsed_component_without_a_prior_is_an_error_that_says_what_to_do():
    X = np.array([[1.0], [1.0], [1.0], [5.0], [6.0]])
    with pytest.raises(DegenerateError, match="increase reg_covar"):
        GaussianMixture(2, reg_covar=0, random_state=0).fit(X)


ALONE = np.concatenate([np.random.default_rng(0).normal(0, 1, (30, 1)), np.full((4, 1), 6.0)])


def test_a_collapsed_start_is_a_line_among_the_others():
    model = GaussianMixture(
        3, n_init=50, reg_covar=0, init_params="random_from_data", random_state=0
    ).fit(pd.DataFrame({"size": ALONE[:, 0]}))
    objective, ended = model.starts_["objective"], model.starts_["ended"]
    collapsed = ended == "collapsed in column 'size'"
    assert 0 < collapsed.sum() < 50
    assert (objective[collapsed] == -np.inf).all()
    assert np.isfinite(objective[~collapsed]).all()
    assert model.lower_bound_ == objective.max()
    assert (model.starts_["steps"][collapsed] > 0).any()
    assert np.isfinite(model.weights_).all()


def test_only_if_all_starts_collapse_is_it_an_error_which_says_so():
    with pytest.raises(DegenerateError, match=r"All 7 starts collapsed\..* column 'a{b}'"):
        GaussianMixture(2, n_init=7, reg_covar=0, init_params="kmeans", random_state=0).fit(
            pd.DataFrame({"a{b}": [1.0, 1.0, 1.0, 5.0, 5.0]})
        )


def test_a_class_of_several_components_goes_on_with_other_starts_too():
    cells = np.append(np.random.default_rng(1).normal(0, 1, 40).round(2), [2.5, 2.5])
    y = np.append(np.arange(40) % 2, [1, 1])
    model = MixtureClassifier(
        GaussianNB(var_smoothing=0), n_components=2, n_init=30, max_iter=300, random_state=0
    ).fit(cells[:, None], y)
    ended = model.starts_["ended"]
    assert len(ended) == 30
    assert np.char.startswith(ended, "collapsed").any()
    assert model.lower_bound_ == model.starts_["objective"].max() > -np.inf


@pytest.mark.parametrize("criterion", ["bic", "held_out"])
def test_a_number_of_components_that_always_collapses_is_named_and_left_out(criterion):
    X = np.repeat([[1.0], [1.5], [4.0]], 8, axis=0)
    model = GaussianMixture(
        [1, 2, 3], reg_covar=0, init_params="kmeans", n_init=2, random_state=0, criterion=criterion
    )
    with pytest.warns(DegenerateWarning, match="Every start of 3 components collapsed"):
        model.fit(X)
    assert 3 not in model.selection_["n_components"]


def test_more_components_than_rows_is_an_error():
    with pytest.raises(ValueError, match="n_samples >= n_components"):
        GaussianMixture(5).fit([[1.0], [2.0]])


def test_a_vanished_component_is_named():
    X, _ = heaps(n=50)
    model = GaussianMixture(2, weights_init=[1.0, 0.0], means_init=[[0.0] * 3, [1e6] * 3])
    with pytest.warns(DegenerateWarning, match="vanished"):
        model.fit(X)


@each_kind
def test_parameters_that_are_set_by_hand_make_the_model(kind):
    X, _ = heaps(n=100)
    model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    stated = GaussianMixture(3, covariance_type=kind)
    with pytest.raises(NotFittedError):
        stated.predict(X)
    stated.weights_, stated.means_ = model.weights_, model.means_
    stated.precisions_cholesky_ = model.precisions_cholesky_
    assert_allclose(stated.score_samples(X), model.score_samples(X), rtol=1e-12)
    for name in ("covariances_", "precisions_", "precisions_cholesky_"):
        other = GaussianMixture(3, covariance_type=kind, random_state=1).fit(X[:50])
        other.weights_, other.means_ = model.weights_, model.means_
        setattr(other, name, getattr(model, name))
        assert_allclose(other.score_samples(X), model.score_samples(X), rtol=1e-9)
        assert_allclose(other.covariances_, model.covariances_, rtol=1e-9, atol=1e-12)


def test_a_table_of_selection_belongs_to_the_fit_that_chose():
    X, _ = heaps(n=100)
    model = GaussianMixture([1, 2], random_state=0).fit(X)
    assert len(model.selection_) == 2
    assert not hasattr(model.set_params(n_components=2).fit(X), "selection_")


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, _ = heaps(n=50)
    model = GaussianMixture(2, random_state=0).fit(X)
    before = model.means_.copy()
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.where(X > 1, np.inf, X))
    assert_array_equal(model.means_, before)


def test_documents_as_sparse_counts_are_those_of_the_dense_table():
    random = np.random.default_rng(0)
    topics = random.dirichlet(np.full(100, 0.1), 2)
    codes = random.integers(0, 2, 200)
    X = np.stack([random.multinomial(30, topics[k]) for k in codes])
    R = random.dirichlet(np.ones(2), 200)
    dense, csr = (Mixture(Multinomial(), 2, init_params=R).fit(t) for t in (X, csr_array(X)))
    assert_allclose(dense.predict_proba(X), csr.predict_proba(csr_array(X)), atol=1e-9)
    same = (dense.predict(X) == codes).mean()
    assert max(same, 1 - same) == 1


def test_evidence_of_columns_that_depend_is_told_by_pairs():
    table, _ = messy()
    table["width"] = 2 * table["size"].fillna(0) + np.random.default_rng(0).normal(size=len(table))
    both = MultivariateGaussian(pseudo_rows=1)
    model = Mixture({"size": both, "width": both}, 2, random_state=0).fit(table)
    evidence = model.evidence(table)
    assert "size × width" in evidence.feature_names.tolist()
    assert_allclose(evidence.log_joint(), model.predict_joint_log_proba(table), rtol=1e-9)
