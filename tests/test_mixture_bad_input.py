"""Bad and degenerate input of mixtures: a sound answer, or an error that says what to do."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from posterior import (
    TAN,
    CategoricalNB,
    ComplementNB,
    DegenerateError,
    DegenerateWarning,
    GaussianDiscriminantAnalysis,
    GaussianMixture,
    GaussianNB,
    LogisticRegression,
    Mixture,
    MixtureClassifier,
    MultivariateGaussian,
    NaiveBayes,
)

pytestmark = pytest.mark.once

KINDS = ["full", "tied", "diag", "spherical"]
each_kind = pytest.mark.parametrize("kind", KINDS)

RANDOM = np.random.default_rng(0)
HEAPS = np.vstack([RANDOM.normal(0, 1, (40, 2)), RANDOM.normal(6, 1, (40, 2))])
CODES = np.repeat([0, 1], 40)
HALF = np.where(np.arange(80) % 2, CODES, -1)  # every other label is hidden
FRAME = pd.DataFrame(HEAPS, columns=["a", "b"])


def gaussian(**settings):
    return GaussianMixture(2, random_state=0, **settings)


def mixture(**settings):
    return Mixture(random_state=0, **settings)


def classifier(base=None, **settings):
    return MixtureClassifier(base, hidden_label=-1, random_state=0, **settings)


def fitted(model, X, weight=None):
    if isinstance(model, MixtureClassifier):
        return model.fit(X, HALF, sample_weight=weight)
    return model.fit(X, sample_weight=weight)


MODELS = {
    "GaussianMixture": gaussian,
    "GaussianMixture, diag": lambda: gaussian(covariance_type="diag"),
    "Mixture": mixture,
    "Mixture, MultivariateGaussian": lambda: mixture(families=MultivariateGaussian(pseudo_rows=1)),
    "MixtureClassifier": classifier,
    "MixtureClassifier, GaussianNB": lambda: classifier(GaussianNB()),
    "MixtureClassifier, two a class": lambda: classifier(n_components=2),
}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())


def assert_sound(model, X):
    """Probabilities, and no density that is not a number."""
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1)
    assert np.isfinite(model.log_evidence(X)).all()
    assert np.isfinite(model.weights_).all()


def fit_or_say_why(model, X, message):
    """A warning of NumPy is an error; ours may come."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", DegenerateWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            fitted(model, X)
        except DegenerateError as error:
            assert any(part in str(error) for part in message), str(error)
            return
        assert_sound(model, X)


# ---- tables that leave parameters open ----

REMEDIES = (
    "decrease the number of components",
    "Drop",
    "raise the smoothing",
    "Rescale",
)
OPEN = {
    "three rows, again and again": np.repeat(HEAPS[:3], 27, axis=0)[:80],
    "two rows, again and again": np.repeat(HEAPS[[0, 50]], 40, axis=0),
    "one row, again and again": np.repeat(HEAPS[:1], 80, axis=0),
    "a constant column": np.column_stack([HEAPS[:, 0], np.ones(80)]),
    "an outlier": np.vstack([HEAPS[:-1], [[1e9, 1e9]]]),
    "an enormous outlier": np.vstack([HEAPS[:-1], [[1e150, 0.0]]]),
    "a row without cells": np.vstack([HEAPS[:-1], [[np.nan, np.nan]]]),
    "a column without cells": np.column_stack([HEAPS[:, 0], np.full(80, np.nan)]),
    "a constant column with gaps": np.column_stack(
        [HEAPS[:, 0], np.where(np.arange(80) % 3, 1.0, np.nan)]
    ),
    "large numbers": 1e100 * HEAPS,
    "small numbers": 1e-8 * HEAPS,
}


@each_model
@pytest.mark.parametrize("name", OPEN)
def test_open_parameters_are_answered_or_named(make, name):
    fit_or_say_why(make(), OPEN[name], REMEDIES)


