"""Where the most probable class changes, against root finders, dense grids and the equations."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import posterior
from posterior import (
    BernoulliNB,
    CategoricalNB,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
)
from posterior.evaluation import Curves, Points, Surface, decision_boundary

some = settings(max_examples=max(10, settings.default.max_examples // 5))


@dataclass
class Model:
    """A model that is nothing but its quadratics."""

    A: np.ndarray
    b: np.ndarray
    c: np.ndarray

    def __post_init__(self):
        self.classes_ = np.array(list("abcdefghijkl"[: len(self.c)]))
        self.n_features_in_ = self.b.shape[1]

    def quadratics(self, origin=None):
        assert origin is None  # without means_ nobody knows a better one
        return self.A, self.b, self.c

    def log_joint(self, X):
        return np.einsum("ni,kij,nj->nk", X, self.A, X) + X @ self.b.T + self.c

    def size(self, X):
        terms = Model(abs(self.A), abs(self.b), abs(self.c))
        return terms.log_joint(abs(X)).max(axis=1)


def normals(prior, means, covariances):
    """log π_k + log N(x; μ_k, Σ_k), multiplied out."""
    mean, covariance = np.array(means, float), np.array(covariances, float)
    precision = np.linalg.inv(covariance)
    b = np.einsum("kij,kj->ki", precision, mean)
    log_det = np.linalg.slogdet(2 * np.pi * covariance)[1]
    return Model(-precision / 2, b, np.log(prior) - ((b * mean).sum(axis=1) + log_det) / 2)


def on_a_line(prior, means, deviations):
    variances = np.square(deviations)[:, None, None]
    return normals(prior, np.array(means)[:, None], variances)


FISH = on_a_line([0.3, 0.7], [30.0, 16.0], [4.0, 3.0])  # the classes a = 0 and b = 1
THREE = normals(
    [0.3, 0.4, 0.3],
    [[0, 0], [3, 0], [1, 3]],
    [np.eye(2), [[2, 0.5], [0.5, 1]], [[1, 0.2], [0.2, 0.4]]],
)


def assert_on_the_boundary(model, curve):
    """Both classes are equal at every vertex, and no other is larger."""
    of, against = (model.classes_.tolist().index(k) for k in (curve.of, curve.against))
    value, size = model.log_joint(curve.points), model.size(curve.points)
    assert (abs(value[:, of] - value[:, against]) <= 1e-9 * size).all()
    assert (value[:, of] >= value.max(axis=1) - 1e-9 * size).all()


def test_the_fish_have_two_boundaries():
    def log_odds(x):
        b, a = norm(16, 3).logpdf(x), norm(30, 4).logpdf(x)
        return np.log(0.7) + b - np.log(0.3) - a

    found = decision_boundary(FISH)
    assert isinstance(found, Points)
    expected = [brentq(log_odds, -100, 0, xtol=1e-13), brentq(log_odds, 16, 30, xtol=1e-13)]
    assert_allclose(found.at, expected, rtol=1e-12)
    assert_allclose(found.at, [-26.95, 22.95], atol=0.005)
    assert found.classes.tolist() == ["a", "b", "a"]
    assert str(found) == ("x < -26.95        : a\n-26.95 < x < 22.95: b\nx > 22.95         : a")


@st.composite
def lines(draw):
    k = draw(st.integers(1, 5))
    decimals = st.integers(-20_000, 20_000).map(lambda n: n / 1000)
    many = {"min_size": k, "max_size": k}
    prior = np.array(draw(st.lists(st.floats(0.01, 1), **many)))
    means = draw(st.lists(st.one_of(st.integers(-3, 3), decimals), **many))
    deviations = draw(st.lists(st.sampled_from([0.3, 1.0, 1.0, 1.5, 4.0]), **many))
    return on_a_line(prior / prior.sum(), np.array(means, float), deviations)


@some
@given(model=lines())
def test_points_agree_with_the_largest_on_a_dense_grid(model):
    found = decision_boundary(model)
    assert (np.diff(found.at) > 0).all()
    assert (found.classes[1:] != found.classes[:-1]).all()
    grid = np.linspace(-200, 200, 10_001)
    X = np.concatenate([grid, found.at - 1e-6, found.at + 1e-6])[:, None]
    value = model.log_joint(X)
    claimed = found.classes[np.searchsorted(found.at, X[:, 0])]
    column = np.searchsorted(model.classes_, claimed)
    short = value.max(axis=1) - np.take_along_axis(value, column[:, None], axis=1)[:, 0]
    assert (short <= 1e-12 * model.size(X)).all()


@some
@given(model=lines())
def test_classes_are_equal_at_the_points_between_them(model):
    found = decision_boundary(model)
    value, size = model.log_joint(found.at[:, None]), model.size(found.at[:, None])
    column = np.searchsorted(model.classes_, found.classes)
    left, right = (np.take_along_axis(value, k[:, None], 1) for k in (column[:-1], column[1:]))
    assert (abs(left - right)[:, 0] <= 1e-12 * size).all()


@some
@given(model=lines(), seed=st.integers(0, 100))
def test_relabeling_classes_leaves_the_points_in_place(model, seed):
    order = np.random.default_rng(seed).permutation(len(model.c))
    same = decision_boundary(Model(model.A[order], model.b[order], model.c[order]))
    assert_allclose(same.at, decision_boundary(model).at, rtol=1e-9, atol=1e-9)


def test_a_class_that_is_always_more_probable_has_no_boundary():
    found = decision_boundary(on_a_line([0.999, 0.001], [0.0, 0.0], [2.0, 1.0]))
    assert len(found.at) == 0
    assert found.classes.tolist() == ["a"]
    assert str(found) == "any x: a"


def test_a_class_that_only_touches_is_no_boundary():
    A, b, c = np.array([0.0, -1.0, -1.0]), np.array([0.0, 2.0, -6.0]), np.array([0.0, -1.0, -9.0])
    found = decision_boundary(Model(A[:, None, None], b[:, None], c))  # 0, -(x - 1)², -(x + 3)²
    assert (len(found.at), found.classes.tolist()) == (0, ["a"])


def test_three_classes_that_meet_in_one_point_change_there_once():
    A, b, c = np.zeros((3, 1, 1)), np.array([[-0.1], [0.3], [0.2]]), np.array([0.03, -0.09, -0.06])
    found = decision_boundary(Model(A, b, c))  # -0.1, 0.3 and 0.2 times (x - 0.3)
    assert_allclose(found.at, [0.3], rtol=1e-14)
    assert found.classes.tolist() == ["a", "b"]


def test_equal_classes_are_one():
    found = decision_boundary(on_a_line([0.2, 0.4, 0.4], [0.0, 2.0, 2.0], [1.0, 1.0, 1.0]))
    assert found.classes.tolist() == ["a", "b"]
    assert_allclose(found.at, [1 - np.log(2) / 2], rtol=1e-12)


@pytest.mark.parametrize("tiny", [1e-300, 1e-30, 1e-18, -1e-18, -1e-300])
def test_a_quadratic_that_is_almost_a_line_keeps_its_root(tiny):
    model = Model(np.array([0.0, tiny])[:, None, None], np.array([[0.0], [2.0]]), np.array([0, -1]))
    found = decision_boundary(model)
    assert_allclose(found.at[np.argmin(abs(found.at))], 0.5, rtol=1e-15)


def test_a_class_of_probability_zero_is_left_out():
    with np.errstate(divide="ignore"):
        model = on_a_line([0.3, 0.7, 0.0], [30.0, 16.0, 20.0], [4.0, 3.0, 1.0])
    assert_array_equal(decision_boundary(model).at, decision_boundary(FISH).at)
    assert len(decision_boundary(model, form="surfaces")) == 1


def test_points_are_named_after_the_feature():
    model = on_a_line([0.5, 0.5], [0.0, 1.0], [1.0, 1.0])
    model.feature_names_in_ = np.array(["length"], dtype=object)
    assert str(decision_boundary(model)) == "length < 0.5: a\nlength > 0.5: b"


def test_three_classes_in_the_plane_are_equal_and_largest_on_their_curves():
    found = decision_boundary(THREE)
    assert isinstance(found, Curves)
    assert {(c.of, c.against) for c in found} == {("a", "b"), ("a", "c"), ("b", "c")}
    for curve in found:
        assert_on_the_boundary(THREE, curve)
    ends = np.concatenate([curve.points[[0, -1]] for curve in found])
    values, times = np.unique(ends.round(9), axis=0, return_counts=True)
    (meeting,) = values[times == 3]  # the three curves run into one point
    assert np.ptp(THREE.log_joint(meeting[None])) < 1e-7
    on_the_box = np.isclose(ends, found.box[0]).any(axis=1) | (
        np.isclose(ends[:, :1], found.box[0]) | np.isclose(ends[:, 1:], found.box[1])
    ).any(axis=1)
    assert (on_the_box | np.isclose(ends, meeting).all(axis=1)).all()
    assert "a | b: from" in str(found)


def test_the_default_box_is_four_deviations_around_every_mean():
    low = np.min([[-4, -4], [3 - 4 * np.sqrt(2), -4], [-3, 3 - 4 * np.sqrt(0.4)]], axis=0)
    high = np.max([[4, 4], [3 + 4 * np.sqrt(2), 4], [5, 3 + 4 * np.sqrt(0.4)]], axis=0)
    assert_allclose(decision_boundary(THREE).box, np.stack([low, high], axis=1))


@st.composite
def planes(draw):
    k = draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    means = rng.normal(scale=draw(st.sampled_from([0.0, 1.0, 5.0])), size=(k, 2))
    roots = rng.normal(size=(k, 2, 2))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(2)
    return normals(rng.dirichlet(np.ones(k)) * 0.9 + 0.1 / k, means, covariances)


@some
@given(model=planes())
def test_curves_lie_on_the_boundary(model):
    found = decision_boundary(model, resolution=24)
    (x0, x1), (y0, y1) = found.box
    for curve in found:
        assert len(curve.points) > 1
        assert_on_the_boundary(model, curve)
        x, y = curve.points.T
        assert ((x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)).all()


@some
@given(model=planes())
def test_every_change_along_a_grid_line_has_a_curve_beside_it(model):
    found = decision_boundary(model, resolution=30)
    (x0, x1), (y0, y1) = found.box
    xs = np.linspace(x0, x1, 31)
    X = np.stack([xs, np.full(31, y0 + 0.37 * (y1 - y0))], axis=1)
    largest = model.log_joint(X).argmax(axis=1)
    cell = np.array([x1 - x0, y1 - y0]) / 30
    points = np.concatenate([np.empty((0, 2)), *(curve.points for curve in found)])
    for u in np.flatnonzero(largest[1:] != largest[:-1]):
        assert (abs(points - (X[u] + X[u + 1]) / 2) <= 2 * cell).all(axis=1).any()


def test_equal_means_give_a_circle_that_closes():
    model = normals([0.5, 0.5], [[1, 2], [1, 2]], [np.eye(2), 4 * np.eye(2)])
    (curve,) = decision_boundary(model)
    assert curve.closed
    assert_array_equal(curve.points[0], curve.points[-1])
    # log 4 = ½ r² (1 - ¼)
    radius = np.sqrt(np.log(4) / 0.375)
    assert_allclose(np.linalg.norm(curve.points - [1, 2], axis=1), radius, rtol=1e-12)
    angle = np.unwrap(np.arctan2(*(curve.points - [1, 2]).T))
    assert_allclose(abs(angle[-1] - angle[0]), 2 * np.pi)
    assert abs(np.diff(angle)).max() < 0.2
    assert "closed" in str(curve)


def test_a_class_far_narrower_than_the_box_is_found():
    model = normals([0.5, 0.5], [[0, 0], [10, 10]], [1e-6 * np.eye(2), 100 * np.eye(2)])
    (curve,) = decision_boundary(model)
    assert curve.closed and len(curve.points) > 20
    assert_on_the_boundary(model, curve)


def test_equal_covariances_give_the_straight_line_of_the_hyperplane():
    model = normals([0.3, 0.7], [[0, 0], [2, 1]], [[[2, 0.5], [0.5, 1]]] * 2)
    (curve,), (surface,) = decision_boundary(model), decision_boundary(model, form="surfaces")
    assert surface.matrix is None and not curve.closed
    assert_allclose(surface.log_odds(curve.points), 0, atol=1e-12)
    steps = np.diff(curve.points, axis=0)
    assert_allclose(steps @ surface.normal, 0, atol=1e-12)
    assert (steps @ steps.sum(axis=0) > 0).all()  # it never turns back


def test_a_saddle_is_two_branches():
    model = normals([0.5, 0.5], [[0, 0], [0, 0]], [np.diag([1.0, 4.0]), np.diag([4.0, 1.0])])
    found = decision_boundary(model, box=((-3, 3), (-3, 3)), resolution=51)  # |x| = |y|
    assert len(found) == 2
    for curve in found:
        assert_allclose(abs(curve.points[:, 0]), abs(curve.points[:, 1]), rtol=1e-12)


def test_a_plane_that_one_class_fills_has_no_curve():
    model = normals([0.999, 0.001], [[0, 0], [0, 0]], [4 * np.eye(2), np.eye(2)])
    found = decision_boundary(model)
    assert len(found) == 0
    assert "no boundary" in str(found)


def test_surfaces_are_differences_of_log_joint_probabilities():
    rng = np.random.default_rng(0)
    roots, means, prior = rng.normal(size=(3, 4, 4)), rng.normal(size=(3, 4)), [0.2, 0.3, 0.5]
    covariances = roots @ roots.transpose(0, 2, 1) + np.eye(4)
    X = rng.normal(size=(50, 4))
    log_joint = [
        np.log(p) + multivariate_normal(m, s).logpdf(X)
        for p, m, s in zip(prior, means, covariances, strict=True)
    ]
    surfaces = decision_boundary(normals(prior, means, covariances))
    assert [(s.of, s.against) for s in surfaces] == [("a", "b"), ("a", "c"), ("b", "c")]
    for surface, (i, j) in zip(surfaces, combinations(range(3), 2), strict=True):
        assert isinstance(surface, Surface) and surface.matrix is not None
        assert_allclose(surface.log_odds(X), log_joint[i] - log_joint[j], atol=1e-11)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_regression_gives_hyperplanes(n_classes):
    rng = np.random.default_rng(1)
    y = np.arange(300) % n_classes
    X = rng.normal(size=(300, 3)) + np.eye(3)[y] * 2
    model = LogisticRegression().fit(X, y)
    log_proba = model.predict_log_proba(X)
    surfaces = decision_boundary(model)
    assert len(surfaces) == n_classes * (n_classes - 1) // 2
    for surface in surfaces:
        expected = log_proba[:, surface.of] - log_proba[:, surface.against]
        assert_allclose(surface.log_odds(X), expected, atol=1e-10)


def test_logistic_regression_on_one_feature_changes_where_its_probability_is_one_half():
    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    model = LogisticRegression().fit(X, ["no", "no", "yes", "no", "yes", "yes"])
    found = decision_boundary(model)
    assert_allclose(model.predict_proba(found.at[:, None]), 0.5)
    assert found.classes.tolist() == ["no", "yes"]


def test_a_model_of_another_kind_is_told_what_it_would_need():
    model = KNeighborsClassifier(1).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(TypeError, match=r"KNeighborsClassifier.*quadratics.*coef_"):
        decision_boundary(model)
    with pytest.raises(TypeError, match="int"):
        decision_boundary(3)
    with pytest.raises(NotFittedError):
        decision_boundary(LogisticRegression())


def test_a_linear_model_needs_a_box():
    model = Model(np.zeros((2, 2, 2)), np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0.0, -1.0]))
    with pytest.raises(ValueError, match="Expected a box"):
        decision_boundary(model)
    (curve,) = decision_boundary(model, box=((0, 1), (0, 1)))
    assert_allclose(curve.points.sum(axis=1), 1)
    assert_allclose(np.sort(curve.points[[0, -1]], axis=0), [[0, 0], [1, 1]], atol=1e-15)


@pytest.mark.parametrize("kind", [BernoulliNB, MultinomialNB, CategoricalNB])
def test_naive_bayes_of_discrete_columns_is_linear(kind):
    rng = np.random.default_rng(0)
    X = (rng.random((300, 3)) < 0.4).astype(int)
    model = kind().fit(X, X[:, 0] + rng.integers(0, 2, 300))
    rows = np.hstack([np.eye(2)[x] for x in X.T]) if kind is CategoricalNB else X
    log_proba = model.predict_log_proba(X)
    surfaces = decision_boundary(model)
    assert len(surfaces) == 3
    for surface in surfaces:
        assert surface.matrix is None
        odds = log_proba[:, surface.of] - log_proba[:, surface.against]
        assert_allclose(surface.log_odds(rows), odds, atol=1e-12)


def test_many_words_need_no_squares():
    X = np.random.default_rng(0).integers(0, 3, (6, 20_000))  # (2, 20_000, 20_000) would be 6 GB
    (surface,) = decision_boundary(MultinomialNB().fit(X, [0, 1] * 3))
    assert surface.normal.shape == (20_000,)


def test_probabilities_of_zero_have_no_finite_boundary():
    model = BernoulliNB(alpha=0).fit([[1, 0], [0, 1], [0, 1]], ["a", "b", "b"])
    with pytest.raises(ValueError, match=r"Expected finite coefficients .* or a probability"):
        decision_boundary(model, box=((0, 1), (0, 1)))


def test_two_columns_of_yes_and_no_have_a_line_in_a_box():
    model = BernoulliNB().fit([[1, 1], [1, 0], [0, 1], [0, 0], [0, 0]], ["a", "a", "b", "b", "b"])
    (curve,) = decision_boundary(model, box=((0, 1), (0, 1)))
    (surface,) = decision_boundary(model, form="surfaces")
    assert_allclose(surface.log_odds(curve.points), 0, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_regression_of_two_columns_needs_no_box(classes):
    rng = np.random.default_rng(0)
    y = np.arange(300) % classes
    X = (rng.normal(size=(300, 2)) + np.column_stack([y, y * y])) * [1, 30] + [5, 1000]
    model = posterior.LogisticRegression(C=100).fit(X, y)
    for found in (decision_boundary(model), decision_boundary(model, X=X)):
        assert len(found) == classes - 1 or classes == 3
        for curve in found:
            p = model.predict_proba(curve.points)
            assert_allclose(p[:, curve.of], p[:, curve.against], rtol=1e-8)
    (x0, x1), (y0, y1) = decision_boundary(model).box
    assert x0 < X[:, 0].mean() < x1
    assert y0 < X[:, 1].mean() < y1
    with pytest.raises(ValueError, match=r"Expected a box or rows X .* got both"):
        decision_boundary(model, X=X, box=((0, 1), (0, 1)))


def test_a_column_without_effect_leaves_the_box_finite():
    X, y = np.array([[0.0, 5], [1, 5], [2, 5], [3, 5]]), [0, 0, 1, 1]
    (curve,) = decision_boundary(posterior.LogisticRegression().fit(X, y))
    assert_allclose(curve.points[:, 0], 1.5)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (FISH, {"form": "line"}, "form"),
        (FISH, {"form": "curves"}, "2 features"),
        (THREE, {"form": "points"}, "1 feature "),
        (FISH, {"box": ((0, 1), (0, 1))}, "box"),
        (THREE, {"box": ((0, 1), (2, 1))}, "x0 < x1"),
        (THREE, {"box": (0, 1)}, "x0 < x1"),
        (THREE, {"box": ((0, 1), (0, np.inf))}, "finite"),
        (THREE, {"resolution": 0}, "resolution"),
        (Model(THREE.A * np.nan, THREE.b, THREE.c), {}, "finite"),
    ],
)
def test_what_cannot_be_answered_is_said(model, options, message):
    with pytest.raises(ValueError, match=message):
        decision_boundary(model, **options)


def test_a_surface_refuses_rows_of_another_width():
    (surface,) = decision_boundary(FISH, form="surfaces")
    with pytest.raises(ValueError, match="rows of 1 feature"):
        surface.log_odds([[1.0, 2.0]])


MODELS = [
    GaussianDiscriminantAnalysis("shared"),
    GaussianDiscriminantAnalysis("own"),
    GaussianDiscriminantAnalysis("diagonal"),
    GaussianDiscriminantAnalysis("spherical"),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    GaussianNB(),
]


def clouds(d, seed=0):
    """Three classes of unequal spread and size, named by words."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(3, size=300, p=[0.2, 0.3, 0.5])
    X = rng.normal(size=(300, d)) * np.array([1.0, 0.6, 1.5])[codes, None]
    X[:, 0] += 3 * codes
    X[:, -1] += 2 * (codes == 1)
    return X, np.array(["bass", "carp", "trout"])[codes]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_model_of_one_feature_predicts_what_its_points_say(model):
    X, y = clouds(1)
    model = clone(model).fit(X, y)
    found = decision_boundary(model)
    grid = np.linspace(-50, 50, 5000)
    expected = found.classes[np.searchsorted(found.at, grid)]
    assert_array_equal(model.predict(grid[:, None]), expected)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_two_most_probable_classes_of_a_model_are_equal_on_its_curves(model):
    X, y = clouds(2)
    model = clone(model).fit(X, y)
    found = decision_boundary(model, box=((-5, 10), (-5, 8)))
    assert len(found) >= 2
    for curve in found:
        proba = model.predict_log_proba(curve.points)
        pair = np.searchsorted(model.classes_, [curve.of, curve.against])
        assert_allclose(proba[:, pair[0]], proba[:, pair[1]], atol=1e-9)
        assert_allclose(proba[:, pair[0]], proba.max(axis=1), atol=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_surfaces_are_the_log_odds_of_a_model(model):
    X, y = clouds(4)
    model = clone(model).fit(X, y)
    log_proba = model.predict_log_proba(X)
    surfaces = decision_boundary(model)
    assert len(surfaces) == 3
    linear = isinstance(model, LinearDiscriminantAnalysis) or (
        getattr(model, "covariance", None) == "shared"
    )
    for surface in surfaces:
        i, j = np.searchsorted(model.classes_, [surface.of, surface.against])
        assert_allclose(surface.log_odds(X), log_proba[:, i] - log_proba[:, j], atol=1e-9)
        assert (surface.matrix is None) == linear


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_model_that_was_not_fitted_has_no_boundary_yet(model):
    with pytest.raises(NotFittedError):
        decision_boundary(clone(model))


@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_a_boundary_far_from_zero_keeps_its_digits(offset):
    X = np.array([-2.0, 0.0, 2.0, 10.0, 11.0, 12.0])[:, None]
    y = ["a"] * 3 + ["b"] * 3
    near = decision_boundary(GaussianDiscriminantAnalysis("own").fit(X, y))
    far = decision_boundary(GaussianDiscriminantAnalysis("own").fit(X + offset, y))
    np.testing.assert_allclose(far.at - offset, near.at, atol=1e-6)  # an ulp of 1e8 is 1.5e-8


def test_students_t_has_no_quadratic_boundary():
    X, y = [[0.0], [1.0], [2.5], [5.0], [6.0], [8.0]], [0, 0, 0, 1, 1, 1]
    model = GaussianDiscriminantAnalysis("own", predictive=True).fit(X, y)
    with pytest.raises(TypeError, match="Student"):
        decision_boundary(model)


def test_a_line_without_a_place_to_look_at_is_known_by_its_equation():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    model = BernoulliNB().fit(X, [0, 0, 0, 1])
    (line,) = decision_boundary(model)
    p = model.predict_proba(X)
    assert line.matrix is None
    assert_allclose(line.log_odds(X), np.log(p[:, 0] / p[:, 1]), rtol=1e-12)
    assert len(decision_boundary(model, X=X).curves) == 1
    with pytest.raises(ValueError, match="or rows X, to look for curves in"):
        decision_boundary(model, form="curves")
