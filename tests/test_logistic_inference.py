"""Standard errors, separation, Firth's method and leave-one-out, against other people's numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import optimize, sparse
from scipy.special import expit, log_softmax, softmax

from posterior import DegenerateError
from posterior.data.rows import Hard, Rows, SparseRows
from posterior.discriminative.alo import leave_one_out_scores
from posterior.discriminative.firth import firth, profile
from posterior.discriminative.fisher_information import score_covariance
from posterior.discriminative.fit_statistics import fit_statistics
from posterior.discriminative.inference import (
    at_zero,
    covariance,
    differences,
    probability_interval,
    wald,
)
from posterior.discriminative.jeffreys import PenalizedLikelihood
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.objective import Objective
from posterior.discriminative.penalty import Penalty
from posterior.discriminative.separation import overlap_is_certain, separation
from posterior.discriminative.solvers import Newton, QuasiNewton
from posterior.discriminative.solvers.newton import newton_direction
from posterior.discriminative.solvers.solution import Stop
from posterior.engines.local import Local

pytestmark = pytest.mark.slow  # on the compiled kernels only

# NV, PI, EH and HG of 79 women: Heinze and Schemper (2002), as printed on the page of data sets of
# Agresti (2015), "Foundations of Linear and Generalized Linear Models".
ENDOMETRIAL = """
0 13 1.64 0, 0 16 2.26 0, 0 8 3.14 0, 0 34 2.68 0, 0 20 1.28 0, 0 5 2.31 0, 0 17 1.8 0,
0 10 1.68 0, 0 26 1.56 0, 0 17 2.31 0, 0 8 2.01 0, 0 7 1.89 0, 0 20 3.15 0, 0 10 1.23 0,
0 18 1.27 0, 0 16 1.76 0, 0 18 2 0, 0 8 2.64 1, 0 29 0.88 1, 0 12 1.27 1, 0 20 1.37 1,
1 38 0.97 1, 1 22 1.14 1, 1 7 0.88 1, 1 25 0.91 1, 1 15 0.58 1, 0 7 0.97 1, 0 28 1.5 0,
0 11 1.33 0, 0 19 2.37 0, 0 10 1.82 0, 0 10 3.13 0, 0 18 1.31 0, 0 14 1.92 0, 0 21 1.64 0,
0 11 2.01 0, 0 17 1.88 0, 0 25 1.93 0, 0 16 2.11 0, 0 19 1.29 0, 0 15 1.72 0, 0 33 0.75 0,
0 24 1.92 0, 0 48 1.84 1, 0 12 1.11 1, 0 19 1.61 1, 0 2 1.18 1, 1 22 1.44 1, 1 40 1.18 1,
1 5 0.93 1, 1 0 1.17 1, 0 21 1.19 1, 0 15 1.06 1, 0 29 2.02 0, 0 15 2.29 0, 0 12 2.33 0,
0 3 2.9 0, 0 20 1.7 0, 0 23 1.41 0, 0 12 2.25 0, 0 22 1.54 0, 0 42 1.97 0, 0 15 1.75 0,
0 13 2.16 0, 0 14 2.57 0, 0 19 1.37 0, 0 12 3.61 0, 0 13 2.04 0, 0 10 2.17 0, 0 12 1.69 1,
1 49 0.27 1, 0 6 1.84 1, 0 5 1.3 1, 0 17 0.96 1, 1 11 1.01 1, 1 21 0.98 1, 0 5 0.35 1,
1 19 1.02 1, 0 33 0.85 1
"""


def endometrial():
    cells = np.array([row.split() for row in ENDOMETRIAL.split(",")], float)
    return cells[:, :3], cells[:, 3].astype(int)


def objective(X, y, k=2, *, weight=None, offset=None, intercept=True, ridge=0.0, origin=None):
    m, p = (1 if k == 2 else k), X.shape[1] + intercept
    penalty = np.full((m, p), float(ridge))
    if intercept:
        penalty[:, -1] = 0.0
    if sparse.issparse(X):
        X = SparseRows.of(X)
    else:
        X = np.ascontiguousarray(X, float)
    return Objective(
        Rows(X, Hard(np.asarray(y, np.int32), k, weight), offset),
        LogisticLoss(m, intercept, origin),
        Penalty(penalty, np.zeros((m, p)), np.zeros((m, p))),
        Local(),
    )


def fit(problem):
    """To the last digits: one more step than a change of the objective would show."""
    coef = Newton(Stop(tol=1e-8)).minimize(problem, np.zeros(problem.shape)).coef
    q = problem.quadratic(coef)
    return coef + newton_direction(q.hessian, q.gradient)


def generated(n=500, d=4, k=2, seed=0):
    """Columns of different units, one of them far from zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    B = rng.normal(size=(k, d))
    y = (X @ B.T + 2 * rng.gumbel(size=(n, k))).argmax(axis=1)
    return X * 10.0 ** np.arange(d) + 1000 * (np.arange(d) == 2), y


