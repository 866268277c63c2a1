"""What bad input gets: an error that says where and what to do, and the model as it was."""

from __future__ import annotations

import copy
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

import posterior
from posterior import (
    Bernoulli,
    BernoulliNB,
    Categorical,
    CategoricalNB,
    ComplementNB,
    DegenerateError,
    DegenerateWarning,
    Gaussian,
    GaussianNB,
    JointBayes,
    Laplace,
    MEstimate,
    MultinomialNB,
    NaiveBayes,
    Poisson,
    PoissonNB,
    PseudoRows,
    VarianceFloor,
)

X = np.array([[0, 1], [1, 2], [2, 0], [0, 2], [2, 3], [3, 1], [1, 3], [3, 2]], float)
Y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
NAMES = ["width", "height"]

MODELS = [
    GaussianNB(),
    MultinomialNB(),
    ComplementNB(),
    BernoulliNB(),
    CategoricalNB(),
    PoissonNB(),
    NaiveBayes(),
    NaiveBayes("categorical"),
    NaiveBayes({0: "poisson", 1: "categorical"}),
    JointBayes(),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)
of_counts = pytest.mark.parametrize(
    "model",
    [
        MultinomialNB(),
        ComplementNB(),
        PoissonNB(),
        CategoricalNB(),
        NaiveBayes("poisson"),
        NaiveBayes("multinomial"),
    ],
    ids=repr,
)


def changed(row, column, value):
    table = X.copy()
    table[row, column] = value
    return table


def frame(table=X):
    return pd.DataFrame(table, columns=NAMES)


def refused(call, model, match, error=ValueError):
    """The call fails with a message, and leaves the fitted model as it was."""
    before, known = model.predict_proba(X), copy.deepcopy(model)
    with pytest.raises(error, match=match):
        call(model)
    assert_array_equal(model.predict_proba(X), before)
    assert vars(model).keys() == vars(known).keys()
    assert_array_equal(model.classes_, known.classes_)
    assert model.n_features_in_ == known.n_features_in_


def fresh(model):
    return copy.deepcopy(model).fit(X, Y)


LEARN = {
    "fit": lambda model, *rows, **more: model.fit(*rows, **more),
    "partial_fit": lambda model, *rows, **more: model.partial_fit(*rows, **more),
    "forget": lambda model, *rows, **more: model.forget(*rows, **more),
    "cross_validate": lambda model, *rows, **more: model.cross_validate(*rows, folds=2, **more),
    "leave_one_out": lambda model, *rows, **more: model.leave_one_out(*rows, **more),
}
each_way_to_learn = pytest.mark.parametrize("way", LEARN)


# ---- cells ----


@each_model
@each_way_to_learn
def test_infinite_cells_are_named(model, way):
    table = changed(5, 1, np.inf)
    refused(lambda m: LEARN[way](m, table, Y), fresh(model), r"infinity.* row 5, column 1")


@each_model
@pytest.mark.parametrize("method", ["predict", "predict_proba", "log_evidence", "evidence"])
def test_infinite_cells_are_named_when_asked(model, method):
    table = changed(5, 1, np.inf)
    refused(lambda m: getattr(m, method)(table), fresh(model), r"infinity.* row 5, column 1")


@each_model
@pytest.mark.parametrize("library", [pd, pl, pa], ids=lambda m: m.__name__)
def test_infinite_cells_of_a_frame_are_named_by_its_words(model, library):
    columns = {name: changed(5, 1, np.inf)[:, j] for j, name in enumerate(NAMES)}
    table = pa.table(columns) if library is pa else library.DataFrame(columns)
    model = copy.deepcopy(model)
    if isinstance(model, NaiveBayes) and isinstance(model.families, dict):
        model.families = {"width": "poisson", "height": "categorical"}
    with pytest.raises(ValueError, match=r"infinity.* row 5, column 'height'"):
        model.fit(table, Y)


def test_infinite_cells_are_named_in_any_chunk():
    tall = np.tile(X, (200_000, 1))
    tall[1_234_567, 1] = np.inf
    with pytest.raises(ValueError, match=r"row 1234567, column 1"):
        GaussianNB().fit(tall, np.tile(Y, 200_000))
    with pytest.raises(ValueError, match=r"row 1234567, column 1"):
        fresh(GaussianNB()).predict(tall)


