"""A column in order, and where to cut it so that classes are best told apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.kernels.keys import cells

TIE = 1e-7  # bits that a later cut must be better by


def sort_column(x: Floats) -> tuple[Floats, Codes]:
    """The known cells in ascending order, and the rows they stand in."""
    row = np.argsort(x, kind="stable")[: np.count_nonzero(~np.isnan(x))].astype(np.int32)
    return x[row] + 0.0, row


def pack_columns(X: Array, code: Codes, bits: int, key: Array) -> list[Array]:
    """The known cells of each column as whole numbers in their order, classes in the last bits.

    Numbers take a third of the time of pairs to sort. `key` (d or more, n) is memory for them,
    which the twin does not need.
    """
    sign, shift, packed = np.uint64(1 << 63), np.uint64(bits), list[Array]()
    for column in X.T:
        known = ~np.isnan(column)
        plain = (column[known].astype(np.float64) + 0.0).view(np.uint64)
        key = np.where(plain & sign, ~plain, plain | sign)
        packed.append(key >> shift << shift | code[known].astype(np.uint64))
    return packed


def class_cells(
    key: Array, bits: int, n_classes: int, limit: int
) -> tuple[Integers, Floats, float]:
    """Sorted keys gathered in cells: their ends, their class counts (m, k), and what they move."""
    ends, moved = cells(key >> np.uint64(bits), None, limit)
    cell = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    code = (key & np.uint64((1 << bits) - 1)).astype(np.int64)
    counts = np.bincount(cell * n_classes + code, minlength=len(ends) * n_classes)
    return ends, counts.reshape(len(ends), n_classes).astype(np.float64), moved


def digitize(X: Array, cuts: Sequence[Array], out: Array | None = None) -> Array:
    """The bin of each cell, cₖ ≤ x < cₖ₊₁, in the dtype of X; a missing cell stays NaN."""
    out = np.empty(X.shape, X.dtype) if out is None else out
    columns = zip(X.T, cuts, strict=True)
    codes = [np.searchsorted(edges, column, side="right") for column, edges in columns]
    out[:] = np.where(np.isnan(X), X, np.stack(codes, axis=1).astype(X.dtype))
    return out


def mdl_cuts(
    value: Floats,
    code: Codes,
    weight: Floats | None,
    n_classes: int,
    log_table: Floats | None = None,
) -> Integers:
    """Where to cut, by Fayyad and Irani (1993): ascending i, each between entries i - 1 and i.

    Entries are in the order of their values. `log_table` may hold c log₂ c of whole numbers c up
    to the total weight, if weights are such numbers; the twin does not need it.
    """
    counts = np.zeros((len(value), n_classes))
    counts[np.arange(len(value)), code] = 1.0 if weight is None else weight
    found, parts = list[int](), [(0, len(value))]
    while parts:
        first, last = parts.pop()
        cut = _best_cut(value[first:last], counts[first:last]) + first
        if first < cut and _pays(counts[first:cut], counts[cut:last]):
            found.append(cut)
            parts += pairwise((first, cut, last))
    return np.sort(np.array(found, np.int64))


def _best_cut(value: Floats, counts: Floats) -> int:
    """The cut of least entropy, n₁ H(S₁) + n₂ H(S₂), the first of equals; 0 if there is none."""
    places = np.flatnonzero(value[:-1] < value[1:]) + 1
    if np.count_nonzero(counts.any(axis=0)) < 2 or len(places) == 0:
        return 0
    below = counts.cumsum(axis=0)
    above = np.maximum(below[-1] - below[places - 1], 0.0)
    bits = _bits(below[places - 1]) + _bits(above)
    best = 0
    for i in np.flatnonzero(bits <= np.minimum.accumulate(bits)):  # none else can be chosen
        if bits[i] < bits[best] - TIE:
            best = int(i)
    return int(places[best])


def _pays(below: Floats, above: Floats) -> bool:
    """Whether a cut tells more than it costs, in bits.

    n H(S) - n₁ H(S₁) - n₂ H(S₂) > log₂(n - 1) + log₂(3ᵏ - 2) - k H(S) + k₁ H(S₁) + k₂ H(S₂)
    """
    parts = np.stack([below.sum(axis=0), above.sum(axis=0)])
    parts = np.vstack([parts.sum(axis=0), parts])
    total, present, bits = parts.sum(axis=1), (parts > 0).sum(axis=1), _bits(parts)
    if not total[0] > 1:
        return False
    k = float(present[0])
    described = k * np.log2(3.0) + np.log2(1 - 2 * 3.0**-k)
    told = present * bits / total
    cost = np.log2(total[0] - 1) + described - (told[0] - told[1] - told[2])
    return bool(bits[0] - bits[1] - bits[2] > cost)


def _bits(counts: Floats) -> Floats:
    """n H = n log₂ n - Σ_k c_k log₂ c_k, line by line."""
    bits: Floats = _plogp(counts.sum(axis=1)) - _plogp(counts).sum(axis=1)
    return bits


def _plogp(c: Floats) -> Floats:
    return c * np.log2(np.where(c > 0, c, 1.0))