@each_kind
@pytest.mark.parametrize("prior_rows", [None, 1.0])
@pytest.mark.parametrize("name", OPEN)
def test_open_parameters_of_each_covariance(kind, prior_rows, name):
    model = gaussian(covariance_type=kind, prior_rows=prior_rows).set_params(n_components=3)
    fit_or_say_why(model, OPEN[name], REMEDIES)


@pytest.mark.parametrize("base", [NaiveBayes(), GaussianNB()], ids=repr)
def test_classes_of_one_row_each_are_answered_or_named(base):
    model = classifier(base)
    X, y = HEAPS[[0, 50, 1, 51]], [0, 1, -1, -1]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            model.fit(X, y)
        except DegenerateError as error:
            assert "raise the smoothing" in str(error)
            return
    assert_sound(model, X)


@pytest.mark.parametrize(
    "model",
    [gaussian(), gaussian(covariance_type="tied"), classifier(), classifier(GaussianNB())],
    ids=["full", "tied", "NaiveBayes", "GaussianNB"],
)
@pytest.mark.parametrize("size", [1e200, 1e308])
def test_cells_too_large_to_square_are_to_be_rescaled(model, size):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="Rescale"):
            fitted(model, np.vstack([HEAPS[:-1], [[size, 0.0]]]))


@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_a_column_without_cells_does_not_blind_the_others(kind):
    X = np.column_stack([HEAPS, np.full(80, np.nan)])
    model = gaussian(covariance_type=kind).fit(X)
    plain = gaussian(covariance_type=kind).fit(HEAPS)
    order = [np.argsort(m.means_[:, 0]) for m in (model, plain)]
    assert_allclose(model.means_[order[0], :2], plain.means_[order[1]], atol=1e-6)


# ---- the same numbers in other clothes ----


@each_model
def test_a_huge_offset_changes_nothing(make):
    """Mean 1e8, variance 1: cells keep 1e-8 of their digits, and so do answers."""
    near, far = fitted(make(), HEAPS), fitted(make(), HEAPS + 1e8)
    assert_allclose(far.predict_proba(HEAPS + 1e8), near.predict_proba(HEAPS), atol=1e-5)
    assert_allclose(far.log_evidence(HEAPS + 1e8), near.log_evidence(HEAPS), atol=1e-5)


LAYOUTS = {
    "float32": HEAPS.astype(np.float32),
    "Fortran order": np.asfortranarray(HEAPS),
    "every other cell": np.repeat(np.repeat(HEAPS, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": np.ascontiguousarray(HEAPS[::-1, ::-1])[::-1, ::-1],
    "list": HEAPS.tolist(),
    "objects": HEAPS.astype(object),
    "long double": HEAPS.astype(np.longdouble),
    "pandas": FRAME,
    "polars": pl.from_pandas(FRAME),
    "pyarrow": pa.Table.from_pandas(FRAME),
}


@each_model
@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_gives_the_same_answer(make, name):
    X = LAYOUTS[name]
    model, plain = fitted(make(), X), fitted(make(), HEAPS)
    digits = 1e-3 if name == "float32" else 1e-9
    assert_allclose(model.log_evidence(X), plain.log_evidence(HEAPS), atol=digits)
    assert_array_equal(model.predict(X), plain.predict(HEAPS))
    if name in ("pandas", "polars", "pyarrow"):
        assert model.feature_names_in_.tolist() == ["a", "b"]


@each_model
def test_whole_numbers_and_truths_are_numbers(make):
    whole = (10 * HEAPS).astype(np.int16)
    model, plain = fitted(make(), whole), fitted(make(), whole.astype(float))
    assert_array_equal(model.log_evidence(whole), plain.log_evidence(whole.astype(float)))
    fit_or_say_why(make(), HEAPS > 3, REMEDIES)


@pytest.mark.parametrize("make", [gaussian, mixture, classifier])
def test_cells_that_a_frame_calls_missing_are_missing(make):
    gaps = FRAME.mask(np.arange(80)[:, None] % 7 == np.arange(2))
    plain = fitted(make(), gaps.to_numpy()).log_evidence(gaps.to_numpy())
    for frame in (pl.from_pandas(gaps), pa.Table.from_pandas(gaps), gaps.convert_dtypes()):
        assert_allclose(fitted(make(), frame).log_evidence(frame), plain, rtol=1e-9)


# ---- input that is refused, and a model that stays as it was ----

REFUSED = {
    "infinity": (np.vstack([HEAPS[:-1], [[1.0, np.inf]]]), "infinity, first in row 79, column 1"),
    "infinity and gaps": (
        np.vstack([HEAPS[:-2], [[np.nan, 1.0], [1.0, -np.inf]]]),
        "infinity, first in row 79, column 1",
    ),
    "no rows": (HEAPS[:0], "0 sample"),
    "no columns": (HEAPS[:, :0], "0 feature"),
    "one dimension": (HEAPS[:, 0], "Expected 2D array"),
    "three dimensions": (HEAPS[None], "dim 3"),
    "complex numbers": (HEAPS + 0j, "Complex data"),
}


def state(model):
    return {name: id(value) for name, value in vars(model).items()}


@each_model
@pytest.mark.parametrize("name", REFUSED)
def test_refused_tables_leave_the_model_as_it_was(make, name):
    X, message = REFUSED[name]
    model = fitted(make(), HEAPS)
    before = state(model)
    with pytest.raises(ValueError, match=message):
        fitted(model, X)
    assert state(model) == before


@each_model
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.zeros(80), "at least one row of positive weight"),
        (np.where(np.arange(80) == 7, -1.0, 1.0), "non-negative weights, got -1 at row 7"),
        (np.full(80, np.nan), "finite, non-negative weights, got nan at row 0"),
        (np.ones(3), r"\(3,\), expected \(80,\)"),
        (np.ones((80, 1)), "1D"),
    ],
)
def test_refused_weights_leave_the_model_as_it_was(make, weight, message):
    model = fitted(make(), HEAPS)
    before = state(model)
    with pytest.raises(ValueError, match=message):
        fitted(model, HEAPS, weight)
    assert state(model) == before


