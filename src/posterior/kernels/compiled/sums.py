"""The compiled sums by group."""

from __future__ import annotations

import numpy as np

import posterior.kernels._compiled as _compiled
from posterior.data.errors import NotFiniteError
from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.kernels import limbs
from posterior.kernels.limbs import Sum
from posterior.kernels.pairs import Pair

SLICED = 4 * 23  # bits below the largest number that the fast path of moments reaches
SAMPLE = 64  # rows looked at to guess which bits the sums will need
WINDOW_TOO_SMALL, INFINITE, NOT_ASCENDING = 1, 2, 2


def mean_and_scatter(weight: Sum, total: Sum, squares: Sum) -> tuple[Floats, Floats]:
    """The mean s / w and the scatter (w q - s²) / w, whose numerator is exact."""
    mean, scatter = np.empty(total[0].shape[:-1]), np.empty(total[0].shape[:-1])
    _compiled.mean_and_scatter(*weight, *total, *squares, mean, scatter)
    return mean, scatter


def _zeros(shape: tuple[int, ...], lowest: int, top: int) -> Sum:
    exponent, size = limbs.window(lowest, top)
    return np.zeros((*shape, size), np.int64), exponent


def _weight_bits(weight: Floats | None) -> tuple[int, int]:
    """The lowest bit set in any weight, and the exponent above the largest."""
    if weight is None:
        return 0, 1
    _, largest, lowest, _, _ = _compiled.survey(weight)
    return lowest, int(np.frexp(largest)[1])


def moments(
    X: Array, codes: Codes, weight: Floats | None, n_groups: int, squares: bool = True
) -> tuple[Sum, Sum, Sum | None]:
    """Exact Σ w, Σ w x and Σ w x² of the observed cells, by group: (k, d) each."""
    n, d = X.shape
    w_low, w_top = _weight_bits(weight)
    grown = n.bit_length() + w_top + 1  # bits that n weighted terms may add on top
    for sample, spare in ((X[:SAMPLE], 24), (X, 0)):  # a guess; if it fails, a look at all rows
        above = np.full(d, -5000, np.int64)
        lowest = _compiled.find_exponents(sample, above)
        tops = above[above > -5000]
        top, bottom = (int(tops.max()), int(tops.min())) if len(tops) else (1, 1)
        top, bottom = top + spare, bottom - SLICED - spare
        if spare == 0:
            bottom = min(bottom, lowest)
        count = _zeros((n_groups, d), w_low, 1 if weight is None else grown)
        total = _zeros((n_groups, d), w_low + bottom, grown + top)
        square = _zeros((n_groups, d) if squares else (0,), w_low + 2 * bottom, grown + 2 * top)
        outcome = _compiled.add_moments(X, codes, weight, n_groups, *count, *total, *square)
        if outcome == INFINITE:
            raise NotFiniteError("Expected finite values, got an infinite one.")
        if outcome != WINDOW_TOO_SMALL:
            return count, total, square if squares else None
    raise AssertionError("the window of all rows holds all rows")


def moments_without(
    X: Floats, codes: Codes, weight: Floats | None, sums: tuple[Pair, Pair, Pair]
) -> tuple[Floats, Floats, Floats]:
    """Weight, mean and scatter (n, d) of each row's group without the row."""
    left, mean, scatter = np.empty(X.shape), np.empty(X.shape), np.empty(X.shape)
    w, s, q = ((pair.high, pair.low) for pair in sums)
    _compiled.moments_without(X, codes, weight, *w, *s, *q, left, mean, scatter)
    return left, mean, scatter


def group_counts(codes: Codes, n_groups: int) -> Integers:
    """How many rows each group has."""
    counts = np.empty(n_groups, np.int64)
    _compiled.count_groups(codes, counts)
    return counts


def rows_by_group(codes: Codes, n_groups: int) -> Array:
    """The rows of the first group, then those of the next, each in their order."""
    order = np.empty(int(np.count_nonzero(codes >= 0)), np.uint32)
    _compiled.rows_by_group(codes, n_groups, order)
    return order


def centered_by_group(X: Array, codes: Codes, origin: Floats, out: Floats) -> Integers:
    """Rows less their group's origin (k, d), group by group, and a one behind each, in out; where
    each group ends."""
    _compiled.center_by_group(X, codes, origin, out)
    return np.cumsum(group_counts(codes, len(origin)))


def add_products(x: Floats, y: Floats, ends: Integers, out: Floats) -> None:
    """Adds Σᵣ x_ri y_rj for i <= j to out (k, columns, width); group k's rows end at ends[k]."""
    _compiled.add_products(x, y, ends, out.shape[1], out)


def sums_of_products(a: Floats, b: Floats) -> Sum:
    """Exact Σₜ a_t b_t over the first axis."""
    x, y = (np.ascontiguousarray(table).reshape(len(table), -1) for table in (a, b))
    lowest, top = _compiled.bits_of_products(x, y)
    total = _zeros(a.shape[1:], lowest, top + len(a).bit_length())
    _compiled.add_products_exactly(x, y, *total)
    return total


def code_range(X: Array) -> tuple[Integers, Integers]:
    """The smallest and largest code of each column."""
    bounds = np.iinfo(np.int64)
    smallest, largest = np.full(X.shape[1], bounds.max), np.full(X.shape[1], bounds.min)
    _compiled.find_code_range(X, smallest, largest)
    return smallest, largest


def category_counts(
    X: Array, codes: Codes, weight: Floats | None, n_groups: int, sizes: Array
) -> Sum:
    """Exact weights of each value of each column, by group: (k, Σ sizes)."""
    offset = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    low, top = _weight_bits(weight)
    grown = top + len(X).bit_length() + 1
    counts = _zeros((n_groups, int(offset[-1])), low, 1 if weight is None else grown)
    fits = _compiled.add_category_counts(X, codes, weight, n_groups, offset, *counts)
    assert fits, "the window of all weights holds all weights"
    return counts


def sparse_sums(
    X: SparseRows,
    codes: Codes,
    weight: Floats | None,
    n_groups: int,
    threshold: float | None = None,
    signed: bool = True,
) -> Sum:
    """Exact Σ w x of sparse rows, by group; with a threshold, of x > threshold."""
    if threshold is None:
        smallest, largest, lowest, whole, finite = _compiled.survey(X.entries())
        if not finite:
            raise NotFiniteError("Expected finite values, got one that is not.")
        if smallest < 0 and not signed:
            raise ValueError("Expected no value below zero, got one.")
    else:
        smallest, largest, lowest, whole = 0.0, 1.0, 0, True
    w_low, w_top = _weight_bits(weight)
    magnitude = max(abs(smallest), abs(largest)) if X.entries().size else 0.0
    top = int(np.frexp(magnitude)[1]) + w_top + len(codes).bit_length()
    plain = weight is None and whole and top < 62
    shape = (n_groups, X.n_columns)
    totals = _zeros(shape, 0, 1) if plain else _zeros(shape, w_low + lowest, top + 1)
    above = np.nan if threshold is None else threshold
    rows = X.data, X.column, X.start, codes, weight
    outcome = _compiled.add_sparse_sums(*rows, n_groups, X.n_columns, above, *totals)
    if outcome == NOT_ASCENDING:
        return sparse_sums(X.canonical(), codes, weight, n_groups, threshold)
    assert outcome == 0, "the window of all entries holds all entries"
    return totals
