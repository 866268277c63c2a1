"""Discriminant analysis against scikit-learn's classes, and against the right answer where they
lose digits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_expit, log_softmax
from sklearn import datasets
from sklearn import discriminant_analysis as peer
from sklearn.covariance import OAS, EmpiricalCovariance
from sklearn.utils import check_random_state

import posterior
from posterior import DegenerateError, DegenerateWarning

RTOL = 1e-8  # of scores and coefficients; both sides invert covariances of condition up to 1e6

LOADERS = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "wdbc": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
}
each_table = pytest.mark.parametrize("name", LOADERS)
of_full_rank = pytest.mark.parametrize("name", ["iris", "wine", "wdbc"])


def load(name):
    return LOADERS[name](return_X_y=True)


def priors_of(y, given):
    """None, or class probabilities far from those of the table."""
    k = len(np.unique(y))
    return np.arange(1, k + 1) / (k * (k + 1) / 2) if given else None


def lda(**settings):
    return tuple(m.LinearDiscriminantAnalysis(**settings) for m in (posterior, peer))


def qda(**settings):
    return tuple(m.QuadraticDiscriminantAnalysis(**settings) for m in (posterior, peer))


def assert_near(ours, theirs, message="", rtol=RTOL):
    """Relative to the largest entry: small ones are differences of large ones."""
    assert np.shape(ours) == np.shape(theirs), message
    scale = np.abs(theirs).max(initial=1e-300)
    assert_allclose(ours, theirs, rtol=rtol, atol=rtol * scale, err_msg=message)


def log_proba(decision):
    """What scikit-learn's scores say, without the detour by probabilities that round to 1."""
    if decision.ndim == 1:
        return np.column_stack([log_expit(-decision), log_expit(decision)])
    return log_softmax(decision, axis=1)


