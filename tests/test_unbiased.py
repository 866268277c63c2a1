"""Variances and covariances by n - ddof: the figures of R, and the laws of sums with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris

import posterior
from posterior import (
    DegenerateError,
    Gaussian,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MultivariateGaussian,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    to_sql,
)
from posterior.data.rows import Hard

X_IRIS, Y_IRIS = load_iris(return_X_y=True)

MODELS = [
    GaussianNB(ddof=1),
    NaiveBayes(Gaussian(ddof=1)),
    LinearDiscriminantAnalysis(ddof=1),
    LinearDiscriminantAnalysis("eigen", ddof=1),
    LinearDiscriminantAnalysis("lsqr", priors=[0.2, 0.3, 0.5], ddof=1),
    QuadraticDiscriminantAnalysis(ddof=1),
    QuadraticDiscriminantAnalysis(reg_param=0.1, ddof=1),
    GaussianDiscriminantAnalysis("shared", ddof=1),
    GaussianDiscriminantAnalysis("own", ddof=1),
    GaussianDiscriminantAnalysis("diagonal", ddof=1),
    GaussianDiscriminantAnalysis("spherical", ddof=1.5),
    GaussianDiscriminantAnalysis("own", pseudo_rows=2.0, predictive=True, ddof=1),
]


def rows() -> tuple[Any, Any]:
    """Classes of 9, 16 and 25 rows, so that n_k - 1 and n - K tell apart."""
    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [9, 16, 25])
    X = random.normal(size=(50, 3)) @ [[1, 0.5, 0], [0, 1, 0.3], [0, 0, 1]] + y[:, None]
    order = random.permutation(50)
    return X[order], y[order]


def pooled(X: Any, y: Any) -> Any:
    """The textbook's pooled covariance: Σ_k S_k / (n - K)."""
    parts = [np.cov(X[y == k].T) * ((y == k).sum() - 1) for k in np.unique(y)]
    return sum(parts) / (len(y) - len(parts))


def posterior_of(model: Any, X: Any, y: Any, questions: Any = None) -> Any:
    """Probabilities of a fit to these rows."""
    return clone(model).fit(X, y).predict_proba(X if questions is None else questions)


# ---- published figures ----


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_linear_discriminants_of_iris_are_those_of_mass(solver: str) -> None:
    # R: MASS::lda(Species ~ ., iris), "Coefficients of linear discriminants", by their sign
    first = [0.8293776, 1.5344731, -2.2012117, -2.8104603]
    second = [0.02410215, 2.16452123, -0.93192121, 2.83918785]
    model = LinearDiscriminantAnalysis(solver, ddof=1).fit(X_IRIS, Y_IRIS)
    for axis, published in zip(model.scalings_.T, (first, second), strict=False):
        assert axis * np.sign(axis[1]) == pytest.approx(published, abs=5e-8)
    assert model.explained_variance_ratio_ == pytest.approx([0.9912, 0.0088], abs=5e-5)


def test_deviations_of_iris_are_those_of_e1071() -> None:
    # R: e1071::naiveBayes(Species ~ ., iris), second column of each table
    published = [
        [0.3524897, 0.3790644, 0.1736640, 0.1053856],
        [0.5161711, 0.3137983, 0.4699110, 0.1977527],
        [0.6358796, 0.3224966, 0.5518947, 0.2746501],
    ]
    model = GaussianNB(ddof=1, var_smoothing=0).fit(X_IRIS, Y_IRIS)
    assert np.sqrt(model.var_) == pytest.approx(np.array(published), abs=5e-8)


# ---- the textbook's formulas ----


def test_naive_bayes_divides_by_the_rows_of_a_class_less_one() -> None:
    X, y = rows()
    variance = np.stack([X[y == k].var(axis=0, ddof=1) for k in range(3)])
    for model in (GaussianNB(ddof=1, var_smoothing=0), NaiveBayes(Gaussian(None, ddof=1))):
        model.fit(X, y)
        density = [
            stats.norm.pdf(X, X[y == k].mean(axis=0), np.sqrt(variance[k])).prod(axis=1)
            for k in range(3)
        ]
        joint = np.stack(density, axis=1) * np.bincount(y) / len(y)
        proba = joint / joint.sum(axis=1, keepdims=True)
        assert model.predict_proba(X) == pytest.approx(proba, rel=1e-9)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_linear_discriminant_divides_by_the_rows_less_the_classes(solver: str) -> None:
    X, y = rows()
    model = LinearDiscriminantAnalysis(solver, ddof=1, store_covariance=True).fit(X, y)
    within = pooled(X, y)
    assert model.covariance_ == pytest.approx(within, rel=1e-12)
    means = np.stack([X[y == k].mean(axis=0) for k in range(3)])
    slopes = means @ np.linalg.inv(within)
    score = X @ slopes.T - 0.5 * (slopes * means).sum(axis=1) + np.log(np.bincount(y) / len(y))
    proba = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    assert model.predict_proba(X) == pytest.approx(proba, rel=1e-8, abs=1e-12)


