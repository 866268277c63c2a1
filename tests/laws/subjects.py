"""The classifiers that the laws are tried on, with tables that suit them, and all they learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from listed import KINDS, table_of
from scipy import sparse
from strategies import Random, bits, counts, plain, table

from posterior import (
    BernoulliNB,
    Categorical,
    CategoricalNB,
    ComplementNB,
    DegenerateError,
    GaussianNB,
    JointBayes,
    MEstimate,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
)
from posterior.estimators.estimator import learned as attribute

NAMES = np.array(["no", "yes", "a long name"])


@dataclass(frozen=True)
class Subject:
    """A classifier, and the tables that it reads."""

    make: Callable[[], Any]
    table: Callable[[Random, int], Any]


def numbers(random: Random, n: int) -> np.ndarray:
    return table(random, n, random.integers(1, 4))


def yes_no(random: Random, n: int) -> np.ndarray:
    return table(random, n, random.integers(1, 4), lambda r, shape: r.integers(0, 2, shape))


def categories(random: Random, n: int) -> np.ndarray:
    return table(random, n, random.integers(1, 4), lambda r, shape: r.integers(0, 6, shape))


def events(random: Random, n: int) -> np.ndarray:
    return table(random, n, random.integers(1, 4), counts)


def words(random: Random, n: int) -> np.ndarray:
    """Counts of words, or shares of them."""
    return table(random, n, 3, counts, holes=False) * random.choice([1.0, 0.1])


def sparse_words(random: Random, n: int) -> sparse.csr_array:
    return sparse.csr_array(words(random, n))


def frame(random: Random, n: int) -> pd.DataFrame:
    """Numbers, words and counts, each with missing cells."""
    cities = np.where(random.random(n) < 0.2, None, random.choice(["Rome", "Oslo", "Ys"], n))
    return pd.DataFrame(
        {
            "size": table(random, n, 1, plain)[:, 0],
            "city": pd.Series(cities, dtype="str"),
            "visits": table(random, n, 1, counts)[:, 0],
        }
    )


def numbered(random: Random, n: int) -> pd.DataFrame:
    """Categories that are numbers; a chunk may have none."""
    cells = random.choice([1.0, 2.0, 10.0, np.nan, np.nan], (n, 2))
    return pd.DataFrame({"zip": cells[:, 0], "floor": cells[:, 1] + random.choice([0, 0.5], n)})


def of_all_types(random: Random, n: int) -> pd.DataFrame:
    """Categories of several types in one column; a chunk may have one of them only."""
    cells = np.array(["a", "1", 1, 2.5, 3.0, True, None], dtype=object)
    return pd.DataFrame({"thing": pd.Series(random.choice(cells, n), dtype=object)})


def named(random: Random, n: int) -> pd.DataFrame:
    """Words and truths, some missing."""
    cells = random.choice(np.array(["Rome", "Oslo", "", None], dtype=object), n)
    truth = random.choice(np.array([True, False, None], dtype=object), n)
    return pd.DataFrame({"city": pd.Series(cells, dtype="str"), "open": truth})


SUBJECTS = {
    "GaussianNB": Subject(GaussianNB, numbers),
    "BernoulliNB": Subject(BernoulliNB, yes_no),
    "CategoricalNB": Subject(CategoricalNB, categories),
    "MultinomialNB": Subject(MultinomialNB, words),
    "MultinomialNB, sparse": Subject(MultinomialNB, sparse_words),
    "BernoulliNB, sparse": Subject(BernoulliNB, sparse_words),
    "ComplementNB": Subject(ComplementNB, words),
    "PoissonNB": Subject(PoissonNB, events),
    "NaiveBayes": Subject(partial(NaiveBayes, {"visits": "poisson"}), frame),
    "NaiveBayes, predictive": Subject(partial(NaiveBayes, predictive=True), numbers),
    "JointBayes": Subject(JointBayes, categories),
} | {
    f"NaiveBayes of {name}": Subject(partial(NaiveBayes, KINDS[name]()), table_of(name))
    for name in KINDS
}


def category_frame(random: Random, n: int) -> pd.DataFrame:
    return frame(random, n)[["city"]]


SETTINGS = {
    "GaussianNB, much smoothing": Subject(partial(GaussianNB, var_smoothing=0.1), numbers),
    "BernoulliNB, tiny alpha": Subject(partial(BernoulliNB, alpha=1e-10), yes_no),
    "BernoulliNB, no smoothing": Subject(partial(BernoulliNB, alpha=0), yes_no),
    "CategoricalNB, no smoothing": Subject(partial(CategoricalNB, alpha=0), categories),
    "CategoricalNB, seven values": Subject(partial(CategoricalNB, min_categories=7), categories),
    "MultinomialNB, no smoothing": Subject(partial(MultinomialNB, alpha=0), words),
    "MultinomialNB, equal priors": Subject(partial(MultinomialNB, fit_prior=False), words),
    "ComplementNB, normed": Subject(partial(ComplementNB, norm=True), words),
    "PoissonNB, no pseudo-rows": Subject(partial(PoissonNB, alpha=0), events),
    "NaiveBayes, m-estimate": Subject(
        partial(NaiveBayes, Categorical(MEstimate(2.0, None))), category_frame
    ),
    "NaiveBayes, uniform m-estimate": Subject(
        partial(NaiveBayes, Categorical(MEstimate(2.0))), category_frame
    ),
    "NaiveBayes, multinomial": Subject(partial(NaiveBayes, "multinomial", predictive=True), words),
    "NaiveBayes, Poisson": Subject(partial(NaiveBayes, "poisson", predictive=True), events),
    "JointBayes, little smoothing": Subject(partial(JointBayes, alpha=0.1), categories),
}
CATEGORICAL = {
    "NaiveBayes, numbered categories": Subject(partial(NaiveBayes, "categorical"), numbered),
    "NaiveBayes, categories of all types": Subject(
        partial(NaiveBayes, {"thing": "categorical"}), of_all_types
    ),
    "JointBayes, words": Subject(JointBayes, named),
}
each_subject = pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS.keys())
each_setting = pytest.mark.parametrize("subject", SETTINGS.values(), ids=SETTINGS.keys())


def labels(random: Random, n: int) -> np.ndarray:
    codes = random.integers(0, random.integers(1, 4), n)
    return codes if random.random() < 0.5 else NAMES[codes]


def positive_weights(random: Random, n: int) -> np.ndarray | None:
    whole, fractions = random.integers(1, 5, n).astype(float), random.uniform(0.1, 9, n)
    return [None, whole, fractions][random.integers(3)]


def pick(X: Any, rows: Any) -> Any:
    """Some rows of a table, of labels or of weights."""
    if X is None:
        return None
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def attempt(call: Callable[[], Any]) -> Any:
    """The bits of an answer, or why there is none: that too must not change."""
    try:
        return bits(call())
    except DegenerateError as error:
        return str(error)


def learned(model: Any, X: Any) -> dict[str, Any]:
    """All that a fitted model shows, to the last bit, and its answers for some rows."""
    names = [n for n in dir(type(model)) if isinstance(getattr(type(model), n), attribute)]
    shown = {name: bits(getattr(model, name, None)) for name in names}
    return shown | {"answers": attempt(lambda: model.predict_joint_log_proba(X))}


def assert_same(a: dict[str, Any], b: dict[str, Any], why: str = "") -> None:
    changed = [name for name in a | b if a.get(name) != b.get(name)]
    assert not changed, f"{changed} changed {why}".rstrip()
