"""Pool: weights that minimize what they should, evidence that adds up, sums that stay sums."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax, logsumexp
from sklearn import naive_bayes
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier

import posterior
from posterior import (
    Additive,
    CategoricalNB,
    GaussianNB,
    KNeighborsClassifier,
    LogisticRegression,
    ModelFileError,
    NaiveBayes,
    Pool,
)
from posterior.discriminative.pooling import (
    LIMIT,
    SHRINKAGE,
    PoolWeights,
    bounded,
    expected_weights,
    sharpness,
    weighed,
)
from posterior.storage.checks import check

RANDOM = np.random.default_rng(7)
N = 150
Y = RANDOM.integers(0, 3, N)
X = RANDOM.normal(size=(N, 3)) * (1 + Y[:, None]) + 1.5 * Y[:, None] * [1, -1, 0]
NEW = np.concatenate([RANDOM.normal(size=(20, 3)) * 3, [[60.0, 0, 0], [-80, 90, 5]]])  # and clipped
FOREST = RandomForestClassifier(20, random_state=0)


def sums() -> Pool:
    """A pool whose members are exact sums."""
    return Pool({"numbers": GaussianNB(), "cells": NaiveBayes("binned")})


# ---- evidence ----


@pytest.mark.parametrize(
    "members",
    [
        [GaussianNB(), LogisticRegression()],
        [GaussianNB(), KNeighborsClassifier("auto"), FOREST],
        [Additive(rounds=15), NaiveBayes("binned")],
        [FOREST],
    ],
    ids=lambda members: "+".join(type(member).__name__ for member in members),
)
def test_evidence_adds_up_to_the_log_odds(members):
    pool = Pool(members).fit(X, Y)
    said = pool.fitted_.said(pool.fitted_.members[0], NEW)
    assert (said == -LIMIT).any() or not isinstance(members[0], GaussianNB)  # some are clipped
    evidence = pool.evidence(NEW)
    scores, found = pool.decision_function(NEW), evidence.log_joint()
    assert_allclose(found[:, 1:] - found[:, :1], scores[:, 1:] - scores[:, :1], atol=1e-9)
    assert_allclose(log_softmax(scores, axis=1), pool.predict_log_proba(NEW), atol=1e-12)
    assert_array_equal(pool.classes_[scores.argmax(axis=1)], pool.predict(NEW))


def test_the_score_is_the_stated_sum():
    pool = Pool([GaussianNB(), LogisticRegression(), FOREST]).fit(X, Y)
    total = pool.intercept_
    for name, member in pool.members_.items():
        with np.errstate(divide="ignore"):
            log_p = np.log(member.predict_proba(NEW))
        z = np.maximum(log_p - log_p.max(axis=1, keepdims=True), -np.log(1e6))
        total = total + pool.weights_[name] * z
    assert_allclose(pool.decision_function(NEW), total, atol=1e-9)


# ---- weights ----


def opinions(n_models: int = 3, n: int = 80, k: int = 3, seed: int = 1):
    """Log probabilities (m, n, k) that know something, each with noise of its own."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, k, n)
    right = np.eye(k)[codes]
    noise = random.normal(0, 1.5, (n_models, n, k))
    return log_softmax(2 * right + noise, axis=2), codes.astype(np.int32)


def deserved(said, codes, v, scales):
    """π ∝ exp(-t / 4), one model after the other."""
    losses = []
    for each, scale in zip(bounded(said), scales, strict=True):
        score = scale * each
        losses.append(logsumexp(score, axis=1) - score[np.arange(len(codes)), codes])
    best = min(losses, key=lambda loss: np.average(loss, weights=v))
    t = []
    for loss in losses:
        mean = np.average(loss - best, weights=v)
        spread = np.average((loss - best - mean) ** 2, weights=v)
        t.append(mean / (np.sqrt(spread / v.sum()) + 1e-9))
    counts = np.exp(-np.array(t) / 4)
    return counts / counts.sum()


def objective(x, said, codes, v, scales, shrinkage):
    """-Σ v q log P + λ Σ (w / a - π)² + 3 Σ b², as it is written."""
    m = len(said)
    expected = deserved(said, codes, v, scales)
    w, b = x[:m], x[m:]
    scores = b + np.tensordot(w, bounded(said), 1)
    log_p = scores - logsumexp(scores, axis=1, keepdims=True)
    doubt = 30 / (v.sum() ** 2 + 60)
    q = np.where(np.eye(3)[codes] == 1, 1 - doubt, doubt / 2)
    return (
        -v @ (q * log_p).sum(axis=1)
        + shrinkage * ((w / scales - expected) ** 2).sum()
        + 3 * (b**2).sum()
    )


