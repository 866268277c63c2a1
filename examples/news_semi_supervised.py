"""Twenty newsgroups with few labels: what posts without a label are worth (Nigam et al. 2000).

    python examples/news_semi_supervised.py        # a minute or two

The setting is theirs as far as the data allow: naive Bayes on counts scaled to documents of one
length, stop words and words of a single post left out, 10,000 posts without a label, a test of
later posts. `hidden_labels.py` has the smaller story, and what to do where hidden labels hurt.

POSTERIOR_DATA    folder of the data sets; otherwise ../shared/data beside this repository
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from posterior import CountVectorizer, MixtureClassifier, MultinomialNB

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
LENGTH = 100  # of every document after scaling
TESTED, HIDDEN = 4_000, 10_000
SIZES = (20, 100, 300, 1_000)  # labeled posts in all, as many of each group
DRAWS = 2
WORDS = (None, 5_000)  # all words of two posts or more, and the most frequent of them
PUBLISHED = {20: ("20%", "35%"), 300: ("52%", "66%")}  # given in the text of the paper


def main(sizes: tuple[int, ...] = SIZES, draws: int = DRAWS, hidden: int = HIDDEN) -> None:
    corpora = [news(most) for most in WORDS]
    _, y, _, truth = corpora[0]
    print(
        f"{len(np.unique(y))} groups, {hidden:,} posts without a label, {len(truth):,} later posts"
    )
    print(f"to test on; mean accuracy of {draws} draws of the labeled posts\n")
    titles = [f"{X.shape[1]:,} words" for X, *_ in corpora] + ["published"]
    print(f"{'':8}" + "".join(f"{title:>22}" for title in titles))
    print(f"{'labels':>8}" + f"{'labeled':>10}{'and hidden':>12}" * len(titles))
    for n in sizes:
        shares = ""
        for corpus in corpora:
            found = [accuracies(*corpus, n, hidden, seed) for seed in range(draws)]
            alone, both = np.mean(found, axis=0)
            shares += f"{alone:>10.1%}{both:>12.1%}"
        alone, both = PUBLISHED.get(n, ("", ""))
        print(f"{n:>8,}{shares}{alone:>10}{both:>12}".rstrip(), flush=True)


def accuracies(
    X: sparse.csr_matrix,
    y: np.ndarray,
    unseen: sparse.csr_matrix,
    truth: np.ndarray,
    n: int,
    hidden: int,
    seed: int,
) -> tuple[float, float]:
    """Of naive Bayes on n labeled posts, and of EM with posts whose label nobody tells."""
    order = np.random.default_rng(seed).permutation(len(y))
    groups = np.unique(y)
    known = np.concatenate([order[y[order] == g][: n // len(groups)] for g in groups])
    others = order[~np.isin(order, known)][:hidden]
    alone = MultinomialNB().fit(X[known], y[known])
    labels = np.concatenate([y[known], np.full(len(others), None)])
    both = MixtureClassifier(MultinomialNB(), tol=0.1)
    both.fit(X[np.concatenate([known, others])], labels)
    return alone.score(unseen, truth), both.score(unseen, truth)


def news(most: int | None) -> tuple[sparse.csr_matrix, np.ndarray, sparse.csr_matrix, np.ndarray]:
    """Counts of words in posts without headers, and groups: to learn from, to test on."""
    folder = Path(os.environ.get("POSTERIOR_DATA", BESIDE))
    files = [folder / f"20news-bydate-{part}.csv.gz" for part in ("train", "test")]
    if not all(file.is_file() for file in files):
        sys.exit(f"Expected {files[0].name} and {files[1].name} in {folder}; set POSTERIOR_DATA.")
    train, test = (pd.read_csv(file) for file in files)
    test = test.sample(TESTED, random_state=0)
    texts = [part["text"].str.split("\n\n", n=1).str[-1].fillna("") for part in (train, test)]
    letters = r"(?u)\b[a-zA-Z]+\b"
    counter = CountVectorizer(
        stop_words="english", token_pattern=letters, min_df=2, max_features=most
    )
    X, unseen = counter.fit_transform(texts[0]), counter.transform(texts[1])
    y, truth = (part["group"].to_numpy(object) for part in (train, test))
    return scaled(X), y, scaled(unseen), truth


def scaled(X: sparse.csr_matrix) -> sparse.csr_matrix:
    """All documents as long as each other."""
    length = np.maximum(np.asarray(X.sum(axis=1)).ravel(), 1)
    return sparse.csr_matrix(sparse.diags(LENGTH / length) @ X)


if __name__ == "__main__":
    main()
