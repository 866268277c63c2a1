"""Gaussian discriminant analysis as people use it: choosing, streaming, asking why, going wrong."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import posterior
from posterior import (
    DegenerateError,
    DegenerateWarning,
    GaussianDiscriminantAnalysis,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

KINDS = ["shared", "own", "diagonal", "spherical"]
each_kind = pytest.mark.parametrize("kind", KINDS)
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
SPECIES = np.array(["setosa", "versicolor", "virginica"])


def iris():
    X, y = load_iris(return_X_y=True)
    return X, SPECIES[y]


def iris_frame(library=pd):
    X, y = iris()
    return library.DataFrame({name: X[:, j] for j, name in enumerate(NAMES)}), y


def drawn(n, seed=0, own=True, d=2):
    """Two classes whose columns lean together and apart, or do not lean at all."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = random.normal(size=(n, d))
    if own:
        X[:, 1] += np.where(y == 0, 2, -2) * X[:, 0]
    return X + [1.0] * d * y[:, None], y


# ---- choosing ----


def test_tuning_finds_the_kind_that_made_the_rows():
    for own, expected in ((True, ["own"]), (False, ["shared", "diagonal", "spherical"])):
        X, y = drawn(600, own=own)
        model = GaussianDiscriminantAnalysis("tune").fit(X, y)
        assert model.covariance_kind_ in expected
        assert model.covariance == "tune"  # as it was asked for
        table = model.tuning_
        assert list(table["covariance"]) == KINDS
        chosen = int(np.argmin(table["log_loss"]))
        assert table["covariance"][chosen] == model.covariance_kind_
        assert list(table["chosen"]) == ["<-" if i == chosen else "" for i in range(4)]
        same = GaussianDiscriminantAnalysis(model.covariance_kind_).fit(X, y)
        assert_array_equal(model.predict_proba(X), same.predict_proba(X))


def test_the_losses_of_tuning_are_those_of_cross_validation():
    X, y = iris()
    table = GaussianDiscriminantAnalysis("tune").fit(X, y).tuning_
    for kind, loss, accuracy in zip(
        table["covariance"], table["log_loss"], table["accuracy"], strict=True
    ):
        held_out = GaussianDiscriminantAnalysis(kind).cross_validate(X, y)
        assert loss == pytest.approx(held_out.log_loss, rel=1e-12)
        assert accuracy == held_out.accuracy


def test_kinds_that_the_rows_cannot_determine_are_skipped():
    X, y = iris()
    X += np.random.default_rng(0).normal(0, 0.05, X.shape)  # iris repeats its tenths
    few = np.r_[40:44, 50:90, 100:140]  # four setosas in four columns
    model = GaussianDiscriminantAnalysis("tune").fit(X[few], y[few])
    losses = dict(zip(model.tuning_["covariance"], model.tuning_["log_loss"], strict=True))
    assert losses["own"] == np.inf
    assert np.isfinite([losses[kind] for kind in ("shared", "diagonal", "spherical")]).all()
    assert model.covariance_kind_ != "own"


def test_tuning_raises_if_no_value_can_be_learned():
    X = np.c_[np.ones(20), np.ones(20)]
    with pytest.raises(DegenerateError):
        GaussianDiscriminantAnalysis().tune(
            X, np.arange(20) % 2, grid={"covariance": ["own", "diagonal"]}
        )


@pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning")
@pytest.mark.parametrize(
    ("model", "name"),
    [
        (LinearDiscriminantAnalysis("lsqr"), "shrinkage"),
        (LinearDiscriminantAnalysis("eigen"), "shrinkage"),
        (QuadraticDiscriminantAnalysis(), "reg_param"),
    ],
    ids=repr,
)
def test_tuning_how_much_to_shrink(model, name):
    X, y = load_wine(return_X_y=True)
    X, y = X[::3] / X.std(axis=0), y[::3]
    model = clone(model).tune(X, y, folds=5)
    table = model.tuning_
    values = list(table[name])
    assert getattr(model, name) == values[int(np.nanargmin(table["log_loss"]))]
    for value in values:
        i = values.index(value)
        if np.isfinite(table["log_loss"][i]):
            other = clone(model).set_params(**{name: value})
            loss = other.cross_validate(X, y, folds=5).log_loss
            assert table["log_loss"][i] == pytest.approx(loss, rel=1e-10)
    same = clone(model).fit(X, y)
    assert_array_equal(model.predict_proba(X), same.predict_proba(X))