def assert_same_answers(ours, theirs, X, rtol=RTOL):
    scores = theirs.decision_function(X)
    expected = log_proba(scores)
    scale = np.abs(expected).max(axis=1, keepdims=True) + np.abs(scores).max()
    error = np.abs(ours.predict_log_proba(X) - expected) / scale
    assert error.max() < rtol
    assert_allclose(ours.predict_proba(X), np.exp(expected), rtol=0, atol=rtol * scale.max())
    ranked = np.sort(scores if scores.ndim == 2 else np.abs(scores)[:, None] * [0, 1], axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > 1e-6  # where two classes tie, rounding decides
    assert clear.mean() > 0.9
    assert_array_equal(ours.predict(X)[clear], theirs.predict(X)[clear])


def assert_same_up_to_sign(ours, theirs, message=""):
    """Columns of axes have no direction of their own."""
    assert ours.shape == theirs.shape, message
    sign = np.sign((ours * theirs).sum(axis=0))
    assert_near(ours * np.where(sign == 0, 1, sign), theirs, message, rtol=1e-7)


def assert_same_lda(ours, theirs, X):
    assert_array_equal(ours.classes_, theirs.classes_)
    for name in ("priors_", "means_", "coef_", "intercept_"):
        assert_near(getattr(ours, name), getattr(theirs, name), name)
    for name in ("covariance_", "xbar_", "explained_variance_ratio_"):
        assert hasattr(ours, name) == hasattr(theirs, name), name
        if hasattr(theirs, name):
            assert_near(getattr(ours, name), getattr(theirs, name), name)
    assert_same_answers(ours, theirs, X)
    if ours.solver == "lsqr":
        with pytest.raises(NotImplementedError, match="lsqr"):
            ours.transform(X)
        return
    k = ours.transform(X).shape[1]
    assert_same_up_to_sign(ours.transform(X), theirs.transform(X), "transform")
    assert ours.scalings_.shape == theirs.scalings_.shape
    assert_array_equal(ours.get_feature_names_out().size, k)


def agree_lda(X, y, **settings):
    ours, theirs = lda(**settings)
    assert_same_lda(ours.fit(X, y), theirs.fit(X, y), X)


# ---- linear ----


@each_table
@pytest.mark.parametrize("given", [False, True], ids=["learned priors", "given priors"])
def test_linear_svd(name, given):
    """The digits have columns that never vary, and are left out."""
    X, y = load(name)
    agree_lda(X, y, priors=priors_of(y, given), store_covariance=True)


@of_full_rank
@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("shrinkage", [None, 0.3, "auto"])
@pytest.mark.parametrize("given", [False, True], ids=["learned priors", "given priors"])
def test_linear_by_covariance(name, solver, shrinkage, given):
    X, y = load(name)
    agree_lda(X, y, solver=solver, shrinkage=shrinkage, priors=priors_of(y, given))


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("shrinkage", [0.3, "auto"])
def test_linear_by_shrunken_covariance_of_digits(solver, shrinkage):
    X, y = load("digits")
    agree_lda(X, y, solver=solver, shrinkage=shrinkage)


@pytest.mark.parametrize("solver", ["svd", "eigen"])
@pytest.mark.parametrize("n", [1, 2])
def test_components(solver, n):
    X, y = load("wine")
    agree_lda(X, y, solver=solver, n_components=n)


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_too_many_components(solver):
    for model in lda(solver=solver, n_components=3):
        with pytest.raises(ValueError, match="n_components cannot be larger"):
            model.fit(*load("wine"))


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
def test_covariance_estimators(solver):
    X, y = load("iris")
    for estimator in (OAS(), EmpiricalCovariance()):
        agree_lda(X, y, solver=solver, covariance_estimator=estimator)


def test_priors_that_do_not_sum_to_one_are_scaled():
    X, y = load("iris")
    ours, theirs = lda(priors=[1.0, 2.0, 3.0])
    for model in (ours, theirs):
        with pytest.warns(UserWarning, match="priors do not sum to 1"):
            model.fit(X, y)
    assert_same_lda(ours, theirs, X)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_a_prior_of_zero(solver):
    X, y = load("iris")
    ours, theirs = lda(solver=solver, priors=[0.0, 0.5, 0.5])
    with np.errstate(divide="ignore"):
        ours.fit(X, y), theirs.fit(X, y)
    assert (ours.predict_proba(X)[:, 0] == 0).all()
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"solver": "svd", "shrinkage": 0.1}, NotImplementedError),
        ({"solver": "svd", "covariance_estimator": OAS()}, ValueError),
        ({"solver": "lsqr", "shrinkage": 0.1, "covariance_estimator": OAS()}, ValueError),
        ({"solver": "lsqr", "shrinkage": 1.5}, ValueError),
        ({"solver": "qr"}, ValueError),
        ({"priors": [-0.5, 1.0, 0.5]}, ValueError),
    ],
    ids=str,
)
def test_settings_that_contradict_each_other(settings, error):
    for model in lda(**settings):
        with pytest.raises(error):
            model.fit(*load("iris"))


@each_table
@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize("given", [False, True], ids=["learned priors", "given priors"])
def test_linear_decisions_are_those_of_the_coefficients(name, solver, given):
    X, y = load(name)
    shrinkage = None if solver == "svd" else 0.1
    settings = {"solver": solver, "shrinkage": shrinkage, "priors": priors_of(y, given)}
    ours, theirs = (m.fit(X, y) for m in lda(**settings))
    scores = theirs.decision_function(X)
    assert_near(ours.decision_function(X), scores)
    by_hand = X @ ours.coef_.T + ours.intercept_
    assert_near(ours.decision_function(X), by_hand.reshape(scores.shape))


# ---- quadratic ----


