"""Missing cells at prediction: every classifier answers rows with any pattern of gaps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from everyone import every
from numpy.testing import assert_allclose

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning")]
COUNTS = "the chance of the other counts depends on how many words the row has, which is unknown"
OF_COUNTS = {"ComplementNB": COUNTS, "MultinomialNB": COUNTS}


def gaps(table):
    """The first rows of a frame, one for each pattern of missing cells."""
    patterns = np.array(list(product([False, True], repeat=table.shape[1])))
    return table[: len(patterns)].mask(patterns)


def check(subject, model, rows):
    answers = subject.answers(model, rows)
    assert np.isin(answers["predict"], model.classes_).all()
    if "predict_proba" in answers:
        assert np.isfinite(answers["predict_proba"]).all()
        assert_allclose(answers["predict_proba"].sum(axis=1), 1.0)


@every(lambda subject: subject.is_classifier, but=OF_COUNTS)
def test_rows_with_any_pattern_of_gaps_are_answered(subject):
    X, y = subject.table(np.random.default_rng(0), 60)
    if subject.reads == "documents":
        check(subject, subject.fit(X, y), pd.Series([X[0], None, np.nan]))
        return
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    check(subject, subject.fit(table, y), gaps(table.astype(float)))


IN_FRAMES = "answers gaps of a frame; NaN in an array is refused, as scikit-learn's contract asks"


@every(
    lambda subject: subject.is_classifier and subject.reads != "documents",
    but={**OF_COUNTS, "LogisticRegression": IN_FRAMES, "LogisticRegressionCV": IN_FRAMES},
)
def test_gaps_in_an_array_are_those_in_a_frame(subject):
    X, y = subject.table(np.random.default_rng(0), 60)
    rows, model = gaps(pd.DataFrame(X).astype(float)).to_numpy(), subject.fit(X, y)
    check(subject, model, rows)
    framed = subject.fit(pd.DataFrame(X), y)
    assert_allclose(framed.predict_proba(pd.DataFrame(rows)), model.predict_proba(rows), atol=1e-9)


NUMBERS = (
    "BernoulliNB CategoricalNB GaussianDiscriminantAnalysis GaussianNB KNeighborsClassifier "
    "LinearDiscriminantAnalysis PoissonNB QuadraticDiscriminantAnalysis"
)
OF_NUMBERS = dict.fromkeys(NUMBERS.split(), "reads numbers, and refuses words when it is fitted")


@every(
    lambda subject: subject.is_classifier,
    but={**OF_COUNTS, **OF_NUMBERS, "TextClassifier": "reads one column"},
)
def test_gaps_among_words_are_answered(subject):
    random = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "size": random.normal(size=80),
            "color": random.choice(["red", "green", "blue"], 80),
            "sold": random.random(80) < 0.5,
        }
    )
    y = np.where(table["size"] + (table["color"] == "red") > 0.3, "yes", "no")
    rows = gaps(table.astype(object)).astype({"size": float})
    check(subject, subject.fit(table, y), rows)
