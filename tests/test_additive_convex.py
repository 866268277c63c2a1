"""Additive(solver="convex"): penalized logistic regression on cells and pairs."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import posterior
from posterior import Additive, LogisticRegression
from posterior.discriminative.additive.cell_design import coarse_groups
from posterior.discriminative.additive.cell_rows import CellRows
from posterior.discriminative.additive.convex import Problem, convex
from posterior.discriminative.additive.pair_gains import best_pairs, gain
from posterior.engines.local import Local, one_blas_thread


def table(n=400, seed=0, classes=2):
    """Numbers and categories with gaps, and a class that depends on columns and on a pair."""
    random = np.random.default_rng(seed)
    x, z = random.normal(size=n).round(2), random.normal(size=n)
    color, size = random.choice(["red", "green", "blue"], n), random.choice(["s", "l"], n)
    score = np.sin(2 * x) + 0.5 * z + 1.5 * (color == "red") * (size == "s")
    y = np.digitize(score + random.logistic(size=n) / 2, np.linspace(0, 1, classes - 1))
    X = pd.DataFrame({"x": x, "z": z, "color": color, "size": size})
    X.loc[random.random(n) < 0.1, "x"] = np.nan
    X.loc[random.random(n) < 0.1, "color"] = None
    return X, np.array(["no", "yes", "maybe"])[y]


def found_and_problem(model, C):
    """The minimum that a model is made of, and what was minimized."""
    rows, reader = model.fitted_.rows, model.fitted_.reader
    with one_blas_thread():
        found = convex(rows, reader, True, (C, C), Local())
    return found, Problem.of(rows, rows.held_out(), found.design, Local())


@pytest.mark.parametrize("classes", [2, 3])
def test_tables_of_categories_are_logistic_regression_on_their_cells(classes):
    X, y = table(classes=classes)
    X = X[["color", "size"]].fillna("gone")
    model = Additive(solver="convex", depth=1, C=0.7).fit(X, y)
    plain = LogisticRegression(C=0.7, tol=1e-10).fit(pd.get_dummies(X).astype(float), y)
    # both minimize the same function, to the last steps of Newton's method
    expected = plain.predict_proba(pd.get_dummies(X).astype(float))
    assert_allclose(model.predict_proba(X), expected, atol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_gradient_agrees_with_finite_differences(classes):
    model = Additive(solver="convex", C=0.5, cells=8).fit(*table(n=80, classes=classes))
    _, problem = found_and_problem(model, 0.5)
    objective = problem.objective((0.5, 0.2), problem.rows.weight)
    random = np.random.default_rng(0)
    coef, step = random.normal(size=(2, *problem.shape))
    slope = (objective.gradient(coef).gradient * step).sum()
    h = 1e-5  # errors: h² of the third derivative, and rounding over h, both below 1e-6 of it
    values = [objective.gradient(coef + s * h * step).value for s in (1, -1)]
    assert_allclose((values[0] - values[1]) / (2 * h), slope, rtol=1e-6)


@pytest.mark.parametrize(("n", "cells", "classes"), [(300, 8, 2), (500, 100, 2), (500, 50, 3)])
def test_the_fit_is_at_its_optimum(n, cells, classes):  # by Newton's method, and by L-BFGS
    X, y = table(n, classes=classes)
    model = Additive(solver="convex", C=2.0, cells=cells).fit(X, y)
    found, problem = found_and_problem(model, 2.0)
    coef = np.column_stack([found.coef, found.intercept])
    objective = problem.objective((2.0, 2.0), problem.rows.weight)
    assert np.abs(objective.gradient(coef).gradient).max() < 1e-6 * n
    scores = np.tile(model.intercept_, (len(problem.rows), 1))
    model.fitted_.terms.add_to(problem.rows.codes, scores)
    assert_allclose(scores, objective.loss.scores(problem.X, coef), atol=1e-12)  # purified alike


def test_a_pair_learns_what_no_column_says():
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (400, 3))
    y = X[:, 0] ^ X[:, 1]
    model = Additive(solver="convex").fit(X, y)
    assert_array_equal(model.predict(X), y)
    alone = Additive(solver="convex", depth=1).fit(X, y)
    assert alone.predict_proba(X).max() < 0.7
    assert all(len(term) == 1 for term in alone.terms_)


def test_pairs_stay_out_where_they_do_not_help():
    random = np.random.default_rng(1)
    X = random.normal(size=(200, 4)).round(1)
    y = random.random(200) < 1 / (1 + np.exp(-2 * X[:, 0]))
    model = Additive(solver="convex").fit(X, y)
    best = model.held_out_["depth"][model.held_out_["log_loss"].argmin()]
    assert len(model.C_) == best
    assert max(map(len, model.terms_)) == best


@pytest.mark.parametrize("classes", [2, 3])
def test_order_threads_and_weights_change_nothing(classes):
    X, y = table(300, classes=classes)
    order = np.random.default_rng(0).permutation(len(X))
    model = Additive(solver="convex", cells=16).fit(X, y)
    expected = model.predict_proba(X)
    shuffled = Additive(solver="convex", cells=16).fit(X.iloc[order], y[order])
    assert_allclose(shuffled.predict_proba(X), expected, rtol=0, atol=1e-10)
    with posterior.threads(1):
        alone = Additive(solver="convex", cells=16).fit(X, y)
    assert_array_equal(alone.predict_proba(X), expected)
    fixed = Additive(solver="convex", cells=16, C=1.0)
    twice = fixed.fit(pd.concat([X, X]), np.concatenate([y, y])).predict_proba(X)
    weighed = fixed.fit(X, y, np.full(len(y), 2.0)).predict_proba(X)
    assert_allclose(weighed, twice, rtol=0, atol=1e-10)


@pytest.mark.parametrize("classes", [2, 3])
def test_evidence_adds_up_with_missing_and_unseen_values(classes):
    X, y = table(classes=classes)
    model = Additive(solver="convex").fit(X, y)
    new = X.iloc[:5].copy()
    new.loc[new.index[0], "color"] = "violet"
    new.loc[new.index[1], "z"] = np.nan  # none was missing before
    evidence = model.evidence(new)
    scores = evidence.log_joint()
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert_allclose(proba, model.predict_proba(new), rtol=1e-12)
    z = list(evidence.feature_names).index("z")
    assert_array_equal(evidence.terms[1, :, z], 0.0)


def test_a_line_carries_few_rows():
    random = np.random.default_rng(0)
    x = random.normal(size=(60, 1))
    y = (x[:, 0] + 0.5 * random.normal(size=60) > 0).astype(int)
    new = random.normal(size=(1000, 1))
    truth = (new[:, 0] + 0.5 * random.normal(size=1000) > 0).astype(int)
    lined = Additive(solver="convex", C=1.0).fit(x, y)
    without = Additive(solver="convex", C=1.0, categories=True).fit(x.round(1), y)
    ours, theirs = (m.predict_proba(a) for m, a in ((lined, new), (without, new.round(1))))
    assert log_loss(truth, ours) < log_loss(truth, theirs)


def test_errors_are_those_of_the_block_of_the_hessian():
    X, y = table()
    X = X[["color"]].dropna()
    y = y[X.index]
    model = Additive(solver="convex", C=0.5).fit(X, y)
    p = model.predict_proba(X)[:, 1]
    cells = pd.get_dummies(X).to_numpy(float)
    hessian = (cells.T * (p * (1 - p))) @ cells + np.eye(3) / 0.5
    share = cells.mean(axis=0)
    centered = np.eye(3) - share  # T less its mean over the rows
    covariance = centered @ np.linalg.inv(hessian) @ centered.T
    summary = model.summary()
    assert summary["cell"].tolist() == ["blue", "green", "red"]
    assert_allclose(summary["error"], np.sqrt(np.diag(covariance)), rtol=1e-6)
    assert_allclose(share @ summary["score"], 0.0, atol=1e-12)


def test_errors_know_of_the_line():
    X, y = table()
    X = X[["z"]]
    model = Additive(solver="convex", C=0.5, cells=5).fit(X, y)
    found, problem = found_and_problem(model, 0.5)
    design = problem.X.scipy().toarray()  # five cells and the line
    p = problem.proba(np.column_stack([found.coef, found.intercept]))[:, 0]
    weight = problem.rows.weight * p * (1 - p)
    hessian = (design.T * weight) @ design + np.eye(6) / 0.5
    share = problem.rows.weight @ design[:, :5] / problem.rows.weight.sum()
    shown = np.column_stack([np.eye(5), found.design.at(0)])
    shown = shown - share @ shown
    covariance = shown @ np.linalg.inv(hessian) @ shown.T
    assert_allclose(model.summary()["error"], np.sqrt(np.diag(covariance)), rtol=1e-8)


def test_summary_names_every_cell_once():
    X, y = table(classes=3)
    model = Additive(solver="convex", C=1.0, cells=6).fit(X, y)
    summary = model.summary()
    keys = list(zip(summary["term"], summary["cell"], summary["class"], strict=True))
    assert len(set(keys)) == len(keys)
    assert ("color", "missing", "yes") in keys
    assert ("color × size", "red × s", "no") in keys
    assert (summary["error"] > 0).all()
    assert len(keys) + 3 == model.n_parameters_  # and an intercept for each class
    with pytest.raises(ValueError, match='solver="convex"'):
        Additive(rounds=5).fit(X, y).summary()


def test_coarse_groups_join_neighbors_and_rare_categories():
    weight = np.array([0.0, *np.ones(64)])
    group = coarse_groups(weight, ordered=True)
    assert_array_equal(np.diff(group[1:-1].astype(int)) >= 0, True)
    assert group.max() == 16
    assert group[0] == group[-1] == 16  # nothing was missing
    assert_array_equal(np.bincount(group[1:-1]), 4)
    names = coarse_groups(np.array([3.0, *np.arange(40, 0, -1)]), ordered=False)
    assert_array_equal(names[:17], np.arange(17))
    assert_array_equal(names[16:-1], 16)


def test_gain_is_zero_for_what_columns_say_alone():
    random = np.random.default_rng(0)
    H = random.random((1, 4, 5)) + 1
    u, v = random.normal(size=(1, 4, 1)), random.normal(size=(1, 1, 5))
    crossed = np.zeros((1, 4, 5))
    crossed[0, :2, :2] = [[2, -2], [-2, 2]]
    alone = gain(H * (u + v), H)
    assert alone < 1e-3 * gain(H * (u + v + crossed), H)  # three sweeps leave very little


def test_the_best_pairs_are_those_that_interact():
    random = np.random.default_rng(0)
    codes = random.integers(1, 3, (6, 500)).astype(np.uint8)
    y = ((codes[1] + codes[4]) % 2).astype(np.int32)
    rows = CellRows.of(codes, y, None, 2)
    groups = [coarse_groups(w, False) for w in rows.cell_weight(np.full(6, 3, np.int32))]
    pairs = best_pairs(rows, groups, np.full((len(rows), 1), 0.5))
    assert (1, 4) in pairs
    assert pairs == sorted(pairs)


def test_many_columns_have_few_pairs():
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (300, 30))
    y = X[:, 3] ^ X[:, 17]
    model = Additive(solver="convex", C=1.0).fit(X, y)
    pairs = [term for term in model.terms_ if len(term) == 2]
    assert len(pairs) == 3 * 30
    assert model.score(X, y) == 1.0


def test_a_stored_model_answers_the_same():
    X, y = table()
    model = Additive(solver="convex", C=1.0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_array_equal(again.summary()["error"], model.summary()["error"])


@pytest.mark.parametrize(
    ("file", "target", "bound"),  # bounds: what pairs reached in a trial, by folds of this seed
    [("tic-tac-toe.csv", "class", 0.036), ("car.csv", "class", 0.038)],
)
@pytest.mark.slow
def test_pairs_predict_rule_tables_well(shared_data, file, target, bound):
    frame = pd.read_csv(shared_data / file)
    X, y = frame.drop(columns=target), frame[target].to_numpy()
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    train, test = next(folds)
    model = Additive(solver="convex").fit(X.iloc[train], y[train])
    assert log_loss(y[test], model.predict_proba(X.iloc[test]), labels=model.classes_) < bound
