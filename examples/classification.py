"""The fifth lecture's claims, tried out: GDA or logistic regression, Laplace, exclusive or.

Run it with `python examples/classification.py`. Messages are read where they are at hand, and
otherwise drawn by a law of our own.

POSTERIOR_DATA    folder of the data sets; otherwise ../shared/data beside this repository
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from posterior import (
    BernoulliNB,
    CountVectorizer,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    KNeighborsClassifier,
    LogisticRegression,
)

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
COLUMNS = 4
Draw = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def main(draws: int = 40) -> None:
    warnings.simplefilter("ignore")  # few rows are separable, which these two models survive
    generative_or_discriminative(draws)
    laplace()
    exclusive_or()


def generative_or_discriminative(draws: int) -> None:
    """Where the classes are normal, GDA needs fewer rows; where they are not, it ends worse."""
    sizes = (12, 25, 100, 2_000)
    heading("GDA or logistic regression: error on rows not seen")
    print(f"{'':28}" + "".join(f"{f'{n:,} rows':>12}" for n in sizes))
    for name, draw in (("normal", normal), ("log-normal", log_normal)):
        random = np.random.default_rng(0)
        unseen, truth = draw(20_000, random)
        errors = np.zeros((2, len(sizes)))
        for _ in range(draws):
            for j, n in enumerate(sizes):
                X, y = draw(n, random)
                for i, model in enumerate(
                    (GaussianDiscriminantAnalysis("shared"), LogisticRegression(C=100.0))
                ):
                    errors[i, j] += 1 - model.fit(X, y).score(unseen, truth)
        for label, row in zip(("GDA", "logistic"), errors / draws, strict=True):
            print(f"{f'{name} columns, {label}':28}" + "".join(f"{e:>12.1%}" for e in row))


def normal(n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes of one covariance: what GDA assumes."""
    y = np.arange(n) % 2
    return random.normal(0.9 * y[:, None], 1.0, (n, COLUMNS)), y


def log_normal(n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Positive columns with a long tail, in which the log-odds are not linear either."""
    X, y = normal(n, random)
    return np.exp(1.5 * X), y


def laplace() -> None:
    """A word that no training message has makes the posterior 0 / 0; Laplace mends it."""
    (X, y), (unseen, truth), source = messages()
    heading(f"Naive Bayes and words never seen, {source}")
    print(f"{len(y):,} messages to learn from, {len(truth):,} to test on, {X.shape[1]:,} words")
    print(f"{'α':>6}{'impossible in both classes':>30}{'right':>10}")
    for alpha in (0.0, 1.0):
        model = BernoulliNB(alpha=alpha).fit(X, y)
        impossible = np.isneginf(model.predict_joint_log_proba(unseen)).all(axis=1)
        print(f"{alpha:>6g}{impossible.mean():>30.1%}{model.score(unseen, truth):>10.1%}")


def messages() -> tuple[tuple[sparse.csr_matrix, np.ndarray], ...]:
    """The first half to learn from, the second to test on; words are those of both."""
    file = Path(os.environ.get("POSTERIOR_DATA", BESIDE)) / "sms-spam.csv"
    if file.is_file():
        table, source = pd.read_csv(file), "5,574 text messages"
        text, y = table["text"], table["label"].to_numpy()
    else:
        random, source = np.random.default_rng(0), "messages drawn just now"
        y = np.where(random.random(600) < 0.2, "spam", "ham")
        urn = 1 / np.arange(1, 2_001)
        draws = [np.roll(urn, 5 * (label == "spam")) for label in y]
        text = [
            " ".join(f"w{word}" for word in random.choice(2_000, 12, p=p / p.sum())) for p in draws
        ]
    X, half = CountVectorizer(binary=True).fit_transform(text), len(y) // 2
    return (X[:half], y[:half]), (X[half:], y[half:]), source


def exclusive_or() -> None:
    """Four clouds at the corners of a square; like corners are opposite."""
    random = np.random.default_rng(0)
    corner = random.integers(0, 2, (2_000, 2))
    X, y = corner + random.normal(0, 0.15, corner.shape), corner[:, 0] ^ corner[:, 1]
    product = np.column_stack([X, X[:, 0] * X[:, 1]])
    heading("Exclusive or: share of 1,000 new points that are right")
    for name, model, table in (
        ("Gaussian naive Bayes", GaussianNB(), X),
        ("GDA, one covariance", GaussianDiscriminantAnalysis("shared"), X),
        ("logistic regression", LogisticRegression(), X),
        ("GDA, a covariance a class", GaussianDiscriminantAnalysis("own"), X),
        ("5 nearest neighbors", KNeighborsClassifier(5), X),
        ("logistic regression, x₁ x₂ too", LogisticRegression(), product),
    ):
        right = model.fit(table[:1_000], y[:1_000]).score(table[1_000:], y[1_000:])
        print(f"{name:34}{right:>7.1%}")


if __name__ == "__main__":
    main()
