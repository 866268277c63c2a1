"""Covariances between shared and own, shrunken or not, chosen by rows held out."""

from __future__ import annotations

import copy

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import posterior
from posterior import DegenerateError, GaussianDiscriminantAnalysis
from posterior.data.rows import Hard, Rows
from posterior.generative.dealing import by_content

AUTO = {"covariance": "auto", "shrinkage": "auto"}


def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def drawn(n, own, d=4, seed=0):
    """Two classes, of one covariance or of two that lean against each other."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = random.normal(size=(n, d))
    X[:, 1] += 2 * X[:, 0] * (np.where(y == 0, 1, -1) if own else 1)
    return X + y[:, None], y


def friedman(X, y, Q, mix, shrinkage):
    """P(k | q) by the textbook: Σ_k = a own_k + (1 - a) shared, and a sphere of its trace."""
    classes, n = np.unique(y), len(y)
    parts = [X[y == k] for k in classes]
    own = [np.cov(part.T, bias=True) for part in parts]
    shared = sum(len(part) / n * c for part, c in zip(parts, own, strict=True))
    joint = []
    for part, covariance in zip(parts, own, strict=True):
        mixed = mix * covariance + (1 - mix) * shared
        d = len(mixed)
        mixed = (1 - shrinkage) * mixed + shrinkage * np.trace(mixed) / d * np.eye(d)
        density = stats.multivariate_normal(part.mean(axis=0), mixed)
        joint.append(len(part) / n * density.pdf(Q))
    joint = np.stack(joint, axis=1)
    return joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("shrinkage", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("mix", [0.0, 0.3, 1.0])
def test_a_number_mixes_own_and_shared_covariances_as_friedman_does(mix, shrinkage):
    X, y = load_iris(return_X_y=True)
    model = GaussianDiscriminantAnalysis(mix, shrinkage=shrinkage).fit(X, y)
    expected = friedman(X, y, X, mix, shrinkage)
    assert_allclose(model.predict_proba(X), expected, rtol=1e-7, atol=1e-12)  # densities, not logs
    assert model.covariance_mix_ == pytest.approx(mix, abs=1e-15)
    assert model.shrinkage_ == shrinkage


def test_the_ends_of_the_mix_are_the_kinds_shared_and_own():
    X, y = wine()
    for mix, kind in ((0, "shared"), (1, "own")):
        here = GaussianDiscriminantAnalysis(mix).fit(X, y)
        there = GaussianDiscriminantAnalysis(kind).fit(X, y)
        assert here.covariance_kind_ == kind
        assert_array_equal(here.predict_proba(X), there.predict_proba(X))
    assert GaussianDiscriminantAnalysis(0.5).fit(X, y).covariance_kind_ == "mixed"


def test_the_model_chosen_is_the_one_of_its_settings():
    X, y = wine()
    model = GaussianDiscriminantAnalysis(**AUTO).fit(X, y)
    given = {"covariance": model.covariance_mix_, "shrinkage": model.shrinkage_}
    same = GaussianDiscriminantAnalysis(**given).fit(X, y)
    assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    assert model.covariance == model.shrinkage == "auto"  # as it was asked for
    table = model.tuning_
    best = int(np.argmin(table["log_loss"]))
    assert (table["covariance"][best], table["shrinkage"][best]) == tuple(given.values())
    assert list(table["chosen"]).count("<-") == 1 and table["chosen"][best] == "<-"


def test_the_losses_of_the_choice_are_those_of_refits():
    X, y = drawn(60, own=True)
    table = GaussianDiscriminantAnalysis(**AUTO).fit(X, y).tuning_
    # which rows fold together is decided by their content, not by their place
    order, _ = by_content(Rows(X, Hard(y.astype(np.int32), 2, None)))
    X, y, fold = X[order], y[order], np.arange(60) % 5
    for i in (0, 9, 23, 41):
        p = np.empty((60, 2))
        for f in range(5):
            model = GaussianDiscriminantAnalysis(
                float(table["covariance"][i]), shrinkage=float(table["shrinkage"][i])
            )
            p[fold == f] = model.fit(X[fold != f], y[fold != f]).predict_proba(X[fold == f])
        p = np.maximum(p, 1e-6)[np.arange(60), y]  # where the choice stops counting
        assert table["log_loss"][i] == pytest.approx(-np.log(p).mean(), rel=1e-9)


def test_rows_choose_the_covariances_that_made_them():
    assert GaussianDiscriminantAnalysis("auto").fit(*drawn(2000, True)).covariance_mix_ > 0.7
    # of many rows all mixes of equal covariances are alike; of few, own ones are mostly chance
    assert GaussianDiscriminantAnalysis("auto").fit(*drawn(80, False, d=12)).covariance_mix_ < 0.3
    X, y = drawn(60, own=False, d=40)  # more numbers in a covariance than rows know
    assert GaussianDiscriminantAnalysis(shrinkage="auto").fit(X, y).shrinkage_ > 0


def test_the_order_of_rows_does_not_change_the_choice():
    X, y = wine()
    order = np.random.default_rng(1).permutation(len(y))
    here = GaussianDiscriminantAnalysis(**AUTO).fit(X, y)
    there = GaussianDiscriminantAnalysis(**AUTO).fit(X[order], y[order])
    assert_array_equal(here.tuning_["log_loss"], there.tuning_["log_loss"])
    # the sums of all rows round in another order
    assert_allclose(here.predict_log_proba(X), there.predict_log_proba(X), rtol=1e-10, atol=1e-12)


def test_a_weight_of_zero_takes_no_part_in_the_choice():
    X, y = drawn(80, own=True)
    weight = np.r_[np.ones(60), np.zeros(20)]
    weighted = GaussianDiscriminantAnalysis(**AUTO).fit(X, y, sample_weight=weight)
    without = GaussianDiscriminantAnalysis(**AUTO).fit(X[:60], y[:60])
    assert_allclose(weighted.tuning_["log_loss"], without.tuning_["log_loss"], rtol=1e-12)


def test_streams_keep_what_fit_chose():
    X, y = wine()
    model = GaussianDiscriminantAnalysis(**AUTO).fit(X[::2], y[::2])
    chosen = {"covariance": model.covariance_mix_, "shrinkage": model.shrinkage_}
    whole = GaussianDiscriminantAnalysis(**chosen).fit(X, y)
    grown = copy.deepcopy(model).partial_fit(X[1::2], y[1::2])
    assert_allclose(grown.predict_proba(X), whole.predict_proba(X), rtol=1e-12)
    assert (grown.covariance_mix_, grown.shrinkage_) == tuple(chosen.values())
    back = grown.forget(X[1::2], y[1::2])
    assert_allclose(back.predict_proba(X), model.predict_proba(X), rtol=1e-12)


def test_a_chosen_model_is_saved_explained_and_translated(tmp_path):
    X, y = drawn(300, own=True, d=3)
    model = GaussianDiscriminantAnalysis(**AUTO).fit(X, y)
    assert model.covariance_kind_ == "mixed" or model.covariance_mix_ == 1
    posterior.save(model, tmp_path / "model.posterior")
    loaded = posterior.load(tmp_path / "model.posterior")
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert (loaded.covariance_mix_, loaded.shrinkage_) == (model.covariance_mix_, model.shrinkage_)
    evidence = model.evidence(X[:5])
    total = evidence.terms.sum(axis=2) + evidence.log_prior
    assert_allclose(total, model.predict_joint_log_proba(X[:5]), rtol=1e-10)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = GaussianDiscriminantAnalysis(**AUTO).fit(frame, y)
    found = duckdb.sql(posterior.to_sql(named, table="frame")).df()
    assert_allclose(found[["p_0", "p_1"]], named.predict_proba(frame), rtol=1e-9)


def test_missing_cells_are_met_by_em_while_choosing():
    X, y = drawn(120, own=True, d=3)
    holes = X.copy()
    holes[np.random.default_rng(2).random(X.shape) < 0.1] = np.nan
    model = GaussianDiscriminantAnalysis("auto").fit(holes, y)
    same = GaussianDiscriminantAnalysis(model.covariance_mix_).fit(holes, y)
    assert_array_equal(model.predict_proba(holes), same.predict_proba(holes))


def test_a_class_of_one_row_does_not_hide_the_differences():
    X, y = drawn(200, own=True)
    X, y = np.r_[X, X[:1] + 9], np.r_[y, 2]
    model = GaussianDiscriminantAnalysis("auto").fit(X, y)
    assert np.isfinite(model.tuning_["log_loss"][1:-1]).all()
    assert 0 < model.covariance_mix_ < 1  # one row has no covariance of its own
    with pytest.raises(DegenerateError, match="1 sample of each"):
        GaussianDiscriminantAnalysis("auto").fit(X[:2], [0, 1])


def test_a_choice_that_fails_leaves_the_model_as_it_was():
    X, y = wine()
    model = GaussianDiscriminantAnalysis(**AUTO).fit(X, y)
    before = model.fitted_
    with pytest.raises(DegenerateError):
        model.fit(X[:2], [0, 1])
    assert model.fitted_ is before