def test_infinite_entries_of_sparse_rows_are_named():
    table = sparse.csr_matrix(changed(5, 1, np.inf))
    for model in (MultinomialNB(), ComplementNB(), BernoulliNB(), PoissonNB()):
        with pytest.raises(ValueError, match=r"infinity.* row 5, column 1"):
            model.fit(table, Y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("model", [MultinomialNB(), ComplementNB()], ids=repr)
def test_missing_counts_of_words_are_refused(model, form):
    table = form(changed(5, 1, np.nan))
    refused(lambda m: m.partial_fit(table, Y), fresh(model), r"NaN.* row 5, column 1")
    refused(lambda m: m.predict_proba(table), fresh(model), r"NaN.* row 5, column 1")


OF_WORDS = MultinomialNB, ComplementNB


@pytest.mark.parametrize("model", [m for m in MODELS if not isinstance(m, OF_WORDS)], ids=repr)
def test_other_missing_cells_are_left_out(model):
    proba = fresh(model).predict_proba(changed(5, 1, np.nan))
    assert np.isfinite(proba).all()
    proba = copy.deepcopy(model).fit(changed(5, 1, np.nan), Y).predict_proba(X)
    assert np.isfinite(proba).all()


@of_counts
@each_way_to_learn
def test_negative_counts_are_named(model, way):
    table = changed(5, 1, -1)
    refused(lambda m: LEARN[way](m, table, Y), fresh(model), r"Negative.* row 5, column 1")


@pytest.mark.parametrize("model", [PoissonNB(), CategoricalNB(), NaiveBayes("poisson")], ids=repr)
def test_negative_counts_are_named_when_asked(model):
    refused(lambda m: m.predict(changed(5, 1, -1)), fresh(model), r"Negative.* row 5, column 1")


@pytest.mark.parametrize(
    "model",
    [GaussianNB(), GaussianNB(var_smoothing=0), NaiveBayes(), NaiveBayes(predictive=True)],
    ids=repr,
)
def test_values_whose_squares_are_no_numbers_are_named(model):
    with pytest.raises(DegenerateError, match=r"feature 'height'.*too large"):
        copy.deepcopy(model).fit(frame(X * [1, 1e200]), Y)


@each_model
@pytest.mark.parametrize("scale", [1e100, 1e200, 5e307])
@pytest.mark.filterwarnings("error")
def test_huge_values_are_refused_or_scored_but_never_nan(model, scale):
    model = copy.deepcopy(model)
    try:
        proba = model.fit(X * scale, Y).predict_proba(X * scale)
    except ValueError as error:
        assert re.search("large|categor", str(error))
        return
    assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)


def test_a_category_too_large_to_count_is_named():
    for value in (1e17, 1e200):
        with pytest.raises((ValueError, MemoryError), match=r"column 1"):
            CategoricalNB().fit(changed(5, 1, value), Y)
    # asked for, it is a value never seen
    proba = fresh(CategoricalNB()).predict_proba(changed(5, 1, 1e200))
    assert_array_equal(proba, fresh(CategoricalNB()).predict_proba(changed(5, 1, 99)))


@pytest.mark.parametrize("cell", [{"a": 1}, [1, 2], object()], ids=["dict", "list", "object"])
@pytest.mark.parametrize("model", [NaiveBayes(), JointBayes()], ids=repr)
def test_cells_that_are_no_values_are_named(model, cell):
    table = frame().astype(object)
    table["height"] = pd.Series([cell] * 8, dtype=object)
    with pytest.raises(TypeError, match=rf"'height'.*{type(cell).__name__}"):
        model.fit(table, Y)


@each_model
def test_cells_that_are_no_numbers_are_refused(model):
    table = X.astype(object)
    table[5, 1] = {"a": 1}
    with pytest.raises(TypeError):
        copy.deepcopy(model).fit(table, Y)


def test_words_in_a_column_of_numbers_are_named():
    table = frame().astype({"height": object})
    table.loc[5, "height"] = "tall"
    with pytest.raises(ValueError, match=r"'height'.*'tall'.*row 5"):
        NaiveBayes({"height": Gaussian()}).fit(table, Y)
    model = NaiveBayes().fit(frame(), Y)
    with pytest.raises(ValueError, match=r"'height'.*'tall'.*row 5"):
        model.predict(table)


