"""Sums by group in plain NumPy, equal to the compiled ones to the last bit.

Exact sums come as (limbs, exponent); see `posterior.kernels.limbs`.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from posterior.data.errors import NotFiniteError
from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.kernels import limbs as fixed
from posterior.kernels import pairs
from posterior.kernels.limbs import Sum, carry, to_pairs
from posterior.kernels.pairs import Pair

DIGIT = 27  # bits of the digits that products are formed from: 27 + 27 < 55


def _digits(value: Integers, count: int) -> list[Integers]:
    """Non-negative integers as digits of 27 bits, the lowest first."""
    return [(value >> (DIGIT * i)) & ((1 << DIGIT) - 1) for i in range(count)]


def _product(a: list[Integers], b: list[Integers]) -> list[Integers]:
    """Digits of a product."""
    total = [np.zeros_like(a[0]) for _ in range(len(a) + len(b))]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            p = x * y  # 54 bits: split before adding, so that nothing overflows
            total[i + j] = total[i + j] + (p & ((1 << DIGIT) - 1))
            total[i + j + 1] = total[i + j + 1] + (p >> DIGIT)
    for i in range(len(total) - 1):
        total[i + 1] = total[i + 1] + (total[i] >> DIGIT)
        total[i] = total[i] & ((1 << DIGIT) - 1)
    return total


def _sum_of_products(cells: int, cell: Integers, *factors: Floats) -> Sum:
    """Exact sums, by cell, of products of doubles."""
    parts = [fixed.integers(f) for f in factors]
    some = np.logical_and.reduce([mantissa != 0 for mantissa, _ in parts])
    if not some.any():
        return np.zeros((cells, 1), np.int64), 0
    cell = cell[some]
    parts = [(mantissa[some], exponent[some]) for mantissa, exponent in parts]
    position = np.sum([exponent for _, exponent in parts], axis=0)
    sign = np.prod([np.sign(mantissa) for mantissa, _ in parts], axis=0)
    digits = _digits(np.abs(parts[0][0]), 2)
    for mantissa, _ in parts[1:]:
        digits = _product(digits, _digits(np.abs(mantissa), 2))
    top = int(position.max()) + DIGIT * len(digits) + int(np.ceil(np.log2(len(cell) + 1)))
    exponent, size = fixed.window(int(position.min()), top + fixed.BITS)
    limbs = np.zeros((cells, size), np.int64)
    for i, digit in enumerate(digits):
        fixed.add_at(limbs, exponent, cell, sign * digit, position + DIGIT * i)
    carry(limbs)
    return limbs, exponent


def sums_of_products(a: Floats, b: Floats) -> Sum:
    """Exact Σₜ a_t b_t over the first axis."""
    cells = a[0].size
    cell = np.tile(np.arange(cells), len(a))
    limbs, exponent = _sum_of_products(cells, cell, a.reshape(-1), b.reshape(-1))
    return limbs.reshape(*a.shape[1:], limbs.shape[1]), exponent


def moments(
    X: Array, codes: Codes, weight: Floats | None, n_groups: int, squares: bool = True
) -> tuple[Sum, Sum, Sum | None]:
    """Exact Σ w, Σ w x and Σ w x² of the observed cells, by group: (k, d) each."""
    d = X.shape[1]
    if np.isinf(X).any():
        raise NotFiniteError("Expected finite values, got an infinite one.")
    row, column = np.nonzero(~np.isnan(X) & (codes >= 0)[:, None])
    cell = codes[row].astype(np.int64) * d + column
    x = X[row, column].astype(np.float64)
    w = np.ones(len(x)) if weight is None else weight[row]

    def table(*factors: Floats) -> Sum:
        limbs, exponent = _sum_of_products(n_groups * d, cell, *factors)
        return limbs.reshape(n_groups, d, limbs.shape[1]), exponent

    return table(w), table(w, x), table(w, x, x) if squares else None


def mean_and_scatter(weight: Sum, total: Sum, squares: Sum) -> tuple[Floats, Floats]:
    """The mean s / w and the scatter (w q - s²) / w, whose numerator is exact."""
    w, s, q = (fixed.whole(limbs) for limbs, _ in (weight, total, squares))
    low = min(weight[1] + squares[1], 2 * total[1])
    difference = w * q * 2 ** (weight[1] + squares[1] - low) - s * s * 2 ** (2 * total[1] - low)
    numerator = pairs.Pair(*to_pairs(fixed.of_whole(difference), low))
    rows, sums = pairs.Pair(*to_pairs(*weight)), pairs.Pair(*to_pairs(*total))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        scatter = np.where(np.isfinite(numerator.high), (numerator / rows).high, np.inf)
    varied = (rows.high != 0) & (numerator.high > 0)
    return pairs.mean(rows, sums), np.where(varied, scatter, 0.0)


def moments_without(
    X: Floats, codes: Codes, weight: Floats | None, sums: tuple[Pair, Pair, Pair]
) -> tuple[Floats, Floats, Floats]:
    """Weight, mean and scatter (n, d) of each row's group without the row."""
    observed = ~np.isnan(X)
    w = Pair.of(1.0 if weight is None else weight[:, None])
    x = Pair.of(np.where(observed, X, 0.0))
    own = w * Pair.of(observed), w * x, w * pairs.two_product(x.high, x.high)
    left, total, squares = (s[codes] - o for s, o in zip(sums, own, strict=True))
    return left.rounded(), pairs.mean(left, total), pairs.scatter(left, total, squares)