def titanic(folder):
    table = pd.read_csv(folder / "titanic.csv").dropna(subset=["age"])
    table["female"] = table["sex"] == "female"
    X = table[["pclass", "female", "age", "sibsp", "parch", "fare"]].astype(float).to_numpy()
    return X, table["survived"].to_numpy()


def pima(folder):
    table = pd.read_csv(folder / "pima-diabetes.csv")
    return table.drop(columns="diabetes").to_numpy(float), table["diabetes"].to_numpy()


def credit(folder):
    table = pd.read_csv(folder / "credit-g.csv", keep_default_na=False)
    X = pd.get_dummies(table.drop(columns="class"), drop_first=True).astype(float)
    return X.to_numpy(), (table["class"] == "good").to_numpy().astype(int)


BINARY = {"generated": lambda _: generated(), "titanic": titanic, "pima": pima, "credit": credit}


@pytest.fixture(params=BINARY)
def binary(request):
    folder = None if request.param == "generated" else request.getfixturevalue("shared_data")
    return BINARY[request.param](folder)


def statsmodels_logit(X, y, model=sm.Logit, **options):
    # the fit with another covariance starts where the first ended: it goes no further
    return model(y, sm.add_constant(X, prepend=False)).fit(
        disp=0, method="newton", tol=1e-12, maxiter=100, **options
    )


# Standard errors


def test_coefficients_and_errors_are_those_of_statsmodels(binary):
    problem = objective(*binary)
    coef = fit(problem)
    table = wald(coef, covariance(problem, coef), 0.9)
    theirs = statsmodels_logit(*binary)
    assert_allclose(coef[0], theirs.params, rtol=1e-6)
    assert_allclose(table.standard_error[0], theirs.bse, rtol=1e-6)
    assert_allclose(table.z[0], theirs.tvalues, rtol=1e-6)
    assert_allclose(table.p[0], theirs.pvalues, rtol=1e-6)
    assert_allclose(np.stack([table.low[0], table.high[0]], 1), theirs.conf_int(0.1), rtol=1e-6)


def test_robust_errors_are_those_of_statsmodels(binary):
    problem = objective(*binary)
    coef = fit(problem)
    ours = wald(coef, covariance(problem, coef, robust=True)).standard_error[0]
    assert_allclose(ours, statsmodels_logit(*binary, cov_type="HC0").bse, rtol=1e-6)


def test_the_fit_is_described_as_by_statsmodels(binary):
    problem = objective(*binary)
    ours, theirs = fit_statistics(problem, fit(problem)), statsmodels_logit(*binary)
    assert_allclose(ours.log_likelihood, theirs.llf, rtol=1e-10)
    assert_allclose(ours.null_log_likelihood, theirs.llnull, rtol=1e-8)  # theirs is iterated
    assert_allclose([ours.aic, ours.bic], [theirs.aic, theirs.bic], rtol=1e-10)
    assert_allclose([ours.mcfadden, ours.chi2], [theirs.prsquared, theirs.llr], rtol=1e-6)
    assert ours.df == theirs.df_model
    assert_allclose(ours.p, theirs.llr_pvalue, rtol=1e-5)
    glm = sm.GLM(binary[1], sm.add_constant(binary[0]), sm.families.Binomial()).fit(tol=1e-12)
    assert_allclose(ours.cox_snell, glm.pseudo_rsquared("cs"), rtol=1e-6)
    largest = 1 - np.exp(2 * theirs.llnull / len(binary[1]))
    assert_allclose(ours.nagelkerke, ours.cox_snell / largest, rtol=1e-6)