def assert_same_qda(ours, theirs, X):
    assert_array_equal(ours.classes_, theirs.classes_)
    assert_near(ours.priors_, theirs.priors_, "priors_")
    assert_near(ours.means_, theirs.means_, "means_")
    assert hasattr(ours, "covariance_") == hasattr(theirs, "covariance_")
    if hasattr(theirs, "covariance_"):
        assert isinstance(ours.covariance_, list)
        for a, b in zip(ours.covariance_, theirs.covariance_, strict=True):
            assert_near(a, b, "covariance_")
    for k in range(len(ours.classes_)):
        assert_near(ours.scalings_[k], theirs.scalings_[k], "scalings_")
        whole = ours.rotations_[k] * ours.scalings_[k] @ ours.rotations_[k].T
        expected = theirs.rotations_[k] * theirs.scalings_[k] @ theirs.rotations_[k].T
        assert_near(whole, expected, "rotations_")
    scores = np.column_stack([theirs._decision_function(X)])
    scale = np.abs(scores).max(axis=1, keepdims=True)
    joint = ours.predict_joint_log_proba(X) + 0.5 * X.shape[1] * np.log(2 * np.pi)
    assert (np.abs(joint - scores) / scale).max() < RTOL
    ratio = log_softmax(scores, axis=1)
    assert (np.abs(ours.predict_log_proba(X) - ratio) / scale).max() < RTOL
    ranked = np.sort(scores, axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > 1e-6
    assert_array_equal(ours.predict(X)[clear], theirs.predict(X)[clear])


def agree_qda(X, y, **settings):
    ours, theirs = qda(**settings)
    assert_same_qda(ours.fit(X, y), theirs.fit(X, y), X)


@each_table
@pytest.mark.parametrize("reg_param", [0.0, 0.1])
@pytest.mark.parametrize("given", [False, True], ids=["learned priors", "given priors"])
def test_quadratic_svd(name, reg_param, given):
    X, y = load(name)
    if name == "wdbc":  # variances below scikit-learn's tolerance in the units of the table
        X = X / X.std(axis=0)
    if name == "digits" and reg_param == 0:  # columns that never vary
        X = X + check_random_state(0).normal(size=X.shape)
    priors = priors_of(y, given)
    tol = 1e-7 if name == "wdbc" else 1e-4
    agree_qda(X, y, reg_param=reg_param, priors=priors, store_covariance=True, tol=tol)


@each_table
@pytest.mark.parametrize("shrinkage", [0.1, "auto"])
def test_quadratic_eigen(name, shrinkage):
    X, y = load(name)
    if name == "wdbc":
        X = X / X.std(axis=0)
    if name == "digits" and shrinkage == "auto":  # standardized, a constant column has no inverse
        X = X + check_random_state(0).normal(size=X.shape)
    agree_qda(X, y, solver="eigen", shrinkage=shrinkage, store_covariance=True)


@pytest.mark.parametrize("name", ["iris", "wine", "wdbc"])
def test_quadratic_decisions(name):
    X, y = load(name)
    ours, theirs = (m.fit(X, y) for m in qda(reg_param=0.1))
    assert_near(ours.decision_function(X), theirs.decision_function(X))


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_quadratic_plain(solver):
    X, y = load("iris")
    agree_qda(X, y, solver=solver)
    agree_qda(X[y > 0], y[y > 0], solver=solver, store_covariance=True)


def test_quadratic_by_covariance_estimator():
    agree_qda(*load("iris"), solver="eigen", covariance_estimator=OAS(), store_covariance=True)


# ---- hard tables ----


def hard(n=60, d=4, k=3, seed=0):
    """Correlated columns of several sizes, classes some deviations apart."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % k
    A = random.normal(size=(d, d)) * np.logspace(0, 2, d)
    return random.normal(size=(n, d)) @ A + 2 * random.normal(size=(k, d))[y] @ A, y


def test_fewer_rows_than_columns():
    X, y = hard(12, 20)
    ours, theirs = (m.fit(X, y) for m in lda())
    assert_same_lda(ours, theirs, X)
    with pytest.warns(DegenerateWarning, match="rank 9 of 20"):
        shared = posterior.GaussianDiscriminantAnalysis().fit(X, y)
    assert_array_equal(shared.predict(X), theirs.predict(X))
    agree_qda(X, y, solver="eigen", shrinkage=0.3)


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("shrinkage", [0.3, "auto"])
def test_shrinkage_gives_fewer_rows_than_columns_an_inverse(solver, shrinkage):
    X, y = hard(12, 20)
    agree_lda(X, y, solver=solver, shrinkage=shrinkage)


def test_least_squares_without_an_inverse():
    """With "lsqr" scikit-learn takes the shortest solution; decisions are those of coef_."""
    X, y = hard(12, 20)
    ours, theirs = (m.fit(X, y) for m in lda(solver="lsqr"))
    assert_near(ours.coef_, theirs.coef_)
    assert_same_answers(ours, theirs, X)


def test_no_inverse_is_an_error_where_scikit_learn_raises_one():
    X, y = hard(12, 20)
    for model in (*lda(solver="eigen"), *qda(solver="eigen")):
        with pytest.raises((ValueError, np.linalg.LinAlgError)):
            model.fit(X, y)
    for twice in (np.c_[hard()[0], hard()[0][:, 0]], np.c_[hard()[0], np.full(60, 2.0)]):
        for model in (*lda(solver="eigen"), *qda(solver="eigen")):
            with pytest.raises((ValueError, np.linalg.LinAlgError)):
                model.fit(twice, hard()[1])


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 0.7, 1e8 + 0.1, -1e-3])
def test_a_constant_column(value):
    """scikit-learn itself takes rounding of 0.1 for variation, so that the right answer is that
    of the table without the column."""
    X, y = hard()
    wide = np.insert(X, 2, value, axis=1)
    ours, theirs = lda()
    ours.fit(wide, y), theirs.fit(X, y)
    assert_same_answers(ours, AsIf(theirs, 2), wide)
    assert ours.coef_[:, 2] == pytest.approx(0, abs=1e-12)
    assert_same_up_to_sign(ours.transform(wide), theirs.transform(X))
    with pytest.warns(DegenerateWarning, match=r"rank 4 of 5.*2"):
        shared = posterior.GaussianDiscriminantAnalysis().fit(wide, y)
    assert_array_equal(shared.predict(wide), theirs.predict(X))
    for kind in ("own", "diagonal"):
        with pytest.raises(DegenerateError, match="2 is the same in all rows of class 0"):
            posterior.GaussianDiscriminantAnalysis(kind).fit(wide, y)


class AsIf:
    """A model of scikit-learn that never saw one of the columns."""

    def __init__(self, model, column):
        self.model, self.column = model, column

    def decision_function(self, X):
        return self.model.decision_function(np.delete(X, self.column, axis=1))

    def predict(self, X):
        return self.model.predict(np.delete(X, self.column, axis=1))


def test_a_duplicated_column():
    X, y = hard()
    twice = np.c_[X, X[:, 1]]
    ours, theirs = (m.fit(twice, y) for m in lda())
    assert_same_lda(ours, theirs, twice)
    alone = posterior.LinearDiscriminantAnalysis().fit(X, y)
    assert_near(ours.predict_log_proba(twice), alone.predict_log_proba(X))
    with pytest.warns(DegenerateWarning, match="rank 4 of 5"):
        shared = posterior.GaussianDiscriminantAnalysis().fit(twice, y)
    assert_array_equal(shared.predict(twice), theirs.predict(twice))
    with pytest.raises(DegenerateError, match="class 0 has no inverse"):
        posterior.GaussianDiscriminantAnalysis("own").fit(twice, y)
    with pytest.warns(DegenerateWarning, match="class 0 is not full rank"):
        shrunken = posterior.QuadraticDiscriminantAnalysis().fit(twice, y)
    assert np.isfinite(shrunken.predict_log_proba(twice)).all()
    assert (shrunken.predict(twice) == y).mean() > 0.9


def whole_numbers(n=90, d=3, k=3, seed=0):
    """Small whole numbers, so that adding 1e8 rounds nothing."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % k
    return random.integers(-3, 4, (n, d)) + 2 * random.integers(-1, 2, (k, d))[y], y


def true_covariance(X):
    """Of the numbers as they are, rounded once: in 64 bits of mantissa around the mean."""
    apart = X.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)
    return (apart.T @ apart / len(X)).astype(np.float64)


