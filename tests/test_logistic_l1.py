"""Proximal Newton: the lasso and the elastic net of logistic regression."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import posterior
from posterior.data.rows import Hard, Rows, SparseRows
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.objective import Objective
from posterior.discriminative.penalty import Penalty
from posterior.discriminative.solvers import proximal_newton
from posterior.discriminative.solvers.proximal_newton import (
    ProximalNewton,
    balanced,
    subgradient,
)
from posterior.discriminative.solvers.solution import CONVERGED, TIRED, Stop
from posterior.engines.local import Local
from posterior.kernels import reference

pytestmark = pytest.mark.slow  # on the compiled kernels only

TIGHT = Stop(tol=1e-6, max_iter=200)


def table(seed=0, n=300, d=12, outputs=1, kind="dense"):
    """Rows of a model in which half of the columns play a part."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + random.normal(size=(n, 1))
    if kind == "sparse":
        X = X * (random.random((n, d)) < 0.3)
    k = max(outputs, 2)
    W = random.normal(size=(k, d)) * (random.random(d) < 0.5)
    codes = (X @ W.T + 0.5 * np.arange(k) + random.gumbel(size=(n, k))).argmax(axis=1)
    return (sparse.csr_array(X) if kind == "sparse" else X), codes.astype(np.int32)


def objective(X, codes, C=1.0, ratio=1.0, weight=None, outputs=1, intercept=True, **rows):
    d, k = X.shape[1], max(outputs, 2)
    penalty = Penalty.none((outputs, d + intercept))
    penalty.lasso[:, :d], penalty.ridge[:, :d] = ratio / C, (1 - ratio) / C
    features = SparseRows.of(X) if sparse.issparse(X) else X
    loss = LogisticLoss(outputs, intercept)
    return Objective(Rows(features, Hard(codes, k, weight), **rows), loss, penalty, Local())


def fitted(f, stop=TIGHT):
    return ProximalNewton(stop).minimize(f, np.zeros(f.shape))


def value(f, coef):
    return f.gradient(coef).value + float((f.penalty.lasso * np.abs(coef)).sum())


def assert_lowest(f, solution, tol=1e-6):
    """|g| <= λ where β = 0, and g = -λ sign β elsewhere: no coefficients are better."""
    assert solution.converged
    slope = subgradient(f.gradient(solution.coef).gradient, solution.coef, f.penalty.lasso)
    assert np.abs(slope).max() <= tol * f.weight


@pytest.fixture(params=["written down", "by columns"])
def model(request, monkeypatch):
    """Both ways to know the Hessian, whatever the number of coefficients."""
    size = proximal_newton.WRITTEN if request.param == "written down" else 0
    monkeypatch.setattr(proximal_newton, "WRITTEN", size)
    return request.param


CASES = {
    "binary": {},
    "strong": {"C": 0.03},
    "weak": {"C": 30.0},
    "elastic net": {"C": 0.2, "ratio": 0.4},
    "weighted": {"C": 0.3, "weight": np.random.default_rng(5).integers(0, 4, 300) / 2.0},
    "no intercept": {"C": 0.3, "intercept": False},
    "multinomial": {"C": 0.3, "outputs": 4},
    "multinomial elastic net": {"C": 0.3, "outputs": 3, "ratio": 0.5},
}


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_no_coefficients_are_better_than_those_found(model, case, kind):
    f = objective(*table(outputs=case.get("outputs", 1), kind=kind), **case)
    assert_lowest(f, fitted(f))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_minimum_is_at_most_that_of_saga(model, case, kind):
    X, codes = table(outputs=case.get("outputs", 1), kind=kind)
    f = objective(X, codes, **case)
    settings = {"C": case.get("C", 1.0), "l1_ratio": case.get("ratio", 1.0)}
    saga = LogisticRegression(
        solver="saga",
        tol=1e-12,
        max_iter=20_000,
        random_state=0,
        fit_intercept=f.loss.intercept,
        **settings,
    ).fit(X, codes, sample_weight=case.get("weight"))
    there = np.column_stack([saga.coef_, saga.intercept_]) if f.loss.intercept else saga.coef_
    here = fitted(f).coef
    # saga stops when its steps are small: it may end above, never below but for rounding
    assert value(f, here) <= value(f, there) * (1 + 1e-9)
    if f.shape[0] > 1:  # what all classes have in common is not determined
        here, there = here - here[0], there - there[0]
    np.testing.assert_allclose(here, there, atol=1e-5)


