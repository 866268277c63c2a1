"""Ways downhill: they end at the same place, go down only, and say why they stopped."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import posterior
from posterior.data.rows import Hard, Rows, SparseRows
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.objective import Objective
from posterior.discriminative.penalty import Penalty
from posterior.discriminative.solvers import GradientAscent, Newton, NewtonCG, QuasiNewton, Stop
from posterior.discriminative.solvers.newton_cg import solve
from posterior.discriminative.solvers.solution import CONVERGED, STUCK, TIRED
from posterior.engines.local import Local

TIGHT = Stop(tol=1e-9, max_iter=1_000)
SOLVERS = {
    "Newton": Newton,
    "QuasiNewton": QuasiNewton,
    "QuasiNewton, sampled": lambda stop: QuasiNewton(stop, sample=True),
    "NewtonCG": NewtonCG,
}
each_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)


def objective(X, y, ridge=1.0, intercept=True, weight=None, offset=None, outputs=None, origin=None):
    """Loss and ridge; the intercept is free."""
    outputs = outputs or (1 if y.max() < 2 else int(y.max()) + 1)
    rows = SparseRows.of(X) if sparse.issparse(X) else np.asarray(X)
    groups = Hard(y.astype(np.int32), max(outputs, 2), weight)
    strength = np.full((outputs, X.shape[1] + intercept), float(ridge))
    if intercept:
        strength[:, -1] = 0
    penalty = Penalty(strength, np.zeros(strength.shape), np.zeros(strength.shape))
    loss = LogisticLoss(outputs, intercept, origin)
    return Objective(Rows(rows, groups, offset), loss, penalty, Local())


def some_data(n=600, d=6, classes=2, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * np.linspace(0.5, 2, d) + np.linspace(-1, 1, d)
    scores = X @ random.normal(size=(d, classes)) + random.gumbel(size=(n, classes))
    return X, scores.argmax(axis=1)


def start(f):
    return np.zeros(f.shape)


def largest_gradient(f, coef):
    """Per row: what solvers promise to make small."""
    return np.abs(f.gradient(coef).gradient).max() / f.weight


def values(solution):
    return np.array([step.value for step in solution.trace])


def assert_went_down(solution):
    """Each value is that of a long sum: its last digits may rise."""
    found = values(solution)
    assert np.isfinite(found).all()
    assert (np.diff(found) <= 1e-12 * np.abs(found[:-1])).all()


def assert_ends_well(solution):
    assert np.isfinite(solution.coef).all()
    assert all(np.isfinite([s.value, s.gradient_norm, s.step]).all() for s in solution.trace)
    assert solution.reason in {CONVERGED, STUCK, TIRED}
    assert solution.converged == (solution.reason == CONVERGED) or solution.reason == STUCK
    assert_went_down(solution)


def probabilities(f, coef, X):
    eta = f.loss.scores(SparseRows.of(X) if sparse.issparse(X) else np.asarray(X), coef)
    full = np.column_stack([np.zeros(len(eta)), eta]) if eta.shape[1] == 1 else eta
    return np.exp(full - np.logaddexp.reduce(full, axis=1, keepdims=True))


# ---- the same minimum ----


@each_solver
@pytest.mark.parametrize("kind", ["dense", "float32", "columns first", "sparse"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("ridge", [0.01, 1.0, 100.0])
def test_the_minimum_is_that_of_scikit_learn(solver, kind, classes, ridge):
    X, y = some_data(classes=classes)
    X = np.where(np.abs(X) < 0.3, 0, X).astype(np.float32).astype(float)
    table = {
        "dense": X,
        "float32": X.astype(np.float32),
        "columns first": np.asfortranarray(X),
        "sparse": sparse.csr_array(X),
    }[kind]
    f = objective(table, y, ridge)
    found = solver(TIGHT).minimize(f, start(f))
    assert_ends_well(found)
    assert found.converged and largest_gradient(f, found.coef) < 1e-8
    peer = LogisticRegression(C=1 / ridge, solver="newton-cholesky", tol=1e-12, max_iter=500)
    peer.fit(X, y)
    # the intercepts of several classes are known up to a number that all share
    apart = found.coef - found.coef.mean(axis=0) if classes > 2 else found.coef
    assert_allclose(apart[:, :-1], peer.coef_, rtol=0, atol=1e-6)
    theirs = peer.intercept_ - (peer.intercept_.mean() if classes > 2 else 0)
    assert_allclose(apart[:, -1], theirs, rtol=0, atol=1e-6)


@each_solver
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_and_offsets_reach_the_minimum(solver, classes):
    X, y = some_data(classes=classes)
    random = np.random.default_rng(1)
    outputs = 1 if classes == 2 else classes
    times, known = random.integers(0, 3, len(y)), random.normal(size=(len(y), outputs))
    index = np.repeat(np.arange(len(y)), times)
    one = objective(X, y, 0.5, weight=times.astype(float), offset=known)
    other = objective(X[index], y[index], 0.5, offset=known[index])
    a, b = (solver(TIGHT).minimize(f, start(f)) for f in (one, other))
    assert_allclose(probabilities(one, a.coef, X), probabilities(one, b.coef, X), atol=1e-8)


@each_solver
def test_without_a_penalty_the_scores_of_classes_balance(solver):
    """At the maximum of the likelihood Σ p = Σ y, and Σ p x = Σ y x."""
    X, y = some_data(2_000)
    f = objective(X, y, 0)
    p = probabilities(f, solver(TIGHT).minimize(f, start(f)).coef, X)[:, 1]
    assert_allclose(p.sum(), y.sum(), rtol=1e-7)
    assert_allclose(p @ X, y @ X, rtol=1e-6, atol=1e-5)


@each_solver
@pytest.mark.parametrize("classes", [2, 3])
def test_any_start_leads_to_the_same_minimum(solver, classes):
    X, y = some_data(classes=classes)
    f = objective(X, y, 1.0)
    random = np.random.default_rng(3)
    here = solver(TIGHT).minimize(f, start(f))
    for scale in (0.1, 3.0, 100.0):
        there = solver(TIGHT).minimize(f, scale * random.normal(size=f.shape))
        assert_ends_well(there)
        assert there.converged and largest_gradient(f, there.coef) < 1e-8
        assert_allclose(there.coef[:, :-1], here.coef[:, :-1], atol=1e-5)
        p, q = (probabilities(f, s.coef, X) for s in (here, there))
        assert_allclose(p, q, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_newton_needs_few_steps_from_any_start(classes):
    X, y = some_data(classes=classes)
    f = objective(X, y, 1.0)
    for scale in (0.1, 1.0):
        first = scale * np.random.default_rng(3).normal(size=f.shape)
        assert Newton(TIGHT).minimize(f, first).n_iter <= 15


@each_solver
def test_a_prior_may_differ_by_coefficient(solver):
    X, y = some_data(classes=3)
    f = objective(X, y)
    random = np.random.default_rng(4)
    ridge, center = 10.0 ** random.uniform(-2, 3, f.shape), random.normal(size=f.shape)
    f = Objective(f.rows, f.loss, Penalty(ridge, np.zeros(f.shape), center), f.engine)
    found = solver(TIGHT).minimize(f, start(f))
    assert_ends_well(found)
    assert largest_gradient(f, found.coef) < 1e-8
    assert found.n_iter <= 100


@pytest.mark.parametrize("solver", [Newton, QuasiNewton, NewtonCG])  # a sample has its own minimum
def test_from_the_minimum_no_step_is_taken(solver):
    X, y = some_data()
    f = objective(X, y)
    best = Newton(Stop(1e-12, 100)).minimize(f, start(f)).coef
    found = solver(Stop(1e-6, 100)).minimize(f, best)
    assert found.n_iter <= 1 and found.converged
    assert_allclose(found.coef, best, atol=1e-8)


def test_gradient_ascent_reaches_the_minimum_too():
    X, y = some_data(200, 3)
    X = X - X.mean(axis=0)
    f = objective(X, y)
    steep = 0.25 * np.linalg.norm(np.column_stack([X, np.ones(len(X))]), 2) ** 2 + 1
    found = GradientAscent(step=1 / steep, tol=1e-12, max_iter=50_000).minimize(f, start(f))
    best = Newton(TIGHT).minimize(f, start(f))
    assert found.converged and found.n_iter < 50_000
    assert_allclose(found.coef, best.coef, atol=1e-8)
    assert_went_down(found)


def test_two_outputs_say_what_one_says():
    X, y = some_data()
    one, two = objective(X, y, 1.0), objective(X, y, 2.0, outputs=2)
    a, b = (Newton(TIGHT).minimize(f, start(f)) for f in (one, two))
    assert_allclose(b.coef[1] - b.coef[0], a.coef[0], atol=1e-8)


# ---- how they go ----


@each_solver
@pytest.mark.parametrize("most", [0, 1, 3])
def test_no_more_iterations_than_wanted(solver, most):
    X, y = some_data(4_000, classes=3)
    f = objective(X, y, 1e-3)
    found = solver(Stop(1e-14, most)).minimize(f, start(f))
    assert_ends_well(found)
    assert found.n_iter <= most and len(found.trace) == found.n_iter + 1
    assert found.converged or (found.n_iter == most and found.reason == TIRED)


@pytest.mark.parametrize("tol", [0.0, 1e-14])
def test_gradient_ascent_takes_the_steps_wanted(tol):
    X, y = some_data()
    f = objective(X, y)
    found = GradientAscent(step=1e-4, tol=tol, max_iter=7).minimize(f, start(f))
    assert found.n_iter == 7
    assert found.converged == (tol == 0)  # without a tolerance the steps are all that was asked
    assert_went_down(found)


def test_gradient_ascent_that_stops_at_its_last_step_has_converged():
    X, y = some_data(200, 3)
    f = objective(X, y)
    needed = GradientAscent(1e-3, 1e-6, 100_000).minimize(f, start(f)).n_iter
    assert GradientAscent(1e-3, 1e-6, needed + 1).minimize(f, start(f)).converged
    assert GradientAscent(1e-3, 1e-6, needed).minimize(f, start(f)).converged
    assert not GradientAscent(1e-3, 1e-6, needed - 1).minimize(f, start(f)).converged


def test_gradient_ascent_with_steps_too_long_stays_finite():
    X, y = some_data()
    f = objective(X, y, 0)
    found = GradientAscent(step=1e6, max_iter=200).minimize(f, start(f))
    assert np.isfinite(found.coef).all() and np.isfinite(values(found)).all()


@each_solver
def test_the_trace_says_what_happened(solver):
    X, y = some_data()
    f = objective(X, y)
    found = solver(TIGHT).minimize(f, start(f))
    last = found.trace[-1]
    assert_allclose(last.value, f.gradient(found.coef).value, rtol=1e-14)
    # Newton's last direction is taken without another pass
    assert largest_gradient(f, found.coef) <= 1.001 * last.gradient_norm + 1e-15
    assert found.trace[0].step == 0 and all(s.step > 0 for s in found.trace[1:])
    if solver is not SOLVERS["QuasiNewton, sampled"]:  # which starts where its sample ended
        assert_allclose(found.trace[0].value, len(y) * np.log(2), rtol=1e-12)


@each_solver
def test_the_start_is_left_alone(solver):
    X, y = some_data()
    f = objective(X, y)
    first = np.full(f.shape, 0.5)
    solver(TIGHT).minimize(f, first)
    assert (first == 0.5).all()


@each_solver
@pytest.mark.parametrize("classes", [2, 3])
def test_any_number_of_threads_learns_the_same_bits(solver, classes):
    X, y = some_data(9_000, 40, classes)
    f = objective(X, y)
    found = []
    for n in (1, 2):
        with posterior.threads(n):
            found.append(solver(Stop(1e-4, 5)).minimize(f, start(f)).coef.tobytes())
    assert found[0] == found[1]


# ---- hard data ----


@each_solver
@pytest.mark.parametrize("classes", [2, 3])
def test_separable_data_end_with_a_reason(solver, classes):
    X, y = some_data(200, 2, classes)
    X[:, 0] = y + 0.1 * X[:, 0] / np.abs(X[:, 0]).max()
    f = objective(X, y, 0)
    for stop in (Stop(), Stop(1e-8, 300), Stop(1e-12, 2_000)):
        found = solver(stop).minimize(f, start(f))
        assert_ends_well(found)
        assert (probabilities(f, found.coef, X).argmax(axis=1) == y).all()
        assert found.trace[-1].value < 0.01 * len(y)


@each_solver
def test_one_row_of_each_class_ends_with_a_reason(solver):
    for X in ([[0.0], [1.0]], [[1.0], [1.0]], [[1e8], [-1e8]], [[0.0], [0.0]]):
        f = objective(np.array(X), np.array([0, 1]), 0)
        assert_ends_well(solver(Stop(1e-8, 200)).minimize(f, start(f)))


@each_solver
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_a_constant_column_changes_no_answer(solver, classes, ridge):
    X, y = some_data(classes=classes)
    plain, wide = objective(X, y, ridge), objective(np.hstack([X, np.full((len(X), 2), [0, 3])]), y)
    if not ridge:
        wide = objective(np.hstack([X, np.full((len(X), 2), [0, 3])]), y, 0)
    a, b = (solver(TIGHT).minimize(f, start(f)) for f in (plain, wide))
    assert_ends_well(b)
    assert largest_gradient(wide, b.coef) < 1e-7
    # a free intercept takes from the penalized column whatever it has
    p = probabilities(wide, b.coef, np.hstack([X, np.full((len(X), 2), [0, 3])]))
    assert_allclose(p, probabilities(plain, a.coef, X), atol=1e-6)


@each_solver
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_a_column_twice_is_a_column_of_half_the_penalty(solver, classes, ridge):
    X, y = some_data(classes=classes)
    once = objective(X, y, ridge / 2)
    twice = objective(np.hstack([X, X]), y, ridge)
    a, b = (solver(TIGHT).minimize(f, start(f)) for f in (once, twice))
    assert_ends_well(b)
    assert largest_gradient(twice, b.coef) < 1e-7
    d = X.shape[1]
    if ridge:
        assert_allclose(b.coef[:, :d], b.coef[:, d : 2 * d], atol=1e-6)
    p = probabilities(twice, b.coef, np.hstack([X, X]))
    assert_allclose(p, probabilities(once, a.coef, X), atol=1e-6)


@each_solver
@pytest.mark.parametrize("classes", [2, 3])
def test_fewer_rows_than_columns(solver, classes):
    X, y = some_data(30, 50, classes)
    f = objective(X, y, 1.0)
    found = solver(TIGHT).minimize(f, start(f))
    assert_ends_well(found)
    assert largest_gradient(f, found.coef) < 1e-8
    best = Newton(TIGHT).minimize(f, start(f))
    assert_allclose(found.coef[:, :-1], best.coef[:, :-1], atol=1e-6)
    free = objective(X, y, 0)
    assert_ends_well(solver(Stop(1e-6, 100)).minimize(free, start(free)))


SIZES = 10.0 ** np.array([-8, -4, 0, 3, 6, 8])


@each_solver
@pytest.mark.parametrize("stop", [Stop(1e-4, 1_000), Stop(1e-9, 2_000)], ids=["usual", "tight"])
def test_columns_of_all_sizes_give_the_probabilities_of_even_ones(solver, stop):
    X, y = some_data()
    even, uneven = objective(X, y, 0), objective(X * SIZES, y, 0)
    a = Newton(TIGHT).minimize(even, start(even))
    b = solver(stop).minimize(uneven, start(uneven))
    assert_ends_well(b)
    p, q = probabilities(even, a.coef, X), probabilities(uneven, b.coef, X * SIZES)
    assert_allclose(q, p, atol=1e-5 if stop.tol < 1e-8 else 0.05)


def test_newton_stops_where_rounding_ends_it():
    """Of a column of size 1e8 the gradient's rounding errors alone are above the tolerance."""
    X, y = some_data()
    f = objective(X * SIZES, y, 0)
    assert Newton(Stop(1e-12, 1_000)).minimize(f, start(f)).n_iter <= 30