@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8])
def test_means_far_from_zero(offset):
    """Moving a table moves the model. scikit-learn's own scores lose eight digits at 1e8 (its
    intercept does), so the right answer is its answer for the table that was not moved."""
    X, y = whole_numbers()
    for ours, theirs in (lda(), qda(), lda(solver="eigen", shrinkage=0.3)):
        ours.fit(X + offset, y), theirs.fit(X, y)
        expected = log_proba(theirs.decision_function(X))
        assert_allclose(ours.means_ - offset, theirs.means_, atol=1e-15 * offset)
        # a score is a product with x itself, of which 1e-16 is lost
        atol = 1e-9 + 1e-15 * offset
        assert_allclose(ours.predict_log_proba(X + offset), expected, rtol=RTOL, atol=atol)
        assert_array_equal(ours.predict(X + offset), theirs.predict(X))
    for kind in ("own", "shared"):
        near, far = (
            posterior.GaussianDiscriminantAnalysis(kind).fit(X + o, y) for o in (0, offset)
        )
        assert_allclose(far.covariance_, near.covariance_, rtol=1e-12, atol=1e-13)
        expected = near.predict_joint_log_proba(X)
        assert_allclose(far.predict_joint_log_proba(X + offset), expected, rtol=1e-7)


@pytest.mark.parametrize("gap", [1e3, 1e6, 1e8])
def test_classes_far_from_each_other(gap):
    """scikit-learn centers each class by itself, and so keeps its covariance."""
    X, y = hard()
    X = X / X.std(axis=0) + gap * y[:, None]
    own = np.stack([true_covariance(X[y == k]) for k in range(3)])
    ours, theirs = (m.fit(X, y) for m in qda(store_covariance=True))
    assert_near(np.stack(theirs.covariance_), own, rtol=1e-12)
    assert_near(np.stack(ours.covariance_), own, rtol=1e-10)
    ours, theirs = (m.fit(X, y) for m in lda(store_covariance=True))
    assert_near(theirs.covariance_, own.mean(axis=0), rtol=1e-12)
    assert_near(ours.covariance_, own.mean(axis=0), rtol=1e-10)