def test_coefficients_are_those_of_liblinear_where_there_is_no_intercept(model):
    X, codes = table()
    peer = LogisticRegression(
        solver="liblinear", l1_ratio=1, C=0.3, tol=1e-10, max_iter=10_000, fit_intercept=False
    ).fit(X, codes)
    f = objective(X, codes, C=0.3, intercept=False)
    here = fitted(f).coef
    assert value(f, here) <= value(f, peer.coef_) * (1 + 1e-9)
    np.testing.assert_allclose(here, peer.coef_, atol=1e-5)


def test_liblinear_is_met_with_its_penalized_intercept(model):
    X, codes = table(kind="sparse")
    peer = LogisticRegression(solver="liblinear", l1_ratio=1, C=0.3, tol=1e-10, max_iter=10_000)
    peer.fit(sparse.csr_matrix(X), codes)
    f = objective(X, codes, C=0.3)
    f.penalty.lasso[:, -1] = 1 / 0.3
    there = np.column_stack([peer.coef_, peer.intercept_])
    np.testing.assert_allclose(fitted(f).coef, there, atol=1e-5)


def test_both_models_and_any_working_set_find_the_same(monkeypatch):
    f = objective(*table(n=200, d=80, kind="sparse"), C=0.5)
    written = fitted(f).coef
    monkeypatch.setattr(proximal_newton, "WRITTEN", 0)
    for joining in (1, 7, 1000):
        monkeypatch.setattr(proximal_newton, "JOINING", joining)
        np.testing.assert_allclose(fitted(f).coef, written, atol=1e-5)


def test_zeros_are_zeros(model):
    f = objective(*table(n=200, d=40), C=0.05)
    coef = fitted(f).coef[0, :-1]
    some = np.abs(coef[coef != 0])
    assert 0 < len(some) < 40
    assert some.min() > 1e-6


def test_a_strong_lasso_leaves_the_log_odds_of_the_classes(model):
    X, codes = table()
    solution = fitted(objective(X, codes, C=1e-5))
    assert not solution.coef[0, :-1].any()
    share = codes.mean()
    assert solution.coef[0, -1] == pytest.approx(np.log(share / (1 - share)), abs=1e-6)


def test_no_lasso_is_newton(model):
    X, codes = table()
    f = objective(X, codes, ratio=0.0)
    peer = LogisticRegression(solver="newton-cholesky", tol=1e-12).fit(X, codes)
    there = np.column_stack([peer.coef_, peer.intercept_])
    np.testing.assert_allclose(fitted(f).coef, there, atol=1e-6)


@pytest.mark.parametrize("outputs", [1, 3])
def test_every_iteration_goes_down_and_is_told(model, outputs):
    f, seen = objective(*table(outputs=outputs), outputs=outputs), []
    solution = ProximalNewton(TIGHT).minimize(f, np.zeros(f.shape), seen.append)
    values = [step.value for step in solution.trace]
    assert solution.reason == CONVERGED
    assert solution.n_iter == len(values) - 1 == len(seen)
    assert (np.diff(values) <= 1e-13 * values[0]).all()
    assert solution.trace[-1].value == value(f, solution.coef)
    assert seen[-1] is solution.coef


def test_the_number_of_iterations_is_respected(model):
    f = objective(*table(), C=1.0)
    solution = fitted(f, Stop(tol=1e-6, max_iter=2))
    assert (solution.n_iter, solution.converged, solution.reason) == (2, False, TIRED)


def test_the_default_tolerance_is_near(model):
    f = objective(*table(), C=1.0)
    assert fitted(f, Stop()).trace[-1].value <= fitted(f).trace[-1].value * (1 + 1e-7)


def test_a_warm_start_needs_fewer_iterations(model):
    f = objective(*table(d=30), C=1.0)
    cold = fitted(f)
    warm = ProximalNewton(TIGHT).minimize(f, cold.coef)
    assert warm.n_iter <= 1
    np.testing.assert_allclose(warm.coef, cold.coef, atol=1e-6)


def test_a_start_that_is_far_off_ends_at_the_same_place(model):
    f = objective(*table(), C=0.1)
    far = np.random.default_rng(0).normal(size=f.shape) * 5
    np.testing.assert_allclose(
        ProximalNewton(TIGHT).minimize(f, far).coef, fitted(f).coef, atol=1e-5
    )


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_an_offset_is_a_column_whose_coefficient_is_one(model, outputs, kind):
    X, codes = table(outputs=outputs, kind=kind)
    known = np.random.default_rng(1).normal(size=(len(codes), outputs))
    f = objective(X, codes, 0.3, outputs=outputs, offset=known)
    solution = fitted(f)
    assert_lowest(f, solution)
    dense = X.toarray() if kind == "sparse" else X
    eta = dense @ solution.coef[:, :-1].T + solution.coef[:, -1] + known
    full = np.column_stack([np.zeros(len(eta)), eta]) if outputs == 1 else eta
    log_share = full - np.logaddexp.reduce(full, axis=1, keepdims=True)
    loss = -log_share[np.arange(len(codes)), codes].sum()
    whole = loss + np.abs(solution.coef[:, :-1]).sum() / 0.3
    assert solution.trace[-1].value == pytest.approx(whole, rel=1e-12)


