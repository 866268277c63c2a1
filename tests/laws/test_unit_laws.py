"""Units do not matter: columns in millimeters or kilometers, from one zero or another.

A model is equivariant if it is defined by what units leave alone: ranks, counts, densities,
distances in deviations. Those that are not say so below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.discriminant_analysis as theirs
from everyone import Subject, every, numbers
from numpy.testing import assert_allclose
from sklearn import naive_bayes
from sklearn.metrics import adjusted_rand_score

from posterior import (
    AODE,
    KDB,
    TAN,
    Additive,
    Classifier,
    DegenerateWarning,
    GaussianDiscriminantAnalysis,
    GaussianMixture,
    GaussianNB,
    KBinsDiscretizer,
    KNeighborsClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixtureClassifier,
    NaiveBayes,
    Pool,
    QuadraticDiscriminantAnalysis,
)
from posterior.families import Binned, Gaussian, PseudoRows, StudentT

CLASSES = 3
QUICK: dict[str, dict[str, Any]] = {
    "GaussianMixture": {"n_components": CLASSES},
    "LogisticRegressionCV": {"Cs": 2},
    "Mixture": {"n_init": 1},
}
SHIFTED = 1e3  # deviations: a shift of more would cost digits of the table itself
NOT_EQUIVARIANT = {
    "GaussianMixture": "starts from k-means and adds reg_covar to every variance, in raw units",
    "GaussianNB": "var_smoothing is a share of the widest column's variance",
    "KMeans": "distances add squares of all columns as they are",
    "KMedoids": "distances add squares of all columns as they are",
    "KNeighborsClassifier": "distances add squares of all columns as they are",
    "LogisticRegression": "the penalty asks what a coefficient is per unit of its column",
    "LogisticRegressionCV": "the penalty asks what a coefficient is per unit of its column",
    "MiniBatchKMeans": "distances add squares of all columns as they are",
}
SETTINGS: dict[str, Callable[[np.ndarray], Any]] = {  # with which they are, and other choices
    "GaussianMixture": lambda R: GaussianMixture(CLASSES, reg_covar=0.0, init_params=R),
    "GaussianMixture, tied": lambda R: GaussianMixture(
        CLASSES, covariance_type="tied", reg_covar=0.0, init_params=R
    ),
    "GaussianNB": lambda R: GaussianNB(var_smoothing=0.0),
    "LogisticRegression": lambda R: LogisticRegression(C=np.inf),
    "NaiveBayes, normal": lambda R: NaiveBayes(Gaussian(PseudoRows(2.0))),
    "NaiveBayes, Student's t": lambda R: NaiveBayes(StudentT()),
    "NaiveBayes, bins": lambda R: NaiveBayes(Binned()),
    "AODE, bins": lambda R: AODE(),
    "TAN, bins": lambda R: TAN(),
    "KDB, bins": lambda R: KDB(),
    "own": lambda R: GaussianDiscriminantAnalysis("own"),
    "own, pseudo-rows": lambda R: GaussianDiscriminantAnalysis("own", pseudo_rows=3.0),
    "own, predictive": lambda R: GaussianDiscriminantAnalysis("own", predictive=True),
    "diagonal": lambda R: GaussianDiscriminantAnalysis("diagonal"),
    "LDA, lsqr": lambda R: LinearDiscriminantAnalysis("lsqr"),
    "LDA, auto": lambda R: LinearDiscriminantAnalysis("eigen", "auto"),
    "QDA, eigen": lambda R: QuadraticDiscriminantAnalysis(solver="eigen"),
    "QDA, auto": lambda R: QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    "two normals a class": lambda R: MixtureClassifier(n_components=2, random_state=0),
    "equal widths": lambda R: KBinsDiscretizer(strategy="uniform"),
    "clusters": lambda R: KBinsDiscretizer(strategy="kmeans"),
}
UNITS = {  # powers of ten, and shifts in deviations
    "shifted": ([0, 0, 0], [10, -SHIFTED, SHIFTED]),
    "far apart": ([9, 0, -9], [0, 0, 0]),
    "far apart and shifted": ([-9, 9, 2], [SHIFTED, -100, 30]),
    "small": ([-9, -9, -9], [0, 0, 0]),
    "large": ([9, 9, 9], [-SHIFTED, 1, 0]),
}


def table(n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(11)
    codes = np.arange(n) % CLASSES
    return numbers(random, codes) * (1 + 0.2 * codes[:, None]), codes


def in_units(X: np.ndarray, units: str) -> np.ndarray:
    power, shift = UNITS[units]
    return (X + np.asarray(shift, float)) * 10.0 ** np.asarray(power)


def made(subject: Subject) -> Any:
    return subject.make(**QUICK.get(subject.name, {}))


def answered(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    fitted = model.fit(X, y)
    name = "predict_proba" if hasattr(fitted, "predict_proba") else "transform"
    answer = getattr(fitted, name)(X)
    return answer.toarray() if hasattr(answer, "toarray") else answer


@pytest.mark.parametrize("units", UNITS)
@every(lambda subject: subject.reads == "numbers", but=NOT_EQUIVARIANT)
def test_units_of_columns_do_not_matter(subject, units):
    X, y = table()
    expected = answered(made(subject), X, y)
    assert_allclose(answered(made(subject), in_units(X, units), y), expected, atol=1e-6)


@every(lambda subject: subject.reads == "numbers", but=NOT_EQUIVARIANT)
def test_units_do_not_matter_where_cells_are_missing(subject):
    X, y = table()
    X[np.random.default_rng(12).random(X.shape) < 0.1] = np.nan
    expected = answered(made(subject), X, y)
    Z = in_units(X, "far apart and shifted")
    assert_allclose(answered(made(subject), Z, y), expected, atol=1e-6)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("name", SETTINGS)
def test_units_of_columns_do_not_matter_under_some_settings(name, units):
    X, y = table()
    soft = 0.6 * np.eye(CLASSES)[y] + 0.4 / CLASSES
    expected = answered(SETTINGS[name](soft), X, y)
    assert_allclose(answered(SETTINGS[name](soft), in_units(X, units), y), expected, atol=1e-6)


@every(lambda subject: subject.name in NOT_EQUIVARIANT)
def test_those_that_are_said_to_see_units_do(subject):
    X, y = table()
    Z = in_units(X, "far apart")
    here, there = (made(subject).fit(T, y) for T in (X, Z))
    if subject.is_classifier:
        assert np.abs(here.predict_proba(X) - there.predict_proba(Z)).max() > 0.1
    else:
        assert adjusted_rand_score(here.predict(X), there.predict(Z)) < 0.9


PAIRS = {
    "GaussianNB": (GaussianNB(var_smoothing=0.0), naive_bayes.GaussianNB(var_smoothing=0.0)),
    "LDA": (LinearDiscriminantAnalysis(), theirs.LinearDiscriminantAnalysis()),
    "QDA": (QuadraticDiscriminantAnalysis(), theirs.QuadraticDiscriminantAnalysis()),
}


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("name", PAIRS)
def test_in_any_units_answers_are_those_of_sklearn_on_standardized_columns(name, units):
    X, y = table()
    ours, other = PAIRS[name]
    expected = other.fit(X, y).predict_proba(X)
    Z = in_units(X, units)
    assert_allclose(ours.fit(Z, y).predict_proba(Z), expected, atol=1e-6)
    assert ours.score(Z, y) == other.score(X, y)


def test_a_table_of_full_rank_has_it_in_any_units():
    X, y = table()
    Z = X / X.std(axis=0) * [0.005, 10, 9_000]
    for solver in ("svd", "eigen"):  # neither warns nor refuses
        found = QuadraticDiscriminantAnalysis(solver=solver).fit(Z, y).predict_proba(Z)
        assert_allclose(found, answered(GaussianDiscriminantAnalysis("own"), X, y), atol=1e-9)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("flaw", ["constant", "constant in a class", "sum of others"])
def test_a_table_that_is_not_of_full_rank_is_mended_alike_in_any_units(flaw, units):
    X, y = table()
    X[:, 2] = {
        "constant": np.ones(len(X)),
        "constant in a class": np.where(y == 1, 0.0, X[:, 2]),
        "sum of others": X[:, 0] + X[:, 1],
    }[flaw]
    answers = []
    for T in (X, in_units(X, units)):
        with pytest.warns(DegenerateWarning, match="not full rank"):
            answers.append(answered(QuadraticDiscriminantAnalysis(), T, y))
        with pytest.raises(np.linalg.LinAlgError, match="not full rank"):
            QuadraticDiscriminantAnalysis(solver="eigen").fit(T, y)
    assert_allclose(answers[1], answers[0], atol=1e-6)


@pytest.mark.parametrize("units", UNITS)
@every(
    lambda subject: subject.reads == "numbers" and subject.has("leave_one_out"),
    but={name: NOT_EQUIVARIANT[name] for name in ("GaussianNB", "LogisticRegression")},
)
def test_units_do_not_matter_to_rows_left_out(subject, units):
    X, y = table(60)
    here, there = (subject.make().leave_one_out(T, y) for T in (X, in_units(X, units)))
    assert_allclose(there.log_proba, here.log_proba, atol=1e-6)


# ---- columns as people have them: whole numbers, ties, long tails, missing cells ----

FACTORS = {  # products that doubles hold exactly, so that no cell moves across a cut
    "dozens": [12.0, 12.0, 12.0, 12.0],
    "binary thousands": [1024.0, 1.0, 1024.0, 1.0],
    "far apart": [2.0**-13, 1e6, 2.0**30, 1000.0],
}
BY_ROWS_HELD_OUT: dict[str, Callable[[], Any]] = {  # what is chosen by rows dealt out to folds
    "families": lambda: NaiveBayes("auto"),
    "temperature": lambda: NaiveBayes(calibrated="temperature"),
    "temperature, by refits": lambda: KDB(2, selective=True, calibrated="temperature"),
    "structure": lambda: KDB(3, selective=True),
    "rounds": lambda: Additive(),
    "Pool": lambda: Pool([NaiveBayes("auto"), AODE(), Additive()]),
    "Classifier": lambda: Classifier(),
    "Classifier, quick": lambda: Classifier(models="quick"),
}
OF_COMPLETE_NUMBERS: dict[str, Callable[[], Any]] = {
    "covariance": lambda: GaussianDiscriminantAnalysis("auto"),
    "temperature": lambda: GaussianDiscriminantAnalysis("own", calibrated="temperature"),
    "temperature, by leave-one-out": lambda: LogisticRegression(C=np.inf, calibrated="temperature"),
    "distance": lambda: KNeighborsClassifier("auto", whiten=0.1),
}
OF_CELLS = {"AODE": AODE, "TAN": TAN, "KDB": lambda: KDB(2, selective=True), "Additive": Additive}


def as_people_have_it(seed: int, n: int = 150) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(seed)
    y = random.integers(0, CLASSES, n)
    numbers = {
        "children": random.poisson(1 + y).astype(float),
        "income": 500 * np.ceil(np.exp(random.normal(2 + 0.5 * y, 1.2))),
        "grade": np.round(4 * random.normal(y, 2)) / 4,
        "rain": np.where(random.random(n) < 0.6, 0, np.ceil(random.gamma(2, 9 + 4 * y))),
    }
    table = pd.DataFrame(numbers | {"town": random.choice(["Rome", "Oslo", "Bern"], n)})
    for name in ("income", "grade", "town"):
        table.loc[random.random(n) < 0.08, name] = None
    return table, np.array(["no", "yes", "?"])[y]


def multiplied(table: pd.DataFrame, factors: str) -> pd.DataFrame:
    numbers = table.columns[:4]
    return table.assign(**(table[numbers] * FACTORS[factors]))


@pytest.mark.once
@pytest.mark.parametrize("factors", FACTORS)
@pytest.mark.parametrize("chosen", BY_ROWS_HELD_OUT)
def test_units_do_not_matter_to_what_rows_held_out_choose(chosen, factors):
    table, y = as_people_have_it(4)
    Z = multiplied(table, factors)
    here, there = (BY_ROWS_HELD_OUT[chosen]().fit(T, y) for T in (table, Z))
    # weights of a pool are found by steps that end within 1e-9 of the least loss
    assert_allclose(there.predict_proba(Z), here.predict_proba(table), rtol=0, atol=1e-8)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("chosen", OF_COMPLETE_NUMBERS)
def test_units_do_not_matter_to_what_rows_held_out_choose_of_numbers(chosen, units):
    X, y = table()
    X = np.round(X * 8) / 8
    here, there = (answered(OF_COMPLETE_NUMBERS[chosen](), T, y) for T in (X, in_units(X, units)))
    assert_allclose(there, here, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_families_by_column_are_those_of_any_unit(seed):
    table, y = as_people_have_it(seed)
    here, there = (
        NaiveBayes("auto").fit(T, y).chosen_ for T in (table, multiplied(table, "far apart"))
    )
    assert there == here


@pytest.mark.parametrize("name", OF_CELLS)
def test_cells_in_units_of_powers_of_two_give_the_same_bits(name):
    table, y = as_people_have_it(5)
    Z = multiplied(table, "binary thousands")
    here, there = (OF_CELLS[name]().fit(T, y) for T in (table, Z))
    assert np.array_equal(there.predict_proba(Z), here.predict_proba(table))