@each_solver
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("mean", [1e2, 1e5, 1e8])
def test_columns_far_from_zero_are_learned_about_their_mean(solver, classes, mean):
    X, y = some_data(classes=classes)
    X = np.round(X * 2**10) / 2**10  # so that adding the mean loses nothing
    near = objective(X, y, 0.1, origin=X.mean(axis=0))
    far = objective(X + mean, y, 0.1, origin=(X + mean).mean(axis=0))
    a, b = (solver(TIGHT).minimize(f, start(f)) for f in (near, far))
    assert_ends_well(b)
    assert b.converged and b.n_iter <= 2 * a.n_iter + 5
    # the intercepts of several classes are known up to a number that all share
    apart = [c - c.mean(axis=0) if classes > 2 else c for c in (a.coef, b.coef)]
    assert_allclose(*apart, atol=1e-6)


@each_solver
@pytest.mark.parametrize("mean", [1e2, 1e4, 1e6, 1e8])
def test_columns_far_from_zero_end_with_a_reason_without_an_origin_too(solver, mean):
    X, y = some_data()
    near, far = objective(X, y, 0), objective(X + mean, y, 0)
    best = Newton(TIGHT).minimize(near, start(near)).trace[-1].value
    found = solver(Stop(1e-6, 300)).minimize(far, start(far))
    assert_ends_well(found)
    assert found.trace[-1].value <= len(y) * np.log(2)
    if found.converged and mean < 1e6:  # beyond, the digits are lost
        assert found.trace[-1].value - best <= 1e-4 * best


