"""Calibrators: what they learn, what they leave alone, and which one is chosen."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad
from scipy.special import log_softmax
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression as Oracle
from sklearn.metrics import log_loss

import posterior
from posterior import (
    AODE,
    Additive,
    GaussianNB,
    KNeighborsClassifier,
    LogisticRegression,
    LogisticRegressionCV,
    MixtureClassifier,
    TextClassifier,
)
from posterior.datasets import messages
from posterior.evaluation import HeldOut
from posterior.evaluation.calibration import (
    CALIBRATORS,
    Beta,
    Isotonic,
    Quadratic,
    StructuredMatrix,
    Temperature,
    Vector,
    chosen,
    learned,
)
from posterior.evaluation.calibration.class_scaling import scaling_loss
from posterior.evaluation.calibration.select_calibrator import candidates
from posterior.evaluation.calibration.two_slopes import slopes_loss

N = 20_000
OF_TWO = [Temperature, Beta, Quadratic, Vector, StructuredMatrix]
OF_MORE = [Temperature, Vector, StructuredMatrix]


def of_odds(odds):
    """Log probabilities of two classes."""
    return log_softmax(np.column_stack([np.zeros(len(odds)), odds]), axis=1)


def drawn(log_proba, seed=0):
    """Classes as probable as they say."""
    random = np.random.default_rng(seed)
    below = np.exp(log_proba).cumsum(axis=1) < random.random((len(log_proba), 1))
    return np.minimum(below.sum(axis=1), log_proba.shape[1] - 1).astype(np.int32)


def odds(n=N, seed=1):
    return np.random.default_rng(seed).normal(0, 2, n)


def scores(k, n=N, seed=1):
    return np.random.default_rng(seed).normal(0, 2, (n, k))


# ---- what they learn ----

OF_ODDS = Beta, Quadratic
SIZES = [
    (kind, k) for kind in CALIBRATORS.values() for k in (2, 3, 7) if k == 2 or kind not in OF_ODDS
]


@pytest.mark.parametrize(("kind", "k"), SIZES)
def test_corrected_probabilities_are_normalized_also_where_some_were_zero(kind, k):
    log_proba = log_softmax(scores(k, 500), axis=1)
    codes = drawn(log_proba)
    log_proba[np.arange(100), (codes[:100] + 1) % k] = -np.inf
    found = kind.fit(log_proba, codes, None).apply(log_proba)
    assert_allclose(np.exp(found).sum(axis=1), 1, rtol=1e-12)
    assert not np.isnan(found).any()


@pytest.mark.parametrize("kind", OF_TWO)
def test_a_planted_temperature_is_found(kind):
    z = odds()
    truth = of_odds(z / 3)
    found = kind.fit(of_odds(z), drawn(truth), None).apply(of_odds(z))
    assert np.abs(np.exp(found - truth) - 1).max() < 0.4  # at odds of 1 : 15
    assert np.abs(np.exp(found) - np.exp(truth)).max() < 0.03  # four standard errors of 20,000 rows


def test_a_planted_beta_curve_is_found():
    z = odds()
    log_p = of_odds(z)
    truth = of_odds(0.3 + 1.5 * log_p[:, 1] - 0.5 * log_p[:, 0])
    codes = drawn(truth)
    found = Beta.fit(log_p, codes, None)
    assert np.abs(np.exp(found.apply(log_p)) - np.exp(truth)).max() < 0.02
    T = found.base.temperature  # far out, log p after the temperature is log p / T
    assert_allclose([found.low / T, found.high / T], [1.5, 0.5], atol=0.15)
    plain = Temperature.fit(log_p, codes, None)
    assert np.abs(np.exp(plain.apply(log_p)) - np.exp(truth)).max() > 0.1


def test_a_planted_quadratic_curve_is_found():
    z = odds()
    truth = of_odds(0.2 + 1.1 * z + 0.06 * z**2)
    found = Quadratic.fit(of_odds(z), drawn(truth), None)
    assert np.abs(np.exp(found.apply(of_odds(z))) - np.exp(truth)).max() < 0.02
    T = found.base.temperature
    assert_allclose([found.slope / T, found.curvature / T**2], [1.1, 0.06], atol=0.04)


def test_a_planted_matrix_is_found():
    x = log_softmax(scores(3), axis=1)
    M = np.array([[0.9, 0.3, 0.0], [0.0, 0.6, 0.0], [0.0, 0.0, 1.2]])
    truth = log_softmax(x @ M.T + [0.5, 0, -0.5], axis=1)
    codes = drawn(truth)
    matrix, vector = (kind.fit(x, codes, None) for kind in (StructuredMatrix, Vector))
    far = [np.abs(np.exp(c.apply(x)) - np.exp(truth)).max() for c in (matrix, vector)]
    assert far[0] < 0.1 and far[1] > 0.3  # a diagonal cannot say it


@pytest.mark.parametrize("kind", [Beta, Quadratic])
def test_curves_rise_wherever_probabilities_can_be(kind):
    random = np.random.default_rng(0)
    for seed in range(5):
        z = odds(300, seed)
        found = kind.fit(of_odds(z), random.integers(0, 2, 300).astype(np.int32), None)
        line = found.apply(of_odds(np.linspace(-800, 800, 4001)))
        assert (np.diff(line[:, 1] - line[:, 0]) >= -1e-12).all()


def test_a_temperature_of_few_rows_is_mixed_with_uniform():
    log_proba = of_odds(odds(100))
    found = Temperature.fit(log_proba, drawn(log_proba), None)
    assert found.uniform == 1 / 101
    p = np.exp(log_proba / found.temperature)
    expected = 100 / 101 * p / p.sum(axis=1, keepdims=True) + 1 / 101 / 2
    assert_allclose(np.exp(found.apply(log_proba)), expected, rtol=1e-12)
    sure = np.array([[0.0, -np.inf]])
    assert np.exp(found.apply(sure))[0, 1] == pytest.approx(1 / 202)
    many = of_odds(odds(200))
    assert Temperature.fit(many, drawn(many), None).uniform == 0


def test_rows_that_are_all_right_do_not_make_a_temperature_extreme():
    log_proba = np.log(np.tile([[0.2, 0.8]], (10, 1)))
    found = Temperature.fit(np.tile(log_proba, (30, 1)), np.ones(300, np.int32), None)
    assert 0.1 < found.temperature < 0.5  # sharper, and still a claim that one row can stand


@pytest.mark.parametrize("kind", OF_TWO)
def test_weight_two_is_two_rows(kind):
    log_proba = of_odds(odds(400))
    codes = drawn(of_odds(odds(400) / 2))
    weight = np.random.default_rng(0).integers(1, 4, 400)
    often = np.repeat(np.arange(400), weight)
    one = kind.fit(log_proba, codes, weight.astype(float)).apply(log_proba)
    other = kind.fit(log_proba[often], codes[often], None).apply(log_proba)
    assert_allclose(one, other, rtol=0, atol=1e-4)  # to the tolerance of the search for T


@pytest.mark.parametrize("shape", [(4, 4), (4,)])
def test_the_gradient_of_scaling_is_that_of_its_loss(shape):
    x = log_softmax(scores(4, 60), axis=1)
    given = x, drawn(x), np.random.default_rng(0).random(60), shape
    at = np.random.default_rng(0).normal(0, 0.3, int(np.prod(shape)) + 4)
    apart = check_grad(
        lambda v: scaling_loss(v, *given)[0], lambda v: scaling_loss(v, *given)[1], at
    )
    assert apart < 1e-4  # of forward differences, steps of 1e-8


def test_the_gradient_of_slopes_is_that_of_their_loss():
    x = of_odds(odds(60))
    given = np.column_stack([x[:, 1], -x[:, 0]]), drawn(x), None
    at = np.array([0.3, 1.4, 0.2])
    apart = check_grad(lambda v: slopes_loss(v, *given)[0], lambda v: slopes_loss(v, *given)[1], at)
    assert apart < 1e-4


def test_beta_is_the_logistic_regression_of_log_p_where_its_penalty_is_nothing():
    log_p = of_odds(odds())
    codes = drawn(of_odds(0.3 + 1.5 * log_p[:, 1] - 0.5 * log_p[:, 0]))
    found = Beta.fit(log_p, codes, None)
    x = found.base.apply(log_p)
    features = np.column_stack([x[:, 1], -x[:, 0]])
    oracle = Oracle(C=np.inf, tol=1e-10).fit(features, codes)
    ours = [found.intercept, found.low, found.high]
    # the penalty of 2 moves them by less than their standard errors, some 0.03
    assert_allclose(ours, [*oracle.intercept_, *oracle.coef_[0]], atol=0.03)


def test_scaling_is_the_penalized_logistic_regression_it_says():
    x = log_softmax(scores(3, 2000), axis=1)
    codes = drawn(log_softmax(0.7 * x + [0.4, 0.0, -0.4], axis=1))
    found = StructuredMatrix.fit(x, codes, None)
    at = np.append(found.matrix.ravel(), found.intercept)
    best, slope = scaling_loss(at, found.base.apply(x), codes, None, (3, 3))
    assert np.abs(slope).max() < 1e-3
    for seed in range(20):
        step = np.random.default_rng(seed).normal(0, 1e-2, len(at))
        assert scaling_loss(at + step, found.base.apply(x), codes, None, (3, 3))[0] > best


@pytest.mark.parametrize("kind", ["beta", "quadratic"])
def test_curves_of_more_classes_are_refused(kind):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"two classes.*got 3.*matrix"):
        GaussianNB(calibrated=kind).fit(X, y)


# ---- which one is chosen ----


def held_out(log_proba, codes):
    k = log_proba.shape[1]
    return HeldOut(log_proba, codes, np.arange(k), (np.arange(len(codes)) % 10).astype(np.int32))


def test_honest_probabilities_are_left_alone():
    kept = [chosen(held_out(p := of_odds(odds(1000, s)), drawn(p, s)))[0] for s in range(10)]
    assert kept.count(None) >= 9


@pytest.mark.parametrize(
    ("bent", "name"),
    [
        (lambda z: z / 3, "temperature"),
        (lambda z: 1 + np.where(z > 0, 2 * z, 0.3 * z), "beta"),
    ],
)
def test_what_was_planted_is_chosen(bent, name):
    z = odds(5000)
    assert chosen(held_out(of_odds(z), drawn(of_odds(bent(z)))))[0] == name


@pytest.mark.parametrize(("doubtful", "name"), [(10, None), (60, "temperature")])
def test_rows_without_an_error_sharpen_only_if_errors_were_due(doubtful, name):
    """Of ten rows at 4 to 1 none is wrong in one table of nine; of sixty, in one of 600,000."""
    log_proba = np.log(np.tile([0.2, 0.8], (600, 1)))
    with np.errstate(divide="ignore"):
        log_proba[doubtful:] = np.log([0.0, 1.0])
    found, calibrator, _ = chosen(held_out(log_proba, np.ones(600, np.int32)))
    assert found == name
    assert calibrator is None or calibrator.temperature < 1


def test_classes_that_are_favored_need_more_than_a_temperature():
    x = log_softmax(scores(4, 5000), axis=1)
    codes = drawn(log_softmax(x + np.array([1.5, 0, 0, -1.5]), axis=1))
    name, calibrator, corrected = chosen(held_out(x, codes))
    assert name == "matrix" and isinstance(calibrator, StructuredMatrix)
    assert corrected.log_loss < held_out(x, codes).log_loss


def test_isotonic_steps_are_never_chosen_and_few_rows_have_a_temperature():
    for k in (2, 3, 31):
        assert candidates(199, k) == ["temperature"]
        assert "isotonic" not in candidates(10_000, k)
    assert candidates(200, 31)[-1] == "vector"
    assert chosen(held_out(of_odds(odds(49)), drawn(of_odds(odds(49) / 9))))[0] is None


def test_many_rows_take_no_longer_than_some_thousand():
    z = odds(250_000)
    found = learned(held_out(of_odds(z), drawn(of_odds(z / 3))), "beta")
    assert found.base.uniform == 1 / 5001  # learned from every fiftieth


# ---- every classifier ----

PLAIN = [
    GaussianNB(),
    LogisticRegression(),
    LogisticRegression(l1_ratio=1.0),
    LogisticRegression(C=np.inf),
    LogisticRegressionCV(Cs=2, cv=3),
    LogisticRegressionCV(Cs=2, cv=3, refit=False),
    KNeighborsClassifier(),
    MixtureClassifier(),
    AODE(),
    Additive(rounds=20),
]


@pytest.mark.filterwarnings("ignore::Warning")  # columns may separate the classes
@pytest.mark.parametrize("model", PLAIN, ids=repr)
def test_answers_are_those_of_the_model_corrected(model):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6] / X[:, :6].std(axis=0)
    settings = model.get_params(deep=False)
    plain = type(model)(**settings).fit(X, y)
    for name in ("quadratic", "isotonic", "auto"):
        ours = type(model)(**settings | {"calibrated": name}).fit(X, y)
        raw, found = plain.predict_log_proba(X), ours.calibrator_
        kind = type(None) if name == "auto" else CALIBRATORS[name]
        assert isinstance(found, kind) or name == "auto"
        expected = raw if found is None else found.apply(raw)
        assert_allclose(ours.predict_proba(X), np.exp(expected), rtol=1e-9, atol=1e-15)
        assert_array_equal(ours.predict(X), expected.argmax(axis=1))
        if name == "auto":
            continue
        for method in ("decision_function", "log_evidence"):
            if hasattr(plain, method):
                assert_array_equal(getattr(ours, method)(X), getattr(plain, method)(X))
        if hasattr(plain, "evidence"):
            assert_array_equal(ours.evidence(X[:5]).terms, plain.evidence(X[:5]).terms)


def test_neighbors_that_rule_classes_out_are_corrected():
    X, y = load_breast_cancer(return_X_y=True)
    plain, ours = (KNeighborsClassifier(calibrated=c).fit(X[::2], y[::2]) for c in (None, "auto"))
    before, after = (log_loss(y[1::2], m.predict_proba(X[1::2])) for m in (plain, ours))
    assert after < before / 2  # 0.28 against 1.12


@pytest.mark.parametrize("model", [LogisticRegression(), Additive(rounds=5)], ids=repr)
def test_streams_and_unknown_names_are_refused(model):
    X, y = load_iris(return_X_y=True)
    model.set_params(calibrated="temperature").fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="calibrated=None here"):
        model.partial_fit(X, y)
    assert_array_equal(model.predict_proba(X), before)
    with pytest.raises(ValueError, match="'platt'"):
        model.set_params(calibrated="platt").fit(X, y)


def test_neighbors_refuse_streams_and_several_outputs():
    X, y = load_iris(return_X_y=True)
    model = KNeighborsClassifier(calibrated="temperature").fit(X, y)
    for change in (model.partial_fit, model.forget):
        with pytest.raises(ValueError, match="calibrated=None here"):
            change(X[:1], y[:1])
    with pytest.raises(ValueError, match="calibrated=None here"):
        model.merge(model)
    with pytest.raises(ValueError, match="several columns"):
        model.fit(X, np.column_stack([y, y]))


def test_hidden_labels_are_not_what_a_correction_is_learned_from():
    X, y = load_iris(return_X_y=True)
    some = np.where(np.arange(150) % 2, y.astype(object), None)
    model = MixtureClassifier(calibrated="temperature").fit(X, some)
    assert model.calibrator_.uniform == 1 / 76  # 75 labeled rows
    p, q = model.predict_log_proba(X), MixtureClassifier().fit(X, some)
    assert_allclose(p, model.calibrator_.apply(q.predict_log_proba(X)), rtol=1e-9)
    assert model.log_likelihood(X, y) == pytest.approx(q.log_likelihood(X, y))


def test_documents_take_the_names_too():
    texts, kinds = messages(400, 0)
    plain = TextClassifier("multinomial").fit(texts, kinds)
    model = TextClassifier("multinomial", calibrated="beta").fit(texts, kinds)
    assert model.sharpness_ == plain.sharpness_ and isinstance(model.calibrator_, Beta)
    expected = model.calibrator_.apply(plain.predict_log_proba(texts))
    assert_allclose(model.predict_log_proba(texts), expected, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="calibrated=None here"):
        model.partial_fit(texts, kinds)


def test_large_tables_of_words_are_refitted_for_their_correction():
    from scipy import sparse

    random = np.random.default_rng(0)
    X = sparse.random_array((120, 2500), density=0.01, format="csr", rng=random)
    model = LogisticRegression(calibrated="temperature").fit(X, np.arange(120) % 2)
    assert model.calibrator_.temperature > 1  # there is nothing to learn


# ---- in a file ----


@pytest.mark.parametrize("name", CALIBRATORS)
def test_a_model_file_keeps_the_correction(name, tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    model = GaussianNB(calibrated=name).fit(X, y)
    posterior.save(model, tmp_path / "model")
    again = posterior.load(tmp_path / "model")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


BASE = Temperature(1.0, 0.1)
BAD = [
    Temperature(0.0),
    Temperature(np.nan),
    Temperature(1.0, 1.5),
    Beta(BASE, 0.0, -1.0, 1.0),
    Beta(Temperature(-1.0), 0.0, 1.0, 1.0),
    Quadratic(BASE, 0.0, np.inf, 0.0),
    Vector(BASE, np.zeros(3), np.zeros(3)),
    StructuredMatrix(BASE, np.zeros((2, 3)), np.zeros(2)),
    StructuredMatrix(BASE, np.full((2, 2), np.nan), np.zeros(2)),
    Isotonic((), 0.1),
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: type(bad).__name__)
@pytest.mark.parametrize("model", [GaussianNB(), LogisticRegression(), KNeighborsClassifier()])
def test_a_file_with_a_correction_that_cannot_be_is_refused(bad, model, tmp_path):
    from dataclasses import replace

    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    model.fit(X, y)
    model.fitted_ = replace(model.fitted_, calibrator=bad)
    with pytest.raises(ValueError, match="somebody changed it"):  # as reading it back found
        posterior.save(model, tmp_path / "model")
