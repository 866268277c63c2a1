"""Workloads of documents: from raw text to counts, and to a fitted classifier."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import naive_bayes
from sklearn.feature_extraction import text as theirs
from sklearn.pipeline import make_pipeline

import posterior
from benchmarks.arrays import Array
from benchmarks.timing import Operation, Peer, Quality

SKLEARN = "scikit-learn"
MEGABYTE = 1_000_000
LETTERS = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
FOREIGN = np.array(list("éèüößçñåøłжщяδλш中文語の"))
SIZES = 10, 30, 100, 300  # megabytes


def text_counts(shrink: int) -> Iterator[Operation]:
    """CountVectorizer, 100 MB in 100,000 documents of 200,000 word types, 5 % of them not ASCII"""
    documents, _ = zipf(100 // shrink)
    peers = [
        Peer(SKLEARN, lambda: theirs.CountVectorizer().fit_transform(documents), 20, same, 1),
        polars(documents),
        duckdb(documents),
    ]
    yield Operation(
        "fit_transform",
        lambda: posterior.CountVectorizer().fit_transform(documents),
        [peer for peer in peers if peer],
    )
    mine = posterior.CountVectorizer().fit(documents)
    other = theirs.CountVectorizer(vocabulary=mine.vocabulary_)
    peer = Peer(SKLEARN, lambda: other.transform(documents), None, same, 1)
    yield Operation("transform", lambda: mine.transform(documents), [peer])
    peer = Peer(SKLEARN, lambda: theirs.HashingVectorizer().transform(documents), None, same, 1)
    yield Operation("hashing", lambda: posterior.HashingVectorizer().transform(documents), [peer])


def text_bigrams(shrink: int) -> Iterator[Operation]:
    """CountVectorizer of words and pairs of words, and of letters, 10 MB in 10,000 documents"""
    documents, _ = zipf(10 // min(shrink, 10))
    for name, settings in (
        ("words and pairs", {"ngram_range": (1, 2)}),
        ("tf-idf", None),
        ("letters, 3 to 5", {"analyzer": "char_wb", "ngram_range": (3, 5)}),
    ):
        ours, peer = (
            (lambda m=module, s=settings: m.TfidfVectorizer().fit_transform(documents))
            if settings is None
            else (lambda m=module, s=settings: m.CountVectorizer(**s).fit_transform(documents))
            for module in (posterior, theirs)
        )
        yield Operation(name, ours, [Peer(SKLEARN, peer, None, same, 1)])


def text_classifier(shrink: int) -> Iterator[Operation]:
    """TextClassifier, from 100 MB in 100,000 documents of 5 classes to a fitted model"""
    documents, y = zipf(100 // shrink)
    pipeline = make_pipeline(theirs.CountVectorizer(), naive_bayes.MultinomialNB())
    for name, target, settings in (
        ("fit, the same work", 15, {"alpha": 1.0, "calibrated": False}),
        ("fit, calibrated, alpha chosen", None, {}),
    ):
        compare = same_answers(documents, y)
        peers = [
            Peer(SKLEARN, lambda: pipeline.fit(documents, y), target, compare, 1),
            fasttext(documents, y),
        ]
        yield Operation(
            name,
            lambda settings=settings: posterior.TextClassifier("multinomial", **settings).fit(
                documents, y
            ),
            [peer for peer in peers if peer],
        )


def text_growth(shrink: int) -> Iterator[Operation]:
    """CountVectorizer from 10 MB to 300 MB of the same kind of text: the cost of a megabyte"""
    for megabytes in SIZES:
        megabytes //= min(shrink, 10)
        documents, _ = zipf(megabytes)

        def lower(documents: list[str] = documents) -> int:
            return sum(len(document.lower()) for document in documents)

        def count(documents: list[str] = documents) -> Any:
            return posterior.CountVectorizer().fit_transform(documents)

        peer = Peer("str.lower alone", lower)
        yield Operation(f"{megabytes} MB", count, [peer], size=megabytes)


CASES = [text_counts, text_bigrams, text_classifier, text_growth]


def zipf(megabytes: int, types: int = 210_000, seed: int = 0) -> tuple[list[str], Array]:
    """Documents of a thousand bytes whose words follow Zipf's law, and their classes.

    The word of rank r is drawn in proportion to 1 / r^1.07; a tenth of the words begin with a
    capital, and some end with a comma or a stop. Classes prefer every fifth word.
    """
    rng = np.random.default_rng(seed)
    words = vocabulary(types, rng)
    forms = [*words, *(w.capitalize() for w in words), *(w + "," for w in words)]
    forms += [w + "." for w in words]
    table = np.array(forms, dtype=object)
    share = np.cumsum(np.arange(1, types + 1) ** -1.07)
    average = float(np.mean([len(forms[i].encode()) + 1 for i in draw(rng, share, 10_000)]))
    n_words = int(1_000 / average)
    y = rng.integers(5, size=1_000 * megabytes)
    documents = []
    for block in np.array_split(y, max(1, megabytes)):
        rank = draw(rng, share, (len(block), n_words))
        preferred = rank - rank % 5 + block[:, None]
        rank = np.where(rng.random(rank.shape) < 0.3, np.minimum(preferred, types - 1), rank)
        form = rng.choice(4, rank.shape, p=[0.75, 0.1, 0.1, 0.05])
        documents += [" ".join(table[row]) for row in rank + types * form]
    return documents, y


def draw(rng: np.random.Generator, share: Array, size: Any) -> Array:
    return np.searchsorted(share, rng.random(size) * share[-1])


def vocabulary(types: int, rng: np.random.Generator) -> list[str]:
    """Distinct words, frequent ones shorter; one in twenty has a letter that is not ASCII."""
    lengths = np.minimum(2 + rng.poisson(np.log10(np.arange(1, types + 1)) * 1.3 + 0.5), 20)
    found: dict[str, None] = {}
    for length in lengths:
        while True:
            letters = rng.choice(LETTERS[: 6 + 2 * int(length)], length)
            if rng.random() < 0.05:
                letters[rng.integers(length)] = rng.choice(FOREIGN)
            word = "".join(letters)
            if word not in found:
                break
            length += 1
        found[word] = None
    return list(found)


def same(ours: Any, other: Any) -> Quality:
    """Of two sparse tables, or of the length and total of a long one."""
    if hasattr(other, "nnz"):
        apart = abs(ours - other)
        return {"cells apart": float(apart.max()), "cells": float(ours.nnz)}
    n, total = other
    return {"cells apart": float(n - ours.nnz), "words apart": float(total - ours.sum())}


def same_answers(documents: list[str], y: Array) -> Callable[[Any, Any], Quality]:
    some = slice(0, 2_000)

    def compare(ours: Any, other: Any) -> Quality:
        return {
            "accuracy": float(ours.score(documents[some], y[some])),
            "of peer": float(other.score(documents[some], y[some])),
        }

    return compare


def polars(documents: list[str]) -> Peer | None:
    """The counts as a long table of document, word and count: no columns are numbered."""
    try:
        import polars as pl
    except ImportError:
        return absent("polars")

    def call() -> tuple[int, int]:
        words = pl.col("text").str.to_lowercase().str.extract_all(r"\w\w+").alias("word")
        table = (
            pl.LazyFrame({"document": np.arange(len(documents)), "text": documents})
            .select("document", words)
            .explode("word")
            .drop_nulls()
            .group_by("document", "word")
            .len()
            .collect()
        )
        return len(table), int(table["len"].sum())

    return Peer("polars", call, 6, same, 2)


def duckdb(documents: list[str]) -> Peer | None:
    try:
        import duckdb as db
        import pyarrow as pa
    except ImportError:
        return absent("DuckDB")

    def call() -> tuple[int, int]:
        source = pa.table({"document": np.arange(len(documents)), "text": documents})
        connection = db.connect()
        connection.register("source", source)
        pattern = r"[\p{L}\p{N}_]{2,}"
        table = connection.sql(
            "select document, word, count(*) n from (select document, "
            f"unnest(regexp_extract_all(lower(text), '{pattern}')) word from source) group by all"
        ).to_arrow_table()
        return len(table), int(np.asarray(table["n"]).sum())

    return Peer("DuckDB", call, 6, same, 2)


def fasttext(documents: list[str], y: Array) -> Peer | None:
    """One epoch of fastText with its defaults on all threads; writing its file is not timed."""
    try:
        import fasttext as ft
    except ImportError:
        return absent("fastText")
    path = Path(tempfile.mkdtemp()) / "documents.txt"
    lines = (f"__label__{k} {document}\n" for k, document in zip(y, documents, strict=True))
    path.write_text("".join(lines), encoding="utf-8")
    return Peer(
        "fastText, 1 epoch",
        lambda: ft.train_supervised(str(path), epoch=1, verbose=0, thread=2),
        1,
        rounds=2,
    )


def absent(name: str) -> None:
    print(f"{name} is not installed: it takes no part", file=sys.stderr)
