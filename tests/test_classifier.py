"""Classifier: any table in, the best of many models or all of them, order-free and calibrated."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import log_loss

import posterior
from posterior import Classifier

pytestmark = pytest.mark.once

RANDOM = np.random.default_rng(11)
N = 160
KIND = RANDOM.integers(0, 2, N)
WORDS = [["rain", "cold", "snow", "the"], ["sun", "warm", "beach", "the"]]
FRAME = pd.DataFrame(
    {
        "size": np.where(RANDOM.random(N) < 0.1, np.nan, RANDOM.normal(KIND, 1)),
        "city": np.where(RANDOM.random(N) < 0.1, None, np.array(["Rome", "Oslo"])[KIND ^ 1]),
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(RANDOM.integers(0, 90, N), "D"),
        "open": RANDOM.random(N) < 0.3 + 0.4 * KIND,
    }
)
FRAME["city"] = np.where(RANDOM.random(N) < 0.3, "Ys", FRAME["city"])
TEXT = [" ".join(RANDOM.choice(WORDS[k], 7)) + f" {i}" for i, k in enumerate(KIND)]
LABELS = np.array(["no", "yes"])[KIND]
QUICK = ["naive-bayes", "logistic", "aode"]


def told(model, table=FRAME):
    return model.predict_log_proba(table).tobytes(), tuple(model.weights_.items())


@pytest.fixture(scope="module")
def whole():
    """All models of one table."""
    return Classifier().fit(FRAME, LABELS)


@pytest.fixture(scope="module")
def quick():
    return Classifier(models=QUICK).fit(FRAME, LABELS)


# ---- what it learns ----


def test_every_model_is_tried_and_one_line_is_kept(whole):
    tried = whole.comparison_.columns
    assert {"Naive Bayes", "Logistic regression", "Additive model", "All together"} <= set(
        tried["model"]
    )
    assert sum(mark == "<- kept" for mark in tried[""]) == 1
    assert (np.diff(tried["log loss"]) >= 0).all()
    assert log_loss(LABELS, whole.predict_proba(FRAME)) < np.log(2)


def test_evidence_of_columns_adds_up_to_the_log_odds(whole, quick):
    for model in (whole, quick):
        evidence = model.evidence(FRAME)
        found = evidence.log_joint()
        assert_allclose(found[:, 1] - found[:, 0], model.decision_function(FRAME), atol=1e-9)
        assert set(FRAME.columns) <= set(evidence.feature_names)
        told_odds = model.explain(FRAME[:1], of="yes", against="no")
        odds = told_odds.prior + told_odds.weights.sum()
        assert_allclose(odds, model.decision_function(FRAME[:1])[0], atol=1e-9)


@pytest.mark.parametrize("models", [None, QUICK], ids=["all", "three"])
def test_the_same_rows_in_any_order_give_the_same_classifier_to_the_bit(models, whole, quick):
    order = np.random.default_rng(1).permutation(N)
    again = Classifier(models=models).fit(FRAME.iloc[order], LABELS[order])
    assert told(again) == told(whole if models is None else quick)


def test_counts_are_repeated_rows():
    count = np.random.default_rng(2).integers(0, 4, N)
    models = [*QUICK, "neighbors", "discriminant"]
    table = FRAME.drop(columns=["city", "open"])
    again = Classifier(models=models).fit(
        table.loc[np.repeat(np.arange(N), count)], LABELS.repeat(count)
    )
    assert told(Classifier(models=models).fit(table, LABELS, count), table) == told(again, table)


def test_a_table_of_counts_is_held_out_row_by_row():
    """A cell that folds held out as a whole would be predicted from the opposite class alone."""
    table = pd.DataFrame({"city": ["Rome", "Rome", "Oslo", "Oslo"], "n": [1, 1, 1, 1]})[["city"]]
    model = Classifier(models=["naive-bayes"]).fit(table, list("abab"), [90, 10, 10, 90])
    assert_allclose(model.predict_proba(table[::2])[:, 0], [0.9, 0.1], atol=0.03)


# ---- the choice ----


def test_the_simplest_model_is_kept_where_accuracy_does_not_matter():
    simple = Classifier(models=QUICK, tolerance=1e9).fit(FRAME, LABELS)
    assert list(simple.members_) == ["Naive Bayes"]


def test_a_model_kept_alone_has_the_least_loss(quick):
    losses = dict(zip(*(quick.comparison_.columns[c] for c in ("model", "log loss")), strict=True))
    marks = dict(zip(*(quick.comparison_.columns[c] for c in ("model", "")), strict=True))
    (kept,) = (name for name, mark in marks.items() if mark)
    assert kept in ("All together", min(losses, key=losses.get))


def test_an_unknown_model_is_refused_with_those_there_are():
    model = Classifier(models=["naive-bayes", "forest"])
    with pytest.raises(ValueError, match=r"Expected models among \['naive-bayes'.*\['forest'\]"):
        model.fit(FRAME, LABELS)
    assert "fitted_" not in vars(model)


@pytest.mark.parametrize("setting", [{"tolerance": -1}, {"models": "logistic"}, {"roles": {}}])
def test_wrong_settings_are_refused(setting):
    with pytest.raises(ValueError, match=next(iter(setting))):
        Classifier(**setting).fit(FRAME, LABELS)


# ---- what it reads ----


def test_a_table_of_texts_alone():
    table = pd.DataFrame({"text": TEXT})
    model = Classifier().fit(table, LABELS)
    assert model.score(table, LABELS) > 0.95
    assert model.predict(pd.DataFrame({"text": ["snow and cold rain"]})).tolist() == ["no"]


def test_texts_beside_columns():
    table = FRAME.assign(text=TEXT)
    model = Classifier(models=["naive-bayes", "logistic"]).fit(table, LABELS)
    assert model.score(table, LABELS) > 0.95
    found = model.evidence(table).log_joint()
    assert_allclose(found[:, 1] - found[:, 0], model.decision_function(table), atol=1e-9)


@pytest.mark.parametrize(
    "labels", [LABELS, KIND, KIND == 1, LABELS.astype(object), pd.Series(LABELS)], ids=range(5)
)
def test_labels_of_any_type_come_back_as_they_are(labels, quick):
    model = Classifier(models=QUICK).fit(FRAME, labels)
    assert model.predict(FRAME).dtype.kind == np.asarray(labels).dtype.kind
    assert_array_equal(model.predict(FRAME) == np.asarray(labels), quick.predict(FRAME) == LABELS)


def test_many_classes():
    random = np.random.default_rng(3)
    y = np.repeat(np.arange(30), 12)
    X = random.normal(size=(30, 4))[y] * 5 + random.normal(size=(len(y), 4))
    model = Classifier(models=["naive-bayes", "discriminant", "logistic", "neighbors"]).fit(X, y)
    assert model.score(X, y) > 0.9
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_arrays_and_frames_of_the_same_numbers_answer_alike():
    X = RANDOM.normal(size=(80, 3)) + KIND[:80, None]
    X[3, 1] = np.nan
    array = Classifier(models=QUICK).fit(X, LABELS[:80])
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    assert told(array, X) == told(Classifier(models=QUICK).fit(frame, LABELS[:80]), frame)
    assert array.n_features_in_ == 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's: names where there were none
        assert told(array, frame) == told(array, X)
    with pytest.raises(ValueError, match="X has 2 features, but Classifier is expecting 3"):
        array.predict(X[:, :2])
    with pytest.raises((TypeError, ValueError), match="size"):
        Classifier(models=QUICK).fit(FRAME, LABELS).predict(FRAME.drop(columns="size"))


def test_the_target_may_be_a_column_and_others_are_ignored(quick):
    model = Classifier(models=QUICK).fit(FRAME.assign(kind=LABELS), "kind")
    assert told(model) == told(quick) == told(model, FRAME.assign(more=1)[["more", *FRAME]])


def test_a_column_that_counts_the_rows_is_left_out_in_any_order():
    numbered = FRAME.assign(row=np.random.default_rng(4).permutation(N))
    there = np.argsort(numbered["row"].to_numpy())
    model = Classifier(models=QUICK).fit(numbered, LABELS)
    assert [column.name for column in model.columns_read] == list(FRAME.columns)
    again = Classifier(models=QUICK).fit(numbered.iloc[there], LABELS[there])
    assert told(again) == told(model)


# ---- afterwards ----


def test_a_saved_pickled_or_copied_classifier_is_the_classifier(whole, tmp_path):
    path = tmp_path / "a.posterior"
    posterior.save(whole, path)
    for other in (posterior.load(path), pickle.loads(pickle.dumps(whole)), copy.deepcopy(whole)):
        assert told(other) == told(whole)
        assert other.roles_ == whole.roles_
    assert path.stat().st_size < 1_000_000


def test_a_stream_goes_on_with_later_rows_and_a_new_class():
    model = Classifier(models=["naive-bayes", "aode"]).fit(FRAME[:100], LABELS[:100])
    weights, before = model.weights_, told(model)
    later = np.where(np.arange(60) % 3 == 0, "maybe", LABELS[100:])
    kept = copy.copy(model)
    model.partial_fit(FRAME[100:], later)
    assert model.weights_ == weights
    assert list(model.classes_) == ["maybe", "no", "yes"]
    assert told(kept) == before
    assert told(model.forget(FRAME[100:], later)) == before
    assert model.reweigh(FRAME[100:], LABELS[100:]).weights_ != weights


def test_a_stream_of_logistic_regression_keeps_its_rows():
    model = Classifier(models=["logistic"]).fit(FRAME[:100], LABELS[:100])
    before = model.predict_proba(FRAME)
    after = model.partial_fit(FRAME[100:], LABELS[100:]).predict_proba(FRAME)
    assert np.abs(after - before).max() > 1e-3
    assert log_loss(LABELS, after) < np.log(2)


def test_cloning_forgets_what_was_learned(whole):
    assert not hasattr(clone(whole), "classes_")
