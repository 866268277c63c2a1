"""Smoothing that is chosen by leave-one-out: against differences, refitting, and other orders."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from test_dependence import FRAME, Y, fresh, settled, table

import posterior
from posterior import AODE, KDB, TAN, BackOff, Laplace
from posterior.estimators.dependence import select_smoothing
from posterior.estimators.dependence.select_smoothing import HeldOutLoss
from posterior.families.dependence import averaged

MODELS = [AODE(), AODE(weighted=True, limit=3), TAN(), KDB(2), KDB(2, selective=True)]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)
ROOT = Path(__file__).resolve().parents[1]


def scores(model, frame, y, weight=None):
    """The scores of rows without each of them, as a function of m; and the sums of all."""
    reader, labels, rows = model._read(frame, y, weight)
    rule = model.rule(reader, labels)
    total = rule.compacted(rule.summing(reader)(rows))
    return rule.family.left_out(rows.X, rows.hard, total.features), rows, total


def some_m(shape):
    return np.exp(np.random.default_rng(5).normal(1.0, 1.5, shape))


@each_model
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_is_that_of_finite_differences(model, weighted):
    frame, y = table(60, seed=2)
    weight = np.random.default_rng(1).integers(1, 4, 60) * 0.5 if weighted else None
    left_out, rows, _ = scores(fresh(model), frame, y, weight)
    log_prior = np.log(np.random.default_rng(2).dirichlet(np.ones(3), 60))
    loss = HeldOutLoss(left_out, log_prior, rows.hard.codes, np.linspace(0.5, 2.0, 60))
    at, step = np.log(some_m(left_out.shape)).ravel(), 1e-5
    steps = step * np.eye(len(at))
    change = [(loss(at + h)[0] - loss(at - h)[0]) / (2 * step) for h in steps]
    assert_allclose(loss(at)[1], change, atol=1e-6)  # cubic terms, and rounding over the step


@each_model
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_without_a_row_are_those_of_a_refit(model, weighted):
    frame, y = table(36, seed=4)
    weight = np.random.default_rng(3).integers(1, 4, 36) * 0.5 if weighted else np.ones(36)
    made = settled(model, frame, y)
    left_out, *_ = scores(fresh(made), frame, y, weight)
    m = some_m(left_out.shape)
    made.set_params(smoothing=BackOff(tuple(tuple(levels) for levels in m.tolist())))
    if isinstance(made, AODE):
        made.set_params(weighted=False)  # what parents tell is that of all rows
        left_out, *_ = scores(fresh(made), frame, y, weight)
    score, _ = left_out(m)
    tree = fresh(made).fit(frame, y, weight).structure_ if isinstance(made, TAN) else None
    compared = 0
    for i in range(36):
        others = np.delete(np.arange(36), i)
        again = fresh(made).fit(frame.iloc[others], y[others], weight[others])
        if tree is not None and again.structure_ != tree:
            continue  # the tree of all rows is kept
        compared += 1
        expected = again.predict_joint_log_proba(frame[i : i + 1])[0] - again.class_log_prior_
        apart = score[i] - expected  # a missing cell adds as much to all classes
        assert_allclose(apart, apart[0], atol=1e-9)
    assert compared > 10


@each_model
@pytest.mark.parametrize("most", [5_000, 70])
def test_rows_in_any_order_choose_the_same(model, most, monkeypatch):
    monkeypatch.setattr(select_smoothing, "MOST_ROWS", most)
    weight = np.random.default_rng(0).integers(0, 3, len(Y)) * 0.5
    first = fresh(model).fit(FRAME, Y, weight)
    order = np.random.default_rng(1).permutation(len(Y))
    again = fresh(model).fit(FRAME.iloc[order], Y[order], weight[order])
    assert again.smoothing_ == first.smoothing_
    assert_array_equal(again.predict_proba(FRAME), first.predict_proba(FRAME))


@each_model
def test_the_choice_has_less_held_out_loss_than_ten_rows(model):
    frame, y = table(400, seed=7)
    plain = fresh(model).set_params(smoothing=BackOff())
    chosen = fresh(model)
    assert chosen.leave_one_out(frame, y).log_loss < plain.leave_one_out(frame, y).log_loss
    unseen, labels = table(400, seed=8)
    losses = [m.fit(frame, y).loss(unseen, labels) for m in (Loss(chosen), Loss(plain))]
    assert losses[0] < losses[1]


class Loss:
    """A model by its log loss on other rows."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        self.model.fit(X, y)
        return self

    def loss(self, X, y):
        code = np.searchsorted(self.model.classes_, y)
        return -self.model.predict_log_proba(X)[np.arange(len(y)), code].mean()


