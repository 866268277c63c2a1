"""Models that are stated by hand: they answer as learned ones of the same parameters do."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.special import ndtr

from posterior import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminantAnalysis,
    GaussianMixture,
    GaussianNB,
    Hypotheses,
    LogisticRegression,
    MixtureClassifier,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    load,
    save,
    to_sql,
)
from posterior.evaluation import decision_boundary

RANDOM = np.random.default_rng(21)
LENGTHS = np.array([[13.0], [19.0], [26.0], [34.0]])  # N(16, 3) and N(30, 4)
FISH = ["bass", "bass", "salmon", "salmon"]
COUNTS = RANDOM.integers(0, 5, (40, 3)).astype(float)
Y = np.array(["a", "b"])[RANDOM.integers(0, 2, 40)]
SHARES = [0.7, 0.3]
STATED = "learned from rows, got one whose parameters were stated"


def fish(**options: Any) -> GaussianNB:
    return GaussianNB.of([16, 30], [3, 4], SHARES, classes=["bass", "salmon"], **options)


def all_stated() -> list[Any]:
    return [
        fish(),
        BernoulliNB.of([[0.2, 0.9], [0.5, 0.5]], SHARES),
        MultinomialNB.of([[0.2, 0.8], [0.5, 0.5]], SHARES),
        PoissonNB.of([[1.0, 2.0], [4.0, 0.5]], SHARES),
        GaussianDiscriminantAnalysis.of([[0, 0], [2, 1]], [[2, 1], [1, 2]], SHARES),
        GaussianDiscriminantAnalysis.of([0, 2], [1, 4], SHARES),
    ]


def same_answers(stated: Any, fitted: Any, X: Any) -> None:
    """To the bit."""
    for name in ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        assert_array_equal(getattr(stated, name)(X), getattr(fitted, name)(X))
    assert_array_equal(stated.evidence(X).terms, fitted.evidence(X).terms)
    assert_array_equal(stated.log_evidence(X), fitted.log_evidence(X))
    assert str(stated.explain(X[:1])) == str(fitted.explain(X[:1]))
    for mine, theirs in zip(stated.sample(20, 0), fitted.sample(20, 0), strict=True):
        assert_array_equal(mine, theirs)


# ---- equal to a fitted model ----


def test_stated_fish_are_the_fitted_ones() -> None:
    fitted = GaussianNB(var_smoothing=0, priors=SHARES).fit(LENGTHS, FISH)
    X = np.linspace(0, 60, 101)[:, None]
    same_answers(fish(), fitted, X)
    assert_array_equal(decision_boundary(fish()).at, decision_boundary(fitted).at)
    assert to_sql(fish(), columns=["length"]) == to_sql(fitted, columns=["length"])


def test_classes_come_in_any_order_and_by_name() -> None:
    X = np.linspace(0, 60, 101)[:, None]
    turned = GaussianNB.of([30, 16], [4, 3], [0.3, 0.7], classes=["salmon", "bass"])
    named = GaussianNB.of(
        {"salmon": 30, "bass": 16}, {"bass": 3, "salmon": 4}, {"salmon": 0.3, "bass": 0.7}
    )
    for model in (turned, named):
        assert model.classes_.tolist() == ["bass", "salmon"]
        same_answers(model, fish(), X)


def test_stated_yes_and_no_are_the_fitted_ones() -> None:
    fitted = BernoulliNB(class_prior=SHARES).fit(COUNTS, Y)
    p = np.array([[0.2, 0.9, 0.4], [0.5, 0.1, 0.75]])
    fitted.feature_log_prob_ = np.log(p)
    stated = BernoulliNB.of(p, SHARES, classes=["a", "b"])
    assert_allclose(stated.predict_proba(COUNTS), fitted.predict_proba(COUNTS), rtol=1e-14)
    rows = np.array([[0.0, 1], [1, 0], [1, 1], [0, 0]])
    halves = BernoulliNB(alpha=0, class_prior=SHARES).fit(rows, [0, 0, 1, 1])
    same_answers(BernoulliNB.of(np.full((2, 2), 0.5), SHARES), halves, rows)


def test_stated_words_are_the_fitted_ones() -> None:
    fitted = MultinomialNB(class_prior=SHARES).fit(COUNTS, Y)
    p = np.array([[0.2, 0.5, 0.3], [0.5, 0.25, 0.25]])
    fitted.feature_log_prob_ = np.log(p)
    same_answers(MultinomialNB.of(p, SHARES, classes=["a", "b"]), fitted, COUNTS)


def test_stated_rates_are_the_fitted_ones() -> None:
    fitted = PoissonNB(class_prior=SHARES).fit(COUNTS, Y)
    same_answers(PoissonNB.of(fitted.rate_, SHARES, classes=["a", "b"]), fitted, COUNTS)


@pytest.mark.parametrize("kind", ["shared", "own"])
def test_stated_covariances_are_the_fitted_ones(kind: str) -> None:
    fitted = GaussianDiscriminantAnalysis(kind, priors=SHARES).fit(COUNTS, Y)
    stated = GaussianDiscriminantAnalysis.of(
        fitted.means_, fitted.covariance_, SHARES, classes=["a", "b"]
    )
    assert stated.covariance_kind_ == kind
    same_answers(stated, fitted, COUNTS)
    turned = GaussianDiscriminantAnalysis.of(
        fitted.means_[::-1],
        fitted.covariance_[::-1] if kind == "own" else fitted.covariance_,
        SHARES[::-1],
        classes=["b", "a"],
    )
    same_answers(turned, fitted, COUNTS)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_stated_components_are_the_fitted_ones(kind: str) -> None:
    fitted = GaussianMixture(2, covariance_type=kind, random_state=0).fit(COUNTS)
    stated = GaussianMixture.of(fitted.weights_, fitted.means_, fitted.covariances_, kind)
    # class probabilities go through a logarithm and back
    assert_allclose(stated.predict_proba(COUNTS), fitted.predict_proba(COUNTS), rtol=1e-13)
    stated.fitted_ = stated.fitted_.with_prior(SHARES)
    fitted.fitted_ = fitted.fitted_.with_prior(SHARES)
    assert_array_equal(stated.predict_proba(COUNTS), fitted.predict_proba(COUNTS))
    assert_array_equal(stated.score_samples(COUNTS), fitted.score_samples(COUNTS))
    assert_array_equal(stated.sample(9, 0)[0], fitted.sample(9, 0)[0])


@pytest.mark.parametrize("labels", [["a", "b"], ["b", "a"], ["a", "b", "c"], ["c", "a", "b"]])
def test_stated_coefficients_are_the_fitted_ones(labels: list[str]) -> None:
    k = len(labels)
    y = np.array(labels)[np.arange(40) % k]
    fitted = LogisticRegression().fit(COUNTS, y)
    coef, intercept = fitted.coef_, fitted.intercept_
    if k == 2:  # of the second label that is stated
        sign = 1 if labels == ["a", "b"] else -1
        given = sign * intercept[0], sign * coef[0]
    else:
        places = np.searchsorted(fitted.classes_, labels)
        given = intercept[places], coef[places]
    stated = LogisticRegression.of(*given, classes=labels, typical=fitted.typical_)
    assert str(stated.explain(COUNTS[:1])) == str(fitted.explain(COUNTS[:1]))
    assert_array_equal(stated.predict(COUNTS), fitted.predict(COUNTS))
    assert_array_equal(stated.predict_proba(COUNTS), fitted.predict_proba(COUNTS))
    assert_array_equal(
        decision_boundary(stated, form="surfaces")[0].normal,
        decision_boundary(fitted, form="surfaces")[0].normal,
    )
    assert to_sql(stated, columns=[*"xyz"]) == to_sql(fitted, columns=[*"xyz"])


def test_names_are_those_of_a_frame() -> None:
    model = LogisticRegression.of(-6, {"hours": 0.05, "grade": 1.0})
    frame = pd.DataFrame({"hours": [40.0], "grade": [3.5]})
    assert_allclose(model.predict_proba(frame)[0, 1], 1 / (1 + np.exp(0.5)))
    assert "hours" in str(model.explain(frame))
    assert "length" in str(fish(names=["length"]).explain(pd.DataFrame({"length": [20.0]})))


def test_stated_models_are_saved_and_loaded(tmp_path: Path) -> None:
    models = [*all_stated(), GaussianMixture.of(SHARES, [16, 30], [9, 16])]
    models.append(LogisticRegression.of([0, 1, 2], np.eye(3)))
    for model in models:
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        X = np.abs(RANDOM.normal(size=(5, model.n_features_in_))).round()
        assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert "<" in model._repr_html_()


# ---- a stated model has no statistics ----


def test_what_needs_rows_says_so() -> None:
    for model in all_stated():
        X, y = model.sample(2, 0)
        calls = [
            lambda m=model, X=X, y=y: m.partial_fit(X, y, classes=m.classes_),
            lambda m=model, X=X, y=y: m.forget(X, y),
            lambda m=model: m.merge(m),
            lambda m=model: m + m,
            lambda m=model: m.decay(0.5),
            lambda m=model: m.parameters(),
            lambda m=model: m.n_joint_parameters_,
        ]
        for call in calls:
            with pytest.raises(ValueError, match=STATED):
                call()
        for name in ("statistics_", "class_count_", "feature_count_"):
            assert not hasattr(model, name)
        assert model.fit(*_two_classes(model)).predict(X).shape == y.shape  # and learns anew


def _two_classes(model: Any) -> tuple[Any, Any]:
    X = np.abs(RANDOM.normal(size=(20, model.n_features_in_))).round(2)
    return X, np.arange(20) % 2


def test_what_needs_rows_says_so_of_mixtures_and_of_logistic_regression() -> None:
    mixture = GaussianMixture.of(SHARES, [16, 30], [9, 16])
    model = LogisticRegression.of(0.5, [1.0])
    for call in (
        lambda: mixture.partial_fit(LENGTHS),
        lambda: mixture.merge(mixture),
        lambda: mixture.parameters(),
        lambda: model.partial_fit(LENGTHS, FISH),
        lambda: model.summary(),
        lambda: model.predict_interval(LENGTHS),
    ):
        with pytest.raises(ValueError, match=STATED):
            call()
    assert model.fit(LENGTHS, FISH).classes_.tolist() == ["bass", "salmon"]


def test_a_class_of_share_zero_is_never_answered() -> None:
    model = GaussianNB.of([16, 30, 23], [3, 4, 9], [0.7, 0.3, 0.0])
    X = np.linspace(-100, 100, 201)[:, None]
    assert 2 not in model.predict(X) and 2 not in model.sample(100, 0)[1]
    assert_array_equal(model.predict_proba(X)[:, 2], 0.0)
    assert model.bayes_error().probability == fish().bayes_error().probability
    assert 2 in model.predict(X, priors=[0.2, 0.2, 0.6])


@pytest.mark.parametrize(
    ("model", "row"),
    [
        (BernoulliNB.of([0.2, 0.9], [1, 0]), [1]),
        (MultinomialNB.of([[0.5, 0.5], [0.1, 0.9]], [1, 0]), [0, 9]),
        (PoissonNB.of([1, 9], [1, 0]), [9]),
        (GaussianDiscriminantAnalysis.of([0, 5], [1, 1], [1, 0]), [5.0]),
        (GaussianMixture.of([1, 0], [0, 5], [1, 1]), [5.0]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_stated_share_of_zero_is_no_chance(model: Any, row: Any) -> None:
    assert_array_equal(model.predict_proba([row]), [[1.0, 0.0]])
    assert model.predict([row]).tolist() == [0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaussianNB.of([1, 2], [1, 1], [0.5, 0.4]), "sum to 1, got a sum of 0.9"),
        (lambda: GaussianNB.of([1, 2], [1, 1], [1.5, -0.5]), "shares of zero or more"),
        (lambda: GaussianNB.of([1, 2], [1, 1], [np.nan, 1]), "finite shares, got nan"),
        (lambda: GaussianNB.of([1, 2], [1, 1], ["x", "y"]), "shares as a table of numbers"),
        (lambda: GaussianNB.of([1, 2], [1, 1], None), "shares, got nan"),
        (lambda: GaussianNB.of([1, 2], [1, 1e-200], [0.5, 0.5]), "that can be squared, got 1e-200"),
        (
            lambda: GaussianNB.of([1, 2], [1, 1e200], [0.5, 0.5]),
            "squared, got 1e[+]200",
        ),
        (lambda: GaussianNB.of([1, 2], [1, 1], [0.5, 0.5], 3), "a list of classes"),
        (lambda: GaussianNB.of([1, 2], [1, 1], [0.5, 0.5], ["a", 1]), "classes of one kind"),
        (
            lambda: GaussianNB.of([1, 2], [1, 1], [0.5, 0.5], names="x"),
            "a list of names",
        ),
        (
            lambda: GaussianNB.of([1, 2], [1, 0], [0.5, 0.5]),
            "above zero, got 0 of class 1",
        ),
        (lambda: GaussianNB.of([1, 2], [1, -1], [0.5, 0.5]), "deviations above zero, got -1"),
        (lambda: GaussianNB.of([1, 2, 3], [1, 1], [0.5, 0.5]), r"means of shape \(2, d\)"),
        (lambda: GaussianNB.of([1, 2], [1, 1, 1], [0.5, 0.5]), r"deviations of shape \(2, 1\)"),
        (lambda: GaussianNB.of([[], []], [1, 1], [0.5, 0.5]), "means of one column or more"),
        (lambda: GaussianNB.of([1, np.inf], [1, 1], [0.5, 0.5]), "finite means, got inf"),
        (lambda: GaussianNB.of(["x", 2], [1, 1], [0.5, 0.5]), "means as a table of numbers"),
        (lambda: GaussianNB.of([1, 2], [1, 1], [0.5, 0.5], ["a"]), "share of each of 1 classes"),
        (
            lambda: GaussianNB.of([1, 2], [1, 1], [0.5, 0.5], ["a", "a"]),
            "kind that differ",
        ),
        (lambda: GaussianNB.of({"a": 1}, [1, 1], {"a": 0.5, "b": 0.5}), "'b' is missing"),
        (lambda: fish(names=["x", "y"]), "1 names of columns"),
        (lambda: BernoulliNB.of([0.5, 1.2], [0.5, 0.5]), "between 0 and 1, got 1.2"),
        (lambda: MultinomialNB.of([[0.5, 0.4], [0.5, 0.5]], [0.5, 0.5]), "sum to 1 in each class"),
        (lambda: PoissonNB.of([1, -1], [0.5, 0.5]), "rates of zero or more, got -1"),
        (
            lambda: GaussianDiscriminantAnalysis.of([[0, 0], [1, 1]], np.eye(3), [0.5, 0.5]),
            r"covariances of shape \(2, 2, 2\), or \(2, 2\)",
        ),
        (
            lambda: GaussianDiscriminantAnalysis.of([[0, 0], [1, 1]], [[1, 2], [2, 1]], [0.5, 0.5]),
            "symmetric and positive definite",
        ),
        (lambda: LogisticRegression.of([1, 2], [1, 2]), "Expected an intercept and coefficients"),
        (lambda: LogisticRegression.of(1, [1, 2], classes=["a"]), "Expected 2 classes"),
        (lambda: LogisticRegression.of(1, [1, np.nan]), "finite coefficients"),
        (lambda: LogisticRegression.of(1, [1, 2], names=["a"]), "2 names of columns"),
        (lambda: LogisticRegression.of(1, [1, 2], typical=[1]), "a typical row of 2 columns"),
        (lambda: GaussianNB.of([1, 2], [1, 1], [0, 0]), "sum to 1, got a sum of 0"),
        (lambda: BernoulliNB.of([[0.5]] * 3, [0.5, 0.5]), r"probabilities of shape \(2, d\)"),
        (lambda: MultinomialNB.of([[-0.5, 1.5], [0.5, 0.5]], [0.5, 0.5]), "0 and 1, got -0.5"),
        (lambda: MultinomialNB.of([[0.5, 0.5]], [0.5, 0.5]), r"probabilities of shape \(2, d\)"),
        (lambda: PoissonNB.of([1, np.nan], [0.5, 0.5]), "finite rates, got nan"),
        (lambda: PoissonNB.of([[1, 2]], [0.5, 0.5]), r"rates of shape \(2, d\)"),
        (lambda: GaussianDiscriminantAnalysis.of([0, 1], [1, 1], [0.5, 0.6]), "a sum of 1.1"),
        (lambda: GaussianDiscriminantAnalysis.of([0, 1], [1, -1], [0.5, 0.5]), "definite, got"),
        (
            lambda: GaussianDiscriminantAnalysis.of([[0, 1]], np.eye(2), [0.5, 0.5]),
            r"means of shape \(2, d\)",
        ),
        (lambda: LogisticRegression.of([1, 2, 3], [[1.0], [2.0]]), "for three or more, got shapes"),
        (lambda: LogisticRegression.of("x", [1.0]), "intercepts as a table of numbers"),
        (lambda: GaussianMixture.of([1.5, -0.5], [1, 2], [1, 1]), "shares of zero or more"),
        (lambda: GaussianMixture.of([0.5, 0.5], [[1, 2]], np.eye(2)), r"means of shape \(2, d\)"),
        (lambda: GaussianMixture.of([0.5, 0.4], [1, 2], [1, 1]), "sum to 1"),
        (lambda: GaussianMixture.of([0.5, 0.5], [1, 2], [1, -1]), "positive definite"),
        (lambda: GaussianMixture.of([0.5, 0.5], [1, 2], [1, 0], "diag"), "variances above zero"),
        (lambda: GaussianMixture.of([0.5, 0.5], [1, 2], [1, 1], "round"), "covariance_type"),
        (lambda: GaussianMixture.of([0.5, 0.5], np.eye(2), [1, 1]), "full covariances of shape"),
    ],
)
def test_what_is_stated_wrongly_is_one_sentence(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        make()
    assert len(str(error.value)) < 250 and str(error.value).startswith("Expected ")


# ---- log likelihoods ----


def test_log_likelihood_is_the_textbook_sum() -> None:
    X, y = np.array([[14.0], [20.0], [33.0]]), ["bass", "salmon", "salmon"]
    prior = {"bass": 0.7, "salmon": 0.3}
    density = {"bass": stats.norm(16, 3), "salmon": stats.norm(30, 4)}
    terms = [np.log(prior[k]) + density[k].logpdf(x[0]) for x, k in zip(X, y, strict=True)]
    assert_allclose(fish().log_likelihood(X, y), sum(terms), rtol=1e-14)
    weighted = fish().log_likelihood(X, y, [2, 0, 1])
    assert_allclose(weighted, 2 * terms[0] + terms[2], rtol=1e-14)
    frame = pd.DataFrame({"length": X[:, 0], "kind": y})
    assert_allclose(fish(names=["length"]).log_likelihood(frame, "kind"), sum(terms), rtol=1e-14)
    with pytest.raises(ValueError, match=r"classes that the model knows.*'trout'"):
        fish().log_likelihood(X, ["bass", "trout", "bass"])


def test_log_likelihood_of_logistic_regression_is_conditional() -> None:
    model = LogisticRegression.of(-1, [2.0])
    X, y = np.array([[0.0], [1.0], [2.0]]), [0, 1, 0]
    p = 1 / (1 + np.exp(1 - 2 * X[:, 0]))
    expected = np.log(1 - p[0]) + np.log(p[1]) + np.log(1 - p[2])
    assert_allclose(model.log_likelihood(X, y), expected, rtol=1e-13)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        NaiveBayes(),
        PoissonNB(),
        CategoricalNB(),
        GaussianDiscriminantAnalysis(),
        MixtureClassifier(GaussianNB()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_log_likelihood_is_evidence_and_posterior(model: Any) -> None:
    model.fit(COUNTS, Y)
    codes = np.searchsorted(model.classes_, Y)
    log_proba = model.predict_log_proba(COUNTS)[np.arange(len(Y)), codes]
    expected = (model.log_evidence(COUNTS) + log_proba).sum()
    assert_allclose(model.log_likelihood(COUNTS, Y), expected, rtol=1e-12)


def test_scores_that_are_no_probabilities_have_no_likelihood() -> None:
    model = ComplementNB().fit(COUNTS, Y)
    for call in (lambda: model.log_likelihood(COUNTS, Y), model.bayes_error):
        with pytest.raises(TypeError, match=r"p\(x, k\), got ComplementNB"):
            call()


# ---- the Bayes error ----


def integrated_error(shares: Any, means: Any, deviations: Any) -> float:
    """On a fine grid."""
    x = np.linspace(-150, 200, 2_000_001)
    p = np.array(
        [w * stats.norm(m, s).pdf(x) for w, m, s in zip(shares, means, deviations, strict=True)]
    )
    return float((p.sum(axis=0) - p.max(axis=0)).sum() * (x[1] - x[0]))


def test_the_best_rule_errs_in_1_89_percent_of_fish() -> None:
    error = fish().bayes_error()
    assert f"{100 * error.probability:.2f}" == "1.89" and error.standard_error == 0
    assert_allclose(float(error), integrated_error(SHARES, [16, 30], [3, 4]), rtol=1e-8)
    analysis = GaussianDiscriminantAnalysis.of([16, 30], [9, 16], SHARES)
    assert_allclose(float(analysis.bayes_error()), float(error), rtol=1e-13)


@pytest.mark.parametrize(
    ("shares", "means", "deviations"),
    [
        ([0.5, 0.5], [0, 0], [1, 1]),  # nothing tells them apart
        ([0.9, 0.1], [0, 0.1], [1, 1]),  # the boundary is far out
        ([0.5, 0.5], [0, 0], [1, 5]),
        ([0.2, 0.3, 0.5], [0, 2, 9], [1, 1, 4]),
        ([0.2, 0.3, 0.5], [0, 1, 2], [1, 3, 0.5]),
    ],
)
def test_errors_of_one_column_are_the_integral(shares: Any, means: Any, deviations: Any) -> None:
    found = float(GaussianNB.of(means, deviations, shares).bayes_error())
    assert_allclose(found, integrated_error(shares, means, deviations), atol=1e-8)


def test_two_classes_of_one_covariance_err_by_their_distance() -> None:
    means, sigma = np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 0.0]]), np.diag([1.0, 4.0, 9.0])
    sigma[0, 1] = sigma[1, 0] = 0.5
    model = GaussianDiscriminantAnalysis.of(means, sigma, SHARES)
    apart = means[1] - means[0]
    distance, odds = np.sqrt(apart @ np.linalg.solve(sigma, apart)), np.log(0.3 / 0.7)
    textbook = 0.7 * ndtr((odds - distance**2 / 2) / distance)
    textbook += 0.3 * ndtr((-odds - distance**2 / 2) / distance)
    assert_allclose(float(model.bayes_error()), textbook, rtol=1e-13)
    own = GaussianDiscriminantAnalysis.of(means, [sigma, sigma], SHARES)
    drawn = own.bayes_error(n=20_000, random_state=0)
    assert 0 < drawn.standard_error < 0.005 and "±" in str(drawn)
    assert abs(drawn.probability - textbook) < 4 * drawn.standard_error
    with pytest.raises(ValueError, match="two rows or more to draw"):
        own.bayes_error(n=1)


def test_errors_of_discrete_columns_are_sums_over_all_rows() -> None:
    p = np.array([[0.2, 0.9, 0.4], [0.5, 0.1, 0.75]])
    model = BernoulliNB.of(p, SHARES)
    wrong = 0.0
    for x in product([0, 1], repeat=3):
        joint = SHARES * np.prod(np.where(x, p, 1 - p), axis=1)
        wrong += joint.min()
    assert_allclose(float(model.bayes_error()), wrong, rtol=1e-13)
    rates = PoissonNB.of([1, 6], SHARES)
    x = np.arange(200)
    joint = [w * stats.poisson(rate).pmf(x) for w, rate in zip(SHARES, [1, 6], strict=True)]
    assert_allclose(float(rates.bayes_error()), np.minimum(*joint).sum(), rtol=1e-12)
    fitted = CategoricalNB(alpha=1).fit(COUNTS, Y)
    exact, drawn = fitted.bayes_error(), fitted.sample(20_000, 0)[0]
    assert exact.standard_error == 0
    assert abs((1 - fitted.predict_proba(drawn).max(axis=1)).mean() - float(exact)) < 0.01


def test_learned_models_have_a_bayes_error() -> None:
    for model in (NaiveBayes(), GaussianNB(), MultinomialNB(), GaussianDiscriminantAnalysis("own")):
        error = model.fit(COUNTS, Y).bayes_error(n=1000, random_state=0)
        assert 0 < float(error) < 0.5


# ---- hypotheses ----


def test_the_cancer_test_of_the_second_note() -> None:
    patient = Hypotheses({"cancer": 0.008, "no cancer": 0.992})
    once = patient.given({"cancer": 0.98, "no cancer": 0.03})
    assert_allclose(once["cancer"], 0.00784 / (0.00784 + 0.02976), rtol=1e-14)
    assert round(once["cancer"], 2) == round(0.0078 / (0.0078 + 0.0298), 2) == 0.21
    assert_allclose(once.evidence, 0.0376, rtol=1e-13)
    assert once.most_probable == "no cancer"
    twice = once.given({"no cancer": 0.03, "cancer": 0.98})
    odds = 0.008 / 0.992 * (0.98 / 0.03) ** 2
    assert_allclose(twice["cancer"], odds / (1 + odds), rtol=1e-13)
    assert twice.most_probable == "cancer"
    assert_allclose(twice.evidence, 0.008 * 0.98**2 + 0.992 * 0.03**2, rtol=1e-13)
    assert_allclose(once.table()["P(D | h) P(h)"], [0.00784, 0.02976])
    assert "P(h | D)" in str(once) and "P(h | D)" not in str(patient)
    assert "<table>" in once._repr_html_() and patient.evidence == 1


def test_hypotheses_are_a_bernoulli_model() -> None:
    test = BernoulliNB.of([0.98, 0.03], [0.008, 0.992])
    once = Hypotheses({0: 0.008, 1: 0.992}).given({0: 0.98, 1: 0.03})
    assert_allclose(test.predict_proba([[1]])[0], [once[0], once[1]], rtol=1e-13)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Hypotheses({"a": 0.5, "b": 0.4}), "sum to 1, got a sum of 0.9"),
        (lambda: Hypotheses({}), "sum to 1"),
        (lambda: Hypotheses([0.5, 0.5]), "by hypothesis, as a dict"),  # type: ignore[arg-type]
        (lambda: Hypotheses({"a": "x", "b": 1}), "got 'x' for 'a'"),  # type: ignore[dict-item]
        (lambda: Hypotheses({"a": 1.5, "b": -0.5}), "zero or more, got -0.5 for 'b'"),
        (lambda: Hypotheses({"a": np.nan, "b": 1}), "zero or more, got nan for 'a'"),
        (lambda: Hypotheses({"a": 0.5, "b": 0.5}).given({"a": 1}), r"of each of \['a', 'b'\]"),
        (lambda: Hypotheses({"a": 0.5, "b": 0.5}).given({"a": 1, "b": -1}), r"P\(D \| h\)"),
        (lambda: Hypotheses({"a": 0.0, "b": 1}).given({"a": 1, "b": 0}), "impossible under all"),
    ],
)
def test_hypotheses_that_make_no_sense_are_one_sentence(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# ---- another prior from the same sums ----


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        (GaussianNB(), {"var_smoothing": 0.1}),
        (GaussianNB(), {"priors": [0.9, 0.1]}),
        (BernoulliNB(), {"alpha": 5}),
        (BernoulliNB(binarize=1.0), {"alpha": 0.5, "fit_prior": False}),
        (MultinomialNB(), {"alpha": 5}),
        (MultinomialNB(), {"alpha": [1, 2, 3]}),
        (ComplementNB(), {"alpha": 5}),
        (CategoricalNB(), {"alpha": 5, "class_prior": {"a": 0.9, "b": 0.1}}),
        (PoissonNB(), {"alpha": 5}),
        (GaussianDiscriminantAnalysis(), {"covariance": "own", "pseudo_rows": 3}),
        (GaussianDiscriminantAnalysis("own"), {"shrinkage": 0.3, "priors": [0.5, 0.5]}),
    ],
    ids=str,
)
def test_another_prior_from_the_sums_is_a_fit_with_it(model: Any, settings: Any) -> None:
    model.fit(COUNTS, Y)
    before = model.predict_proba(COUNTS)
    other = model.estimate_under(**settings)
    fitted = type(model)(**{**model.get_params(), **settings}).fit(COUNTS, Y)
    assert_array_equal(
        other.predict_joint_log_proba(COUNTS), fitted.predict_joint_log_proba(COUNTS)
    )
    assert other.get_params() == fitted.get_params()
    assert_array_equal(model.predict_proba(COUNTS), before)
    more = other.partial_fit(COUNTS[:5], Y[:5])
    twice = fitted.partial_fit(COUNTS[:5], Y[:5])
    assert_array_equal(more.predict_proba(COUNTS), twice.predict_proba(COUNTS))


def test_what_the_sums_do_not_say_is_refused() -> None:
    model = BernoulliNB().fit(COUNTS, Y)
    with pytest.raises(ValueError, match=r"settings of the prior, .*got \['binarize'\]"):
        model.estimate_under(binarize=2.0)
    with pytest.raises(ValueError, match="alpha"):
        model.estimate_under(alpha=-1)
    with pytest.raises(ValueError, match="calibrated=None"):
        BernoulliNB(calibrated="temperature").fit(COUNTS, Y).estimate_under(alpha=2)
    with pytest.raises(ValueError, match=STATED):
        fish().estimate_under(var_smoothing=0.1)
    with pytest.raises(ValueError, match="not fitted"):
        BernoulliNB().estimate_under(alpha=2)