def test_tuning_any_parameter():
    X, y = iris()
    grid = {"pseudo_rows": [0.0, 1.0, 10.0, 1000.0]}
    model = GaussianDiscriminantAnalysis("own").tune(X, y, grid=grid)
    assert model.pseudo_rows in grid["pseudo_rows"]
    assert model.tuning_["log_loss"][3] > model.tuning_["log_loss"].min()
    assert len(model.tuning_["log_loss"]) == 4


# ---- streams ----


@each_kind
@pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning")
def test_a_stream_may_begin_with_too_few_rows(kind):
    """A question is then an error that says why; with enough rows an answer is that of one fit."""
    X, y = drawn(60, d=3)
    model, refused, answered = GaussianDiscriminantAnalysis(kind), [], []
    order = np.random.default_rng(0).permutation(60)
    for n, i in enumerate(order, 1):
        model.partial_fit(X[[i]], y[[i]], [0, 1] if n == 1 else None)
        rows = np.bincount(y[order[:n]], minlength=2)
        try:
            model.predict(X)
            answered.append(tuple(rows))
        except DegenerateError as error:
            refused.append(tuple(rows))
            assert "Expected" in str(error)
    assert refused[0] in ((1, 0), (0, 1))
    assert all(min(rows) <= 3 for rows in refused)  # four rows determine three columns
    if kind == "own":
        assert not any(0 < min(rows) <= 3 for rows in answered)
    expected = GaussianDiscriminantAnalysis(kind).fit(X, y)
    assert_allclose(model.predict_log_proba(X), expected.predict_log_proba(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("make", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
@pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning")
def test_the_drop_in_classes_stream_too(make):
    X, y = iris()
    model = make()
    for i in np.random.default_rng(0).permutation(150):
        model.partial_fit(X[[i]], y[[i]])
    expected = make().fit(X, y)
    assert_allclose(model.predict_log_proba(X), expected.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    if make is LinearDiscriminantAnalysis:
        assert_allclose(np.abs(model.transform(X)), np.abs(expected.transform(X)), atol=1e-9)
        assert_allclose(model.coef_, expected.coef_, rtol=1e-9)


def test_a_question_too_early_is_an_error_that_says_why():
    X, y = iris_frame()
    model = GaussianDiscriminantAnalysis("own").partial_fit(X[::25], y[::25])
    for ask in (model.predict, model.predict_proba, model.evidence, model.log_evidence):
        with pytest.raises(DegenerateError, match=r"'setosa'"):
            ask(X)
    with pytest.raises(DegenerateError):
        model.sample(3)
    with pytest.raises(DegenerateError):
        model.parameters()
    model.partial_fit(X, y)
    assert model.score(X, y) > 0.95
    with pytest.raises(NotFittedError):
        GaussianDiscriminantAnalysis().predict(X)


@each_kind
def test_new_classes_may_come_later(kind):
    X, y = iris()
    model = GaussianDiscriminantAnalysis(kind).partial_fit(X[:100], y[:100])
    assert_array_equal(model.classes_, SPECIES[:2])
    model.partial_fit(X[100:], y[100:])
    expected = GaussianDiscriminantAnalysis(kind).fit(X, y)
    assert_array_equal(model.classes_, SPECIES)
    assert_allclose(model.predict_log_proba(X), expected.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    model.forget(X[100:], y[100:])
    expected = GaussianDiscriminantAnalysis(kind).fit(X[:100], y[:100])
    assert_array_equal(model.classes_, SPECIES[:2])
    assert_allclose(model.predict_log_proba(X), expected.predict_log_proba(X), rtol=1e-8, atol=1e-8)


def test_a_new_class_of_one_row_is_asked_to_wait():
    X, y = iris()
    model = GaussianDiscriminantAnalysis("own").partial_fit(X[:100], y[:100])
    model.predict(X)
    model.partial_fit(X[100:101], y[100:101])
    with pytest.raises(DegenerateError, match="virginica"):
        model.predict(X)
    model.partial_fit(X[101:], y[101:])
    expected = GaussianDiscriminantAnalysis("own").fit(X, y)
    assert_array_equal(model.predict(X), expected.predict(X))


def test_closed_classes_are_closed():
    X, y = iris()
    model = GaussianDiscriminantAnalysis().partial_fit(X[:100], y[:100], classes=SPECIES[:2])
    with pytest.raises(ValueError, match="virginica"):
        model.partial_fit(X[100:], y[100:])


def test_rows_that_were_never_learned_cannot_be_forgotten():
    X, y = iris()
    X[3, 1] = np.nan
    model = GaussianDiscriminantAnalysis("own").fit(X, y)
    before = model.predict_proba(X)
    strangers = [[np.nan, 900.0, 2.0, 1.0], [np.nan, 3.0, 1.4, 0.2], [5.0, np.nan, 1.4, 0.2]]
    for rows in ([[900.0, 900.0, 2.0, 1.0]], *([row] for row in strangers)):
        with pytest.raises(ValueError, match="rows that were learned"):
            model.forget(rows, ["setosa"])
    assert_array_equal(model.predict_proba(X), before)


def test_the_sign_of_nothing_does_not_matter():
    """0/0 has a sign bit on most machines, and zero has one too."""
    X, y = iris()
    X[3], X[4] = [np.nan, 0.0, 1.4, 0.2], [5.0, np.nan, 1.4, 0.2]
    model = GaussianDiscriminantAnalysis("own").fit(X, y)
    model.forget([[np.copysign(np.nan, -1), -0.0, 1.4, 0.2]], ["setosa"])
    expected = GaussianDiscriminantAnalysis("own").fit(np.delete(X, 3, 0), np.delete(y, 3))
    assert_allclose(model.means_, expected.means_, rtol=1e-10)
    assert_allclose(model.covariance_, expected.covariance_, rtol=1e-8)


def test_old_rows_fade():
    X, y = iris()
    model = GaussianDiscriminantAnalysis().fit(X[::2], y[::2]).decay(0.5)
    model.partial_fit(X[1::2], y[1::2])
    weight = np.where(np.arange(150) % 2 == 0, 0.5, 1.0)
    expected = GaussianDiscriminantAnalysis().fit(X, y, sample_weight=weight)
    assert_allclose(model.predict_log_proba(X), expected.predict_log_proba(X), rtol=1e-9, atol=1e-9)


# ---- samples, parameters, reasons ----


@each_kind
def test_samples_have_the_moments_of_the_model(kind):
    X, y = iris()
    model = GaussianDiscriminantAnalysis(kind).fit(X, y)
    rows, classes = model.sample(60_000, random_state=0)
    covariance = np.broadcast_to(model.parameters_.covariance, (3, 4, 4))
    for k, name in enumerate(SPECIES):
        mine = rows[classes == name]
        assert len(mine) == pytest.approx(20_000, abs=500)  # deviation 115
        deviation = np.sqrt(covariance[k].diagonal())
        error = (mine.mean(axis=0) - model.means_[k]) / deviation
        assert np.abs(error).max() < 0.04  # 1 / √20000 is 0.007
        apart = np.cov(mine.T) - covariance[k]
        assert np.abs(apart / np.outer(deviation, deviation)).max() < 0.06  # √(2 / n) is 0.01
    again, _ = model.sample(60_000, random_state=0)
    assert_array_equal(rows, again)


def test_samples_of_student_are_wider():
    X, y = drawn(16)
    model = GaussianDiscriminantAnalysis("own", predictive=True).fit(X, y)
    rows, classes = model.sample(80_000, random_state=1)
    for k in range(2):
        mine, S = rows[classes == k], model.covariance_[k]
        # of 8 degrees of freedom and scale S 9/8: variance is 8/6 of the scale
        assert_allclose(np.cov(mine.T), S * 9 / 8 * 8 / 6, rtol=0.1, atol=0.1 * S.max())
        distance = np.einsum(
            "ni,ij,nj->n", mine - model.means_[k], np.linalg.inv(S * 9 / 8), mine - model.means_[k]
        )
        assert stats.kstest(distance / 2, stats.f(2, 8).cdf).statistic < 0.02  # 1.6 / √40000: 0.008


def test_the_number_of_parameters():
    """Means, covariances and class probabilities that are free to be chosen."""
    X, y = iris()
    expected = {"shared": 10, "own": 3 * 10, "diagonal": 3 * 4, "spherical": 3}
    for kind, spread in expected.items():
        model = GaussianDiscriminantAnalysis(kind).fit(X, y)
        assert model.n_parameters_ == 3 * 4 + spread + 2


def test_intervals_of_own_covariances_are_those_of_the_books():
    """Student's for a mean, chi squared for a variance."""
    X, y = iris_frame()
    table = GaussianDiscriminantAnalysis("own").fit(X, y).parameters(level=0.9)
    lines = list(
        zip(
            *(table[c] for c in ("feature", "parameter", "class", "value", "low", "high")),
            strict=True,
        )
    )
    assert len(lines) == 2 * 3 * 4
    for feature, parameter, name, value, low, high in lines:
        x = X[feature].to_numpy()[y == name]
        if parameter == "mean":
            interval = stats.t.interval(0.9, 49, x.mean(), x.std(ddof=1) / np.sqrt(50))
            expected = (x.mean(), *interval)
        else:
            squares = 49 * x.var(ddof=1)
            expected = (x.var(), *(squares / stats.chi2.ppf([0.95, 0.05], 49)))
        assert_allclose((value, low, high), expected, rtol=1e-10)


def test_intervals_of_a_shared_covariance_use_all_rows():
    X, y = iris_frame()
    table = GaussianDiscriminantAnalysis("shared").fit(X, y).parameters(level=0.95)
    within = sum(49 * X[y == name].var(ddof=1) for name in SPECIES) / 147
    for feature, parameter, name, low, high in zip(
        *(table[c] for c in ("feature", "parameter", "class", "low", "high")), strict=True
    ):
        if parameter == "mean":
            mean = X[feature].to_numpy()[y == name].mean()
            interval = stats.t.interval(0.95, 147, mean, np.sqrt(within[feature] / 50))
        else:
            interval = 147 * within[feature] / stats.chi2.ppf([0.975, 0.025], 147)
        assert_allclose((low, high), interval, rtol=1e-10)


SHARED_REASONS = """\
Why virginica, rather than versicolor
              value  log-odds
prior                   +0.00
petal length    4.8     -1.98  ------------
petal width     1.8     +1.71  ++++++++++
sepal length    5.9     +1.56  +++++++++
sepal width     3.2     -0.18  -
posterior               +1.10
P(virginica) = 75.09 %  P(versicolor) = 24.91 %  P(setosa) = <0.01 %"""


def test_reasons_of_a_shared_covariance_are_one_a_feature():
    X, y = iris_frame()
    reasons = GaussianDiscriminantAnalysis().fit(X, y).explain(X.iloc[[70]])
    assert str(reasons) == SHARED_REASONS
    assert reasons.log_odds == pytest.approx(np.log(0.7509 / 0.2491), abs=1e-3)


@pytest.mark.parametrize("predictive", [False, True])
@each_kind
def test_reasons_add_up_to_the_odds(kind, predictive):
    X, y = iris_frame()
    model = GaussianDiscriminantAnalysis(kind, predictive=predictive).fit(X, y)
    for row in (X.iloc[[70]], X.iloc[[70]].assign(**{"petal width": np.nan})):
        log_joint = model.predict_joint_log_proba(row)[0]
        for of, against in ((0, 1), (2, 1), (1, 2)):
            reasons = model.explain(row, SPECIES[of], SPECIES[against])
            assert reasons.log_odds == pytest.approx(log_joint[of] - log_joint[against], abs=1e-9)
            text = str(reasons)
            assert text.startswith(f"Why {SPECIES[of]}, rather than {SPECIES[against]}\n")
            assert all(name in text for name in NAMES) or predictive
            assert "nan" not in text


def test_reasons_of_own_covariances_name_pairs():
    X, y = iris_frame()
    text = str(GaussianDiscriminantAnalysis("own").fit(X, y).explain(X.iloc[[70]]))
    assert "petal length × petal width" in text
    assert text.splitlines()[-1] == (
        "P(virginica) = 67.15 %  P(versicolor) = 32.85 %  P(setosa) = <0.01 %"
    )


# ---- answers ----


def test_other_priors_costs_and_doubt():
    X, y = iris()
    for kind in KINDS:
        model = GaussianDiscriminantAnalysis(kind).fit(X, y)
        priors = [0.1, 0.2, 0.7]
        given = GaussianDiscriminantAnalysis(kind, priors=priors).fit(X, y)
        ours, expected = model.predict_log_proba(X, priors=priors), given.predict_log_proba(X)
        assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)
        assert_array_equal(model.predict(X, priors=priors), given.predict(X))
        proba = model.predict_proba(X)
        costs = np.array([[0, 1, 1], [1, 0, 1], [50, 50, 0]], float)
        least = SPECIES[(proba @ costs).argmin(axis=1)]
        assert_array_equal(model.predict(X, costs=costs), least)
        assert (least != model.predict(X)).any()
        sure = model.predict(X, reject=0.9)
        assert_array_equal(sure.mask, proba.max(axis=1) < 0.9)
        assert 0 < sure.mask.sum() < 75


def test_wrong_priors_are_refused():
    X, y = iris()
    for priors in ([0.5, 0.5], [-0.1, 0.6, 0.5]):
        with pytest.raises(ValueError, match=r"[Pp]riors"):
            GaussianDiscriminantAnalysis(priors=priors).fit(X, y)
        with pytest.raises(ValueError, match=r"[Pp]riors"):
            GaussianDiscriminantAnalysis().fit(X, y).predict(X, priors=priors)


def test_the_evidence_of_a_row_is_its_density():
    X, y = iris()
    model = GaussianDiscriminantAnalysis("own").fit(X, y)
    density = sum(
        model.priors_[k] * stats.multivariate_normal(model.means_[k], model.covariance_[k]).pdf(X)
        for k in range(3)
    )
    assert_allclose(model.log_evidence(X), np.log(density), rtol=1e-9)
    assert model.log_evidence([[50.0, 50, 50, 50]])[0] < model.log_evidence(X).min()


@pytest.mark.parametrize("calibrated", ["temperature", "isotonic"])
@each_kind
def test_calibration_makes_probabilities_no_worse_out_of_fold(kind, calibrated):
    """By the scores that it was fitted to; a temperature of one would leave them as they were."""
    X, y = load_wine(return_X_y=True)
    X = X[:, [0, 0, 6, 9]] + np.random.default_rng(0).normal(0, [0, 0.3, 0, 0], (len(X), 4))
    plain = GaussianDiscriminantAnalysis(kind).fit(X, y)
    model = GaussianDiscriminantAnalysis(kind, calibrated=calibrated).fit(X, y)
    held_out = GaussianDiscriminantAnalysis(kind).cross_validate(X, y)
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    assert np.isfinite(proba).all()
    if calibrated == "temperature":
        after = model.calibrator_.apply(held_out.log_proba.copy())
        assert -after[np.arange(len(y)), y].mean() <= held_out.log_loss + 1e-9
        assert_array_equal(model.predict(X), plain.predict(X))
        assert np.abs(proba - plain.predict_proba(X)).max() > 1e-6


def test_calibration_needs_all_rows_at_once():
    X, y = iris()
    with pytest.raises(ValueError, match="calibrated=None"):
        GaussianDiscriminantAnalysis(calibrated="temperature").partial_fit(X, y)


def test_one_class_is_certain():
    X, y = iris()
    one = X[:50], y[:50]
    for kind in KINDS:
        model = GaussianDiscriminantAnalysis(kind).fit(*one)
        assert_array_equal(model.predict(X), np.full(150, "setosa"))
        assert_array_equal(model.predict_proba(X), np.ones((150, 1)))
        with pytest.raises(ValueError, match="two classes or more"):
            model.explain(X[:1])
    assert_array_equal(LinearDiscriminantAnalysis().fit(*one).predict(X), np.full(150, "setosa"))
    with pytest.raises(ValueError, match=r"number of classes.*greater than one"):
        QuadraticDiscriminantAnalysis().fit(*one)


def test_one_column():
    X, y = iris()
    for kind in KINDS:
        model = GaussianDiscriminantAnalysis(kind).fit(X[:, [2]], y)
        for k, name in enumerate(SPECIES):
            density = stats.norm(X[y == name, 2].mean(), np.sqrt(model.deviations_[k, 0] ** 2))
            expected = density.logpdf(X[:, 2]) + np.log(1 / 3)
            assert_allclose(model.predict_joint_log_proba(X[:, [2]])[:, k], expected, rtol=1e-9)


# ---- tables ----


@pytest.mark.parametrize("library", [pd, pl], ids=lambda m: m.__name__)
@pytest.mark.parametrize(
    "make",
    [
        *(lambda k=k: GaussianDiscriminantAnalysis(k) for k in KINDS),
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
    ],
    ids=[*KINDS, "linear", "quadratic"],
)
def test_frames(library, make):
    X, y = iris()
    frame, _ = iris_frame(library)
    ours, expected = make().fit(frame, y), make().fit(X, y)
    assert list(ours.feature_names_in_) == NAMES
    assert_allclose(ours.predict_proba(frame), expected.predict_proba(X), rtol=1e-12)
    named = (
        frame.with_columns(pl.Series("species", y)) if library is pl else frame.assign(species=y)
    )
    by_name = make().fit(named, "species")
    assert_allclose(by_name.predict_proba(frame), expected.predict_proba(X), rtol=1e-12)


def test_errors_speak_of_the_columns_and_classes_of_the_table():
    X, y = iris_frame()
    with pytest.raises(
        DegenerateError, match=r"'wheels' is the same in all rows of class 'setosa'"
    ):
        GaussianDiscriminantAnalysis("own").fit(X.assign(wheels=4.0), y)
    with pytest.raises(DegenerateError, match=r"class 'setosa' has no inverse"):
        GaussianDiscriminantAnalysis("own").fit(X.assign(twin=2 * X["petal width"]), y)
    with pytest.warns(DegenerateWarning, match=r"rank 4 of 5.*'wheels'"):
        GaussianDiscriminantAnalysis().fit(X.assign(wheels=0.1), y)
    with pytest.warns(DegenerateWarning, match=r"rank 4 of 5.*combinations"):
        GaussianDiscriminantAnalysis().fit(X.assign(twin=2 * X["petal width"]), y)


def test_names_with_braces():
    X, y = iris_frame()
    names = np.array(["{a}", "{feature}", "{0}"])[np.searchsorted(SPECIES, y)]
    with pytest.raises(DegenerateError, match=r"'\{wheels\}'.*'\{0\}'"):
        GaussianDiscriminantAnalysis("own").fit(X.assign(**{"{wheels}": 4.0}), names)


MODELS = [
    *(GaussianDiscriminantAnalysis(k) for k in KINDS),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)


@each_model
def test_infinite_cells_are_named(model):
    X, y = iris_frame()
    bad = X.copy()
    bad.iloc[7, 2] = np.inf
    where = r"infinity, first in row 7, column 'petal length'"
    with pytest.raises(ValueError, match=where):
        clone(model).fit(bad, y)
    fitted = clone(model).fit(X, y)
    for ask in (
        fitted.predict,
        fitted.predict_proba,
        fitted.predict_joint_log_proba,
        fitted.decision_function,
        fitted.evidence,
        fitted.log_evidence,
    ):
        with pytest.raises(ValueError, match=where):
            ask(bad)
    bad.iloc[7, 0] = np.nan  # also beside a missing cell
    with pytest.raises(ValueError, match=where):
        clone(model).fit(bad, y)
    with pytest.raises(ValueError, match=where):
        fitted.partial_fit(bad, y)
    with pytest.raises(ValueError, match=where):
        fitted.predict(bad)
    assert fitted.score(X, y) > 0.9


@each_model
def test_other_bad_input(model):
    X, y = iris()
    fitted = clone(model).fit(X, y)
    for call in (
        lambda: clone(model).fit(X, y[1:]),
        lambda: clone(model).fit(X[:0], y[:0]),
        lambda: clone(model).fit(X[0], y),
        lambda: clone(model).fit(X, y, sample_weight=np.full(150, -1.0)),
        lambda: clone(model).fit(X, y, sample_weight=np.zeros(150)),
        lambda: clone(model).fit(X[:1], y[:1]),
        lambda: fitted.predict(X[:, :3]),
        lambda: fitted.predict(X[0]),
    ):
        with pytest.raises(ValueError):
            call()
    assert fitted.score(X, y) > 0.9


@each_model
def test_models_can_be_copied_stored_and_cloned(model):
    X, y = iris()
    fitted = clone(model).fit(X, y)
    expected = fitted.predict_proba(X)
    for other in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        assert_array_equal(other.predict_proba(X), expected)
        other.partial_fit(X[:10], y[:10])
    assert_array_equal(fitted.predict_proba(X), expected)
    assert_array_equal(clone(fitted).fit(X, y).predict_proba(X), expected)


def test_axes_feed_a_pipeline():
    X, y = iris()
    pipeline = make_pipeline(
        StandardScaler(),
        LinearDiscriminantAnalysis(n_components=2),
        posterior.GaussianNB(),
    )
    assert pipeline.fit(X, y).score(X, y) > 0.95
    assert pipeline[:-1].transform(X).shape == (150, 2)


def test_pseudo_rows_are_rows():
    """Of the mean and covariance of all classes together."""
    X, y = iris()
    m = 4.0
    model = GaussianDiscriminantAnalysis("own", pseudo_rows=m).fit(X, y)
    everyone, spread = X.mean(axis=0), np.cov(X.T, bias=True)
    for k, name in enumerate(SPECIES):
        mine = X[y == name]
        mean = (50 * mine.mean(axis=0) + m * everyone) / (50 + m)
        about = [mine - mean, np.sqrt(m) * (everyone - mean)[None]]
        scatter = sum(a.T @ a for a in about) + m * spread
        assert_allclose(model.means_[k], mean, rtol=1e-12)
        assert_allclose(model.covariance_[k], scatter / (50 + m), rtol=1e-10)


def test_settings_that_have_no_meaning():
    X, y = iris()
    for settings in (
        {"covariance": "full"},
        {"shrinkage": 1.5},
        {"covariance": 1.5},
        {"pseudo_rows": -1.0},
        {"calibrated": "magic"},
    ):
        with pytest.raises(ValueError):
            GaussianDiscriminantAnalysis(**settings).fit(X, y)
    for settings in ({"covariance": "tune"}, {"covariance": "auto"}, {"shrinkage": "auto"}):
        with pytest.raises(ValueError, match="all rows at once"):
            GaussianDiscriminantAnalysis(**settings).partial_fit(X, y)
    for auto in (
        LinearDiscriminantAnalysis("lsqr", shrinkage="auto"),
        QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    ):
        with pytest.raises(ValueError, match="all rows at once"):
            auto.partial_fit(X, y)
        with pytest.raises(ValueError, match="all rows at once"):
            auto.fit(X, y).partial_fit(X + 1, y)


def test_a_rule_without_shrinkage_says_which_have_it():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="Expected solver='lsqr' or solver='eigen'"):
        LinearDiscriminantAnalysis().tune(X, y)
    assert LinearDiscriminantAnalysis(solver="lsqr").tune(X, y).tuning_["chosen"].any()


def test_all_columns_tell_of_a_spherical_variance():
    """Intervals of 95 % hold the truth as often, give or take three errors of 400 trials."""
    random = np.random.default_rng(0)
    held = []
    for _ in range(200):
        X, y = random.normal(size=(30, 4)), np.arange(30) % 2
        table = GaussianDiscriminantAnalysis("spherical").fit(X, y).parameters()
        lines = np.flatnonzero(table["parameter"] == "variance")[::4]  # one for each class
        held += [table["low"][i] <= 1 <= table["high"][i] for i in lines]
    assert abs(np.mean(held) - 0.95) < 3 * np.sqrt(0.95 * 0.05 / len(held))


def test_of_many_classes_an_explanation_shows_the_most_probable():
    y = np.arange(400) % 20
    X = y[:, None] + np.random.default_rng(0).normal(0, 0.3, (400, 2))
    model = posterior.GaussianNB().fit(X, y)
    told = str(model.explain(X[:1])).splitlines()[-1]
    assert told.startswith("P(0) = ") and told.count("P(") == 6
    assert "14 others = " in told
    assert len(model.explain(X[:1]).posterior) == 20