# ---- tables ----


@each_model
@each_way_to_learn
@pytest.mark.parametrize("shape", [(0, 2), (8, 0)], ids=["no rows", "no columns"])
def test_empty_tables_are_refused(model, way, shape):
    table, y = np.empty(shape), Y[: shape[0]]
    refused(lambda m: LEARN[way](m, table, y), fresh(model), r"0 (sample|feature)|2 features")


@each_model
def test_empty_frames_are_refused(model):
    with pytest.raises(ValueError, match=r"0 sample"):
        copy.deepcopy(model).fit(frame()[:0], [])
    with pytest.raises(ValueError, match=r"0 feature"):
        copy.deepcopy(model).fit(frame()[[]], Y)
    refused(lambda m: m.predict(np.empty((0, 2))), fresh(model), "0 sample")


@each_model
def test_tables_of_other_dimensions_are_refused(model):
    for table in (X[:, 0], X[None]):
        refused(lambda m, t=table: m.fit(t, Y), fresh(model), r"[Ee]xpected 2D array|dim")


@each_model
def test_more_or_fewer_columns_are_refused(model):
    for table in (X[:, :1], np.hstack([X, X])):
        refused(lambda m, t=table: m.predict(t), fresh(model), r"expecting 2 features")
        refused(lambda m, t=table: m.partial_fit(t, Y), fresh(model), r"expecting 2 features")
        refused(lambda m, t=table: m.forget(t, Y), fresh(model), r"expecting 2 features")


@pytest.mark.parametrize("model", [GaussianNB(), BernoulliNB(), NaiveBayes(), JointBayes()])
def test_other_column_names_are_refused(model):
    model = copy.deepcopy(model).fit(frame(), Y)
    before = model.predict_proba(frame())
    for table in (frame()[NAMES[::-1]], frame().rename(columns={"width": "depth"})):
        for call in (model.predict, lambda t: model.partial_fit(t, Y), model.evidence):
            with pytest.raises(ValueError, match="feature names should match"):
                call(table)
    assert_array_equal(model.predict_proba(frame()), before)


def test_sparse_rows_are_refused_where_they_have_no_reader():
    for model in (GaussianNB(), CategoricalNB(), NaiveBayes(), JointBayes()):
        with pytest.raises(TypeError, match=r"[Ss]parse.*toarray"):
            model.fit(sparse.csr_matrix(X), Y)


@each_model
def test_a_model_that_has_learned_nothing_says_so(model):
    model = copy.deepcopy(model)
    for call in (model.predict, model.predict_proba, model.log_evidence, model.evidence):
        with pytest.raises(NotFittedError):
            call(X)
    for call in (model.parameters, model.sample, lambda: model.n_parameters_):
        with pytest.raises(NotFittedError):
            call()
    if isinstance(model, NaiveBayes):
        with pytest.raises(NotFittedError):
            _ = model.columns_
    with pytest.raises(NotFittedError):
        model.forget(X, Y)
    with pytest.raises(NotFittedError):
        model.decay(0.5)


# ---- labels ----


@each_model
@each_way_to_learn
@pytest.mark.parametrize(
    ("label", "match"),
    [(np.nan, r"y contains NaN.* row 5"), (np.inf, r"y contains NaN or infinity.* row 5")],
    ids=["NaN", "infinity"],
)
def test_missing_labels_are_named(model, way, label, match):
    y = Y.astype(float)
    y[5] = label
    refused(lambda m: LEARN[way](m, X, y), fresh(model), match)


@each_model
@pytest.mark.parametrize("label", [None, np.nan, pd.NA], ids=repr)
def test_missing_names_are_named(model, label):
    y = np.array(list("aabbaabb"), object)
    y[5] = label
    refused(lambda m: m.fit(X, y), fresh(model), r"y contains NaN.* row 5")


