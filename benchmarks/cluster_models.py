"""What each model asks of a core in one pass, measured: the input of the cluster simulation."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pyarrow as pa

import posterior
from posterior.engines.streaming import Streamed
from posterior.sources.sampling import MOST
from posterior.sources.source import Batch, Source

ROWS, COLUMNS, CLASSES, BATCH = 60_000, 50, 10, 20_000


@dataclass(frozen=True)
class Model:
    """What one pass of a model asks of a core."""

    name: str
    rate: float  # bytes of the table that a core sums in a second
    total: float  # bytes of a sum, as it travels
    add: float  # seconds to add two of them
    passes: int
    sample: float = 0.0  # bytes of the rows that the first of several passes keeps for the start


@dataclass(frozen=True)
class Memory(Source):
    """A table in memory that is read like one elsewhere."""

    table: pa.Table

    @property
    def names(self) -> list[str]:
        return list(self.table.column_names)

    def batches(self) -> Generator[Batch, None, None]:
        for first in range(0, len(self.table), BATCH):
            yield Batch(self.table.slice(first, BATCH), "memory", first)


@dataclass
class Watch:
    """Stands in for the sum of an engine, and notes each one."""

    seconds: list[float] = field(default_factory=list)
    total: Any = None  # the last one: before the steps, some sums hold a sample of rows

    def sum(self, function: Callable[[Batch], Any], source: Any) -> Any:
        start = time.thread_time()  # a busy machine does not count
        parts = [function(batch) for batch in source.batches()]
        self.seconds.append(time.thread_time() - start)
        self.total = reduce(add, parts)
        return self.total


def numbers() -> pa.Table:
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, ROWS)
    X = rng.normal(size=(ROWS, COLUMNS)) + rng.normal(size=(CLASSES, COLUMNS))[y] / 2
    return pa.table({f"x{j}": X[:, j].copy() for j in range(COLUMNS)} | {"y": y})


def documents() -> pa.Table:
    """Words that are as unequal as those of a language, from a vocabulary of 50,000."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 20, ROWS // 4)
    words = np.array([f"word{i}" for i in range(50_000)])
    rank = np.minimum(rng.zipf(1.3, size=(len(y), 100)) - 1, len(words) - 21)
    texts = [" ".join(words[r + k]) for r, k in zip(rank, y, strict=True)]
    return pa.table({"text": texts, "y": y})


def cases() -> Iterator[tuple[str, Any, pa.Table, dict[str, str]]]:
    table, y = numbers(), {"y": "y"}
    points = table.drop_columns("y")
    yield "Gaussian naive Bayes", posterior.GaussianNB(), table, y
    yield "linear discriminant analysis", posterior.LinearDiscriminantAnalysis(), table, y
    yield "logistic regression", posterior.LogisticRegression(), table, y
    yield "k-means", posterior.KMeans(CLASSES, random_state=0, n_init=1), points, {}
    mixture = posterior.GaussianMixture(CLASSES, random_state=0, max_iter=30)
    yield "Gaussian mixture, full", mixture, points, {}
    yield "documents, naive Bayes", posterior.TextClassifier(), documents(), y


def measure() -> Iterator[Model]:
    """In CPU seconds of one thread; a pass is the median of its kind."""
    for name, model, table, y in cases():
        watch = Watch()
        # a mock is no method: it is called without the engine, as Watch.sum is
        watched = patch.object(Streamed, "sum", Mock(side_effect=watch.sum))
        with watched, posterior.threads(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(Memory(table), **y)
        start = time.thread_time()
        watch.total + watch.total
        seconds = time.thread_time() - start
        rate = table.nbytes / float(np.median(watch.seconds))
        passes = len(watch.seconds)
        sample = 2 * MOST * table.nbytes / len(table) if passes > 1 else 0.0
        yield Model(name, rate, len(pickle.dumps(watch.total)), seconds, passes, sample)
