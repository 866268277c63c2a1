"""Workloads of dependent columns: counts of pairs against their bound, fits and predictions.

A pair of cells of a row costs at least one load of a cell, and one load and one store of a counter:
at best a cycle. 30 columns have 465 pairs (each column with itself among them), so 1,000,000 rows
need 465,000,000 cycles, 0.16 s at 2.9 GHz; to read their 30 MB once takes a hundredth of that. The
bound is measured where it stands: the bare counting of 465,000,000 codes in a small table.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.arrays import categories
from benchmarks.timing import Operation, Peer
from posterior import AODE, KDB, TAN, CategoricalNB, kernels

COLUMNS, VALUES, CLASSES = 30, 10, 5
PAIRS = COLUMNS * (COLUMNS + 1) // 2


def pairs(shrink: int) -> Iterator[Operation]:
    """Counts of pairs, 1,000,000 rows of 30 columns of 10 values, 5 classes, one thread"""
    X, y = categories(1_000_000 // shrink, COLUMNS)
    codes, groups = X.astype(np.uint8), y.astype(np.int32)
    sizes = np.full(COLUMNS, VALUES)
    cells = (X[:, 0] * VALUES + X[:, 1]).astype(np.int32)
    half = len(X) // 2

    def bound() -> None:
        for _ in range(PAIRS):
            kernels.group_counts(cells, VALUES * VALUES)

    peers = [
        Peer("bare counts of as many codes", bound, 1 / 3),
        Peer(
            "half of the rows",
            lambda: kernels.pair_counts(codes[:half], groups[:half], CLASSES, sizes),
            0.45,
        ),
    ]
    yield Operation("count", lambda: kernels.pair_counts(codes, groups, CLASSES, sizes), peers)


def models(shrink: int) -> Iterator[Operation]:
    """AODE, TAN and KDB, 200,000 rows of 30 columns of 10 values, 5 classes"""
    X, y = categories(200_000 // shrink, COLUMNS)
    naive = CategoricalNB().fit(X, y)
    for model in (AODE(categories=True), TAN(categories=True), KDB(2, categories=True)):
        name = type(model).__name__
        peer = Peer("naive Bayes", lambda: CategoricalNB().fit(X, y))
        yield Operation(f"{name}.fit", lambda m=model: m.fit(X, y), [peer])
        peer = Peer("naive Bayes", lambda: naive.predict_proba(X))
        model.fit(X, y)
        yield Operation(f"{name}.predict_proba", lambda m=model: m.predict_proba(X), [peer])


CASES = [pairs, models]