@pytest.mark.parametrize("order", ["in turn", "one class after the other"])
def test_a_table_that_drifts(order):
    """The first rows are no sample of the others."""
    X, y = hard(6000)
    X = X / X.std(axis=0) + 1e6 * (np.arange(6000) // 2000)[:, None]
    if order != "in turn":
        y = np.arange(6000) // 2000
    expected = np.stack([true_covariance(X[y == k]) for k in range(3)])
    ours = posterior.GaussianDiscriminantAnalysis("own").fit(X, y)
    assert_near(ours.covariance_, expected, rtol=1e-10)


def test_a_class_of_one_row():
    X, y = hard()
    y = np.where(np.arange(60) == 7, 9, y)
    ours, theirs = (m.fit(X, y) for m in lda())
    assert_same_lda(ours, theirs, X)  # the shared covariance needs no second row
    for model in qda():
        with pytest.raises(ValueError, match="only 1 sample in class 9"):
            model.fit(X, y)
    named = np.array(["ant", "bee", "cat", "", "", "", "", "", "", "dog"])[y]
    with pytest.raises(ValueError, match=r"only 1 sample in class '?dog"):
        posterior.QuadraticDiscriminantAnalysis().fit(X, named)
    with pytest.raises(DegenerateError, match="9"):
        posterior.GaussianDiscriminantAnalysis("own").fit(X, y)
    given = posterior.GaussianDiscriminantAnalysis("own", pseudo_rows=3.0).fit(X, y)
    assert np.isfinite(given.predict_joint_log_proba(X)).all()


def test_classes_of_one_row_each():
    X = hard(3)[0]
    for model in (*lda(), *qda(), posterior.GaussianDiscriminantAnalysis("own")):
        with pytest.raises(ValueError):
            model.fit(X, [0, 1, 2])


def test_a_class_of_few_rows_is_shrunken_and_users_are_told():
    """Where scikit-learn refuses the table."""
    X, y = hard()
    keep = (y > 0) | (np.arange(60) < 9)  # three rows of class 0, in four columns
    theirs = peer.QuadraticDiscriminantAnalysis()
    with pytest.raises(np.linalg.LinAlgError):
        theirs.fit(X[keep], y[keep])
    with pytest.warns(DegenerateWarning, match="class 0 is not full rank"):
        ours = posterior.QuadraticDiscriminantAnalysis().fit(X[keep], y[keep])
    assert np.isfinite(ours.predict_joint_log_proba(X)).all()
    regular = posterior.QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X[keep], y[keep])
    own = np.cov(X[keep & (y == 0)].T, bias=True)
    assert_near(regular.parameters_.covariance[0], 0.9 * own + 0.1 * np.eye(4))


