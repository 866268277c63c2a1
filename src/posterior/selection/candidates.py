"""The models that are compared, from the simplest to the least simple.

Naive Bayes comes first: its parameters are means and shares, its reasons add up, and it goes on
learning. Linear discriminants add one covariance, logistic regression gives up the density for a
search, quadratic discriminants need a covariance for each class, and neighbors keep all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from posterior.estimators import (
    BernoulliNB,
    CountVectorizer,
    GaussianDiscriminantAnalysis,
    KNeighborsClassifier,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    TfidfVectorizer,
)
from posterior.estimators.document_classifier import DocumentClassifier
from posterior.estimators.table_classifier import TableClassifier
from posterior.preprocessing.numbers import MOST_LEVELS
from posterior.preprocessing.roles import Roles

Kind = Literal["baseline", "generative", "discriminative", "by example"]

NEIGHBOR_CELLS = 2e9  # rows² × columns that a comparison may look at
LOGISTIC_WORK = 4e10  # rows × (columns × classes)², of one Newton step
COVARIANCE_COLUMNS = 1000
LOGISTIC_DOCUMENTS = 30_000  # times classes


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model to be compared, and on how many rows."""

    key: str
    name: str
    kind: Kind
    simplicity: int
    settings: str
    classifier: TableClassifier
    most_rows: int | None = None  # None for all


def candidates(roles: Roles, n_rows: int, n_classes: int) -> list[Candidate]:
    """All models that can read these columns."""
    return [
        *(_of_tables(roles, n_rows, n_classes) if roles.table else []),
        *_of_texts(roles, n_rows, n_classes),
    ]


def width(roles: Roles) -> int:
    """About how many numbers a row becomes."""
    words = ("category", "boolean")
    return sum(
        min(c.distinct, MOST_LEVELS) if c.role in words else 1 + bool(c.missing)
        for c in roles.table
    )


def _of_tables(roles: Roles, n_rows: int, n_classes: int) -> list[Candidate]:
    numeric = all(c.role in ("number", "date") for c in roles.table)
    p = width(roles)
    share = round(p / (p + n_rows), 4)  # of a sphere: half where columns are as many as rows
    found = [
        Candidate(
            "naive-bayes",
            "Naive Bayes",
            "generative",
            1,
            "Numbers normal and categories as shares, independent given the class; missing cells "
            "are left out.",
            TableClassifier(NaiveBayes(), roles),
        )
    ]
    if p <= COVARIANCE_COLUMNS:
        found.append(
            Candidate(
                "discriminant",
                "Linear discriminant",
                "generative",
                2,
                f"Normal with one covariance for all classes, {share:.2g} of it a sphere"
                + ("." if numeric else "; categories as zeros and ones."),
                TableClassifier(
                    GaussianDiscriminantAnalysis("shared", shrinkage=share),
                    roles,
                    reads="numbers",
                    keep_missing=numeric,
                ),
            )
        )
    work = n_rows * (p * (n_classes if n_classes > 2 else 1)) ** 2
    found.append(
        Candidate(
            "logistic",
            "Logistic regression",
            "discriminative",
            3,
            "Log odds linear in standardized columns, ridge penalty C = 1"
            + ("." if numeric else "; categories as zeros and ones."),
            TableClassifier(LogisticRegression(), roles, reads="numbers"),
            None if work <= LOGISTIC_WORK else max(1000, int(n_rows * LOGISTIC_WORK / work)),
        )
    )
    if numeric and p <= COVARIANCE_COLUMNS / 4:
        found.append(
            Candidate(
                "quadratic",
                "Quadratic discriminant",
                "generative",
                4,
                f"Normal with a covariance for each class, {share:.2g} of it a sphere, and one "
                "pseudo-row of all classes.",
                TableClassifier(
                    GaussianDiscriminantAnalysis("own", shrinkage=share, pseudo_rows=1.0),
                    roles,
                    reads="numbers",
                    keep_missing=True,
                ),
            )
        )
    cells = NEIGHBOR_CELLS if numeric else NEIGHBOR_CELLS / 20
    most = int((cells / len(roles.table)) ** 0.5)
    found.append(
        Candidate(
            "neighbors",
            "Nearest neighbors",
            "by example",
            5,
            "The nearest rows vote, "
            + ("standardized" if numeric else "by a distance of numbers and categories")
            + "; how many is chosen with each row answered by the others.",
            TableClassifier(
                KNeighborsClassifier("auto", metric="minkowski" if numeric else "mixed"),
                roles,
                reads="numbers" if numeric else "table",
                keep_missing=numeric,
            ),
            None if n_rows <= most else most,
        )
    )
    return found


def _of_texts(roles: Roles, n_rows: int, n_classes: int) -> list[Candidate]:
    """Models of words, or of letters where the documents are single words."""
    if not roles.text:
        return []
    letters = roles.by_letters
    read = {"analyzer": "char_wb", "ngram_range": (1, 4)} if letters else {"min_df": 2}
    unit = "pieces of up to four letters" if letters else "words"
    counts = CountVectorizer(missing="empty", **read)
    shares = TfidfVectorizer(missing="empty", sublinear_tf=True, **read)

    def reading(model: Any) -> TableClassifier:
        return TableClassifier(model, roles, reads="documents")

    most = int(LOGISTIC_DOCUMENTS / (n_classes if n_classes > 2 else 1))
    found = [
        Candidate(
            "text-multinomial",
            "Multinomial naive Bayes",
            "generative",
            1,
            f"Counts of {unit}, independent given the class.",
            reading(DocumentClassifier(counts, MultinomialNB(alpha=0.1))),
        ),
        Candidate(
            "text-bernoulli",
            "Bernoulli naive Bayes",
            "generative",
            2,
            f"Which {unit} occur, independent given the class.",
            reading(DocumentClassifier(counts, BernoulliNB(alpha=0.1))),
        ),
        Candidate(
            "text-logistic",
            "Logistic regression on " + ("letters" if letters else "words"),
            "discriminative",
            3,
            f"Log odds linear in tf-idf weights of {unit}, ridge penalty C = 10.",
            reading(
                DocumentClassifier(shares, LogisticRegression(C=10.0, tol=1e-2, solver="lbfgs"))
            ),
            None if n_rows <= most else most,
        ),
    ]
    return found