@pytest.mark.parametrize("make", [gaussian, mixture])
def test_one_row_is_refused(make):
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        make().fit(HEAPS[:1])


def test_words_are_refused_where_numbers_are_expected():
    with pytest.raises(ValueError, match="Convert your data to numeric"):
        gaussian().fit(np.array([["a", "b"]] * 10))
    with pytest.raises(ValueError, match="Expected numbers in column 'a', got 'x' in row 3"):
        cells = np.where(np.arange(80) == 3, "x", FRAME["a"].astype(str))
        Mixture(MultivariateGaussian(), 2).fit(FRAME.assign(a=cells))


@each_model
def test_other_tables_are_refused_when_answers_are_asked(make):
    model = fitted(make(), FRAME)
    swapped, renamed = FRAME[["b", "a"]], FRAME.rename(columns={"a": "c"})
    for X, message in (
        (swapped, "same order"),
        (renamed, "unseen at fit time:\n- c"),
        (FRAME.assign(c=1.0), "unseen at fit time:\n- c"),
        (FRAME[["a"]], "yet now missing:\n- b"),
        (FRAME.replace(FRAME.iloc[3, 1], np.inf), "infinity, first in row 3, column 'b'"),
        (FRAME[:0], "0 sample"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict(X)
    nameless = fitted(make(), HEAPS)
    with pytest.raises(ValueError, match="X has 3 features"):
        nameless.predict(np.ones((2, 3)))


@each_model
def test_rows_without_cells_are_of_the_components_as_they_weigh(make):
    model = fitted(make(), HEAPS)
    nothing = np.full((2, 2), np.nan)
    assert_allclose(model.log_evidence(nothing), 0, atol=1e-9)
    assert_allclose(model.predict_proba(nothing).sum(axis=1), 1)


# ---- settings ----


@pytest.mark.parametrize("make", [GaussianMixture, lambda k: Mixture(None, k)])
@pytest.mark.parametrize(
    ("k", "message"),
    [
        (0, "n_components"),
        (-1, "n_components"),
        (1.5, "n_components"),
        ("aic", "bic"),
        (None, "n_components"),
        (81, "n_samples >= n_components but got n_components = 81, n_samples = 80"),
        ([], r"one or more, got \[\]"),
        (range(0), r"one or more, got \[\]"),
        (range(3), r"one or more, got \[0, 1, 2\]"),
        ([1, 2.5], r"whole numbers of components, one or more, got \[1, 2.5\]"),
        (["a"], "whole numbers of components"),
        ([2, 200], "n_components = 200"),
    ],
)
def test_numbers_of_components_that_make_no_sense(make, k, message):
    with pytest.raises(ValueError, match=message):
        make(k).fit(HEAPS)


@each_kind
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights_init": [1.0]}, r"shape of \(2,\), but got \(1,\)"),
        ({"weights_init": [0.5, 0.6]}, "normalized"),
        ({"weights_init": [1.5, -0.5]}, r"range \[0, 1\], but got min value -0\.5.*max value 1\.5"),
        ({"means_init": [[0.0, 0.0]]}, r"shape of \(2, 2\), but got \(1, 2\)"),
        ({"weights_init": [np.nan, 1.0]}, "Expected finite weights, got nan"),
        (
            {"means_init": [[0.0, np.inf], [0.0, 0.0]]},
            r"Expected finite means, got inf at \(0, 1\)",
        ),
        ({"means_init": [0.0, 1.0]}, r"shape of \(2, 2\), but got \(2,\)"),
        ({"precisions_init": [1.0]}, r"but got \(1,\)"),
        ({"precisions_init": np.ones((2, 2, 2, 2))}, r"but got \(2, 2, 2, 2\)"),
        ({"init_params": np.ones((80, 3))}, r"shape \(80, 2\), got \(80, 3\)"),
        ({"init_params": np.zeros((80, 2))}, "not all zero, row 0"),
        ({"init_params": np.full((80, 2), -1.0)}, "not negative"),
        ({"init_params": "best"}, "init_params"),
    ],
)
def test_first_guesses_that_make_no_sense(kind, settings, message):
    with pytest.raises(ValueError, match=message):
        gaussian(covariance_type=kind, **settings).fit(HEAPS)


