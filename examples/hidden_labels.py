"""Few labels, many documents: do documents without a label help?  (Nigam et al. 2000)

Run it with `python examples/hidden_labels.py`, or with the name of a picture to save:
`python examples/hidden_labels.py curve.png` (.svg, .html and .json work too). It takes half a
minute.

POSTERIOR_DATA    folder of the data sets; otherwise ../shared/data beside this repository, and
                  where that has no news, documents are drawn by a law of our own
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from posterior import MixtureClassifier, MultinomialNB

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
WORDS, LENGTH = 5_000, 100  # of the vocabulary, and of every document after scaling
HIDDEN, TESTED = 4_000, 4_000  # documents at most
SIZES = (20, 40, 70, 100)  # labeled documents of each group
WEIGHTS = (0.0, 0.1, 0.3, 1.0)  # of a document without a label
HELD_OUT = 0.3  # of the labeled documents, to choose the weight by


@dataclass
class Corpus:
    """Word counts and groups: documents to learn from, in random order, and to test on."""

    source: str
    X: sparse.csr_matrix
    y: np.ndarray
    unseen: sparse.csr_matrix
    truth: np.ndarray


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def main(picture: str | None = None, sizes: tuple[int, ...] = SIZES) -> None:
    corpus = news() or simulated()
    groups = np.unique(corpus.y)
    heading("The documents")
    print(f"{corpus.source}: {len(groups)} groups, {corpus.X.shape[1]:,} words,")
    print(f"up to {HIDDEN:,} documents without a label, {len(corpus.truth):,} to test on")

    heading("Accuracy on documents not seen, multinomial naive Bayes")
    print(f"{'labels':>8}{'from labeled':>15}{'and hidden':>13}{'change':>9}", end="")
    print(f"{'at a weight chosen':>21}{'change':>9}")
    lines = []
    for n in sizes:
        labeled, hidden = split(corpus.y, n)
        alone = accuracy(corpus, labeled, hidden, 0.0)
        full = accuracy(corpus, labeled, hidden, 1.0)
        weight = chosen_weight(corpus, labeled, hidden)
        best = accuracy(corpus, labeled, hidden, weight)
        lines.append((n, alone, full, best))
        print(f"{n:>8}{alone:>14.1%}{full:>13.1%}{points(full - alone)}", end="")
        print(f"{best:>12.1%} at {weight:<6g}{points(best - alone)}")
    print("labels: labeled documents of each group; change: in points, from labeled ones alone.")

    hurt = [n for n, alone, full, _ in lines if full < alone]
    if hurt:
        print(f"Hidden documents at full weight hurt with {', '.join(map(str, hurt))} labels.")
    else:
        print("Hidden documents at full weight hurt nowhere here, and help least with most labels.")
    one_against_all(corpus, max(sizes))
    if picture is not None:
        draw(lines, picture)
        print(f"\nThe picture is in {picture}")


def one_against_all(corpus: Corpus, n: int) -> None:
    """Where the model is wrong: a group against a class that is many groups."""
    group = np.unique(corpus.y)[0]
    heading(f"The same for two classes: {group}, and all other groups as one")
    rest = len(np.unique(corpus.y)) - 1
    two = Corpus("", corpus.X, corpus.y == group, corpus.unseen, corpus.truth == group)
    labeled, hidden = split(two.y, n)
    for name, weight, parts in [
        ("labeled documents", 0.0, 1),
        ("and hidden ones", 1.0, 1),
        (f"and hidden ones, {rest} components for the others", 1.0, rest),
    ]:
        right = accuracy(two, labeled, hidden, weight, {False: parts, True: 1}, balanced=True)
        print(f"{name:56}{right:>7.1%}")
    print(f"{n} labels of each class; accuracy is the average of both classes'. One component for")
    print("so many groups is a wrong model, and hidden documents make it fit them, not the labels.")
    print("More components may mend that, or not: EM finds one of many tops.")


def split(y: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The first n documents of each group, and others whose label shall be hidden."""
    labeled = np.concatenate([np.flatnonzero(y == group)[:n] for group in np.unique(y)])
    return labeled, np.setdiff1d(np.arange(len(y)), labeled)[:HIDDEN]


def accuracy(
    corpus: Corpus,
    labeled: np.ndarray,
    hidden: np.ndarray,
    weight: float,
    n_components: int | dict[bool, int] = 1,
    balanced: bool = False,
) -> float:
    model = learn(corpus, labeled, hidden, weight, n_components)
    right = model.predict(corpus.unseen) == corpus.truth
    if not balanced:
        return float(right.mean())
    return float(np.mean([right[corpus.truth == group].mean() for group in model.classes_]))