@pytest.mark.parametrize("make", [lda, qda], ids=["linear", "quadratic"])
def test_single_precision_is_summed_in_double(make):
    X, y = load("iris")
    single = X.astype(np.float32)
    ours, theirs = make()
    ours.fit(single, y), theirs.fit(single.astype(np.float64), y)
    # coef_ and intercept_ are single, as scikit-learn's are: what follows from them may be
    expected = theirs.predict_log_proba(single.astype(np.float64))
    assert_allclose(ours.predict_log_proba(single), expected, rtol=1e-5, atol=1e-4)
    expected = make()[0].fit(single.astype(np.float64), y)
    assert_allclose(
        ours.predict_joint_log_proba(single), expected.predict_joint_log_proba(single), rtol=1e-12
    )
    assert_array_equal(ours.predict(single), theirs.predict(single))


def test_attributes_of_single_precision_are_single():
    X, y = load("iris")
    ours, theirs = (m.fit(X.astype(np.float32), y) for m in lda())
    for name in ("coef_", "intercept_", "means_", "xbar_"):
        assert getattr(ours, name).dtype == getattr(theirs, name).dtype == np.float32
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=2e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int16, np.uint8])
@pytest.mark.parametrize("make", [lda, qda], ids=["linear", "quadratic"])
def test_whole_numbers(make, dtype):
    X, y = load("iris")
    whole = np.round(10 * X).astype(dtype)
    ours, theirs = make()
    ours.fit(whole, y), theirs.fit(whole.astype(np.float64), y)
    assert_same = assert_same_lda if make is lda else assert_same_qda
    assert_same(ours, theirs, whole.astype(np.float64))
    assert_array_equal(ours.predict(whole), theirs.predict(whole))


@pytest.mark.parametrize("layout", ["fortran", "strides", "lists", "booleans"])
def test_any_layout(layout):
    X, y = hard()
    if layout == "fortran":
        X = np.asfortranarray(X)
    elif layout == "strides":
        X = X[:, ::-1]
    elif layout == "booleans":
        X = X > X.mean(axis=0)
    for ours, theirs in (lda(),) if layout == "booleans" else (lda(), qda()):
        rows = X.tolist() if layout == "lists" else X
        ours.fit(rows, y), theirs.fit(np.asarray(X, float), y)
        expected = theirs.predict_log_proba(np.asarray(X, float))
        assert_allclose(ours.predict_log_proba(rows), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("make", [lda, qda], ids=["linear", "quadratic"])
def test_labels_of_any_type(make):
    X, y = load("iris")
    for names in (
        np.array(["b", "a", "ccc"]),
        np.array([-5, 10**9, 3]),
        np.array([7.0, 2.0, -1.0]),
    ):
        ours, theirs = (m.fit(X, names[y]) for m in make())
        assert_array_equal(ours.classes_, theirs.classes_)
        assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("kind", ["shared", "own"])
def test_the_front_door_is_both(kind):
    """The lectures' class with shared covariances is linear, with own ones quadratic."""
    X, y = load("wine")
    make = lda if kind == "shared" else qda
    theirs = make(store_covariance=True)[1].fit(X, y)
    ours = posterior.GaussianDiscriminantAnalysis(kind).fit(X, y)
    assert_near(ours.covariance_, np.asarray(theirs.covariance_))
    expected = log_proba(theirs.decision_function(X))
    scale = np.abs(theirs.decision_function(X)).max()
    assert_allclose(ours.predict_log_proba(X), expected, rtol=RTOL, atol=RTOL * scale)


def test_diagonal_is_naive_bayes():
    from sklearn.naive_bayes import GaussianNB

    X, y = load("wine")
    theirs = GaussianNB(var_smoothing=0).fit(X, y)
    ours = posterior.GaussianDiscriminantAnalysis("diagonal").fit(X, y)
    assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-10)


def test_spherical_classes_are_as_wide_as_their_columns_on_average():
    X, y = load("iris")
    ours = posterior.GaussianDiscriminantAnalysis("spherical").fit(X, y)
    variance = [X[y == k].var(axis=0).mean() for k in range(3)]
    assert_allclose(ours.covariance_, np.array(variance)[:, None, None] * np.eye(4), rtol=1e-12)


def test_scikit_learn_does_not_warn_where_we_do_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (*lda(), *qda()):
            model.fit(*load("iris"))
