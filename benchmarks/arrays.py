"""Seeded arrays on which a classifier has something to learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

Array = Any


def normal_rows(n: int, d: int, dtype: type = np.float64) -> tuple[Array, Array]:
    """Five overlapping classes of normal rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=n)
    X = rng.standard_normal((n, d), dtype=dtype)
    X += rng.normal(0, 0.2, (5, d)).astype(dtype)[y]
    return X, y


def categories(n: int, d: int) -> tuple[Array, Array]:
    """Five classes of rows of codes 0 to 9; later classes lean to the small ones."""
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=n)
    return (10 * rng.random((n, d)) ** (1 + y[:, None] / 10)).astype(np.int64), y


def documents(n: int, d: int, entries: int = 80) -> tuple[Array, Array]:
    """Twenty classes of word counts: `entries` distinct columns a row, sorted, in CSR.

    Columns are near uniform, which is harder on caches than the words of a language.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(20, size=n)
    drawn = rng.random((n, entries)) ** (1 + y[:, None] / 40)
    columns = np.sort((drawn * (d - entries + 1)).astype(np.int32), axis=1)
    columns += np.arange(entries, dtype=np.int32)  # now no two are equal
    counts = rng.geometric(0.6, columns.size).astype(float)
    starts = np.arange(0, columns.size + 1, entries, dtype=np.int32)
    return scipy.sparse.csr_array((counts, columns.ravel(), starts), shape=(n, d)), y


def n_bytes(X: Array) -> int:
    if scipy.sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)