def test_columns_of_noise_lean_on_their_priors_and_rules_do_not():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    told = y ^ (random.random(300) < 0.1)
    X = np.column_stack([told, *random.integers(0, 5, (2, 300))]).astype(str)
    for kind in (AODE, TAN, KDB):
        chosen = kind().fit(X, y).smoothing_.m
        rule, *noise = (levels[0] for levels in chosen)
        assert rule < min(noise)
        assert min(levels[1] for levels in chosen) > 20  # no column depends on another


def test_few_parents_stand_for_many(monkeypatch):
    whole = np.log([m for levels in AODE().fit(FRAME, Y).smoothing_.m for m in levels])
    monkeypatch.setattr(averaged, "MOST_PARENTS", 3)
    some = np.log([m for levels in AODE().fit(FRAME, Y).smoothing_.m for m in levels])
    assert not np.array_equal(some, whole)
    assert np.corrcoef(some, whole)[0, 1] > 0.8


# sums


@each_model
def test_sums_keep_what_the_last_fit_chose(model):
    cuts = fresh(model).fit(FRAME, Y).cut_points_
    model = fresh(model).set_params(bins=cuts)
    fitted = fresh(model).fit(FRAME[:80], Y[:80])
    chosen = fitted.smoothing_
    assert isinstance(chosen.m, tuple)
    before = fitted.predict_proba(FRAME)
    fitted.partial_fit(FRAME[80:], Y[80:])
    assert fitted.smoothing_ == chosen
    fitted.forget(FRAME[80:], Y[80:])
    assert fitted.smoothing_ == chosen
    assert_array_equal(fitted.predict_proba(FRAME), before)
    fitted.decay(0.5)
    assert fitted.smoothing_ == chosen
    fitted.fit(FRAME[40:], Y[40:])
    assert fitted.smoothing_ != chosen


@pytest.mark.parametrize("kind", [AODE, TAN])
def test_a_merged_model_keeps_the_choice_of_the_first(kind):
    X = FRAME[["a", "b", "c"]]
    first, second = kind().fit(X[:60], Y[:60]), kind().fit(X[60:], Y[60:])
    merged = first + second
    assert merged.smoothing_ == first.smoothing_ != second.smoothing_
    whole = kind(smoothing=first.smoothing_).fit(X, Y)
    assert merged.statistics_ == whole.statistics_
    assert_array_equal(merged.predict_proba(X), whole.predict_proba(X))


def test_a_stream_and_a_table_elsewhere_have_ten_rows(tmp_path):
    X = FRAME[["a", "b", "c"]]
    X.assign(kind=Y).to_parquet(tmp_path / "part.parquet")
    there = AODE().fit(str(tmp_path / "part.parquet"), y="kind")
    streamed = AODE().partial_fit(X, Y)
    plain = AODE(smoothing=BackOff()).fit(X, Y)
    for other in (there, streamed):
        assert other.smoothing_ == BackOff()
        assert_array_equal(other.predict_proba(X), plain.predict_proba(X))


def test_tuning_compares_single_numbers_and_a_given_rule_is_kept():
    tuned = TAN().tune(FRAME, Y, folds=4)
    assert tuned.smoothing_ == tuned.smoothing == BackOff(float(tuned.smoothing.m))
    assert KDB(1, smoothing=Laplace(0.5)).fit(FRAME, Y).smoothing_ == Laplace(0.5)