def group_counts(codes: Codes, n_groups: int) -> Integers:
    """How many rows each group has."""
    return np.bincount(codes[codes >= 0], minlength=n_groups)


def rows_by_group(codes: Codes, n_groups: int) -> Array:
    """The rows of the first group, then those of the next, each in their order."""
    order = np.argsort(codes, kind="stable").astype(np.uint32)
    return order[np.count_nonzero(codes < 0) :]


def centered_by_group(X: Array, codes: Codes, origin: Floats, out: Floats) -> Integers:
    """Rows less their group's origin (k, d), group by group, and a one behind each, in out; where
    each group ends."""
    order, d = rows_by_group(codes, len(origin)), X.shape[1]
    out[: len(order), :d] = X[order] - origin[codes[order]]
    out[: len(order), d] = 1.0
    return np.cumsum(group_counts(codes, len(origin)))


def add_products(x: Floats, y: Floats, ends: Integers, out: Floats) -> None:
    """Adds Σᵣ x_ri y_rj for i <= j to out (k, columns, width); group k's rows end at ends[k]."""
    columns = out.shape[1]
    for k, (start, end) in enumerate(pairwise([0, *ends.tolist()])):
        out[k] += x[start:end, :columns].T @ y[start:end]


def code_range(X: Array) -> tuple[Integers, Integers]:
    """The smallest and largest code of each column."""
    return X.min(axis=0).astype(np.int64), X.max(axis=0).astype(np.int64)


def category_counts(
    X: Array, codes: Codes, weight: Floats | None, n_groups: int, sizes: Array
) -> Sum:
    """Exact weights of each value of each column, by group: (k, Σ sizes)."""
    offset = np.concatenate([[0], np.cumsum(sizes)])
    row, column = np.nonzero((X >= 0) & (X < np.asarray(sizes)) & (codes >= 0)[:, None])
    cell = codes[row].astype(np.int64) * offset[-1] + offset[column] + X[row, column]
    w = np.ones(len(row)) if weight is None else weight[row]
    limbs, exponent = _sum_of_products(n_groups * int(offset[-1]), cell, w)
    return limbs.reshape(n_groups, int(offset[-1]), limbs.shape[1]), exponent


def sparse_sums(
    X: SparseRows,
    codes: Codes,
    weight: Floats | None,
    n_groups: int,
    threshold: float | None = None,
    signed: bool = True,
) -> Sum:
    """Exact Σ w x of sparse rows, by group; with a threshold, of x > threshold."""
    if threshold is not None:
        X = X.canonical()
    row = np.repeat(np.arange(len(codes)), np.diff(X.start))
    column, x = X.column[X.start[0] : X.start[-1]], X.entries().astype(np.float64)
    if not np.isfinite(x).all():
        raise NotFiniteError("Expected finite values, got one that is not.")
    if threshold is None and not signed and x.min(initial=0.0) < 0:
        raise ValueError("Expected no value below zero, got one.")
    if threshold is not None:
        x = (x > threshold).astype(np.float64)
    kept = codes[row] >= 0
    row, column, x = row[kept], column[kept], x[kept]
    cell = codes[row].astype(np.int64) * X.n_columns + column
    w = np.ones(len(x)) if weight is None else weight[row]
    limbs, exponent = _sum_of_products(n_groups * X.n_columns, cell, w, x)
    return limbs.reshape(n_groups, X.n_columns, limbs.shape[1]), exponent
