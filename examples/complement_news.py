"""Four repairs of naive Bayes for documents, one after the other (Rennie et al. 2003).

    python examples/complement_news.py        # a minute, half of it the support vector machine's

POSTERIOR_DATA    folder of the data sets; otherwise ../shared/data beside this repository
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from posterior import ComplementNB, CountVectorizer, MultinomialNB

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
SPLITS = 5  # at random, 80 % to learn from
STEPS = ("counts", "log(1 + count)", "and idf", "and length one")
PUBLISHED = {
    ("multinomial", "counts"): 0.848,
    ("complement, normed", "and length one"): 0.861,  # their "TWCNB"
    ("linear SVM", "and length one"): 0.862,
}
MODELS = {
    "multinomial": MultinomialNB,
    "complement": ComplementNB,
    "complement, normed": lambda: ComplementNB(norm=True),
}


def main(splits: int = SPLITS, machine: bool = True) -> None:
    X, y, later = news()
    n = X.shape[0]
    print(f"{n:,} posts of {len(np.unique(y))} groups without headers, {X.shape[1]:,} words\n")
    by_date = [(np.flatnonzero(~later), np.flatnonzero(later))]
    at_random = StratifiedShuffleSplit(splits, test_size=0.2, random_state=0).split(y, y)
    random_parts = list(at_random)
    print(f"{'model':20}{'features':18}{'published':>10}{f'{splits} random splits':>18}", end="")
    print(f"{'by date':>10}")
    for title, step, make in lines(machine):
        shares = [
            np.mean([score(X, y, p, step, make) for p in ps]) for ps in (random_parts, by_date)
        ]
        theirs = PUBLISHED.get((title, STEPS[step]))
        cells = (
            f"{'' if theirs is None else f'{theirs:.3f}':>10}{shares[0]:>18.3f}{shares[1]:>10.3f}"
        )
        print(f"{title:20}{STEPS[step]:18}{cells}", flush=True)


def lines(machine: bool) -> Iterator[tuple[str, int, Any]]:
    for title, make in MODELS.items():
        for step in range(len(STEPS)):
            yield title, step, make
    if machine:  # scikit-learn's, for comparison, as in the paper
        yield "linear SVM", 3, lambda: LinearSVC(random_state=0)


def score(
    X: sparse.csr_matrix, y: np.ndarray, parts: tuple[np.ndarray, np.ndarray], step: int, make: Any
) -> float:
    train, test = parts
    learn, answer = weighed(X[train], X[test], step)
    return float(make().fit(learn, y[train]).score(answer, y[test]))


def weighed(
    learn: sparse.csr_matrix, answer: sparse.csr_matrix, step: int
) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """The first so many repairs: log(1 + d_ij), times log(n / n_i), over the length of document j.

    n_i is the number of documents that have term i, of those to learn from.
    """
    if step == 0:
        return learn, answer
    learn, answer = learn.log1p(), answer.log1p()
    if step >= 2:
        having = np.maximum(learn.getnnz(axis=0), 1)
        idf = sparse.diags(np.log(learn.shape[0] / having))
        learn, answer = learn @ idf, answer @ idf
    if step >= 3:
        learn, answer = normalize(learn), normalize(answer)
    return learn, answer


def news() -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
    """Counts of words, groups, and which posts are the later ones of the split by date."""
    folder = Path(os.environ.get("POSTERIOR_DATA", BESIDE))
    files = [folder / f"20news-bydate-{part}.csv.gz" for part in ("train", "test")]
    if not all(file.is_file() for file in files):
        sys.exit(f"Expected {files[0].name} and {files[1].name} in {folder}; set POSTERIOR_DATA.")
    table = pd.concat([pd.read_csv(file) for file in files], keys=[False, True])
    texts = table["text"].str.split("\n\n", n=1).str[-1].fillna("")
    X = CountVectorizer(min_df=2, dtype=np.float64).fit_transform(texts)
    return X, table["group"].to_numpy(object), table.index.get_level_values(0).to_numpy(bool)


if __name__ == "__main__":
    main()