def three_classes(name, request):
    if name == "generated":
        return generated(k=3)
    folder = request.getfixturevalue("shared_data")
    if name == "titanic":
        X, _ = titanic(folder)
        return X[:, 1:5], X[:, 0].astype(int) - 1
    table = pd.read_csv(folder / "credit-g.csv", keep_default_na=False)
    X = table[["duration", "credit_amount", "age", "existing_credits"]].to_numpy(float)
    return X, np.unique(table["housing"], return_inverse=True)[1]


@pytest.mark.parametrize("name", ["generated", "titanic", "credit"])
def test_several_classes_agree_with_statsmodels(name, request):
    X, y = three_classes(name, request)
    problem = objective(X, y, 3)
    coef = fit(problem)
    theirs = statsmodels_logit(X, y, sm.MNLogit)
    robust = statsmodels_logit(X, y, sm.MNLogit, cov_type="HC0")
    beta, usual = differences(coef, covariance(problem, coef))
    _, sandwich = differences(coef, covariance(problem, coef, robust=True))
    assert_allclose(beta, theirs.params.T, rtol=1e-6)
    assert_allclose(wald(beta, usual).standard_error, theirs.bse.T, rtol=1e-6)
    assert_allclose(wald(beta, sandwich).standard_error, robust.bse.T, rtol=1e-6)
    found = fit_statistics(problem, coef)
    assert_allclose([found.log_likelihood, found.aic], [theirs.llf, theirs.aic], rtol=1e-10)
    assert_allclose(found.bic, theirs.bic, rtol=1e-10)
    assert_allclose(found.null_log_likelihood, theirs.llnull, rtol=1e-7)
    assert found.df == theirs.df_model


def test_offsets_move_the_fit_and_its_null_model():
    X, y = generated()
    offset = np.random.default_rng(1).normal(size=(len(y), 1))
    problem = objective(X, y, offset=offset)
    coef = fit(problem)
    design = sm.add_constant(X, prepend=False)
    theirs = sm.GLM(y, design, sm.families.Binomial(), offset=offset[:, 0]).fit(tol=1e-13)
    assert_allclose(coef[0], theirs.params, rtol=1e-6)
    assert_allclose(wald(coef, covariance(problem, coef)).standard_error[0], theirs.bse, rtol=1e-6)
    found = fit_statistics(problem, coef)
    assert_allclose(found.log_likelihood, theirs.llf, rtol=1e-10)
    assert_allclose(found.null_log_likelihood, theirs.llnull, rtol=1e-8)


@pytest.mark.parametrize("k", [2, 3])
def test_weight_two_is_two_rows(k):
    X, y = generated(100, 3, k)
    weight = np.random.default_rng(0).integers(0, 4, 100) * 1.0
    index = np.repeat(np.arange(100), weight.astype(int))
    weighted, repeated = objective(X, y, k, weight=weight), objective(X[index], y[index], k)
    coef = fit(repeated)
    for robust in (False, True):
        pair = [covariance(problem, coef, robust) for problem in (weighted, repeated)]
        assert_allclose(*pair, rtol=1e-9, atol=1e-12 * np.abs(pair[0]).max())
    a, b = (fit_statistics(problem, coef) for problem in (weighted, repeated))
    assert_allclose([a.aic, a.bic, a.nagelkerke], [b.aic, b.bic, b.nagelkerke], rtol=1e-10)


@pytest.mark.parametrize("k", [2, 3])
def test_sparse_rows_say_what_dense_ones_say(k):
    X, y = generated(200, 4, k)
    X = X * (np.random.default_rng(3).random(X.shape) < 0.5)
    dense, thin = objective(X, y, k), objective(sparse.csr_array(X), y, k)
    coef = fit(dense)
    for function in (covariance, leave_one_out_scores):
        a, b = function(dense, coef), function(thin, coef)
        assert_allclose(a, b, rtol=1e-8, atol=1e-10 * np.abs(a).max())
    assert_allclose(covariance(dense, coef, True), covariance(thin, coef, True), rtol=1e-7)