def learn(
    corpus: Corpus,
    labeled: np.ndarray,
    hidden: np.ndarray,
    weight: float,
    n_components: int | dict[bool, int] = 1,
) -> MixtureClassifier:
    rows = labeled if weight == 0 else np.concatenate([labeled, hidden])
    y = corpus.y[rows].astype(object)
    y[len(labeled) :] = None  # a missing label is a hidden one
    model = MixtureClassifier(
        MultinomialNB(), n_components=n_components, hidden_weight=weight, tol=1e-3, random_state=0
    )
    return model.fit(corpus.X[rows], y)


def chosen_weight(corpus: Corpus, labeled: np.ndarray, hidden: np.ndarray) -> float:
    """The weight with the best accuracy on labeled documents that were held out."""
    held = np.random.default_rng(0).random(len(labeled)) < HELD_OUT
    known = corpus.X[labeled[held]], corpus.y[labeled[held]]
    scores = [learn(corpus, labeled[~held], hidden, weight).score(*known) for weight in WEIGHTS]
    return WEIGHTS[int(np.argmax(scores))]


def points(change: float) -> str:
    return f"{100 * change:>+9.1f}"


def news() -> Corpus | None:
    """Twenty newsgroups, without headers, if they are at hand; the test is of later posts."""
    folder = Path(os.environ.get("POSTERIOR_DATA", BESIDE))
    files = [folder / f"20news-bydate-{part}.csv.gz" for part in ("train", "test")]
    if not all(file.is_file() for file in files):
        return None
    train, test = (pd.read_csv(file).sample(frac=1, random_state=0) for file in files)
    test = test[:TESTED]
    bodies = [part["text"].str.split("\n\n", n=1).str[-1].fillna("") for part in (train, test)]
    counter = CountVectorizer(stop_words="english", min_df=3, max_features=WORDS)
    X, unseen = counter.fit_transform(bodies[0]), counter.transform(bodies[1])
    y, truth = train["group"].to_numpy(), test["group"].to_numpy()
    return Corpus("Twenty newsgroups", scaled(X), y, scaled(unseen), truth)


def simulated(n: int = 3_000, n_words: int = 1_000, seed: int = 0) -> Corpus:
    """Documents of six groups, each with its own favorite words."""
    random = np.random.default_rng(seed)
    share = 1 / np.arange(1, n_words + 1) * random.gamma(1.0, size=(6, n_words))
    share /= share.sum(axis=1, keepdims=True)
    y = random.integers(0, 6, n)
    X = sparse.csr_matrix(random.multinomial(random.poisson(12, n) + 1, share[y]).astype(float))
    names = np.array([f"group {k}" for k in range(6)])[y]
    cut = 2 * n // 3
    return Corpus("Documents drawn just now", X[:cut], names[:cut], X[cut:], names[cut:])


def scaled(X: sparse.csr_matrix) -> sparse.csr_matrix:
    """All documents as long as each other, as Nigam et al. have them."""
    length = np.maximum(np.asarray(X.sum(axis=1)).ravel(), 1)
    return sparse.csr_matrix(sparse.diags(LENGTH / length) @ X)


def draw(lines: list[tuple[int, float, float, float]], picture: str) -> None:
    """The learning curves."""
    import altair as alt

    from posterior import plots
    from posterior.plots.look import axis, colors, heading

    names = ["from labeled documents", "and hidden ones", "and hidden ones, weight chosen"]
    rows = [
        {"class": name, "labels": n, "accuracy": value}
        for n, *values in lines
        for name, value in zip(names, values, strict=True)
    ]
    style = {"format": ".0%", "labelPadding": 6}
    share = alt.Axis(**{**axis("accuracy", grid=True).to_dict(), **style})
    color = colors(names, "learned")
    x = alt.X(
        "labels:Q",
        axis=axis("labeled documents of each group"),
        scale=alt.Scale(zero=False, nice=False, padding=12),
    )
    y = alt.Y("accuracy:Q", axis=share, scale=alt.Scale(zero=False))
    chart = alt.Chart(alt.InlineData(values=rows)).mark_line(point=True).encode(x, y, color)
    title = heading("Few labels, many documents", ["Accuracy on documents not seen."])
    plots.save(chart.properties(width=480, height=300, title=title), picture)


if __name__ == "__main__":
    main(*sys.argv[1:2])