def test_what_classes_have_in_common_is_free_to_go():
    penalty = Penalty.none((3, 4))
    penalty.lasso[:, :3] = 2.0
    penalty.ridge[:, 2] = 1.0
    coef = np.array([[1.0, -1.0, 5.0, 1.0], [2.0, 3.0, 6.0, 2.0], [4.0, 0.0, 7.0, 6.0]])
    there = [[-1.0, -1.0, 5.0, -2.0], [0.0, 3.0, 6.0, -1.0], [2.0, 0.0, 7.0, 3.0]]
    np.testing.assert_array_equal(balanced(coef, penalty.ridge, penalty.lasso), there)
    even = np.array([[1.0, -3.0], [2.0, -1.0], [4.0, 2.0], [7.0, 9.0]])
    penalty = Penalty(np.zeros((4, 2)), np.ones((4, 2)), np.zeros((4, 2)))
    there = [[-1.0, -3.0], [0.0, -1.0], [2.0, 2.0], [5.0, 9.0]]  # the nearest of the medians
    np.testing.assert_array_equal(balanced(even, penalty.ridge, penalty.lasso), there)
    penalty.lasso[3] = 10.0  # a heavier coefficient weighs more
    np.testing.assert_array_equal(balanced(even, penalty.ridge, penalty.lasso)[3], 0.0)


def test_an_origin_only_moves_the_intercept(model):
    X, codes = table()
    f = objective(X + 100.0, codes, C=0.3)
    centered = replace(f, loss=LogisticLoss(1, True, np.full(X.shape[1], 100.0)))
    here = centered.loss.parts(fitted(centered).coef)
    there = f.loss.parts(fitted(objective(X, codes, C=0.3)).coef)
    np.testing.assert_allclose(here[0], there[0], atol=1e-6)
    np.testing.assert_allclose(here[1] + 100 * here[0].sum(), there[1], atol=1e-5)


HARD = {
    "constant": lambda X: np.column_stack([X, np.ones(len(X)), np.zeros(len(X))]),
    "twice": lambda X: np.column_stack([X, X]),
    "near": lambda X: np.column_stack([X, X + 1e-9 * X[:, ::-1]]),
    "scales": lambda X: X * 10.0 ** np.linspace(-6, 6, X.shape[1]),
    "more columns than rows": lambda X: np.column_stack(
        [X[:30]] + [X[i : i + 30] for i in range(9)]
    ),
    "float32": lambda X: X.astype(np.float32),
    "columns in memory": np.asfortranarray,
}


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("change", HARD.values(), ids=HARD.keys())
def test_hard_tables_end_at_a_minimum(model, change, outputs):
    X, codes = table(outputs=outputs)
    X = change(X)
    f = objective(X, codes[: len(X)], C=0.5, outputs=outputs)
    solution = fitted(f)
    assert np.isfinite(solution.coef).all()
    # slopes of columns of 1e6 are 1e6 times as large
    assert_lowest(f, solution, 1e-6 * max(1.0, np.abs(X).max()))


@pytest.mark.parametrize("outputs", [1, 3])
def test_one_row_ends_with_numbers(model, outputs):
    X, codes = table(outputs=outputs)
    solution = fitted(objective(X[:1], codes[:1], outputs=outputs))  # the intercepts have no end
    assert np.isfinite(solution.coef).all()
    assert solution.trace[-1].value < 1e-6


def test_classes_that_a_column_separates_end_at_a_minimum(model):
    X = np.linspace(-1, 1, 50)[:, None] ** np.arange(1, 4)
    f = objective(X, (X[:, 0] > 0).astype(np.int32), C=100.0)
    solution = fitted(f)
    assert_lowest(f, solution)
    assert np.isfinite(solution.coef).all()