@pytest.mark.parametrize("library", [pd, pl, pa], ids=lambda m: m.__name__)
@pytest.mark.parametrize("labels", [list("aabbaabb"), Y.tolist()], ids=["words", "numbers"])
def test_missing_labels_in_a_column_are_named(library, labels):
    columns = {"width": X[:, 0].tolist(), "species": [*labels[:5], None, *labels[6:]]}
    table = pa.table(columns) if library is pa else library.DataFrame(columns)
    for model in (GaussianNB(), NaiveBayes(), JointBayes()):
        with pytest.raises(ValueError, match=r"y contains NaN.* row 5"):
            model.fit(table, "species")


@each_model
@each_way_to_learn
def test_fractions_are_no_labels(model, way):
    refused(lambda m: LEARN[way](m, X, Y + 0.5 * X[:, 0]), fresh(model), "[Uu]nknown label type")


@each_model
@each_way_to_learn
def test_too_few_labels_are_refused(model, way):
    refused(lambda m: LEARN[way](m, X, Y[:-1]), fresh(model), r"8.* 7")


@each_model
def test_labels_of_several_types_are_refused(model):
    y = np.array([0, "a"] * 4, object)
    refused(lambda m: m.fit(X, y), fresh(model), "one type", TypeError)
    refused(lambda m: m.partial_fit(X, list("aabbaabb")), fresh(model), "type", TypeError)
    other = copy.deepcopy(model).fit(X, list("aabbaabb"))
    refused(lambda m: m.merge(other), fresh(model), "type", TypeError)


@each_model
def test_labels_must_come(model):
    refused(lambda m: m.fit(X, None), fresh(model), "requires y")


def test_a_target_column_must_exist():
    with pytest.raises(ValueError, match=r"'species'.*'width', 'height'"):
        NaiveBayes().fit(frame(), "species")
    with pytest.raises(TypeError, match=r"frame.*'species'.*ndarray"):
        NaiveBayes().fit(X, "species")


@each_model
@pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning")
def test_one_class_is_certain(model):
    only = copy.deepcopy(model).fit(X, np.full(8, 5))
    assert_array_equal(only.predict(X), 5)
    assert_array_equal(only.predict_proba(X), np.ones((8, 1)))
    assert np.isfinite(only.log_evidence(X)).all()


# ---- weights ----


@each_model
@each_way_to_learn
@pytest.mark.parametrize(
    ("weight", "match"),
    [
        (np.where(np.arange(8) == 5, -1.0, 1.0), r"non-negative weights.*-1 at row 5"),
        (np.where(np.arange(8) == 5, np.nan, 1.0), r"weights.*nan at row 5"),
        (np.where(np.arange(8) == 5, np.inf, 1.0), r"weights.*inf at row 5"),
        (np.ones(7), r"\(7,\).*\(8,\)"),
        (np.ones((8, 2)), r"1D"),
    ],
    ids=["negative", "NaN", "infinite", "too few", "a table"],
)
def test_weights_that_mean_nothing_are_refused(model, way, weight, match):
    refused(lambda m: LEARN[way](m, X, Y, sample_weight=weight), fresh(model), match)


@each_model
@pytest.mark.parametrize("way", ["fit", "cross_validate", "leave_one_out"])  # a stream may go on
def test_nothing_is_learned_from_rows_without_weight(model, way):
    none = {"sample_weight": np.zeros(8)}
    refused(lambda m: LEARN[way](m, X, Y, **none), fresh(model), r"positive weight")


@each_model
def test_a_class_without_weight_has_no_probability(model):
    light = copy.deepcopy(model).fit(X, Y, sample_weight=np.where(Y == 1, 0.0, 1.0))
    if isinstance(model, ComplementNB):  # by its definition it has no class probabilities
        assert np.isfinite(light.predict_proba(X)).all()
        return
    assert_array_equal(light.predict_proba(X), np.tile([1.0, 0.0], (8, 1)))


# ---- sums ----


@each_model
def test_classes_never_seen_cannot_be_forgotten(model):
    refused(lambda m: m.forget(X, np.full(8, 7)), fresh(model), r"\[7\]")


@each_model
def test_more_than_was_learned_cannot_be_forgotten(model):
    twice = np.vstack([X, X]), np.tile(Y, 2)
    refused(lambda m: m.forget(*twice), fresh(model), r"more of class 0 than")
    refused(lambda m: m.forget(X[:1], Y[:1], sample_weight=[4.5]), fresh(model), r"more of class 0")


