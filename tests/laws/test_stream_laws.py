"""A stream is a fit, or says what it is; and the order of the rows tells a model nothing.

What each class promises: naive Bayes, networks, vectorizers, discretizers and texts the bits;
discriminants and logistic regression the same up to rounding; neighbors the bits, but for rows
that are equally far; mixtures and k-means what their starts find, which are drawn by position.
"""

from __future__ import annotations

import pickle
import warnings
from inspect import signature
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from everyone import Subject, every
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import log_loss
from strategies import Random

from posterior import KDB, BackOff, NaiveBayes

pytestmark = pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning")

# Choices that need all rows at once are made beforehand.
SETTLED: dict[str, dict[str, Any]] = {
    "Additive": {"rounds": 5},
    "AODE": {"categories": True, "smoothing": BackOff()},
    "HashingVectorizer": {"n_features": 64},  # which are compared one by one
    "KDB": {"categories": True, "structure": ((), (0,), (1, 0)), "smoothing": BackOff()},
    "TAN": {"categories": True, "smoothing": BackOff()},
    "TextClassifier": {"model": "contrast", "alpha": 0.03, "calibrated": False},
}
# In the first call, as in scikit-learn.
NAMES_CLASSES = {"BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"}
# Cross products are sums of rounded terms; all others are exact.
ROUNDED = dict.fromkeys(
    [
        "GaussianDiscriminantAnalysis",
        "GaussianMixture",
        "LinearDiscriminantAnalysis",
        "QuadraticDiscriminantAnalysis",
    ],
    1e-10,
)
SIZES = 1, 2, 5, 200


def classes_of(subject: Subject) -> int:
    return 2 if subject.reads == "documents" else 3


def pick(X: Any, index: Any) -> Any:
    return [X[i] for i in index] if isinstance(X, list) else X[index]


def orders(random: Random, y: np.ndarray) -> dict[str, np.ndarray]:
    """The classes in turn, one after the other, and as chance has it."""
    by_class = np.argsort(y, kind="stable")
    rank = np.arange(len(y)) - np.searchsorted(y[by_class], y[by_class])
    return {
        "interleaved": by_class[np.argsort(rank, kind="stable")],
        "sorted": by_class,
        "shuffled": random.permutation(len(y)),
    }


def add(subject: Subject, model: Any, X: Any, y: Any, index: Any, **more: Any) -> Any:
    labels = (y[index],) if subject.learns_labels else ()
    return model.partial_fit(pick(X, index), *labels, **more)


def stream(subject: Subject, X: Any, y: Any, order: Any, size: int, given: bool) -> Any:
    """All rows in chunks; classes are given, or become known as they come."""
    model = subject.make(**SETTLED.get(subject.name, {}))
    begin = max(size, 2) if subject.name == "GaussianMixture" else size  # an error says so
    chunks = [order[:begin], *(order[i : i + size] for i in range(begin, len(order), size))]
    first, *others = chunks
    if given and subject.is_classifier:
        add(subject, model, X, y, first, classes=np.unique(y))
    elif subject.name in NAMES_CLASSES:
        model.fit(pick(X, first), y[first])
    else:
        add(subject, model, X, y, first)
    for index in others:
        add(subject, model, X, y, index)
    return model


def assert_same(subject: Subject, a: Any, b: Any, X: Any, tolerance: float = 0.0) -> None:
    if subject.learns_labels:
        assert_array_equal(a.classes_, b.classes_)
    mine, theirs = subject.answers(a, X), subject.answers(b, X)
    assert mine.keys() == theirs.keys()
    for name, answer in mine.items():
        if tolerance and name != "predict":
            assert_allclose(answer, theirs[name], rtol=tolerance, atol=tolerance)
        else:
            assert_array_equal(answer, theirs[name])