def test_under_a_penalty_the_covariance_is_that_of_the_posterior():
    X, y = generated(80, 3, 3)
    X = X / X.std(axis=0)
    problem = objective(X, y, 3, ridge=0.7)
    problem.penalty.ridge[:, -1] = 0.1  # the intercepts too: then nothing is left open
    coef = fit(problem)
    p = np.exp(log_softmax(problem.loss.scores(X, coef), axis=1))
    x = np.column_stack([X, np.ones(80)])
    blocks = np.eye(3) * p[:, :, None] - p[:, :, None] * p[:, None]
    H = np.einsum("iab,ij,il->ajbl", blocks, x, x).reshape(12, 12)
    R = np.diag(problem.penalty.ridge.ravel())
    assert_allclose(covariance(problem, coef), np.linalg.inv(H + R), rtol=1e-8, atol=1e-12)
    freedom = np.trace(np.linalg.solve(H + R, H))
    assert_allclose(fit_statistics(problem, coef).n_parameters, freedom, rtol=1e-10)


@pytest.mark.parametrize("k", [2, 3])
def test_an_origin_changes_where_the_intercept_is_and_nothing_else(k):
    X, y = generated(200, 3, k)
    plain, moved = objective(X, y, k), objective(X, y, k, origin=X.mean(axis=0))
    coef, other = fit(plain), fit(moved)
    for robust in (False, True):
        beta, sigma = at_zero(moved.loss, other, covariance(moved, other, robust))
        assert_allclose(beta, coef, rtol=1e-7, atol=1e-9)
        expected = covariance(plain, coef, robust)
        assert_allclose(sigma, expected, rtol=1e-7, atol=1e-12 * np.abs(expected).max())
    a, b = leave_one_out_scores(plain, coef), leave_one_out_scores(moved, other)
    assert_allclose(a, b, rtol=1e-7, atol=1e-9)
    assert overlap_is_certain(moved, other)
    y = (X[:, 0] > 0.1) * (k - 1) - (X[:, 0] > 1) * (k - 2)
    found = separation(objective(X, y, k, origin=X.mean(axis=0)))
    margin = moved.loss.scores(X, found.direction)
    assert found.columns == (0,) and (k > 2 or ((margin[:, 0] > 0) == y).all())


def test_firth_with_an_origin_has_the_same_intervals():
    X, y = endometrial()
    plain, moved = objective(X, y), objective(X, y, origin=X.mean(axis=0))
    a, b = firth(plain), firth(moved)
    coef, sigma = at_zero(moved.loss, b.coef, b.covariance)
    assert_allclose(coef, a.coef, rtol=1e-7)
    assert_allclose(sigma, a.covariance, rtol=1e-7)
    assert_allclose([b.value, b.null_value], [a.value, a.null_value], rtol=1e-10)
    one, two = profile(plain, a), profile(moved, b)
    for name in ("low", "high", "chi2", "p"):
        assert_allclose(getattr(two, name), getattr(one, name), rtol=1e-6)


def test_a_lasso_has_no_standard_errors_and_counts_what_it_keeps():
    X, y = generated()
    problem = objective(X, y)
    problem.penalty.lasso[0, :2] = 1.0
    coef = fit(objective(X, y)) * [[0, 1, 1, 1, 1]]
    with pytest.raises(ValueError, match="L1"):
        covariance(problem, coef)
    assert fit_statistics(problem, coef).n_parameters == 4


def test_a_column_that_others_determine_is_named():
    X, y = generated()
    X[:, 1] = 3.0  # as the intercept
    problem = objective(X, y)
    with pytest.raises(DegenerateError, match="column 1 is constant") as caught:
        covariance(problem, np.zeros((1, 5)))
    assert caught.value.feature == 1
    with pytest.raises(DegenerateError, match="column 1"):
        firth(problem)


# Intervals of probabilities


def test_probability_intervals_hold_the_score_between_its_bounds():
    X, y = generated()
    problem = objective(X, y)
    coef = fit(problem)
    sigma = covariance(problem, coef)
    score = problem.loss.scores(X, coef)
    low, high = probability_interval(score, score_covariance(problem.loss, X, sigma), 0.95)
    x = np.column_stack([X, np.ones(len(X))])
    reach = 1.959963984540054 * np.sqrt(np.einsum("ij,jl,il->i", x, sigma, x))
    assert_allclose(low[:, 1], expit(score[:, 0] - reach), rtol=1e-9)
    assert_allclose(high[:, 0], 1 - low[:, 1], rtol=1e-9)


