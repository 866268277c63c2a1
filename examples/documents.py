"""The first lecture's homework: is a post about PC hardware, or about Macs?

Run it with `python examples/documents.py`. It reads the course's word counts where they are at
hand (`document word count` a line), and otherwise draws documents by its own law.

POSTERIOR_DATA    folder of the data sets; otherwise ../shared/data beside this repository
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from posterior import LogisticRegression, MultinomialNB

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
CLASSES = np.array(["pc", "mac"])


class Posts(NamedTuple):
    """How often each post uses each word, and what it is about."""

    counts: sparse.csr_array
    label: np.ndarray


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def main() -> None:
    train, test, handed_out = homework()
    seen = train.counts.sum(axis=0) > 0
    heading("The posts")
    print(f"{len(train.label)} to learn from, {len(test.label)} to test on, {seen.size:,} words")
    unseen = test.counts[:, ~seen].sum() / test.counts.sum()
    share = f"{unseen:.1%} of what the test posts say"
    print(f"{(~seen).sum():,} words never occur in training: {share}")

    heading("Multinomial naive Bayes, by the number of pseudo-counts α")
    print(f"{'α':>8}{'training':>12}{'test':>8}{'log loss':>12}")
    for alpha in (1e-3, 1e-2, 0.1, 1.0, 10.0):
        model = MultinomialNB(alpha=alpha).fit(*train)
        print(f"{alpha:>8g}{figures(model, train, test)}")
    laplace = MultinomialNB().fit(*train)
    if handed_out is not None:
        wrong = np.mean(laplace.predict(test.counts) == handed_out)
        print(f"By the labels that were handed out, which say mac for all posts: {wrong:.0%}.")

    heading("Logistic regression, by gradient ascent on the log-likelihood")
    print(f"{'steps':>8}{'training':>12}{'test':>8}{'log loss':>12}")
    for steps in (10, 100, 1_000, 10_000):
        ascent = LogisticRegression(
            C=np.inf, solver="gradient-ascent", step=1e-3, max_iter=steps, tol=0.0
        )
        with warnings.catch_warnings():  # the first steps of this length lead away
            warnings.simplefilter("ignore", ConvergenceWarning)
            ascent.fit(*train)
        print(f"{steps:>8,}{figures(ascent, train, test)}")
    ridge = LogisticRegression(max_iter=1_000).fit(*train)
    print(f"{'C = 1':>8}{figures(ridge, train, test)}")
    print("More words than posts: a plane separates the classes, the likelihood has no maximum,")
    print("and every further step only makes the model more certain.")

    heading("The words that tell most, by number")
    odds = laplace.feature_log_prob_[1] - laplace.feature_log_prob_[0]
    order = np.argsort(odds)
    for name, words in (("pc", order[:6]), ("mac", order[:-7:-1])):
        shown = ", ".join(f"{word + 1} (×{np.exp(abs(odds[word])):.0f})" for word in words)
        print(f"{name:>6}  {shown}")


def figures(model: MultinomialNB | LogisticRegression, train: Posts, test: Posts) -> str:
    own = np.searchsorted(model.classes_, test.label)
    log_loss = -model.predict_log_proba(test.counts)[np.arange(len(own)), own].mean()
    return f"{model.score(*train):>12.1%}{model.score(*test):>8.1%}{log_loss:>12.3f}"


def homework() -> tuple[Posts, Posts, np.ndarray | None]:
    """Training and test posts, and the test labels as they were handed out."""
    folder = Path(os.environ.get("POSTERIOR_DATA", BESIDE)) / "uga-hw1"
    if not folder.is_dir():
        return (*simulated(), None)
    tables = [np.loadtxt(folder / f"{name}.data", int) for name in ("train", "test_partial")]
    n_words = max(table[:, 1].max() for table in tables)
    names = ("train.label", "test_partial.label-inferred", "test_partial.label")
    labels = [CLASSES[np.loadtxt(folder / name, int)] for name in names]
    train, test = (
        Posts(counted(table, n_words), label)
        for table, label in zip(tables, labels[:2], strict=True)
    )
    return train, test, labels[2]


def counted(table: np.ndarray, n_words: int) -> sparse.csr_array:
    """Lines of document, word and count; documents in order of their numbers, words from 1."""
    documents, row = np.unique(table[:, 0], return_inverse=True)
    shape = (len(documents), n_words)
    return sparse.csr_array((table[:, 2].astype(float), (row, table[:, 1] - 1)), shape=shape)


def simulated(n_words: int = 2_000, length: int = 100) -> tuple[Posts, Posts]:
    """Posts of two classes whose words are drawn from urns that differ a little."""
    random = np.random.default_rng(0)
    urn = 1 / np.arange(1, n_words + 1)
    urns = urn * np.exp(random.normal(0, 0.4, (2, n_words)))
    urns /= urns.sum(axis=1, keepdims=True)

    def draw(n: int) -> Posts:
        codes = np.arange(n) % 2
        counts = np.stack([random.multinomial(length, urns[k]) for k in codes])
        return Posts(sparse.csr_array(counts.astype(float)), CLASSES[codes])

    return draw(200), draw(100)


if __name__ == "__main__":
    main()
