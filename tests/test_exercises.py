"""Exercises of the lectures: solutions run, answers are the textbook's, checks say what is off."""

from __future__ import annotations

import ast
from fractions import Fraction
from math import exp, inf, log, sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import correlation, minkowski
from scipy.stats import norm

from posterior import (
    Gaussian,
    GaussianDiscriminantAnalysis,
    KMeans,
    KNeighborsClassifier,
    LogisticRegression,
    Mixture,
    MultinomialNB,
    datasets,
    lectures,
)
from posterior.evaluation import decision_boundary
from posterior.lectures.from_scratch import (
    em_by_hand,
    gda_by_hand,
    kmeans_by_hand,
    logistic_by_hand,
    neighbors_by_hand,
    words_by_hand,
)

NAMES = lectures.exercises()["name"].tolist()
BY_HAND = [name for name in NAMES if lectures.exercise(name).template is None]
FROM_SCRATCH = [name for name in NAMES if name not in BY_HAND]


def run(source: str) -> dict:
    """The names that a source defines, and under "answer" the value of its last line."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    names: dict = {"__name__": "homework"}
    exec(compile(tree, "homework", "exec"), names)
    if last is not None:
        names["answer"] = eval(compile(ast.Expression(last.value), "homework", "eval"), names)
    return names


def sigma(z: float) -> float:
    return 1 / (1 + exp(-z))


def bell(x: float, mean: float, deviation: float) -> float:
    return exp(-((x - mean) ** 2) / (2 * deviation**2)) / deviation


def shares_of_second() -> np.ndarray:
    return np.array([bell(x, 5, 2) / (bell(x, 3, 2) + bell(x, 5, 2)) for x in (1, 2, 6, 7)])


def fish_roots() -> np.ndarray:
    a, b, c = 1 / 32 - 1 / 18, 16 / 9 - 30 / 16, 900 / 32 - 256 / 18 + log(0.7 / 3 / (0.3 / 4))
    return np.sort(np.roots([a, b, c]))


def fish_error() -> float:
    low, high = fish_roots()
    trout, salmon = norm(16, 3), norm(30, 4)
    return 0.7 * (trout.cdf(low) + trout.sf(high)) + 0.3 * (salmon.cdf(high) - salmon.cdf(low))


def spam() -> float:
    yes, no = Fraction(3, 8) * Fraction(3, 5) / 5, Fraction(5, 8) * Fraction(2, 7) / 7
    return float(yes / (yes + no))


RESPONSIBLE, ROWS = shares_of_second(), np.array([1.0, 2.0, 6.0, 7.0])
MISSING = 1 - sigma(0.5 - 3 + 2)
TEXTBOOK = {
    "spinner": [6 / 12, 2 / 12, 8 / 12, 2 / 4, True],
    "diagnosis": [0.0095 / (0.0095 + 0.099), 0.009025 / (0.009025 + 0.0099)],
    "parameters": [2 * (2**10 - 1), 2 * 10, 2 * 10 + 1],
    "m_estimate": [0, (0 + 2 / 2) / (5 + 2), (0 + 20 / 2) / (5 + 20)],
    "em_step": [
        RESPONSIBLE,
        [
            ((1 - RESPONSIBLE) @ ROWS) / (1 - RESPONSIBLE).sum(),
            RESPONSIBLE @ ROWS / sum(RESPONSIBLE),
        ],
    ],
    "kmeans_step": [[0, 1, 0, 1], [[2, 0], [3, 2]], 4 + 4 + 9 + 9],
    "coin": [0.7, 7 * log(0.7) + 3 * log(0.3), 10 * log(0.5)],
    "normal": [30, sqrt((16 + 1 + 0 + 1 + 16) / 5)],
    "fish": [
        fish_roots(),
        0.7 * bell(22, 16, 3) / (0.7 * bell(22, 16, 3) + 0.3 * bell(22, 30, 4)),
        fish_error(),
    ],
    "gradient": [
        1 - MISSING,
        [MISSING, 3 * MISSING, MISSING],
        [0.5 + 0.1 * MISSING, -1 + 0.3 * MISSING, 2 + 0.1 * MISSING],
    ],
    "slope": [1 / 4, sigma(2) * (1 - sigma(2)), 0],
    "exclusive_or": [1 / 2, 1 / 2, 4],
    "lda_as_logistic": [
        [(2 * 2 - 3) / 3, (-2 + 2 * 3) / 3],  # Σ⁻¹ = [[2, -1], [-1, 2]] / 3
        log(0.4 / 0.6) - (2 * 1 / 3 + 3 * 4 / 3) / 2,
    ],
    "votes": ["a", "b", "b"],
    "laplace": [3 / 5, 1 / 5, spam()],
}


def test_every_exercise_has_a_textbook_beside_it():
    assert set(TEXTBOOK) == set(BY_HAND)
    assert set(lectures.exercises()["note"]) == {"000", "001", "002", "003", "004"}


@pytest.mark.parametrize("name", BY_HAND)
def test_answers_are_those_of_the_textbook(name):
    verdict = lectures.check(name, *TEXTBOOK[name])
    assert verdict, str(verdict)
    for ours, theirs in zip(
        lectures.exercise(name).answers().values(), TEXTBOOK[name], strict=True
    ):
        if not isinstance(ours, str):
            assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)  # a dozen operations, rounded


@pytest.mark.parametrize("name", BY_HAND)
def test_a_solution_runs_as_it_is_shown(name):
    shown = lectures.solution(name)
    verdict = lectures.check(name, **run(shown)["answer"])
    assert verdict, str(verdict)


@pytest.mark.parametrize("name", BY_HAND)
def test_a_question_names_what_to_hand_in_and_does_not_answer(name):
    one = lectures.exercise(name)
    assert all(f"{part}=..." in str(one).replace("\n", " ") for part in one.parts)
    assert one.hint and lectures.hint(name) == one.hint


# ---- checks ----


def test_rounded_answers_are_right():
    assert lectures.check("fish", boundaries=[-27.0, 22.95], trout=0.757, error=0.0189)


def test_a_wrong_part_is_named_with_how_far_it_is_off():
    verdict = lectures.check("normal", mean=29, deviation=2.61)
    assert not verdict
    assert str(verdict) == "mean       too low, by about 3 %\ndeviation  right"


def test_a_check_says_a_digit_of_the_difference_and_not_the_answer():
    said = str(lectures.check("coin", p=0.5, log_likelihood=-9.0, fair=-9.0))
    assert "0.7" not in said and "6.1" not in said and "6.9" not in said
    assert said.splitlines()[0] == "p               too low, by about 30 %"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (-2.6076809620810595, "of the wrong sign"),
        ("wide", "no number: 'wide'"),
        ([2.6, 2.6], "of shape (2,), not ()"),
        (inf, "not finite"),
        (None, "no number: None"),
        (..., "no number: Ellipsis"),
        (300.0, "too high, by about 10000 %"),
    ],
)
def test_what_is_no_answer_is_said_so(answer, said):
    assert lectures.check("normal", 30, answer).parts == {"mean": "right", "deviation": said}


def test_the_entry_that_is_off_is_named():
    verdict = lectures.check("gradient", gradient=[0.6225, 1.0, 0.6225])
    assert verdict.parts["gradient"] == "too low, by about 50 % at entry 2"
    assert verdict.parts["p"] == "not handed in"


def test_a_word_is_right_or_another():
    assert lectures.check("votes", one="b").parts["one"] == "another one"


def test_counts_have_no_tolerance():
    assert lectures.check("parameters", 2047).parts["joint"] == "too high, by about 0.05 %"


def test_what_was_not_asked_is_refused():
    for answers, parts in [((), {"median": 30}), ((30,), {"mean": 30}), ((1, 2, 3), {})]:
        with pytest.raises(ValueError, match="Expected mean, deviation for 'normal', each once"):
            lectures.check("normal", *answers, **parts)


def test_a_name_that_is_misspelled_gets_the_nearest():
    with pytest.raises(ValueError, match=r"got 'spiner'. Did you mean 'spinner'\?"):
        lectures.exercise("spiner")
    with pytest.raises(ValueError, match="There are spinner, diagnosis"):
        lectures.hint("zzz")


# ---- from scratch ----


@pytest.mark.parametrize("name", FROM_SCRATCH)
def test_a_template_runs_and_is_nowhere_right(name):
    source = lectures.template(name)
    names = run(source)
    verdict = lectures.check(name, **{part: names[part] for part in lectures.exercise(name).parts})
    assert "right" not in verdict.parts.values()
    assert "still a blank" in verdict.parts.values()
    assert "# blank" not in source and "..." in source


@pytest.mark.parametrize("name", FROM_SCRATCH)
def test_a_template_that_is_filled_in_is_right(name):
    names = run(lectures.solution(name))
    verdict = lectures.check(name, **{part: names[part] for part in lectures.exercise(name).parts})
    assert verdict, str(verdict)
    assert "# blank" not in lectures.solution(name)


@pytest.mark.parametrize("name", FROM_SCRATCH)
def test_every_function_is_tried(name):
    one = lectures.exercise(name)
    assert set(one.trials()) == set(one.parts)


def test_an_exercise_by_hand_has_no_template():
    with pytest.raises(ValueError, match="Expected a model to write from scratch, words, em"):
        lectures.template("fish")


def test_a_function_that_raises_or_is_none_is_said_so():
    def broken(z):
        return 1 / 0

    said = lectures.check("logistic", sigmoid=broken, gradient=3).parts
    assert said["sigmoid"] == "call 1 of 2 raises ZeroDivisionError: division by zero"
    assert said["gradient"] == "Expected a function, got int"


def test_a_function_that_writes_into_its_arguments_spoils_no_other():
    def spoiling(w, X, y):
        X[:] = 0
        return X.T @ y

    def gradient(w, X, y):
        return X.T @ (y - 1 / (1 + np.exp(-X @ w)))

    said = lectures.check("logistic", log_likelihood=spoiling, gradient=gradient).parts
    assert said["gradient"] == "right" and said["log_likelihood"] != "right"


def test_an_overflow_is_found():
    """ln(1 + exp z) written out is infinite at z = 800, where its value is 800."""

    def written_out(w, X, y):
        z = X @ w
        return (y * z - np.log(1 + np.exp(z))).sum()

    far = lectures.check("logistic", log_likelihood=written_out)
    assert far.parts["log_likelihood"] == "call 2 of 2 is not finite"
    far = lectures.check("logistic", sigmoid=lambda z: np.exp(z) / (1 + np.exp(z)))
    assert far.parts["sigmoid"] == "call 2 of 2 is not finite"


def test_logistic_regression_by_hand_is_ours():
    X, y = datasets.fish(300)
    X = (X - X.mean()) / X.std()
    ones = np.column_stack([np.ones(300), X])
    settings = {"C": inf, "solver": "gradient-ascent", "step": 1e-3, "max_iter": 20, "tol": 0}
    for step in LogisticRegression(**settings).steps(X, y):
        w = logistic_by_hand.ascend(ones, y, 1e-3, step.number)
        assert_allclose(w, [*step.intercept, *step.coef[0]], rtol=1e-10, atol=1e-13)
        assert_allclose(logistic_by_hand.log_likelihood(w, ones, y), step.log_likelihood)
        assert_allclose(logistic_by_hand.gradient(w, ones, y)[1:], step.gradient[0][:-1], atol=1e-9)
    best = LogisticRegression(C=inf, tol=1e-10).fit(X, y)
    w = logistic_by_hand.newton(ones, y, 12)
    assert_allclose(w, [*best.intercept_, *best.coef_[0]], rtol=1e-6)  # the solver's tolerance
    assert_array_equal(logistic_by_hand.predict(w, ones), best.predict(X))


def test_the_hessian_by_hand_is_the_slope_of_the_gradient():
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    w, h = np.array([0.3, -0.5, 1.0]), 1e-6
    slope = [
        (logistic_by_hand.gradient(w + e, X, y) - logistic_by_hand.gradient(w - e, X, y)) / (2 * h)
        for e in h * np.eye(3)
    ]
    assert_allclose(logistic_by_hand.hessian(w, X, y), slope, rtol=1e-6, atol=1e-8)


def test_naive_bayes_by_hand_is_ours():
    random = np.random.default_rng(1)
    X, y = random.poisson(2.0, (50, 5)), np.arange(50) % 3
    model = MultinomialNB(alpha=0.5).fit(X, y)
    prior = words_by_hand.log_prior(y)
    likelihoods = words_by_hand.log_likelihoods(X, y, 0.5)
    joint = words_by_hand.log_joint(X, prior, likelihoods)
    assert_allclose(likelihoods, model.feature_log_prob_, rtol=1e-12)
    assert_allclose(words_by_hand.posterior(joint), model.predict_proba(X), rtol=1e-10)
    assert_array_equal(words_by_hand.predict(joint), model.predict(X))


def test_k_means_by_hand_is_ours():
    X = datasets.exclusive_or(200)[0]
    centers = X[:3]
    for step in KMeans(3, init=centers, tol=0).steps(X):
        if step.kind == "assign":
            labels = kmeans_by_hand.assign(X, centers)
            assert_array_equal(labels, step.labels)
        else:
            centers = kmeans_by_hand.move(X, labels, 3)
        assert_allclose(kmeans_by_hand.inertia(X, labels, centers), step.inertia, rtol=1e-10)
    assert_allclose(kmeans_by_hand.lloyd(X, X[:3], 100), centers, rtol=1e-12)


def test_em_by_hand_is_ours():
    x = datasets.heights(200)[0]
    means = np.array([160.0, 180.0])
    model = Mixture(
        Gaussian(None, variance=49.0), 2, shares="equal", means_init=means[:, None], max_iter=10
    )
    for step in model.steps(x):
        if step.kind == "expect":
            shares = em_by_hand.expect(x[:, 0], means, 7.0)
            assert_allclose(shares, step.responsibilities, rtol=1e-9)
        else:
            means = em_by_hand.maximize(x[:, 0], shares)
            assert_allclose(means, step.parameters.mean[:, 0], rtol=1e-10)
        found = em_by_hand.log_likelihood(x[:, 0], means, 7.0)
        assert_allclose(found, step.log_likelihood, rtol=1e-10)


def test_discriminant_analysis_by_hand_is_ours():
    random = np.random.default_rng(2)
    y = np.array([0, 1, 1] * 30)
    X = random.normal(size=(90, 3)) + y[:, None]
    model = GaussianDiscriminantAnalysis("shared").fit(X, y)
    assert_allclose(gda_by_hand.means(X, y), model.means_, rtol=1e-12)
    assert_allclose(gda_by_hand.covariance(X, y), model.covariance_, rtol=1e-10)
    (plane,) = decision_boundary(model, form="surfaces")  # of 0 against 1
    assert_allclose(gda_by_hand.weights(X, y), -plane.normal, rtol=1e-9)
    assert_allclose(gda_by_hand.intercept(X, y), -plane.offset, rtol=1e-9)


def test_distances_by_hand_are_those_of_scipy_and_votes_ours():
    random = np.random.default_rng(3)
    X, y = random.normal(size=(40, 4)), np.arange(40) % 3
    u, v = X[:2]
    for p in (1, 1.5, 2, 3):
        assert_allclose(neighbors_by_hand.distance(u, v, p), minkowski(u, v, p))
    assert_allclose(neighbors_by_hand.correlation_distance(u, v), correlation(u, v))
    assert neighbors_by_hand.edit_distance("kitten", "sitting") == 3
    for new in random.normal(size=(10, 4)):
        ours = KNeighborsClassifier(5).fit(X, y).predict([new])[0]
        assert neighbors_by_hand.vote(X, y, new, 5) == ours