def test_a_column_without_lasso_is_never_dropped(model):
    X, codes = table()
    f = objective(X, codes, C=1e-4)
    f.penalty.lasso[:, 3] = 0.0
    solution = fitted(f)
    assert_lowest(f, solution)
    assert np.flatnonzero(solution.coef[0, :-1]).tolist() == [3]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_any_number_of_threads_gives_the_same_bits(model, kind):
    f = replace(objective(*table(n=600, kind=kind)), engine=Local(chunk_rows=100))
    found = []
    for n in (1, 2):
        with posterior.threads(n):
            found.append(fitted(f).coef)
    np.testing.assert_array_equal(*found)


def test_parts_of_a_cell_count_as_one(model):
    X, codes = table(kind="sparse")
    half = X.copy()
    half.data /= 2
    column, start = np.repeat(half.indices, 2), 2 * half.indptr
    parts = sparse.csr_array((np.repeat(half.data, 2), column, start), shape=X.shape)
    here, there = fitted(objective(parts, codes)).coef, fitted(objective(X, codes)).coef
    np.testing.assert_allclose(here, there, atol=1e-6)


# --- kernels ------------------------------------------------------------------------------------


@pytest.fixture
def compiled():
    return pytest.importorskip("posterior.kernels.compiled", reason="nothing was compiled here")


@pytest.mark.may_skip("nothing was compiled here")
@pytest.mark.parametrize("seed", range(5))
def test_coordinate_descent_agrees_with_its_twin(compiled, seed):
    random = np.random.default_rng(seed)
    A = random.normal(size=(9, 7))
    H = A.T @ A
    H[2] = H[:, 2] = 0.0  # no curvature
    lasso = random.choice([0.0, 0.5, 2.0], 7)
    g, b = random.normal(size=7), random.normal(size=7)
    ours, plain = ((g.copy(), b.copy()) for _ in range(2))
    compiled.coordinate_descent(H, lasso, 5, 0.0, *ours)
    reference.coordinate_descent(H, lasso, 5, 0.0, *plain)
    # sums of a few numbers near one, in another order
    np.testing.assert_allclose(ours, plain, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(ours[1] == 0, plain[1] == 0)


@pytest.mark.may_skip("nothing was compiled here")
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["dense", "int32", "int64"])
def test_column_descent_agrees_with_its_twin(compiled, kind, intercept, outputs):
    random = np.random.default_rng(0)
    n, d, p = 40, 30, 30 + intercept
    X = np.asfortranarray(random.normal(size=(n, d)))
    if kind != "dense":
        X = sparse.csc_array(X * (random.random((n, d)) < 0.3))
        X.indices, X.indptr = X.indices.astype(kind), X.indptr.astype(kind)
    share = random.dirichlet(np.ones(outputs + 1), n).T[:outputs].copy()
    curves = (share * (1 - share), None) if outputs == 1 else (share, share)
    curve = np.full((outputs, p), 3.0 * n)
    rest = [random.normal(size=(outputs, p)) for _ in range(2)]
    ridge, lasso = random.random((2, outputs, p))
    coordinates = (rest[0], 20 * rest[1], curve, ridge, lasso * 200)
    first = random.normal(size=(outputs, p))
    moved = (X @ first[:, :d].T + (first[:, d] if intercept else 0.0)).T.copy()
    ours, plain = ((first.copy(), moved.copy()) for _ in range(2))
    compiled.column_descent(X, curves, coordinates, 3, *ours)
    reference.column_descent(X, curves, coordinates, 3, *plain)
    for a, b in zip(ours, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    step = ours[0]
    assert (rest[0] + step == 0).any()
    there = X @ step[:, :d].T + (step[:, d] if intercept else 0.0)
    np.testing.assert_allclose(ours[1].T, there, atol=1e-12)
    squares = [k.column_squares(X, curves[0]) for k in (compiled, reference)]
    np.testing.assert_allclose(*squares, rtol=1e-12)


@pytest.mark.may_skip("nothing was compiled here")
@pytest.mark.parametrize("cells", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_columns_of_sparse_rows_agree_with_their_twin(compiled, cells, index):
    random = np.random.default_rng(0)
    n, d, entries = 20, 9, 80
    start = np.sort(random.integers(0, entries, n + 1)).astype(index)
    column = random.integers(0, d, entries).astype(index)  # in any order, and repeated
    X = SparseRows(random.normal(size=entries).astype(cells), column, start, d)
    for part in (X, X[5:15], X[3:3]):
        for columns in (np.array([7, 0, 3]), np.arange(d), np.arange(0)):
            ours, plain = (k.take_columns(part, columns) for k in (compiled, reference))
            assert ours.dtype == np.float64
            assert ours.has_canonical_format
            np.testing.assert_allclose(ours.toarray(), plain.toarray(), rtol=1e-6)