@pytest.mark.slow
@every(
    lambda subject: subject.has("partial_fit"),
    but={
        "Additive": "its first rows choose the cells, of which it warns; see test_additive_remote",
        "Classifier": "its first rows choose the models and what each counts for",
        "LogisticRegression": "a step on each chunk, no sum; close to fit, see below",
        "MiniBatchKMeans": "steps of chance by definition; as good as fit, see below",
        "Mixture": "shares of early rows are those of early models; as good as fit, see below",
        "Pool": "its first rows choose what members count for; see test_pool",
    },
)
def test_a_stream_in_any_order_and_chunks_is_one_fit(subject):
    random, given = np.random.default_rng(7), cycle([True, False])
    for size in SIZES:
        X, y = subject.table(random, 2 * size + 21, classes_of(subject))
        whole = subject.fit(X, y, **SETTLED.get(subject.name, {}))
        for order in orders(random, y).values():
            model = stream(subject, X, y, order, size, next(given))
            assert_same(subject, model, whole, X, ROUNDED.get(subject.name, 0.0))


@pytest.mark.once
@every(lambda subject: subject.name.startswith("Logistic") and subject.has("partial_fit"))
@pytest.mark.parametrize("size", SIZES)
def test_a_stream_of_steps_comes_close_to_fit(subject, size):
    random = np.random.default_rng(7)
    X, y = subject.table(random, 2000, 3)
    fitted = log_loss(y, subject.fit(X, y).predict_proba(X))
    for name, order in orders(random, y).items():
        if size >= 5 or name == "sorted":  # the hardest, and some thousand calls
            model = stream(subject, X, y, order, size, given=True)
            assert log_loss(y, model.predict_proba(X)) < fitted + 0.01


@pytest.mark.once
@every(lambda subject: subject.name in ("GaussianMixture", "MiniBatchKMeans", "Mixture"))
@pytest.mark.parametrize("size", SIZES)
def test_a_stream_of_mixed_rows_finds_groups_as_good_as_fit(subject, size):
    """Of sorted rows it remembers the last best, as is said where it is documented."""
    random = np.random.default_rng(7)
    X, y = subject.table(random, 300, 3)
    X += 3 * y[:, None]
    settings = {"n_clusters" if "KMeans" in subject.name else "n_components": 3}
    fitted = subject.fit(X, y, **settings).score(X)
    model = subject.make(**settings).partial_fit(X[:50])
    for start in range(50, len(X), size):
        model.partial_fit(X[start : start + size])
    if subject.name == "MiniBatchKMeans":
        assert model.score(X) > 1.2 * fitted  # both are negative squared distances
    else:
        assert model.score(X) > fitted - 0.1  # of the log density of a row