@each_solver
def test_rows_of_one_class_only_end_with_a_reason(solver):
    X, _ = some_data(50, 3)
    for outputs in (1, 3):
        f = objective(X, np.zeros(50, int), 1.0, outputs=outputs)
        found = solver(Stop(1e-8, 200)).minimize(f, start(f))
        assert_ends_well(found)


# ---- the lectures ----


def read(shared_data, name, part):
    """The course leaves out the demographics."""
    table = pd.read_csv(shared_data / "cs109" / f"{name}-{part}.csv")
    table = table.drop(columns="Demographic", errors="ignore")
    return table.drop(columns="Label").to_numpy(float), table["Label"].to_numpy()


def textbook_ascent(X, y, step, n_steps):
    """θ ← θ + η Σᵢ (yᵢ - σ(θ·xᵢ)) xᵢ, the ones in front."""
    X = np.column_stack([np.ones(len(X)), X])
    theta = np.zeros(X.shape[1])
    for _ in range(n_steps):
        p = 1 / (1 + np.exp(-(X @ theta)))
        theta = theta + step * X.T @ (y - p)
    return theta


@pytest.mark.parametrize(
    ("name", "right"), [("heart", 145), ("ancestry", 154), ("netflix", 330)]
)  # of 187, 184 and 500 rows
def test_gradient_ascent_is_the_loop_of_the_lectures(shared_data, name, right):
    X, y = read(shared_data, name, "train")
    X_new, y_new = read(shared_data, name, "test")
    theta = textbook_ascent(X, y, 1e-4, 10_000)
    f = objective(X, y, 0)
    found = GradientAscent(step=1e-4, max_iter=10_000).minimize(f, start(f))
    assert found.n_iter == 10_000
    # a step adds rounding errors of 1e-16 and shrinks those before it
    assert_allclose(found.coef[0], [*theta[1:], theta[0]], rtol=0, atol=1e-12)
    assert_went_down(found)
    ours = probabilities(f, found.coef, X_new)[:, 1] > 0.5
    assert (ours == (theta[0] + X_new @ theta[1:] > 0)).all()
    assert (ours == y_new).sum() == right


