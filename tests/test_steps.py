"""Algorithms in steps: every one has its numbers, and the last is `fit` to the bit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from posterior import Gaussian, GaussianMixture, KMeans, LogisticRegression, Mixture, Poisson

IRIS, SPECIES = load_iris(return_X_y=True)


# ---- k-means ----


@pytest.mark.parametrize(
    "settings",
    [
        {"init": IRIS[[0, 50, 100]]},
        {"random_state": 0},
        {"init": "random", "n_init": 4, "random_state": 1},
        {"random_state": 2, "max_iter": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("table", ["dense", "single", "sparse", "gaps"])
def test_the_last_step_of_k_means_is_its_fit(settings, table):
    X = IRIS.copy()
    if table == "gaps":
        X[::7, 2] = np.nan
    X = {"single": X.astype(np.float32), "sparse": sparse.csr_matrix(X)}.get(table, X)
    weight = np.arange(150) % 3 + 1.0
    fitted = KMeans(3, **settings).fit(X, sample_weight=weight)
    steps = KMeans(3, **settings).steps(X, sample_weight=weight)
    last = steps[-1]
    assert_array_equal(last.centers, fitted.cluster_centers_)
    assert_array_equal(last.labels, fitted.labels_)
    assert last.inertia == fitted.inertia_
    assert [step.number for step in steps] == [*range(1, len(steps) + 1)]
    assert [step.kind for step in steps] == ["assign", "move"] * (len(steps) // 2) + ["assign"]
    inertia = np.array([step.inertia for step in steps])
    assert (np.diff(inertia) <= 1e-9 * inertia[0]).all()


def test_the_steps_of_k_means_are_those_of_the_textbook():
    """78.85144 in four rounds from rows 1, 51 and 101, as R's kmeans with Lloyd's algorithm."""
    centers, steps = IRIS[[0, 50, 100]], KMeans(3, init=IRIS[[0, 50, 100]], tol=0).steps(IRIS)
    for step in steps:
        if step.kind == "assign":
            square = ((IRIS[:, None] - centers) ** 2).sum(axis=2)
            assert_array_equal(step.labels, square.argmin(axis=1))
            assert_allclose(step.inertia, square.min(axis=1).sum(), rtol=1e-12)
        else:
            centers = np.array([IRIS[step.labels == k].mean(axis=0) for k in range(3)])
        assert_allclose(step.centers, centers, rtol=1e-12)
    assert round(steps[-1].inertia, 5) == 78.85144


def test_steps_of_k_means_stay_as_they_were():
    """Later steps write nothing into earlier ones, and the model learns nothing."""
    model = KMeans(2, init=[[1.0], [2.0]])
    steps = model.steps([[1.0], [2.0], [9.0], [11.0]])
    assert steps[0].labels.tolist() == [0, 1, 1, 1]
    assert steps[-1].labels.tolist() == [0, 0, 1, 1]
    assert "fitted_" not in vars(model)
    assert str(steps[1]) == "2 move    inertia 44.67  centers (1) (7.333)  rows 1 3"


def test_steps_of_k_means_refuse_what_has_none(tmp_path):
    with pytest.raises(ValueError, match="should be >= n_clusters=8"):
        KMeans().steps([[1.0], [2.0]])
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(TypeError, match="Expected rows in memory for steps"):
        KMeans(2).steps(file)


# ---- logistic regression ----

TWO, IS_THIRD = IRIS[50:, 2:], (SPECIES[50:] == 2).astype(int)
ASCENT = {"solver": "gradient-ascent", "step": 1e-3, "max_iter": 50}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "settings",
    [
        {**ASCENT, "C": np.inf, "tol": 0},
        {**ASCENT, "C": 0.5, "tol": 1e-2},
        {**ASCENT, "fit_intercept": False},
        {"solver": "newton-cholesky"},
        {"solver": "newton-cholesky", "C": np.inf, "max_iter": 3},
        {"solver": "newton-cholesky", "class_weight": "balanced"},
        {},
    ],
    ids=str,
)
@pytest.mark.parametrize("table", ["two", "three", "single", "sparse"])
def test_the_last_step_of_an_ascent_is_its_fit(settings, table):
    X, y = (IRIS, SPECIES) if table == "three" else (TWO, IS_THIRD)
    X = {"single": X.astype(np.float32), "sparse": sparse.csr_matrix(X)}.get(table, X)
    model = LogisticRegression(**settings).fit(X, y)
    steps = LogisticRegression(**settings).steps(X, y)
    last = steps[-1]
    assert_array_equal(last.coef, model.coef_)
    assert_array_equal(last.intercept, model.intercept_)
    assert last.coef.dtype == model.coef_.dtype
    told = [step.value for step in model.trace_]
    assert [-step.objective for step in steps[: len(told)]] == pytest.approx(told, rel=1e-12)
    if model.solver_ == "Newton":
        objective = [step.objective for step in steps]
        assert (np.diff(objective) >= -1e-9).all()


def test_the_numbers_of_a_step_are_those_of_the_textbook():
    """l(w) = Σ y log ŷ + (1 - y) log(1 - ŷ), its gradient Σ (y - ŷ) x, and w + η of it."""
    X, w = np.column_stack([TWO, np.ones(len(TWO))]), np.zeros(3)
    settings = {"solver": "gradient-ascent", "C": np.inf, "tol": 0, "step": 1e-3, "max_iter": 30}
    for step in LogisticRegression(**settings).steps(TWO, IS_THIRD):
        p = 1 / (1 + np.exp(-X @ w))
        log_likelihood = (np.log(p) * IS_THIRD + np.log(1 - p) * (1 - IS_THIRD)).sum()
        gradient = (IS_THIRD - p) @ X
        assert_allclose(np.append(step.coef, step.intercept), w, rtol=1e-10, atol=1e-13)
        assert_allclose(step.log_likelihood, log_likelihood, rtol=1e-12)
        assert_allclose(step.gradient[0], gradient, rtol=1e-9, atol=1e-9)
        assert step.length == (1e-3 if step.number else 0.0)
        w = w + 1e-3 * gradient


def test_newton_has_the_gradient_of_the_coefficients_as_they_are_told():
    """Whatever the origin that the solver takes: by differences, and zero at the end."""
    steps = LogisticRegression(solver="newton-cholesky", C=2.0).steps(TWO, IS_THIRD)
    for step in steps:
        w = np.append(step.coef, step.intercept)

        def value(w):
            eta = TWO @ w[:2] + w[2]
            return (IS_THIRD * eta - np.logaddexp(0, eta)).sum() - (w[:2] ** 2).sum() / 4

        up = [(value(w + e) - value(w - e)) / 2e-5 for e in 1e-5 * np.eye(3)]
        assert_allclose(step.gradient[0], up, atol=1e-5)
        assert_allclose(step.objective, value(w), rtol=1e-10)
    assert np.abs(steps[-1].gradient).max() < 1e-5
    assert steps[0].length == 0 and steps[-1].length == 1


@pytest.mark.parametrize("C", [np.inf, 0.01])
@pytest.mark.parametrize("classes", [2, 3])
def test_an_ascent_that_diverges_is_named_with_steps_that_do_not(C, classes):
    """L = λ_max(¼ XᵀX + 1/C) bounds the curvature, and below 2/L no step goes down."""
    X, y = (TWO, IS_THIRD) if classes == 2 else (IRIS[:, 2:], SPECIES)
    settings = {"solver": "gradient-ascent", "C": C, "tol": 0, "max_iter": 100}
    with pytest.warns(ConvergenceWarning, match="Expected steps that climb, got step=1") as told:
        steps = LogisticRegression(step=1.0, **settings).steps(X, y)
    # they are shown all the same, until there is no number for them
    assert len(steps) == 101 if C == np.inf else 50 < len(steps) < 101
    assert np.isfinite([step.log_likelihood for step in steps]).all()
    words = str(told[0].message)
    advised = float(words.split("Take step=")[1].split(",")[0])
    longest = float(words.split("2/L = ")[1].split(",")[0])
    wide = np.column_stack([X, np.ones(len(X))])
    ridge = np.diag([1 / C, 1 / C, 0.0])
    L = np.linalg.eigvalsh((0.25 if classes == 2 else 0.5) * wide.T @ wide + ridge)[-1]
    assert 0.9 / L < advised <= 1 / L and 1.8 / L < longest <= 2 / L
    for step in (advised, longest):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            better = LogisticRegression(step=step, **settings).steps(X, y)
        assert (np.diff([one.objective for one in better]) > 0).all()
    assert words.count(". ") == 1 and "log likelihood" not in words


@pytest.mark.parametrize(("C", "one_example"), [(np.inf, False), (1.0, False), (np.inf, True)])
def test_a_step_beyond_all_numbers_is_named_and_those_before_it_are_given(C, one_example):
    model = LogisticRegression(solver="gradient-ascent", C=C, step=1e308, max_iter=3)
    with pytest.warns(ConvergenceWarning, match="step 1 goes beyond all numbers") as told:
        (start,) = model.steps(TWO, IS_THIRD, one_example=one_example)
    assert len(told) == 1 and told[0].filename == __file__
    assert start.number == 0 and not start.coef.any() and np.isfinite(start.log_likelihood)
    advised = float(str(told[0].message).split("Take step=")[1].split(" ")[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(step=advised, tol=0).steps(TWO, IS_THIRD, one_example=one_example)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_one_example_rule_is_its_own_loop(weighted):
    """w += a (y - ŷ) x, row by row, to the bit."""
    weight = np.arange(100) % 2 + 1.0 if weighted else None
    settings = {"solver": "gradient-ascent", "C": np.inf, "step": 0.01, "max_iter": 3}
    model = LogisticRegression(**settings)
    steps = model.steps(TWO, IS_THIRD, weight, one_example=True)
    X, w = np.column_stack([TWO, np.ones(100)]), np.zeros(3)
    way = [w]
    for _ in range(3):
        for i, (x, y) in enumerate(zip(X, IS_THIRD, strict=True)):
            a = 0.01 * (weight[i] if weighted else 1)
            w = w + a * (y - 1 / (1 + np.exp(-w @ x))) * x
            way.append(w)
    assert_array_equal([[*step.coef[0], *step.intercept] for step in steps], way)
    assert [step.row for step in steps] == [None, *[*range(100)] * 3]
    assert "fitted_" not in vars(model)


def test_the_one_example_rule_ends_near_the_best():
    settings = {"solver": "gradient-ascent", "C": np.inf, "step": 0.01, "max_iter": 300}
    mixed = np.random.default_rng(0).permutation(100)
    model = LogisticRegression(**settings)
    X = (TWO - TWO.mean(axis=0)) / TWO.std(axis=0)
    last = model.steps(X[mixed], IS_THIRD[mixed], one_example=True)[-1]
    best = LogisticRegression(C=np.inf).fit(X, IS_THIRD)
    assert last.log_likelihood < -best.trace_[-1].value
    assert last.log_likelihood > 1.5 * -best.trace_[-1].value


def test_a_step_of_an_ascent_prints_as_a_line():
    steps = LogisticRegression(solver="newton-cholesky").steps([[0.0], [1.0]], ["no", "yes"])
    assert str(steps[0]).startswith("0  b 0  w 0  log likelihood -1.38629  less penalty -1.38629")
    assert str(steps[0]).endswith("gradient 0.5 0")
    rule = LogisticRegression(C=np.inf, solver="gradient-ascent", step=1.0, max_iter=1)
    lines = [str(step) for step in rule.steps([[0.0], [1.0]], [0, 1], one_example=True)]
    assert lines[1].startswith("1 (row 0)  b -0.5  w 0  log likelihood -1.44815")


@pytest.mark.parametrize(
    ("settings", "given", "match"),
    [
        ({"solver": "lbfgs"}, {}, "'gradient-ascent' or 'newton-cholesky'.*QuasiNewton"),
        ({"firth": True}, {}, "got firth=True"),
        ({"l1_ratio": 1.0}, {}, "no lasso"),
        ({"C": np.inf}, {"one_example": True}, "solver='gradient-ascent' for the one-example"),
        ({"solver": "gradient-ascent"}, {"one_example": True}, "Expected C=np.inf"),
    ],
    ids=str,
)
def test_steps_of_an_ascent_refuse_what_has_none(settings, given, match):
    with pytest.raises(ValueError, match=match):
        LogisticRegression(**settings).steps(TWO, IS_THIRD, **given)


def test_the_one_example_rule_refuses_what_it_cannot_learn_from(tmp_path):
    model = LogisticRegression(C=np.inf, solver="gradient-ascent")
    with pytest.raises(ValueError, match="Expected two classes for the one-example rule, got 3"):
        model.steps(IRIS, SPECIES, one_example=True)
    with pytest.raises(ValueError, match="NaN"):
        model.steps([[0.0], [np.nan]], [0, 1], one_example=True)
    with pytest.raises(ValueError, match="NaN"):
        model.steps([[0.0], [np.nan]], [0, 1])
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(TypeError, match="Expected rows in memory for steps"):
        model.steps(file, "b")


# ---- EM ----


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [
        GaussianMixture(3, random_state=0),
        GaussianMixture(2, covariance_type="tied", n_init=3, init_params="random", random_state=1),
        GaussianMixture(2, covariance_type="diag", prior_rows=1, random_state=0),
        GaussianMixture(3, covariance_type="spherical", max_iter=3, random_state=0),
        Mixture(n_components=3, random_state=0, max_iter=30),
        Mixture(Poisson(), 2, random_state=0),
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_last_step_of_em_is_its_fit(model, weighted):
    X = (IRIS * 10).round()
    weight = np.arange(150) % 3 + 1.0 if weighted else None
    steps = model.steps(X, sample_weight=weight)
    assert "fitted_" not in vars(model)
    model.fit(X, sample_weight=weight)
    last, fitted = steps[-1], model.fitted_.model
    assert_array_equal(last.joint.log_prior, fitted.log_prior)
    for name in ("mean", "variance", "covariance", "rate"):
        if name in type(fitted.parameters).__slots__:
            found, expected = getattr(last.parameters, name), getattr(fitted.parameters, name)
            assert_array_equal(found, expected)
    assert [step.kind for step in steps] == ["expect", "maximize"] * model.n_iter_
    total = 150 if weight is None else weight.sum()
    values = [(s.log_likelihood + s.log_prior) / total for s in steps if s.kind == "expect"]
    assert_allclose(values, model.lower_bounds_, rtol=1e-10)
    del model.__dict__["fitted_"]


@pytest.mark.parametrize("gaps", [False, True])
def test_em_never_falls_and_the_bound_stays_below(gaps):
    X = np.where(np.random.default_rng(0).random(IRIS.shape) < 0.1 * gaps, np.nan, IRIS)
    model = GaussianMixture(3, reg_covar=0, tol=1e-5, random_state=0, max_iter=500)
    steps = model.steps(X)
    log_likelihood = np.array([step.log_likelihood for step in steps])
    bound = np.array([step.bound for step in steps])
    assert (np.diff(log_likelihood) > -1e-8).all() and (np.diff(bound) > -1e-8).all()
    assert (bound <= log_likelihood + 1e-8).all()
    assert_allclose(bound[::2], log_likelihood[::2], rtol=1e-10)  # expecting makes it touch
    for step, better in zip(steps[::2], steps[1::2], strict=True):
        assert better.q >= step.q - 1e-8
        assert_array_equal(better.responsibilities, step.responsibilities)
        assert_allclose(step.responsibilities.sum(axis=1), 1.0)


def test_steps_of_em_refuse_what_has_none(tmp_path):
    for settings in ({"n_components": "bic"}, {"n_components": 2, "accelerate": True}):
        with pytest.raises(ValueError, match="Expected one number of components and accelerate="):
            GaussianMixture(**settings).steps(IRIS)
    with pytest.raises(ValueError, match="n_samples >= n_components"):
        GaussianMixture(5).steps(IRIS[:3])
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(TypeError, match="Expected rows in memory for steps"):
        Mixture().steps(file)


# ---- EM as lectures state it: equal shares, one known variance, given first means ----

HEIGHTS = np.random.default_rng(3).normal([[170.0, 183.0]] * 60, 6.0).ravel()
STATED = {"n_components": 2, "prior_rows": 0, "shares": "equal", "tol": 0}


def as_stated(rounds, means=((160.0,), (175.0,)), **settings):
    settings = {**STATED, "means_init": means, "max_iter": rounds, **settings}
    return Mixture(Gaussian(None, variance=36.0), **settings)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("rounds", [1, 2, 20, 200])
def test_em_as_it_is_stated_is_the_loop_of_the_textbook(rounds):
    """E[z_ij] ∝ exp(-(x_i - μ_j)² / 2σ²), μ_j ← Σ E[z_ij] x_i / Σ E[z_ij]."""
    x, mean, way = HEIGHTS, np.array([160.0, 175.0]), []
    for _ in range(rounds):
        z = np.exp(-((x[:, None] - mean) ** 2) / (2 * 36))
        z /= z.sum(axis=1, keepdims=True)
        way.append(z)
        mean = (z * x[:, None]).sum(axis=0) / z.sum(axis=0)
    model = as_stated(rounds).fit(x[:, None])
    assert_allclose(model.joint_.parameters.mean[:, 0], mean, rtol=1e-12)
    assert_array_equal(model.weights_, 0.5)
    assert_array_equal(model.joint_.parameters.variance, 36.0)
    steps = as_stated(rounds).steps(x[:, None])
    assert_allclose([step.responsibilities for step in steps[::2]], way, rtol=1e-9, atol=1e-12)
    assert_array_equal(steps[-1].parameters.mean, model.joint_.parameters.mean)
    assert steps[0].parameters.mean.ravel().tolist() == [160.0, 175.0]
    assert (np.diff([step.log_likelihood for step in steps]) > -1e-9).all()
    assert model.n_parameters_ == 2 and len(model.starts_) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_equal_shares_hold_with_any_family_and_count_for_nothing():
    X = (IRIS * 10).round()
    learned = Mixture(Poisson(), 3, random_state=0).fit(X)
    equal = Mixture(Poisson(), 3, random_state=0, shares="equal").fit(X)
    assert_array_equal(equal.weights_, 1 / 3)
    assert equal.n_parameters_ == learned.n_parameters_ - 2
    chosen = Mixture(Poisson(), [1, 3], random_state=0, shares="equal").fit(X)
    assert chosen.selection_["n_parameters"].tolist() == [4, 12]
    assert (np.diff(equal.lower_bounds_) > -1e-12).all()


def test_first_means_are_refused_where_they_make_no_sense():
    with pytest.raises(ValueError, match=r"should have the shape of \(2, 1\), but got \(3, 1\)"):
        as_stated(5, [[1.0], [2.0], [3.0]]).fit(HEIGHTS[:, None])
    with pytest.raises(ValueError, match="Expected columns that are all normal for means_init"):
        Mixture(Poisson(), 2, means_init=[[1.0], [2.0]]).fit(HEIGHTS.round()[:, None])
    with pytest.raises(ValueError, match="'shares'"):
        as_stated(5, shares="alike").fit(HEIGHTS[:, None])