def test_two_classes_with_a_score_each_have_the_same_intervals_as_with_one():
    score, variance = np.array([[0.3], [-5.0], [40.0]]), np.array([0.2, 1.0, 3.0])
    both = np.column_stack([np.zeros(3), score])
    covariances = np.zeros((3, 2, 2))
    covariances[:, 1, 1] = variance
    one = probability_interval(score, variance[:, None, None])
    for a, b in zip(one, probability_interval(both, covariances), strict=True):
        assert_allclose(a, b, rtol=1e-12)


def test_intervals_of_several_classes_hold_their_share_of_posterior_draws():
    X, y = generated(400, 3, 3)
    problem = objective(X, y, 3)
    coef = fit(problem)
    sigma = covariance(problem, coef)
    score = problem.loss.scores(X[:20], coef)
    low, high = probability_interval(score, score_covariance(problem.loss, X[:20], sigma), 0.9)
    values, vectors = np.linalg.eigh(sigma)
    noise = np.random.default_rng(0).normal(size=(4000, len(values)))
    draws = coef.ravel() + noise @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    x = np.column_stack([X[:20], np.ones(20)])
    drawn = np.exp(log_softmax(np.einsum("sap,ip->sia", draws.reshape(-1, 3, 4), x), axis=2))
    inside = ((low < drawn) & (drawn < high)).mean(axis=0)
    assert_allclose(inside, 0.9, atol=0.03)  # the draws err by 0.005, the delta method by the rest


def test_a_level_is_between_zero_and_one():
    with pytest.raises(ValueError, match="Expected a level"):
        wald(np.zeros((1, 1)), np.eye(1), 95)


# Separation


def naive_separation(X, y, k, intercept):
    """Konis's linear program with all rows at once; and whether every margin can be above zero."""
    x = np.column_stack([X, np.ones(len(X))]) if intercept else X
    p, rows = x.shape[1], []
    for i, own in enumerate(y):
        for other in set(range(k)) - {own}:
            row = np.zeros((k, p))
            row[own], row[other] = x[i], -x[i]
            rows.append(row.ravel())
    A = np.array(rows)
    best = optimize.linprog(-A.sum(0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1, 1))
    if -best.fun < 1e-6:
        return None
    gap = optimize.linprog(
        np.r_[np.zeros(k * p), -1.0],
        A_ub=np.column_stack([-A, np.ones(len(A))]),
        b_ub=np.zeros(len(A)),
        bounds=[(-1, 1)] * (k * p) + [(None, None)],
    )
    return "complete" if -gap.fun > 1e-6 else "quasi-complete"


@st.composite
def small_tables(draw):
    k = draw(st.integers(2, 3))
    n, d = draw(st.integers(k, 14)), draw(st.integers(1, 3))
    X = draw(arrays(float, (n, d), elements=st.integers(-2, 2)))
    y = np.r_[np.arange(k), draw(arrays(int, n - k, elements=st.integers(0, k - 1)))]
    return X, y, k, draw(st.booleans())