# hard data


@each_model
@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e15])
def test_weights_of_any_size_give_probabilities(model, scale):
    fitted = fresh(model).fit(FRAME, Y, np.full(len(Y), scale))
    assert_allclose(fitted.predict_proba(FRAME).sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", [AODE, TAN, KDB])
def test_classes_of_one_row_leave_nothing_to_choose_by(kind):
    X = FRAME[["a", "b"]][:3]
    assert kind().fit(X, ["p", "q", "r"]).smoothing_ == BackOff()
    fitted = kind().fit(FRAME, np.append(Y[:-1], "alone"))
    assert isinstance(fitted.smoothing_.m, tuple)


@pytest.mark.parametrize("kind", [AODE, TAN, KDB])
def test_one_class_and_constant_columns_want_nothing(kind):
    X = FRAME[["a", "b"]].assign(same="same", empty=None)
    assert kind().fit(X, Y).smoothing_ is not None
    one = kind().fit(X, np.zeros(len(Y)))
    assert one.smoothing_ == BackOff(((10.0,) * len(one.smoothing_.m[0]),) * 4)
    assert kind().fit(X[["empty"]], Y).smoothing_ == BackOff()


@pytest.mark.parametrize(
    "m", [0.0, -1.0, np.nan, np.inf, "10", (), ((),), ((1.0,), (0.0,)), ((1.0,), 2.0), (1.0, 2.0)]
)
def test_numbers_that_are_no_rows_are_refused(m):
    with pytest.raises(ValueError, match="m, rows of the prior, to be positive"):
        BackOff(m)


def test_numbers_of_other_columns_are_refused():
    chosen = AODE().fit(FRAME, Y).smoothing_
    with pytest.raises(ValueError, match="each of 2 columns, got 5"):
        TAN(smoothing=chosen).fit(FRAME[["a", "b"]], Y)


# files


@each_model
def test_a_model_file_keeps_the_choice(model, tmp_path):
    fitted, path = fresh(model).fit(FRAME, Y), tmp_path / "model.posterior"
    posterior.save(fitted, path)
    again = posterior.load(path)
    assert again.smoothing_ == fitted.smoothing_
    assert_array_equal(again.predict_proba(FRAME), fitted.predict_proba(FRAME))
    again.partial_fit(FRAME, Y)
    assert again.smoothing_ == fitted.smoothing_


def test_a_file_of_bad_numbers_is_refused(tmp_path):
    fitted, path = (
        TAN(smoothing=BackOff(((7.25,),) * 5)).fit(FRAME, Y),
        tmp_path / "model.posterior",
    )
    posterior.save(fitted, path)
    whole = path.read_bytes()
    assert b"7.25" in whole
    path.write_bytes(whole.replace(b"7.25", b"-7.2"))
    with pytest.raises(posterior.ModelFileError):
        posterior.load(path)


def test_what_is_no_smoothing_of_the_columns_is_not_saved(tmp_path):
    fitted, path = AODE().fit(FRAME, Y), tmp_path / "model.posterior"
    known = fitted.fitted_
    for bad in (BackOff(((1.0,),) * 2), "smooth"):
        fitted.fitted_ = replace(known, reader=replace(known.reader, smoothing=bad))
        with pytest.raises(ValueError, match="smoothing of as many columns"):
            posterior.save(fitted, path)


# real tables


def test_the_page_shows_how_much_is_gained():
    told = (ROOT / "docs" / "results" / "dependence_smoothing.txt").read_text("utf-8")
    *_, mean, sentence, _ = told.splitlines()
    *single, chosen = (float(loss) for loss in mean.split()[1:])
    assert chosen < 0.92 * min(single)
    gain = float(re.search(r"is (\S+)% below", sentence).group(1)) / 100
    # The means are shown to 5e-5 and the gain to 5e-4, each rounded by itself.
    rounding = 5e-4 + 5e-5 * (1 + chosen / min(single)) / min(single)
    assert gain == pytest.approx(1 - chosen / min(single), abs=rounding)