def test_quadratic_discriminant_divides_by_the_rows_of_a_class_less_one() -> None:
    X, y = rows()
    model = QuadraticDiscriminantAnalysis(ddof=1, store_covariance=True).fit(X, y)
    assert np.stack(model.covariance_) == pytest.approx(
        np.stack([np.cov(X[y == k].T) for k in range(3)]), rel=1e-12
    )


def test_kinds_of_covariance() -> None:
    X, y = rows()
    own = np.stack([np.cov(X[y == k].T) for k in range(3)])
    sphere = np.trace(own, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
    expected = {
        "own": own,
        "shared": pooled(X, y),
        "diagonal": own * np.eye(3),
        "spherical": sphere,
    }
    for kind, covariance in expected.items():
        model = GaussianDiscriminantAnalysis(kind, ddof=1).fit(X, y)
        assert model.covariance_ == pytest.approx(covariance, rel=1e-12)


def test_columns_alike_spend_a_mean_each() -> None:
    X, y = rows()
    apart = np.stack([X[y == k].var(axis=0, ddof=1).mean() for k in range(3)])
    family, hard = Gaussian(None, alike=True, ddof=1), Hard(y.astype(np.int32), 3)
    variance = family.estimate(family.statistics(X, hard)).variance
    assert variance == pytest.approx(np.repeat(apart[:, None], 3, axis=1), rel=1e-12)


def test_the_next_row_follows_the_t_of_the_textbook() -> None:
    # x̄ + s √(1 + 1/n) t_{n-1}
    x = np.array([3.1, 4.7, 2.2, 5.9, 4.4])
    family = Gaussian(None, predictive=True, ddof=1)
    total = family.statistics(x[:, None], Hard(np.zeros(5, np.int32), 1))
    p = family.estimate(total)
    t = stats.t(4, x.mean(), x.std(ddof=1) * np.sqrt(1 + 1 / 5))
    assert family.evidence(np.array([[6.0]]), p).item() == pytest.approx(t.logpdf(6.0), rel=1e-12)


# ---- laws ----


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_parts_sum_to_the_whole(model: Any) -> None:
    X, y = rows()
    whole = posterior_of(model, X, y)
    stream = clone(model).partial_fit(X[:20], y[:20], classes=[0, 1, 2]).partial_fit(X[20:], y[20:])
    merged = clone(model).fit(X[:25], y[:25]).merge(clone(model).fit(X[25:], y[25:]))
    longer = clone(model).fit(np.vstack([X, X[:4] + 1]), np.append(y, y[:4]))
    shorter = longer.forget(X[:4] + 1, y[:4])
    weight = np.arange(50) % 3 + 1.0
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = np.repeat(np.arange(50), weight.astype(int))
    for same in (stream, merged, shorter):
        assert same.predict_proba(X) == pytest.approx(whole, rel=1e-8, abs=1e-11)
    as_rows = posterior_of(model, X[repeated], y[repeated], X)
    assert weighted.predict_proba(X) == pytest.approx(as_rows, rel=1e-8, abs=1e-11)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rows_held_out_are_as_if_fitted_without_them(model: Any) -> None:
    X, y = rows()
    weight = np.arange(50) % 2 + 1.0
    alone = clone(model).leave_one_out(X, y, sample_weight=weight)
    for i in range(0, 50, 7):
        rest = np.arange(50) != i
        expected = clone(model).fit(X[rest], y[rest], sample_weight=weight[rest])
        assert alone.proba[i] == pytest.approx(
            expected.predict_proba(X[i : i + 1])[0], rel=1e-7, abs=1e-11
        )
    held_out = clone(model).cross_validate(X, y, folds=5)
    for fold in range(5):
        held = held_out.folds == fold
        expected = posterior_of(model, X[~held], y[~held], X[held])
        assert held_out.proba[held] == pytest.approx(expected, rel=1e-7, abs=1e-11)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_files_keep_it(model: Any, tmp_path: Path) -> None:
    X, y = rows()
    fitted = clone(model).fit(X[:40], y[:40])
    posterior.save(fitted, tmp_path / "model")
    again = posterior.load(tmp_path / "model")
    assert (again.predict_proba(X) == fitted.predict_proba(X)).all()
    again.partial_fit(X[40:], y[40:])
    fitted.partial_fit(X[40:], y[40:])
    assert (again.predict_proba(X) == fitted.predict_proba(X)).all()


@pytest.mark.parametrize("model", MODELS[:-1], ids=str)
def test_sql_says_the_same(model: Any) -> None:
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = clone(model).fit(frame, y)
    with duckdb.connect() as connection:
        connection.register("data", frame)
        answers = connection.execute(to_sql(fitted)).df()
    found = answers[["p_0", "p_1", "p_2"]].to_numpy()
    assert found == pytest.approx(fitted.predict_proba(frame), rel=1e-7, abs=1e-11)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[2], MODELS[5], MODELS[7]], ids=str)