@each_model
def test_the_last_row_cannot_be_forgotten(model):
    refused(lambda m: m.forget(X, Y), fresh(model), r"remain.*fit\(\)")


NEVER_LEARNED = {
    "CategoricalNB": (CategoricalNB(), [[3, 3]], [0]),
    "NaiveBayes of categories": (NaiveBayes("categorical"), [[3, 3]], [0]),
    "JointBayes": (JointBayes(), [[3, 3]], [0]),
    "BernoulliNB": (BernoulliNB(), [[0, 0], [0, 0]], [1, 1]),
    "MultinomialNB": (MultinomialNB(), [[9, 9]], [0]),
    "PoissonNB": (PoissonNB(), [[9, 9]], [0]),
    "GaussianNB": (GaussianNB(), [[9, 9]], [0]),
    "NaiveBayes of numbers": (NaiveBayes(), [[9, 9]], [0]),
    "a whole class": (GaussianNB(), X[:4] + 1, Y[:4]),
    "a whole class of words": (MultinomialNB(), X[:4] + 1, Y[:4]),
}


@pytest.mark.parametrize("case", NEVER_LEARNED)
def test_rows_that_cannot_have_been_learned_cannot_be_forgotten(case):
    """Counts below zero, scatters below zero, or sums without rows would be left."""
    model, rows, labels = NEVER_LEARNED[case]
    refused(lambda m: m.forget(np.array(rows, float), labels), fresh(model), "learned")


def test_models_of_other_kinds_do_not_merge():
    for other in (BernoulliNB().fit(X, Y), MultinomialNB().fit(X, Y), "model", None):
        refused(lambda m, o=other: m.merge(o), fresh(GaussianNB()), ".", TypeError)
        refused(lambda m, o=other: m + o, fresh(GaussianNB()), ".", TypeError)
    refused(lambda m: m.merge(GaussianNB()), fresh(GaussianNB()), ".", NotFittedError)


@each_model
def test_models_of_other_columns_do_not_merge(model):
    if isinstance(model.get_params().get("families"), dict):
        return
    other = copy.deepcopy(model).fit(X[:, :1], Y)
    refused(lambda m: m.merge(other), fresh(model), r"2 features.* 1")
    first = copy.deepcopy(model).fit(frame(), Y)
    second = copy.deepcopy(model).fit(frame().rename(columns={"width": "depth"}), Y)
    with pytest.raises(ValueError, match=r"'width'.*'depth'"):
        first.merge(second)


def test_models_of_other_families_do_not_merge():
    other = NaiveBayes({0: Poisson()}).fit(X, Y)
    refused(lambda m: m.merge(other), fresh(NaiveBayes()), "same families")


@each_model
@pytest.mark.parametrize("factor", [0, -1, 1.5, np.nan])
def test_decay_is_a_portion(model, factor):
    refused(lambda m: m.decay(factor), fresh(model), rf"above 0.*{factor}")


def test_calibrated_models_do_not_stream():
    model = GaussianNB(calibrated="temperature").fit(X, Y)
    for call in ("partial_fit", "forget"):
        with pytest.raises(ValueError, match=r"calibrat.*fit\(\)"):
            getattr(model, call)(X, Y)
    with pytest.raises(ValueError, match=r"'auto'.*'isotonic'.*'temperature'.*'platt'"):
        GaussianNB(calibrated="platt").fit(X, Y)


# ---- degenerate columns ----


def test_constant_columns_are_named():
    table = frame().assign(wheels=4.0)
    with pytest.warns(DegenerateWarning, match="wheels"):
        model = NaiveBayes().fit(table, Y)
    assert np.isfinite(model.predict_proba(table)).all()


def test_columns_without_variance_are_named_with_their_class():
    table = frame().assign(wheels=[4.0, 4, 4, 4, 3, 2, 4, 3])
    y = np.array(["car", "toy"])[Y]
    for model in (GaussianNB(var_smoothing=0), NaiveBayes(Gaussian(None))):
        model.fit(table, y)
        for method in ("predict", "predict_proba", "log_evidence", "evidence"):
            with pytest.raises(DegenerateError, match=r"'wheels' has variance 0 in class 'car'"):
                getattr(model, method)(table)


