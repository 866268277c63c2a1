"""Fingerprints: a number for each row that its cells alone decide, wherever the row stands.

    f(x) = Σⱼ m(m(xⱼ) + j)  mod 2⁶⁴

where m mixes 64 bits so that each depends on all (the last steps of SplitMix64, Steele, Lea and
Flood 2014). Different rows have different ones but for a chance of 2⁻⁶⁴.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.rows import Blocks, CodedRows, Features, SparseRows, slabs
from posterior.data.typing import Array

MANY = 10_000  # rows: of so many, columns are read until no two rows are alike


def fingerprints(X: Features) -> Array:
    """One for each row, (n,) of 64 bits."""
    if isinstance(X, np.ndarray):
        return _of_table(X)
    if isinstance(X, SparseRows):
        return of_entries(X.column[X.start[0] : X.start[-1]], bits(X.entries()), X.start)
    if isinstance(X, CodedRows):
        return _of_table(X.codes)
    if isinstance(X, Blocks):
        return _summed(mixed(fingerprints(part) + _number(b)) for b, part in enumerate(X.parts))
    return X.fingerprints()


def of_ranks(X: Features, weight: Array | None = None) -> Array:
    """Those of the places of numbers among the different ones of their column, whatever its unit.

    Missing cells come last. Rows of weight zero are not there, and have no place. Sparse rows, of
    which most are counts, are taken as they are.
    """
    if isinstance(X, Blocks):
        return _summed(mixed(of_ranks(part, weight) + _number(b)) for b, part in enumerate(X.parts))
    if not isinstance(X, np.ndarray):
        return fingerprints(X)
    seen = slice(None) if weight is None else weight > 0
    out, places = np.zeros(len(X), np.uint64), np.zeros(len(X))
    for j, column in enumerate(X.T):
        places[seen] = np.unique(column[seen], return_inverse=True)[1]
        out += mixed(mixed(bits(places)) + _number(j))
        if len(X) >= MANY and _all_differ(out):
            break
    return out


def of_entries(column: Array, value: Array, start: Array) -> Array:
    """Of rows whose entries are start[i] .. start[i + 1], counted from the first."""
    total = np.zeros(len(column) + 1, np.uint64)
    np.cumsum(mixed(mixed(value) + column.astype(np.uint64)), out=total[1:])
    ends = start - start[0]
    return np.asarray(total[ends[1:]] - total[ends[:-1]])


def bits(values: Array) -> Array:
    """Those of numbers; all missing values are one, and so are both zeros."""
    if values.dtype.kind in "iub":
        return values.astype(np.uint64)
    plain = values.astype(np.float64) + 0.0
    plain[np.isnan(plain)] = np.nan
    return plain.view(np.uint64)


def mixed(z: Array) -> Array:
    """64 bits of which each depends on all bits of z."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _of_table(X: Array) -> Array:
    out = np.zeros(len(X), np.uint64)
    for rows in slabs(len(X), 1):
        columns = (bits(np.ascontiguousarray(column)) for column in X[rows].T)
        out[rows] = _summed(mixed(mixed(b) + _number(j)) for j, b in enumerate(columns))
    return out


def _all_differ(values: Array) -> bool:
    ascending = np.sort(values)
    return bool((ascending[1:] != ascending[:-1]).all())


def _summed(parts: Any) -> Any:
    return sum(parts, np.uint64(0))


def _number(j: int) -> Any:
    return np.uint64(j)