def test_sums_of_a_database_are_divided_alike(model: Any) -> None:
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with duckdb.connect() as connection:
        connection.register("held", frame.assign(kind=y))
        fitted = clone(model).fit(connection.sql("SELECT * FROM held"), "kind")
        found = fitted.predict_proba(frame)
    assert found == pytest.approx(posterior_of(model, X, y), rel=1e-8, abs=1e-11)


def test_zero_is_what_it_always_was() -> None:
    X, y = rows()
    spread = GaussianNB().fit(X, y).var_
    assert spread == pytest.approx(np.stack([X[y == k].var(axis=0) for k in range(3)]), rel=1e-7)


def test_missing_cells_are_completed_by_em_and_then_divided() -> None:
    X, y = rows()
    X[::7, 1] = np.nan
    likely = GaussianDiscriminantAnalysis("own").fit(X, y)
    unbiased = GaussianDiscriminantAnalysis("own", ddof=1).fit(X, y)
    n = np.bincount(y)[:, None, None]
    assert unbiased.covariance_ == pytest.approx(likely.covariance_ * n / (n - 1), rel=1e-12)
    assert unbiased.log_likelihoods_ == likely.log_likelihoods_


def test_intervals_of_variances_know_what_was_spent() -> None:
    X, y = rows()
    hard = Hard(y.astype(np.int32), 3)
    for likely, unbiased in (
        (Gaussian(None), Gaussian(None, ddof=1)),
        (MultivariateGaussian("own"), MultivariateGaussian("own", ddof=1)),
        (MultivariateGaussian("shared"), MultivariateGaussian("shared", ddof=1)),
    ):
        sums = likely.statistics(X, hard)
        before = likely.intervals(sums, likely.estimate(sums), 0.9)
        after = unbiased.intervals(sums, unbiased.estimate(sums), 0.9)
        assert after.low == pytest.approx(before.low, rel=1e-12)
        assert after.high == pytest.approx(before.high, rel=1e-12)


# ---- bad input ----


@pytest.mark.parametrize("ddof", [-1, "one", None, float("nan"), float("inf")])
def test_ddof_is_a_number(ddof: Any) -> None:
    X, y = rows()
    with pytest.raises(ValueError, match="ddof"):
        GaussianNB(ddof=ddof).fit(X, y)


@pytest.mark.parametrize("family", [Gaussian, MultivariateGaussian, posterior.LogNormal])
def test_families_refuse_a_negative_ddof(family: Any) -> None:
    with pytest.raises(ValueError, match=r"Expected a finite, non-negative ddof, got -1\."):
        family(ddof=-1)


def test_one_row_has_no_unbiased_variance() -> None:
    frame, y = pd.DataFrame({"size": [1.0, 2.0, 4.0]}), ["small", "small", "large"]
    with pytest.raises(DegenerateError, match=r"more than ddof=1 in class 'large'.*'size'"):
        GaussianNB(ddof=1).fit(frame, y).predict(frame)
    stream = GaussianNB(ddof=1).partial_fit(frame, y, classes=["large", "small"])
    stream.partial_fit(frame + 1, y)
    assert stream.var_.ravel() == pytest.approx([0.5, 2 / 3])
    with pytest.raises(DegenerateError, match="more than ddof=1 in class 'large', got 1"):
        GaussianDiscriminantAnalysis("own", ddof=1).fit(frame, y).predict(frame)
    with pytest.raises(DegenerateError, match=r"weigh more than 4, ddof=2 .* got 3"):
        LinearDiscriminantAnalysis(ddof=2).fit(frame, y).predict(frame)


def test_a_class_without_rows_costs_nothing() -> None:
    X, y = rows()
    model = GaussianDiscriminantAnalysis(ddof=1).partial_fit(X[y > 0], y[y > 0], classes=[0, 1, 2])
    assert model.covariance_ == pytest.approx(pooled(X[y > 0], y[y > 0]), rel=1e-12)
    bayes = GaussianNB(ddof=1).partial_fit(X[y > 0], y[y > 0], classes=[0, 1, 2])
    assert bayes.var_[1:] == pytest.approx(
        np.stack([X[y == k].var(axis=0, ddof=1) for k in (1, 2)]), rel=1e-7
    )


def test_estimators_of_covariance_divide_by_their_own_rule() -> None:
    X, y = rows()
    for model in (
        LinearDiscriminantAnalysis("lsqr", shrinkage="auto", ddof=1),
        QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto", ddof=1),
    ):
        with pytest.raises(ValueError, match="Expected ddof=0 with shrinkage='auto'"):
            model.fit(X, y)