@settings(max_examples=max(10, settings.default.max_examples // 10))
@given(small_tables())
def test_separation_is_found_exactly_where_there_is_some(table):
    X, y, k, intercept = table
    problem = objective(X, y, k, intercept=intercept)
    found = separation(problem)
    assert found.kind == naive_separation(X, y, k, intercept)
    coef = Newton(Stop(max_iter=30)).minimize(problem, np.zeros(problem.shape)).coef
    if not found:
        return
    assert not overlap_is_certain(problem, coef)
    score = problem.loss.scores(X, found.direction)
    score = np.column_stack([np.zeros(len(X)), score]) if k == 2 else score
    margin = score[np.arange(len(y)), y][:, None] - score
    assert margin.min() > -1e-7 and margin.max() > 1e-7
    if found.kind == "complete":
        margin[np.arange(len(y)), y] = np.inf
        assert margin.min() > 1e-7
    used = np.abs(found.direction[:, : X.shape[1]]).max(axis=0) > 1e-7
    assert set(np.flatnonzero(used)) <= set(found.columns)
    for column in found.columns if found.alone else ():
        assert naive_separation(X[:, [column]], y, k, intercept) in (found.kind, "complete")


@pytest.mark.parametrize("k", [2, 3])
def test_a_converged_fit_proves_overlap_without_a_linear_program(k, monkeypatch):
    X, y = generated(300, 4, k)
    problem = objective(X, y, k)
    coef = Newton().minimize(problem, np.zeros(problem.shape)).coef
    assert separation(problem).kind is None
    monkeypatch.setattr("scipy.optimize.linprog", None)
    assert separation(problem, coef).kind is None


def test_separating_columns_are_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)) * 10.0 ** np.arange(6) + 1e6
    y = rng.integers(0, 2, 200)
    assert separation(objective(X, y)).kind is None

    X[:, 3] = y * rng.integers(0, 2, 200)  # where it is one, so is y
    found = separation(objective(X, y))
    assert (found.kind, found.columns, found.alone) == ("quasi-complete", (3,), True)
    assert found.direction[0, 3] > 0

    X[:, 5] = 1e8 + y + 0.1 * rng.random(200)
    found = separation(objective(X, y))
    assert (found.kind, found.columns, found.alone) == ("complete", (5,), True)

    X = rng.normal(size=(200, 6))
    y = (X[:, 1] + X[:, 4] > 0).astype(int)
    found = separation(objective(X, y))
    assert (found.kind, found.columns, found.alone) == ("complete", (1, 4), False)
    weight = np.ones(200)
    y[0], weight[0] = 1 - y[0], 0.0  # a row that does not count cannot overlap
    assert separation(objective(X, y, weight=weight)).kind == "complete"
    assert separation(objective(X, y)).kind is None


def test_one_class_apart_separates_several():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 3, 300)
    X[:, 2] = (y == 1) * rng.integers(0, 2, 300)
    for table in (X, sparse.csr_array(X)):
        found = separation(objective(table, y, 3))
        assert (found.kind, found.columns, found.alone) == ("quasi-complete", (2,), True)
    # classes 0 and 1 apart, but both mixed with class 2: the likelihood has a maximum
    X = rng.normal(size=(300, 1))
    y = np.where(rng.random(300) < 0.5, 2, (X[:, 0] > 0).astype(int))
    assert separation(objective(X, y, 3)).kind is None


@pytest.mark.parametrize("k", [2, 3])
def test_a_fit_of_very_many_columns_is_its_own_witness(k, monkeypatch):
    monkeypatch.setattr("scipy.optimize.linprog", None)
    rng = np.random.default_rng(0)
    X = sparse.random_array((100, 4000), density=0.02, rng=rng, format="csr")
    y = rng.integers(0, k, 100)
    problem = objective(X, y, k)
    coef = QuasiNewton().minimize(problem, np.zeros(problem.shape)).coef
    assert separation(problem, coef).kind == "complete"


def test_xor_is_not_separated_until_it_has_an_interaction():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]) * 1.0
    y = np.array([0, 1, 1, 0])
    assert separation(objective(X, y)).kind is None
    found = separation(objective(np.column_stack([X, X.prod(axis=1)]), y))
    assert (found.kind, found.columns, found.alone) == ("complete", (0, 1, 2), False)


# Firth's method


def test_firth_agrees_with_the_authors_package():
    """logistf(HG ~ NV + PI + EH, endometrial) in R, by the authors of the paper of 2002."""
    X, y = endometrial()
    problem = objective(X, y)
    found = separation(problem)
    assert (found.kind, found.columns, found.alone) == ("quasi-complete", (0,), True)
    result = firth(problem)
    assert result.converged
    assert_allclose(result.coef[0], [2.92927330, -0.03475175, -2.60416387, 3.77455951], rtol=1e-6)
    limits = profile(problem, result)
    assert_allclose(limits.low, [0.6097244, -0.1244587, -4.3651832, 1.0825371], rtol=1e-6)
    assert_allclose(limits.high, [7.85463171, 0.04045547, -1.23272106, 7.20928050], rtol=1e-6)