@every(lambda subject: subject.name in ("AODE", "KDB", "TAN"))
def test_a_stream_that_chooses_by_its_first_rows_says_so(subject):
    X, y = subject.table(np.random.default_rng(1), 40)
    with pytest.warns(UserWarning, match=r"by the 5 row\(s\) of the first partial_fit"):
        model = subject.make().partial_fit(X[:5], y[:5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X, y)
        subject.fit(X, y).partial_fit(X, y)
        subject.make(**SETTLED[subject.name]).partial_fit(X, y)


def test_a_stream_that_took_sentences_for_categories_says_so():
    random = np.random.default_rng(1)
    words = "the quick brown fox jumps over a lazy dog in sun and rain".split()
    texts = [" ".join(random.choice(words, 6)) for _ in range(40)]
    table, y = pd.DataFrame({"text": texts}), random.integers(0, 2, 40)
    model = NaiveBayes().partial_fit(table[:5], y[:5], classes=[0, 1])
    with pytest.warns(UserWarning, match="'text' was read as categories.*'words'"):
        model.partial_fit(table[5:], y[5:])
    named = (
        NaiveBayes({"text": "words"}).partial_fit(table[:5], y[:5]).partial_fit(table[5:], y[5:])
    )
    whole = NaiveBayes().fit(table, y)
    assert_array_equal(named.predict_proba(table), whole.predict_proba(table))


# --- order ---------------------------------------------------------------------------------------


def twice(random: Random, subject: Subject, n: int = 120) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """Rows of which some are alike, and weights of which some are zero, where it takes them."""
    X, y = subject.table(random, n, classes_of(subject))
    again = np.concatenate([np.arange(n), random.integers(0, n, n // 4)])
    weighs = "sample_weight" in signature(subject.kind.fit).parameters
    weight = random.choice([0.0, 0.5, 1.0, 3.0], len(again))
    return pick(X, again), y[again], {"sample_weight": weight} if weighs else {}


def learned(subject: Subject, X: Any, y: Any, index: Any, more: Any, **settings: Any) -> Any:
    labels = (y[index],) if subject.learns_labels else ()
    given = {name: value[index] for name, value in more.items()}
    return subject.make(**settings).fit(pick(X, index), *labels, **given)


@every(
    but={
        "GaussianMixture": "starts are drawn by position",
        "KMeans": "starts are drawn by position",
        "KNeighborsClassifier": "of rows that are equally far the first are the neighbors",
        "LogisticRegressionCV": "folds by position, as in scikit-learn",
        "MiniBatchKMeans": "starts and batches are drawn by position",
        "Mixture": "starts are drawn by position",
    },
)
def test_the_order_of_rows_does_not_change_a_fit(subject):
    random = np.random.default_rng(3)
    X, y, more = twice(random, subject)
    there, back = np.arange(len(y)), random.permutation(len(y))
    settings = SETTLED[subject.name] if subject.name == "HashingVectorizer" else {}
    a, b = (learned(subject, X, y, order, more, **settings) for order in (there, back))
    tolerance = 1e-6 if subject.name == "LogisticRegression" else ROUNDED.get(subject.name, 0.0)
    assert_same(subject, a, b, X, tolerance)


@every(
    lambda subject: subject.is_classifier and "calibrated" in subject.make().get_params(),
    but={
        "KNeighborsClassifier": "of rows that are equally far the first are the neighbors",
        "LogisticRegressionCV": "folds by position, as in scikit-learn",
        "TextClassifier": "its calibration is a part of what fit chooses, and held to that law",
    },
)
@pytest.mark.parametrize("calibrated", ["temperature", "isotonic", "auto"])
def test_the_order_of_rows_does_not_change_a_calibration(subject, calibrated):
    random = np.random.default_rng(3)
    X, y, more = twice(random, subject)
    there, back = np.arange(len(y)), random.permutation(len(y))
    a, b = (learned(subject, X, y, o, more, calibrated=calibrated) for o in (there, back))
    # a step of isotonic regression is where a score is, which rounds
    rounded = subject.name in ROUNDED or subject.name == "LogisticRegression"
    assert_same(subject, a, b, X, 1e-7 if rounded else 0.0)


@pytest.mark.parametrize("model", [NaiveBayes("auto"), KDB(selective=True)], ids=repr)
def test_the_order_of_rows_does_not_change_a_choice(model):
    random = np.random.default_rng(5)
    y = random.integers(0, 3, 300)
    X = np.column_stack([random.standard_t(2, 300) + y, random.random(300) ** (1 + y), y % 2])
    X[random.random(X.shape) < 0.1] = np.nan
    weight, back = random.choice([0.0, 1.0, 2.5], 300), random.permutation(300)
    before = model.fit(X, y, weight).predict_log_proba(X)
    assert_array_equal(model.fit(X[back], y[back], weight[back]).predict_log_proba(X), before)


# --- sums ----------------------------------------------------------------------------------------


@every(lambda subject: subject.has("partial_fit", "forget"))
def test_rows_taken_back_leave_no_trace(subject):
    """Nor does their class, whether its rows weigh anything or not."""
    random = np.random.default_rng(11)
    X, y, more = twice(random, subject)
    more = {
        name: np.where(y == 1, 0.0, value) for name, value in more.items()
    }  # known all the same
    X = [*X, *X] if isinstance(X, list) else np.concatenate([X, X])
    y = np.concatenate([y, np.where(y == 0, 5, y)])  # a new class
    news = {
        name: np.concatenate([v, random.choice([0.0, 2.0], len(v))]) for name, v in more.items()
    }
    settings = SETTLED.get(subject.name, {})
    kept = np.arange(len(y) // 2)
    a = learned(subject, X, y, kept, news, **settings)
    for size in (1, 7, len(kept)):
        model = learned(subject, X, y, kept, news, **settings)
        parts = [len(kept) + np.arange(i, min(i + size, len(kept))) for i in range(0, 28, size)]
        for index in parts:
            add(subject, model, X, y, index, **{n: v[index] for n, v in news.items()})
        for index in parts[::-1]:
            labels = (y[index],) if subject.learns_labels else ()
            model.forget(pick(X, index), *labels, **{n: v[index] for n, v in news.items()})
        assert_same(subject, model, a, X, ROUNDED.get(subject.name, 0.0))


@every(
    lambda subject: subject.has("merge"),
    but={
        "Additive": "rows of a part have other cells, and it says so; see test_additive_remote",
        "Classifier": "each part chooses what its models count for",
        "LogisticRegression": "it is no sum, and says so",
        "Mixture": "components of a part are not those of the whole",
        "Pool": "each part chooses what its members count for; see test_pool",
    },
)
def test_merged_parts_are_the_fit_of_all(subject):
    random = np.random.default_rng(13)
    X, y, more = twice(random, subject)
    settings = SETTLED.get(subject.name, {})
    parts = np.array_split(random.permutation(len(y)), 3)
    first, *others = (learned(subject, X, y, index, more, **settings) for index in parts)
    for other in others:
        first.merge(other)
    whole = learned(subject, X, y, np.concatenate(parts), more, **settings)
    assert_same(subject, first, whole, X, ROUNDED.get(subject.name, 0.0))


@every(lambda subject: subject.has("decay"))
def test_half_of_doubled_rows_are_the_rows(subject):
    """Of the sums. What a fit chose (cuts, smoothing, sharpness) twice the rows may choose anew."""
    random = np.random.default_rng(17)
    X, y, more = twice(random, subject)
    settings, once = SETTLED.get(subject.name, {}), np.arange(len(y))
    for times in (2, 8):
        model = learned(subject, X, y, np.repeat(once, times), more, **settings).decay(1 / times)
        whole = learned(subject, X, y, once, more, **settings)
        assert_same(subject, model, whole, X, ROUNDED.get(subject.name, 0.0))


# --- failures ------------------------------------------------------------------------------------


def spoiled(X: Any) -> Any:
    """Rows of which one in the middle cannot be read."""
    if isinstance(X, list):
        return [*X[:3], 3.5, *X[3:]]
    bad = X.astype(float)
    bad[3, 1] = np.inf
    return bad


@pytest.mark.once
@every(
    lambda subject: subject.has("partial_fit"),
    but={"HashingVectorizer": "it learns nothing, and reads the documents when it answers"},
)
def test_a_failed_call_leaves_the_model_as_it_was(subject):
    X, y = subject.table(np.random.default_rng(19), 40)
    settings = SETTLED.get(subject.name, {})
    blank, model = subject.make(**settings), subject.fit(X, y, **settings)
    add(subject, model, X, y, np.arange(20))
    for one in (blank, model):
        before = pickle.dumps(one)
        bad = spoiled(X)
        refused(subject, one, bad, np.resize(y, len(bad)))
        if subject.learns_labels:
            refused(subject, one, pick(X, range(5)), y[:4])
        if one is model and not isinstance(X, list):
            refused(subject, one, X[:, :-1], y)
        assert pickle.dumps(one) == before


def refused(subject: Subject, model: Any, X: Any, y: Any) -> None:
    labels = (y,) if subject.learns_labels else ()
    with pytest.raises((ValueError, TypeError)):
        model.partial_fit(X, *labels, **({"classes": [0, 1]} if subject.is_classifier else {}))
