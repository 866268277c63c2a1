"""The numbers of the lectures, computed by the textbook and by the library."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from posterior import (
    BernoulliNB,
    Categorical,
    CategoricalNB,
    GaussianNB,
    JointBayes,
    Laplace,
    NaiveBayes,
)

COURSE = ["simple", "heart", "ancestry", "netflix", "netflix-full", "vote"]


def read(shared_data, name, part):
    """Rows of zeros and ones, and their labels; the course leaves out the demographics."""
    table = pd.read_csv(shared_data / "cs109" / f"{name}-{part}.csv")
    table = table.drop(columns="Demographic", errors="ignore")
    return table.drop(columns="Label").to_numpy(), table["Label"].to_numpy()


def textbook(X, y, X_new, alpha):
    """argmax_k P(k) ∏ⱼ P(xⱼ | k) in exact fractions; of equal products the first class wins."""
    classes = sorted(set(y.tolist()))
    rows = {
        k: [row for row, label in zip(X.tolist(), y.tolist(), strict=True) if label == k]
        for k in classes
    }
    prior = {k: Fraction(len(rows[k]), len(y)) for k in classes}
    share = {
        (k, j, v): Fraction(sum(row[j] == v for row in rows[k]) + alpha, len(rows[k]) + 2 * alpha)
        for k in classes
        for j in range(X.shape[1])
        for v in (0, 1)
    }
    answers = []
    for row in X_new.tolist():
        product = {k: prior[k] * prod(share[k, j, v] for j, v in enumerate(row)) for k in classes}
        answers.append(max(classes, key=product.__getitem__))
    return np.array(answers)


@pytest.mark.parametrize("alpha", [0, 1], ids=["plain counting", "Laplace"])
@pytest.mark.parametrize("name", COURSE)
def test_answers_are_those_of_the_textbook(shared_data, name, alpha):
    X, y = read(shared_data, name, "train")
    X_new, y_new = read(shared_data, name, "test")
    expected = textbook(X, y, X_new, alpha)
    both = Categorical(Laplace(alpha), n_values=(2,) * X.shape[1])
    models = [
        BernoulliNB(alpha=alpha),
        CategoricalNB(alpha=alpha, min_categories=2),
        NaiveBayes(both),
    ]
    for model in models:
        model.fit(X, y)
        assert_array_equal(model.predict(X_new), expected)
        assert model.score(X_new, y_new) == np.mean(expected == y_new)
        proba = model.predict_proba(X_new)
        assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)  # k terms, each rounded once


def test_the_tennis_player_stays_home(shared_data):
    """Mitchell (1997), section 6.9.1: sunny, cool, high, strong gives no with 0.795."""
    weather = pd.read_csv(shared_data / "weather-nominal.csv")
    day = pd.DataFrame(
        {"outlook": ["sunny"], "temperature": ["cool"], "humidity": ["high"], "windy": [True]}
    )
    model = NaiveBayes(Categorical(Laplace(0))).fit(weather, "play")
    yes = Fraction(9, 14) * Fraction(2, 9) * Fraction(3, 9) * Fraction(3, 9) * Fraction(3, 9)
    no = Fraction(5, 14) * Fraction(3, 5) * Fraction(1, 5) * Fraction(4, 5) * Fraction(3, 5)
    assert_array_equal(model.classes_, ["no", "yes"])
    expected = [[float(no / (yes + no)), float(yes / (yes + no))]]
    # six logarithms and an exponential, each off by half a unit in the last place
    assert_allclose(model.predict_proba(day), expected, rtol=1e-14)
    assert round(model.predict_proba(day)[0, 0], 3) == 0.795


def test_laplace_adds_the_number_of_values_not_of_features():
    X, y = [[0, 0], [1, 0], [2, 1], [0, 1]], [0, 0, 0, 1]
    model = CategoricalNB(alpha=1).fit(X, y)
    expected = [(1 + 1) / (3 + 3), (1 + 1) / (3 + 3), (1 + 1) / (3 + 3)]
    assert_allclose(np.exp(model.feature_log_prob_[0][0]), expected, rtol=1e-15)
    assert_allclose(np.exp(model.feature_log_prob_[1][0]), [3 / 5, 2 / 5], rtol=1e-15)


@pytest.mark.parametrize("n", [1, 5, 30])
def test_naivety_needs_2n_plus_1_numbers_and_the_joint_table_2_to_the_n(n):
    X, y = np.random.default_rng(n).integers(0, 2, (40, n)), np.arange(40) % 2
    for model in (BernoulliNB(), CategoricalNB(min_categories=2), NaiveBayes("bernoulli")):
        model.fit(X, y)
        assert model.n_parameters_ == 2 * n + 1
        assert model.n_joint_parameters_ == 2 * (2**n - 1)


def test_thirty_attributes_need_two_billion_numbers():
    model = BernoulliNB().fit(np.eye(30), np.arange(30) % 2)
    assert model.n_joint_parameters_ == 2_147_483_646


def test_the_full_table_has_as_many_numbers_as_it_says():
    bits = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T
    model = JointBayes().fit(np.vstack([bits, bits]), np.repeat([0, 1], 8))
    assert model.n_joint_parameters_ == 2 * (2**3 - 1)
    assert model.n_parameters_ == 2 * (2**3 - 1) + 1  # and the class probability


def test_gaussians_need_a_mean_and_a_variance_each():
    X, y = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 3
    model = GaussianNB().fit(X, y)
    assert model.n_parameters_ == 2 * 4 * 3 + 2
    assert model.n_joint_parameters_ is None


# ---- fish: 30 % weigh N(30, 4), 70 % weigh N(16, 3) ----


def fish_by_hand() -> GaussianNB:
    model = GaussianNB()
    model.classes_, model.n_features_in_ = np.array([0, 1]), 1
    model.theta_ = np.array([[30.0], [16.0]])
    model.var_ = np.array([[16.0], [9.0]])
    model.class_prior_ = np.array([0.3, 0.7])
    return model


def boundaries() -> np.ndarray:
    """Where .3 N(x; 30, 4) = .7 N(x; 16, 3): the roots of a quadratic, as the variances differ."""
    a, b, c = 1 / 18 - 1 / 32, 30 / 16 - 16 / 9, 256 / 18 - 900 / 32
    return np.sort(np.roots([a, b, c + np.log(0.3 / 4) - np.log(0.7 / 3)]))


def test_fish_have_two_boundaries():
    low, high = boundaries()
    assert_allclose([low, high], [-26.95, 22.95], atol=0.005)  # as the documentation prints them
    proba = fish_by_hand().predict_proba([[low], [high]])
    assert_allclose(proba, 0.5, rtol=1e-10)  # a root is found to about 1e-14, times a slope of 2
    answers = fish_by_hand().predict([[low - 1], [low + 1], [high - 1], [high + 1]])
    assert_array_equal(answers, [0, 1, 1, 0])


def test_fish_can_be_told_apart_up_to_the_bayes_error(shared_data):
    low, high = boundaries()
    heavy, light = stats.norm(30, 4), stats.norm(16, 3)
    error = 0.3 * (heavy.cdf(high) - heavy.cdf(low)) + 0.7 * (light.sf(high) + light.cdf(low))
    assert round(error, 4) == 0.0189
    train, test = (
        pd.read_csv(shared_data / "fish" / f"fish-{part}.csv.gz") for part in ("train", "test")
    )
    model = GaussianNB(var_smoothing=0).fit(train[["weight"]], train["species"])
    observed = 1 - model.score(test[["weight"]], test["species"])
    deviation = np.sqrt(error * (1 - error) / len(test))  # of 100,000 draws: 0.04 %
    assert abs(observed - error) < 3 * deviation
    # 30,000 and 70,000 rows: a mean is known to 4/sqrt(30,000), a variance to 1 part in 122
    assert_allclose(model.theta_[:, 0], [30, 16], atol=0.1)
    assert_allclose(np.sqrt(model.var_[:, 0]), [4, 3], rtol=0.02)
    assert_allclose(model.class_prior_, [0.3, 0.7], atol=0.005)


# ---- XOR ----


def test_the_full_table_learns_xor_and_naivety_cannot():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 25)
    y = X[:, 0] ^ X[:, 1]
    assert JointBayes().fit(X, y).score(X, y) == 1.0
    for naive in (BernoulliNB(), CategoricalNB(), NaiveBayes("categorical"), GaussianNB()):
        # every class has the same marginals, so that every posterior is the prior
        assert_allclose(naive.fit(X, y).predict_proba(X), 0.5, rtol=1e-12)


def test_the_full_table_is_the_share_of_equal_rows():
    X = np.array([["a", "x"]] * 6 + [["a", "y"]] * 3 + [["b", "x"]] * 1)
    y = np.array([0, 0, 0, 0, 1, 1, 0, 1, 1, 1])
    model = JointBayes(alpha=1).fit(X, y)
    # 4 cells; class 0 has 5 rows, 4 of them (a, x); class 1 has 5 rows, 2 of them (a, x)
    joint = np.array([0.5 * (4 + 1) / (5 + 4), 0.5 * (2 + 1) / (5 + 4)])
    proba = model.predict_proba(np.array([["a", "x"]]))
    assert_allclose(proba[0], joint / joint.sum(), rtol=1e-14)
    assert_allclose(model.predict_proba(np.array([["b", "y"]]))[0], [0.5, 0.5], rtol=1e-14)