@settings(max_examples=max(10, settings.default.max_examples // 10))
@given(st.lists(st.integers(0, 9), min_size=4, max_size=4))
def test_firth_on_a_table_of_counts_adds_a_half_to_every_cell(counts):
    a, b, c, d = counts
    if a + b == 0 or c + d == 0:
        return
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 1, 0, 1])
    result = firth(objective(X, y, weight=np.array(counts, float)))
    a, b, c, d = (count + 0.5 for count in (a, b, c, d))
    expected = [np.log(d / c * a / b), np.log(b / a)]
    assert_allclose(result.coef[0], expected, rtol=1e-7, atol=1e-8)


def penalized(beta, x, y, offset):
    eta = x @ beta + offset
    p = expit(eta)
    _, determinant = np.linalg.slogdet((x.T * (p * (1 - p))) @ x)
    return -(y @ eta - np.logaddexp(0, eta).sum() + 0.5 * determinant)


def test_firth_is_where_the_penalized_likelihood_is_largest():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 3)), np.repeat([0, 1], 15)
    X[:, 0] += 4 * y  # separated
    offset = rng.normal(size=(30, 1))
    problem, x = objective(X, y, offset=offset), np.column_stack([X, np.ones(30)])
    assert separation(problem).kind == "complete"
    result = firth(problem)
    best = optimize.minimize(penalized, np.zeros(4), (x, y, offset[:, 0]), options={"gtol": 1e-9})
    assert_allclose(result.coef[0], best.x, rtol=1e-5, atol=1e-6)
    assert_allclose(result.value, -best.fun, rtol=1e-10)

    def largest(j, b):
        """With one coefficient held."""
        free = np.delete(np.arange(4), j)
        along = result.covariance[free, j] / result.covariance[j, j] * (b - best.x[j])
        held = [
            optimize.minimize(
                lambda part: penalized(np.insert(part, j, b), x, y, offset[:, 0]), start
            )
            for start in (best.x[free], best.x[free] + along)
        ]
        return -min(each.fun for each in held)

    limits = profile(problem, result, 0.9)
    for j in range(4):
        assert_allclose(limits.chi2[j], 2 * (-best.fun - largest(j, 0.0)), rtol=1e-5, atol=1e-8)
        for end in (limits.low[j], limits.high[j]):  # 2.7055: of χ² with one degree of freedom
            assert_allclose(2 * (-best.fun - largest(j, end)), 2.705543454095404, rtol=1e-5)
    assert (limits.low < result.coef[0]).all() and (result.coef[0] < limits.high).all()


def test_firth_counts_weights_as_rows():
    X, y = endometrial()
    weight = np.random.default_rng(0).integers(0, 3, len(y)) * 1.0
    index = np.repeat(np.arange(len(y)), weight.astype(int))
    a, b = firth(objective(X, y, weight=weight)), firth(objective(X[index], y[index]))
    assert_allclose(a.coef, b.coef, rtol=1e-8)
    assert_allclose(a.covariance, b.covariance, rtol=1e-8)


