"""Is the critic pleased?  Naive Bayes weighs the words, and logistic regression corrects the
weights (Wang and Manning 2012).

    python examples/nb_weighted_logistic.py                # both sets: some minutes
    python examples/nb_weighted_logistic.py snippets       # or reviews

POSTERIOR_DATA    folder of the data sets; otherwise ../shared/data beside this repository
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from posterior import CountVectorizer, LogisticRegression, MultinomialNB
from posterior.preprocessing import LogCountRatio

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
BETA = 0.25  # how far the weights may go from naive Bayes towards logistic regression
FILES = {"snippets": "rt-polarity.csv.gz", "reviews": "movie-polarity-v2.csv.gz"}
TERMS = {"words": (1, 1), "and pairs": (1, 2)}
# Their MNB, SVM and NBSVM; ours has logistic regression in place of the support vector machine.
PUBLISHED = {
    ("snippets", "words"): (77.9, 76.2, 78.1),
    ("snippets", "and pairs"): (79.0, 77.7, 79.4),
    ("reviews", "words"): (83.45, 86.25, 87.80),
    ("reviews", "and pairs"): (85.85, 87.40, 89.45),
}


def main(*names: str, folds: int | None = None) -> None:
    print("Accuracy over ten folds, ours beside theirs\n")
    print(f"{'':20}{'naive Bayes':>16}{'logistic':>11}{'SVM':>7}{'weighed and mixed':>20}")
    print(f"{'texts':10}{'terms':10}{'ours':>9}{'theirs':>7}{'ours':>11}{'theirs':>7}", end="")
    print(f"{'ours':>13}{'theirs':>7}")
    for name in names or FILES:
        texts, y, fold = read(name)
        chosen = np.unique(fold)[:folds]
        for terms, lengths in TERMS.items():
            counter = CountVectorizer(ngram_range=lengths, token_pattern=r"\S+", binary=True)
            X = counter.fit_transform(texts).astype(float)
            right = [np.concatenate([w(X, y, fold == f) for f in chosen]) for w in WAYS]
            ours = [100 * share.mean() for share in right]
            bayes, machine, mixed = PUBLISHED[name, terms]
            print(f"{name:10}{terms:10}{ours[0]:>9.1f}{bayes:>7.1f}", end="")
            print(f"{ours[1]:>11.1f}{machine:>7.1f}{ours[2]:>13.1f}{mixed:>7.1f}", flush=True)


def naive_bayes(X: sparse.csr_matrix, y: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Which held-out texts naive Bayes gets right; a word counts once in a text."""
    return MultinomialNB().fit(X[~held], y[~held]).predict(X[held]) == y[held]


def logistic(X: sparse.csr_matrix, y: np.ndarray, held: np.ndarray) -> np.ndarray:
    return LogisticRegression(max_iter=500).fit(X[~held], y[~held]).predict(X[held]) == y[held]


def mixed(X: sparse.csr_matrix, y: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Weights w of x ∘ r, drawn towards w̄ = Σ |wⱼ| / d: all alike, that is naive Bayes.

    w′ = (1 - β) w̄ + β w
    """
    known = np.flatnonzero(X[~held].getnnz(axis=0))
    learn, answer = X[~held][:, known], X[held][:, known]
    ratio = LogCountRatio().fit(learn, y[~held])
    model = LogisticRegression(max_iter=500).fit(ratio.transform(learn), y[~held])
    weight = model.coef_[0]
    drawn = (1 - BETA) * np.abs(weight).mean() + BETA * weight
    said = ratio.transform(answer) @ drawn + model.intercept_[0] > 0
    return model.classes_[said.astype(int)] == y[held]


WAYS: tuple[Callable[..., np.ndarray], ...] = (naive_bayes, logistic, mixed)


def read(name: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Texts, their labels, and ten folds: the authors' own where they are known."""
    file = Path(os.environ.get("POSTERIOR_DATA", BESIDE)) / FILES[name]
    if not file.is_file():
        sys.exit(f"Expected {file.name} in {file.parent}; set POSTERIOR_DATA.")
    table = pd.read_csv(file)
    y = table["label"].to_numpy(object)
    if "fold" in table:
        return table["text"].tolist(), y, table["fold"].to_numpy()
    fold = np.empty(len(y), int)
    parts = StratifiedKFold(10, shuffle=True, random_state=0).split(y, y)
    for number, (_, held) in enumerate(parts):
        fold[held] = number
    return table["text"].tolist(), y, fold


if __name__ == "__main__":
    main(*sys.argv[1:])