def test_errors_speak_of_columns_and_classes_as_numbers_too():
    model = GaussianNB(var_smoothing=0).fit(X * [1, 0], Y)
    with pytest.raises(DegenerateError, match=r"feature 1 has variance 0 in class 0\b"):
        model.predict(X)


def test_one_row_is_enough_for_pseudo_rows():
    with pytest.raises(DegenerateError, match="variance 0"):
        GaussianNB().fit(X[:1], [0]).predict(X)
    model = NaiveBayes().fit(X[:1], [0])
    assert_array_equal(model.predict_proba(X), np.ones((8, 1)))


def test_one_word_says_nothing():
    """A single word is the whole document: its weight is 0/0, which must not become NaN."""
    proba = ComplementNB(norm=True).fit(X[:, :1], Y).predict_proba(X[:, :1])
    assert_allclose(proba, 0.5, rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        BernoulliNB(alpha=0),
        MultinomialNB(alpha=0),
        ComplementNB(alpha=0),
        CategoricalNB(alpha=0),
        PoissonNB(alpha=0),
        NaiveBayes(Categorical(Laplace(0))),
        NaiveBayes(Bernoulli(Laplace(0))),
        JointBayes(alpha=0),
    ],
    ids=repr,
)
def test_rows_impossible_in_every_class_get_no_nan(model):
    y = np.array([0, 0, 1, 1])
    model.fit(np.array([[1, 0], [1, 0], [0, 1], [0, 1.0]]), y)
    proba = model.predict_proba([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    assert np.isin(model.predict([[1.0, 1.0]]), y).all()


# ---- settings ----


@each_model
@pytest.mark.parametrize(
    ("priors", "match"),
    [
        ([1.0], "1 for 2"),
        ([0.2, 0.3, 0.5], "3 for 2"),
        ([0.3, 0.3], r"sum.*0\.6"),
        ([1.5, -0.5], "non-negative"),
        ([np.nan, 1.0], "nan"),
        ([[0.5, 0.5]], "match"),
    ],
    ids=["too few", "too many", "less than one", "negative", "NaN", "a table"],
)
def test_class_probabilities_that_are_none_are_refused(model, priors, match):
    refused(lambda m: m.predict_proba(X, priors=priors), fresh(model), match)
    refused(lambda m: m.predict(X, priors=priors), fresh(model), match)
    name = "priors" if isinstance(model, GaussianNB) else "class_prior"
    other = copy.deepcopy(model).set_params(**{name: priors})
    with pytest.raises(ValueError, match=match):
        other.fit(X, Y)


@each_model
@pytest.mark.parametrize(
    "costs",
    [[1, 2], np.ones((2, 3)), np.ones((3, 3)), [[0, np.nan], [1, 0]], [[0, np.inf], [1, 0]]],
    ids=["a row", "not square", "too many", "NaN", "infinite"],
)
def test_costs_that_mean_nothing_are_refused(model, costs):
    refused(lambda m: m.predict(X, costs=costs), fresh(model), "costs")


@each_model
@pytest.mark.parametrize(
    "folds",
    [0, 1, 9, -3, [0, 1], [0] * 8, "ten", 2.5, None],
    ids=[
        "none",
        "one",
        "more than rows",
        "negative",
        "too short",
        "all in one",
        "a word",
        "a fraction",
        "nothing",
    ],
)
def test_folds_that_mean_nothing_are_refused(model, folds):
    error = (ValueError, TypeError)
    refused(lambda m: m.cross_validate(X, Y, folds=folds), fresh(model), "fold", error)
    with pytest.raises(error, match="fold"):
        grid = {"calibrated": [None]}
        copy.deepcopy(model).tune(X, Y, folds=folds, grid=grid)


def test_splitters_must_put_every_row_in_one_fold():
    from sklearn.model_selection import RepeatedKFold, ShuffleSplit

    with pytest.raises(ValueError, match="repeats rows"):
        GaussianNB().cross_validate(X, Y, folds=RepeatedKFold(n_splits=2, n_repeats=2))
    with pytest.raises(ValueError, match=r"leaves rows out|repeats rows"):
        GaussianNB().cross_validate(X, Y, folds=ShuffleSplit(1, test_size=0.25, random_state=0))


@pytest.mark.parametrize(
    ("grid", "match"),
    [
        ({}, "one parameter"),
        ({"alpha": [1], "binarize": [0]}, "one parameter"),
        ({"alpha": []}, "value"),
        ({"alfa": [1.0]}, "alfa"),
        ({"alpha": [-1.0]}, "alpha"),
    ],
    ids=["nothing", "two", "no values", "unknown", "negative"],
)
def test_a_grid_that_means_nothing_is_refused(grid, match):
    refused(lambda m: m.tune(X, Y, folds=2, grid=grid), fresh(BernoulliNB()), match)


@pytest.mark.parametrize("level", [0, 1, -0.5, 2, np.nan])
@each_model
def test_a_level_is_a_probability(model, level):
    refused(lambda m: m.parameters(level=level), fresh(model), rf"level.*{level}")


@pytest.mark.parametrize("n", [-1, 1.5, "many"])
def test_a_sample_is_a_number_of_rows(n):
    error = (ValueError, TypeError)
    refused(lambda m: m.sample(n), fresh(GaussianNB()), rf"Expected.*{n}", error)


def test_complements_have_no_samples():
    refused(lambda m: m.sample(3), fresh(ComplementNB()), "MultinomialNB", TypeError)


def test_one_row_of_known_classes_is_explained():
    refused(lambda m: m.explain(X), fresh(GaussianNB()), "one row.*8")
    refused(lambda m: m.explain(X[:1], of="cat"), fresh(GaussianNB()), r"\[0, 1\].*'cat'")
    refused(lambda m: m.explain(X[:1], against=9), fresh(GaussianNB()), r"\[0, 1\].*9")


@pytest.mark.parametrize(
    ("prior", "settings"),
    [
        (Laplace, {"alpha": -1.0}),
        (Laplace, {"alpha": (1.0, -1.0)}),
        (Laplace, {"alpha": np.nan}),
        (MEstimate, {"m": -1.0}),
        (MEstimate, {"p": -0.5}),
        (MEstimate, {"p": "unform"}),
        (PseudoRows, {"m": -1.0}),
        (PseudoRows, {"m": np.inf}),
        (VarianceFloor, {"portion": -1e-9}),
    ],
    ids=str,
)
def test_a_prior_that_means_nothing_cannot_be_made(prior, settings):
    with pytest.raises(ValueError, match="Expected"):
        prior(**settings)


def test_shares_must_match_the_values():
    with pytest.raises(ValueError, match=r"4 .*2"):
        NaiveBayes(Categorical(MEstimate(2.0, p=(0.5, 0.5)))).fit(X, Y)


def test_shares_of_values_must_sum_to_one():
    table = pd.DataFrame({"size": list("smlsml"), "city": ["Rome", "Oslo"] * 3})
    families = {"size": Categorical(MEstimate(2.0, p=(0.5, 0.4, 0.3)))}
    with pytest.raises(ValueError, match=r"sum to 1, but they sum to 1\.2"):
        NaiveBayes(families).fit(table, [0, 1] * 3)
    with pytest.raises(ValueError, match="none above 1"):
        MEstimate(2.0, p=1.5)


@pytest.mark.parametrize("n", [0, -1, 1.5, "all"])
def test_threads_are_a_positive_number(n):
    from posterior.engines.local import n_threads

    before = n_threads()
    with pytest.raises((ValueError, TypeError), match=rf"Expected.*{n}"):
        posterior.threads(n)
    assert n_threads() == before


def _first_use(**environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", "import posterior; posterior.GaussianNB"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_kernels_that_do_not_exist_are_refused():
    done = _first_use(POSTERIOR_KERNELS="nonsense")
    assert done.returncode != 0
    assert re.search(r"ValueError: Expected POSTERIOR_KERNELS .*'nonsense'", done.stderr)


def test_a_number_of_threads_that_is_none_is_not_minded():
    """Other libraries read OMP_NUM_THREADS too, and there a list of levels is legal."""
    assert _first_use(OMP_NUM_THREADS="2,1").returncode == 0