@pytest.mark.parametrize(
    ("kind", "precisions"),
    [
        ("full", np.stack([-np.eye(2)] * 2)),
        ("full", np.stack([[[1.0, 0.9], [0.1, 1.0]]] * 2)),
        ("tied", np.ones((2, 2))),
        ("diag", np.eye(2)),
        ("spherical", np.array([1.0, -1.0])),
    ],
)
def test_precisions_that_no_distribution_has(kind, precisions):
    with pytest.raises(ValueError, match="should be"):
        gaussian(covariance_type=kind, precisions_init=precisions).fit(HEAPS)


# ---- labels ----


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (HALF[:5], "X has 80 rows, y has 5"),
        (CODES[:5], "X has 80 rows, y has 5"),
        (np.column_stack([HALF, HALF]), "1d array"),
        (3, "1d array"),
        (None, "requires y"),
        (np.where(HALF < 0, np.nan, HALF + 0.5), "fractions such as 0.5"),
        (np.where(HALF < 0, np.inf, HALF), "infinity"),
        (np.full(80, -1), "Use Mixture"),
    ],
)
def test_labels_that_make_no_sense(y, message):
    with pytest.raises(ValueError, match=message):
        classifier().fit(HEAPS, y)


NAMES = np.array(["low", "high"], dtype=object)[CODES]
SOME_NAMES = np.where(HALF < 0, None, NAMES)


@pytest.mark.parametrize(
    "y",
    [
        SOME_NAMES,
        pd.Series(SOME_NAMES, dtype="str"),
        pd.Series(pd.Categorical(SOME_NAMES)),
        pl.Series(SOME_NAMES.tolist()),
        pa.array(SOME_NAMES.tolist()),
        SOME_NAMES.tolist(),
    ],
    ids=["objects", "pandas", "categories", "polars", "pyarrow", "list"],
)
def test_missing_labels_are_hidden_however_they_are_written(y):
    model = MixtureClassifier(GaussianNB()).fit(HEAPS, y)
    assert model.classes_.tolist() == ["high", "low"]
    assert model.score(HEAPS, NAMES.astype(str)) == 1