@pytest.mark.parametrize("shrinkage", [0.1, SHRINKAGE])
def test_weights_minimize_the_stated_loss(shrinkage):
    said, codes = opinions()
    v = np.random.default_rng(2).random(len(codes)) + 0.5
    scales = np.array([sharpness(each, codes, v) for each in said])
    found = weighed(said, codes, v, shrinkage, scales)
    args = said, codes, v, scales, shrinkage
    x = np.concatenate([found.weights, found.intercept])
    oracle = minimize(
        objective,
        np.concatenate([scales / 3, np.zeros(3)]),
        args,
        method="SLSQP",
        bounds=[(0, None)] * 3 + [(None, None)] * 3,
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert objective(x, *args) <= oracle.fun + 1e-7
    assert_allclose(x, oracle.x, atol=1e-3)  # two searches of a flat minimum
    slope = approx_fprime(x, objective, 1e-6, *args)
    assert_allclose(slope, 0, atol=2e-3)  # one-sided differences of 1e-6, sums of about 50


def test_a_model_counts_for_what_it_loses_beside_the_best():
    said, codes = opinions(2, 400)
    said[1] = 0.9 * said[0]  # at its own temperature the same
    v = np.ones(len(codes))
    alike = expected_weights(said, codes, v)
    scales = np.array([[[sharpness(each, codes, v)]] for each in said])
    assert_allclose(expected_weights(scales * said, codes, v), 0.5, atol=1e-3)
    assert alike[0] != alike[1]
    said[1] = said[0][:, [1, 2, 0]]
    assert expected_weights(said, codes, v)[0] > 0.95
    assert_allclose(
        expected_weights(said, codes, 2 * v),
        expected_weights(np.repeat(said, 2, axis=1), np.repeat(codes, 2), np.ones(2 * len(codes))),
    )


@pytest.mark.parametrize("n", [20, 100, 1_000])
def test_rows_all_predicted_right_leave_a_doubt(n):
    codes = np.arange(n, dtype=np.int32) % 2
    said = np.log(np.where(np.eye(2)[codes] == 1, 0.999999, 0.000001))[None]
    found = weighed(said, codes, None)
    wrong = np.exp(found.log_proba(said)[np.arange(n), 1 - codes])
    assert (wrong > 3 / n**2).all()  # a tenth of 30 / n²
    assert (wrong < 30 / n**2 + 1e-12).all()


def test_weights_are_never_negative_and_a_member_that_misleads_is_left_out():
    said, codes = opinions(2, 400)
    said[1] = said[0][:, [1, 2, 0]]  # what the other says, of the wrong class
    found = weighed(said, codes, None)
    assert found.weights[0] > 0
    assert found.weights[1] == 0
    alone = weighed(said[:1], codes, None)
    assert_allclose(found.log_proba(said), alone.log_proba(said[:1]), atol=1e-6)


def test_one_member_has_a_temperature_and_shares():
    said, codes = opinions(1, 300)
    said, codes = 3 * said, np.where(codes == 2, 1, codes).astype(np.int32)
    found = weighed(said, codes, None)
    raw = -log_softmax(said[0], axis=1)[np.arange(300), codes].mean()
    pooled = -found.log_proba(said)[np.arange(300), codes].mean()
    assert pooled < raw
    assert found.weights[0] < 1  # it was too sure
    assert found.intercept[2] < found.intercept[:2].min()  # a class that no row has


def test_a_useless_member_is_left_out():
    random = np.random.default_rng(5)
    table = random.normal(size=(400, 2))
    pool = Pool([("sees", LogisticRegression()), ("blind", Blind()), ("cells", GaussianNB())])
    pool.fit(table, (table[:, 0] + random.normal(size=400) > 0).astype(int))
    assert "blind" not in pool.members_
    assert list(pool.comparison_.columns["member"])[1] == "blind"
    assert pool.comparison_.columns["weight"][1] == 0


class Blind(naive_bayes.GaussianNB):
    """Sure of a class that has nothing to do with the rows."""

    def predict_proba(self, X):
        side = np.asarray(X)[:, 1:] > 0
        return np.where(side, [[0.999, 0.001]], [[0.001, 0.999]])


# ---- rows ----


def told(pool, table=NEW):
    return pool.predict_log_proba(table).tobytes(), tuple(pool.weights_.items())


def test_the_same_rows_in_any_order_give_the_same_pool_to_the_bit():
    members = [GaussianNB(), LogisticRegression(), KNeighborsClassifier("auto"), FOREST]
    order = RANDOM.permutation(N)
    weight = RANDOM.choice([0.0, 0.5, 2.25], N)
    for more, back in (((), ()), ((weight,), (weight[order],))):
        pool = Pool(members[: 4 if not more else 2])
        assert told(clone(pool).fit(X, Y, *more)) == told(pool.fit(X[order], Y[order], *back))


def test_counts_are_repeated_rows_even_to_members_without_weights():
    count = RANDOM.integers(0, 4, N)
    pool = Pool([GaussianNB(), KNeighborsClassifier(7), FOREST])
    again = clone(pool).fit(X.repeat(count, axis=0), Y.repeat(count))
    assert told(pool.fit(X, Y, count)) == told(again)


def test_a_class_of_two_rows_and_a_table_of_two_rows_can_be_learned():
    rare = np.where(np.arange(N) < 2, 7, Y)
    assert 7 in Pool().fit(X, rare).classes_
    assert_allclose(Pool().fit(X[:2], ["a", "b"]).predict_proba(X[:2]).sum(axis=1), 1)
    with pytest.raises(ValueError, match=r"Expected two rows or more.*got 1 sample"):
        Pool().fit(X[:1], [0])


def test_an_infinite_cell_is_refused_by_row_and_column():
    bad = pd.DataFrame(X, columns=["a", "b", "c"])
    bad.loc[11, "b"] = np.inf
    with pytest.raises(ValueError, match="infinity, first in row 11, column 'b'"):
        Pool().fit(bad, Y)


@pytest.mark.parametrize(
    ("members", "error", "message"),
    [
        ([], ValueError, "Expected a list of classifiers"),
        ([("a", GaussianNB()), ("a", GaussianNB())], ValueError, "two of 'a'"),
        ([RidgeClassifier()], TypeError, "has no predict_proba. Calibrate it first"),
        ([posterior.KMeans()], TypeError, "Expected classifiers to pool"),
        ([GaussianNB], TypeError, "Expected classifiers to pool"),
    ],
)
def test_what_is_no_member_is_refused(members, error, message):
    pool = Pool(members)
    with pytest.raises(error, match=message):
        pool.fit(X, Y)
    assert "fitted_" not in vars(pool)


# ---- sums ----


def parts():
    here = np.arange(N) < 100
    return (X[here], Y[here]), (X[~here], Y[~here])


def members_of(pool) -> list[bytes]:
    return [model.predict_log_proba(NEW).tobytes() for model in pool.fitted_.members]


def test_streams_and_forgetting_change_members_alone():
    (A, a), (B, b) = parts()
    pool = sums().fit(A, a)
    before, alone = copy.deepcopy(pool), copy.deepcopy(pool.fitted_.members)
    pool.partial_fit(B, b)
    for model in alone:
        model.partial_fit(B, b)
    assert members_of(pool) == [model.predict_log_proba(NEW).tobytes() for model in alone]
    assert pool.weights_ == before.weights_
    assert_array_equal(pool.intercept_, before.intercept_)
    assert told(pool.forget(B, b)) == told(before)


def test_merged_pools_have_merged_members():
    (A, a), (B, b) = parts()
    pool = Pool([GaussianNB(), CategoricalNB(min_categories=3)])
    A, B = (np.abs(np.round(part)) % 3 for part in (A, B))
    one, other = clone(pool).fit(A, a), clone(pool).fit(B, b)
    merged = one + other
    expected = [m + o for m, o in zip(one.fitted_.members, other.fitted_.members, strict=True)]
    asked = np.abs(np.round(NEW)) % 3
    for model, sum_of in zip(merged.fitted_.members, expected, strict=True):
        assert_array_equal(model.predict_log_proba(asked), sum_of.predict_log_proba(asked))
    assert merged.weights_ == one.weights_
    with pytest.raises(ValueError, match="Expected a pool of"):
        one.merge(Pool([GaussianNB()]).fit(B, b))


def test_reweighing_changes_weights_only():
    (A, a), (B, b) = parts()
    pool = sums().fit(A, a)
    before, weights = members_of(pool), dict(pool.weights_)
    pool.reweigh(B, b)
    assert members_of(pool) == before
    assert pool.weights_ != weights
    said = np.stack([pool.fitted_.said(model, B) for model in pool.fitted_.members])
    found = weighed(said, b.astype(np.int32), None)
    assert_allclose(list(pool.weights_.values()), found.weights, rtol=1e-4)  # rows in other order
    with pytest.raises(ValueError, match="Expected classes that the members know, got \\[9\\]"):
        pool.reweigh(B, np.where(b == 0, 9, b))


def test_a_new_class_joins_a_stream():
    (A, a), (B, b) = parts()
    pool = sums().fit(A, np.minimum(a, 1)).partial_fit(B, b)
    assert_array_equal(pool.classes_, [0, 1, 2])
    assert pool.intercept_[2] == 0
    assert_allclose(pool.predict_proba(NEW).sum(axis=1), 1)


def test_a_member_of_scikit_learn_streams_without_touching_the_pool_before():
    (A, a), (B, b) = parts()
    pool = Pool([GaussianNB(), naive_bayes.GaussianNB()]).fit(A, a)
    before, kept = copy.copy(pool), told(pool)
    pool.partial_fit(B, b)
    assert told(before) == kept != told(pool)
    assert not hasattr(pool, "forget")
    with pytest.raises(ValueError, match="NaN"):
        pool.partial_fit(np.full((2, 3), np.nan), [0, 1])
    assert told(copy.copy(pool)) == told(pool)


# ---- held out ----


def test_scores_of_additive_held_out_are_those_of_a_fit_without_each_fold():
    """Rows differ, and every value is in every part, so that the cells are the same."""
    random = np.random.default_rng(3)
    cells = np.array([[i, j, k] for i in range(5) for j in range(5) for k in range(5)], float)
    table = random.permutation(cells)
    y = (table[:, 0] + random.normal(0, 2, len(table)) > table[:, 1]).astype(int)
    folds = (np.arange(len(y)) % 4).astype(np.int32) - 1
    model = Additive(rounds=12)
    said = model.fit_held_out(table, y, folds)
    assert np.isnan(said[folds < 0]).all()
    compared = 0
    for fold in range(3):
        test = folds == fold
        alone = Additive(rounds=12).fit(table[~test], y[~test])
        if alone.pace_ == model.pace_:
            compared += 1
            assert_allclose(said[test], alone.predict_log_proba(table[test]), atol=1e-9)
    assert compared == 3
    order = random.permutation(len(y))
    again = Additive(rounds=12).fit_held_out(table[order], y[order], folds[order])
    assert_array_equal(again, said[order])


# ---- files ----


def test_a_saved_pickled_or_copied_pool_is_the_pool(tmp_path):
    path = tmp_path / "pool.posterior"
    pool = Pool([("a", GaussianNB()), ("b", Additive(rounds=9)), ("c", KNeighborsClassifier(5))])
    pool.fit(X, Y)
    posterior.save(pool, path)
    for other in (posterior.load(path), pickle.loads(pickle.dumps(pool)), copy.deepcopy(pool)):
        assert told(other) == told(pool)
        assert_array_equal(other.evidence(NEW).terms, pool.evidence(NEW).terms)
        assert other.get_params().keys() == pool.get_params().keys()


def test_a_member_of_another_library_is_not_saved(tmp_path):
    path = tmp_path / "pool.posterior"
    with pytest.raises(TypeError, match="RandomForestClassifier"):
        posterior.save(Pool([GaussianNB(), FOREST]).fit(X, Y), path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"classes": np.array([2, 1, 0])}, "classes in order"),
        ({"classes": np.array([0, 1])}, "members of the same classes"),
        ({"names": ("a", "a")}, "names"),
        ({"names": ("a",)}, "a member of each name"),
        ({"members": ("a", "b")}, "members"),
        ({"pool": PoolWeights(np.array([1.0, -1.0]), np.zeros(3))}, "weights of zero or more"),
        ({"pool": PoolWeights(np.array([1.0, np.nan]), np.zeros(3))}, "weights of zero or more"),
        ({"pool": PoolWeights(np.ones(3), np.zeros(3))}, "a weight of each member"),
        ({"pool": PoolWeights(np.ones(2), np.zeros(2))}, "an intercept"),
        ({"columns": None}, "columns"),
        ({"roles": "all"}, "what columns are"),
    ],
    ids=lambda case: "" if isinstance(case, dict) else case,
)
def test_a_file_of_what_no_fit_leaves_behind_is_refused(change, expected):
    fitted = Pool([GaussianNB(), LogisticRegression()]).fit(X, Y).fitted_
    check(fitted)
    with pytest.raises(ModelFileError, match=expected):
        check(replace(fitted, **change))
