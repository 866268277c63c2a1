"""Accuracy of TextClassifier on four sets of documents, beside scikit-learn's models of tf-idf.

    python examples/documents_accuracy.py                 # all sets: some minutes, mostly not ours
    python examples/documents_accuracy.py sms movies      # some of them

Everything has its default settings. The sets are looked for in POSTERIOR_DATA, or in ../shared/data
beside the repository.
"""

from __future__ import annotations

import csv
import gzip
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline

from posterior import TextClassifier

HERE = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("POSTERIOR_DATA", HERE / "shared" / "data"))
Split = tuple[list[str], list[str], list[str], list[str]]  # texts and classes to learn, to answer


def table(name: str) -> list[dict[str, str]]:
    csv.field_size_limit(1 << 30)
    opened = gzip.open if name.endswith(".gz") else open
    with opened(FOLDER / name, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def newsgroups() -> Iterator[Split]:
    """20 Newsgroups by date, the official split."""
    learn, answer = (table(f"20news-bydate-{part}.csv.gz") for part in ("train", "test"))
    yield split(learn, answer, "group")


def movies() -> Iterator[Split]:
    """Movie reviews (polarity 2.0), the authors' ten folds."""
    rows = table("movie-polarity-v2.csv.gz")
    for fold in sorted({row["fold"] for row in rows}):
        learn = [row for row in rows if row["fold"] != fold]
        answer = [row for row in rows if row["fold"] == fold]
        yield split(learn, answer, "label")


def sms() -> Iterator[Split]:
    """SMS spam, 70 % to learn from, drawn once."""
    rows = table("sms-spam.csv")
    yield drawn([row["text"] for row in rows], [row["label"] for row in rows])


def ag_news() -> Iterator[Split]:
    """AG News, the 7,600 rows of its test file, 70 % to learn from, drawn once."""
    rows = table("ag-news-test.csv.gz")
    yield drawn([f"{r['title']} {r['description']}" for r in rows], [r["class"] for r in rows])


def drawn(texts: list[str], classes: list[str]) -> Split:
    splitter = StratifiedShuffleSplit(1, test_size=0.3, random_state=0)
    learn, answer = next(splitter.split(texts, classes))
    rows = [{"text": text, "class": name} for text, name in zip(texts, classes, strict=True)]
    return split([rows[i] for i in learn], [rows[i] for i in answer], "class")


def split(learn: list[dict[str, str]], answer: list[dict[str, str]], label: str) -> Split:
    """Texts and classes to learn from, and those to answer."""
    return (
        [row["text"] for row in learn],
        [row[label] for row in learn],
        [row["text"] for row in answer],
        [row[label] for row in answer],
    )


SETS = {"newsgroups": newsgroups, "movies": movies, "sms": sms, "ag_news": ag_news}
MODELS = {
    "TextClassifier": TextClassifier,
    "MultinomialNB": lambda: make_pipeline(TfidfVectorizer(), MultinomialNB()),
    "ComplementNB": lambda: make_pipeline(TfidfVectorizer(), ComplementNB()),
    "LogisticRegression": lambda: make_pipeline(TfidfVectorizer(), LogisticRegression()),
}


def main(names: list[str]) -> None:
    print("set         model               accuracy  log loss   models chosen, by split")
    for name in names or SETS:
        splits = list(SETS[name]())
        for title, make in MODELS.items():
            right, losses, chosen = [], [], []
            for texts, classes, questions, answers in splits:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model = make().fit(texts, classes)
                right += list(model.predict(questions) == np.array(answers))
                proba = model.predict_proba(questions)
                losses.append(len(answers) * log_loss(answers, proba, labels=model.classes_))
                chosen.append(getattr(model, "model_", ""))
            figures = f"{np.mean(right):8.3f}  {sum(losses) / len(right):8.3f}"
            counts = ", ".join(f"{c} {chosen.count(c)}" for c in sorted(set(chosen)) if c)
            print(f"{name:10}  {title:18}  {figures}   {counts}".rstrip(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