@pytest.mark.parametrize("n", [4, 40])
def test_firth_intervals_are_finite_however_clear_the_separation(n):
    X, y = np.linspace(-1, 1, n)[:, None] * [[1e3]], np.repeat([0, 1], n // 2)
    for problem in (objective(X, y), objective(X, y, intercept=False)):
        result = firth(problem)
        limits = profile(problem, result, 0.999)
        assert result.converged and np.isfinite([limits.low, limits.high]).all()
        assert (limits.low < result.coef[0]).all() and (result.coef[0] < limits.high).all()
    thin = firth(objective(sparse.csr_array(X), y))
    assert_allclose(thin.coef, firth(objective(X, y)).coef, rtol=1e-7, atol=1e-9)


def penalized_of_three(beta, x, y):
    score = np.column_stack([np.zeros(len(x)), x @ beta.reshape(2, -1).T])
    p = softmax(score, axis=1)[:, 1:]
    V = np.einsum("na,ab->nab", p, np.eye(2)) - p[:, :, None] * p[:, None, :]
    information = np.einsum("nab,nj,nk->ajbk", V, x, x).reshape(beta.size, beta.size)
    likelihood = log_softmax(score, axis=1)[np.arange(len(y)), y].sum()
    return -(likelihood + 0.5 * np.linalg.slogdet(information)[1])


def test_firth_of_three_separated_classes_is_where_the_penalized_likelihood_is_largest():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 12)
    X = np.column_stack([y * 2.0 + rng.random(36), rng.normal(size=36)])
    x = np.column_stack([X, np.ones(36)])
    for origin in (None, X.mean(axis=0)):
        problem = objective(X, y, 3, origin=origin)
        result = firth(problem)
        best = optimize.minimize(
            penalized_of_three, np.zeros(6), (x, y), options={"gtol": 1e-8, "maxiter": 2000}
        )
        coef, sigma = at_zero(problem.loss, result.coef, result.covariance)
        assert_allclose(differences(coef, sigma)[0].ravel(), best.x, rtol=1e-4, atol=1e-5)
        assert_allclose(result.value, -best.fun, rtol=1e-9)
        limits = profile(problem, result)
        for j in (0, 4, 5):
            for end in (limits.low[j], limits.high[j]):
                free = np.delete(np.arange(6), j)
                start = best.x + sigma[3:, 3 + j] / sigma[3 + j, 3 + j] * (end - best.x[j])
                held = optimize.minimize(
                    lambda part, j=j, b=end: penalized_of_three(np.insert(part, j, b), x, y),
                    start[free],
                    options={"gtol": 1e-7, "maxiter": 2000},
                )
                assert_allclose(2 * (held.fun - best.fun), 3.841458820694124, rtol=1e-3)


def test_firth_does_not_depend_on_the_order_of_the_classes():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    a, b = firth(objective(X, y, 3)), firth(objective(X, 2 - y, 3))
    assert_allclose(a.coef - a.coef[2], b.coef[::-1] - b.coef[0], rtol=1e-6, atol=1e-8)


def test_profile_intervals_of_separated_rows_take_a_few_steps_for_each_end(monkeypatch):
    """They took half a minute, a hundred fits of fifty steps each."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    problem = objective(X, X[:, 0] > 0)
    result, steps, at = firth(problem), [], PenalizedLikelihood.at
    monkeypatch.setattr(PenalizedLikelihood, "at", lambda *given: steps.append(1) or at(*given))
    limits = profile(problem, result)
    assert len(steps) < 500 and np.isfinite([limits.low, limits.high]).all()


def test_firth_refuses_what_it_is_not_made_for():
    X, y = generated(50, 2, 3)
    with pytest.raises(ValueError, match="no penalty beside"):
        firth(objective(X, y > 0, ridge=1.0))


# Leave one out


def log_loss(score, y):
    full = np.column_stack([np.zeros(len(y)), score]) if score.shape[1] == 1 else score
    return -log_softmax(full, axis=1)[np.arange(len(y)), y].mean()


@pytest.mark.parametrize("ridge", [0.0, 1.0])
@pytest.mark.parametrize("k", [2, 3])
def test_one_fit_tells_what_leaving_rows_out_would(k, ridge):
    X, y = generated(n := 150, 3, k)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    problem = objective(X, y, k, ridge=ridge)
    coef = fit(problem)
    quick, honest = leave_one_out_scores(problem, coef), np.empty((n, len(coef)))
    for i in range(n):
        others = np.delete(np.arange(n), i)
        refit = fit(objective(X[others], y[others], k, ridge=ridge))
        honest[i] = problem.loss.scores(X[i : i + 1], refit)[0]
    fitted = log_loss(problem.loss.scores(X, coef), y)
    truth = log_loss(honest, y)
    assert abs(log_loss(quick, y) / truth - 1) < 0.01
    assert fitted < 0.97 * truth  # which the fit itself does not tell
    apart = (quick - honest) if k == 2 else (quick - honest)[:, 1:] - (quick - honest)[:, :1]
    assert np.abs(apart).max() < 0.1


@pytest.mark.parametrize("k", [2, 3])
def test_a_row_that_decides_its_own_score_is_left_out_without_harm(k):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, k, 60)
    X[:, 1] = np.arange(60) == 0  # nothing else is known of this column
    problem = objective(X, y, k)
    problem.penalty.ridge[:, 1] = 1e-9
    assert np.isfinite(leave_one_out_scores(problem, fit(problem))).all()