def test_labels_may_be_a_column():
    model = MixtureClassifier(GaussianNB()).fit(FRAME.assign(kind=SOME_NAMES), "kind")
    assert model.classes_.tolist() == ["high", "low"]
    assert model.feature_names_in_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("y", "marker"),
    [(HALF, "?"), (HALF, "-1"), (HALF, [-1, -2]), (np.where(HALF < 0, "?", "a"), -1)],
)
def test_hidden_labels_are_of_the_type_of_the_others(y, marker):
    with pytest.raises(TypeError, match="hidden"):
        MixtureClassifier(hidden_label=marker).fit(HEAPS, y)


def test_labels_of_several_types_are_refused():
    with pytest.raises(TypeError, match="Expected labels of one type"):
        MixtureClassifier().fit(HEAPS, np.array([None, 1, "a", "b"] * 20, dtype=object))


@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_hidden_labels_of_a_column_vector_are_hidden():
    assert classifier().fit(HEAPS, HALF[:, None]).classes_.tolist() == [0, 1]


def test_one_class_and_hidden_rows_is_one_class():
    model = classifier().fit(HEAPS, np.where(HALF < 0, -1, 0))
    assert model.classes_.tolist() == [0]
    assert_allclose(model.predict_proba(HEAPS), 1)


def test_unknown_classes_have_no_number_of_components():
    for sizes in ({5: 2}, {0: 0}, {0: -1}, {0: 1.5}, {"0": 2}):
        with pytest.raises(ValueError, match=r"for some of the classes \[0, 1\], got"):
            classifier(n_components=sizes).fit(HEAPS, HALF)
    with pytest.raises(ValueError, match="Expected 21 labeled rows or more of class 0"):
        classifier(n_components=21).fit(HEAPS, HALF)
    with pytest.raises(ValueError, match="n_components"):
        classifier(n_components=0).fit(HEAPS, HALF)
    sizes = classifier(n_components={1: 2}).fit(HEAPS, HALF).component_class_
    assert sizes.tolist() == [0, 1, 1]


def test_only_generative_classifiers_have_components():
    with pytest.raises(TypeError, match="Expected a generative classifier"):
        classifier(LogisticRegression()).fit(HEAPS, HALF)


def test_answers_that_are_no_likeliest_density_have_no_em():
    with pytest.raises(TypeError, match="density"):
        classifier(ComplementNB()).fit(np.abs(HEAPS), HALF)
    with pytest.raises(ValueError, match="without predictive"):
        classifier(NaiveBayes(predictive=True)).fit(HEAPS, HALF)
    for base in (TAN(), NaiveBayes("auto")):
        with pytest.raises(TypeError, match="sums rows as they come"):
            classifier(base).fit(HEAPS, HALF)


def test_classes_without_weight_are_left_in_peace():
    weight = np.where(CODES == 0, 1.0, 0.0)
    model = classifier().fit(HEAPS, HALF, sample_weight=weight)
    assert_allclose(model.weights_, [1, 0], atol=1e-12)


@each_model
def test_the_unit_of_weights_means_nothing_without_a_prior(make):
    """No component vanishes because all rows weigh little."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DegenerateWarning)
        assert_sound(fitted(make(), HEAPS, np.full(80, 1e-6)), HEAPS)


def test_codes_as_numbers_start_like_others():
    """CategoricalNB reads whole numbers of any type; two components a class need a start."""
    X = np.abs(HEAPS).round()
    model = classifier(CategoricalNB(), n_components=2).fit(X, HALF)
    assert_sound(model, X)


@pytest.mark.parametrize("covariance", ["own", "shared", "diagonal"])
def test_the_objective_of_labels_and_gaps_never_falls(covariance):
    X = HEAPS.copy()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    base = GaussianDiscriminantAnalysis(covariance)
    model = classifier(base, tol=1e-4).fit(X, HALF)
    assert (np.diff(model.lower_bounds_) >= -1e-9).all()