@pytest.mark.parametrize("name", ["ancestry", "netflix"])
def test_ten_thousand_steps_of_the_lectures_are_not_the_maximum(shared_data, name):
    X, y = read(shared_data, name, "train")
    f = objective(X, y, 0)
    after = GradientAscent(step=1e-4, max_iter=10_000).minimize(f, start(f)).trace[-1].value
    best = Newton(TIGHT).minimize(f, start(f))
    assert_ends_well(best)
    assert best.trace[-1].value < after - 0.01


def test_a_region_of_trust_brings_back_a_start_from_which_newton_overshoots():
    X, y = some_data(d=3)
    f = objective(X, y, ridge=1e-3)
    far = np.array([[30.0, -25.0, 40.0, 10.0]])  # rows are certain here: hardly any curvature
    q = f.quadratic(far)
    overshot = far - np.linalg.solve(q.hessian, q.gradient.ravel()).reshape(far.shape)
    assert f.gradient(overshot).value > q.value
    found = NewtonCG(TIGHT).minimize(f, far)
    assert found.converged
    assert (np.diff(values(found)) <= 0).all()
    assert_allclose(found.coef, Newton(TIGHT).minimize(f, start(f)).coef, rtol=1e-6)


@pytest.mark.parametrize("radius", [0.1, 1.0, 10.0])
def test_a_direction_is_the_best_inside_its_radius(radius):
    random = np.random.default_rng(0)
    A = random.normal(size=(8, 5))
    H, g = A.T @ A + np.eye(5), random.normal(size=(1, 5))
    metric = H.diagonal()[None]
    x, gain = solve(lambda v: v @ H, g, metric, 1e-12, radius)
    assert np.sqrt((metric * x * x).sum()) <= radius * (1 + 1e-12)
    assert_allclose(gain, (x * g).sum() - 0.5 * (x @ H @ x.T).item(), rtol=1e-10)
    steepest = g / metric
    steepest *= min(radius / np.sqrt((metric * steepest**2).sum()), 1e9)
    t = min(1.0, (g * steepest).sum() / (steepest @ H @ steepest.T).item())
    cauchy = t * (g * steepest).sum() - 0.5 * t**2 * (steepest @ H @ steepest.T).item()
    assert gain >= cauchy * (1 - 1e-12)
    if radius == 10.0:
        assert_allclose(x.ravel(), np.linalg.solve(H, g.ravel()), rtol=1e-8)
