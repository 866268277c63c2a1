"""The kernels in plain NumPy: slow, short, and equal to the compiled ones to the last bit of a sum.

Exact sums come as (limbs, exponent); see `posterior.kernels.limbs`.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from posterior.data.errors import NotFiniteError
from posterior.data.rows import SparseRows, slabs
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.kernels import dependence, pairs
from posterior.kernels import limbs as fixed
from posterior.kernels.cells import add_cells
from posterior.kernels.centers import nearest, nearest_bounded, own_distances
from posterior.kernels.columns import stack_columns, take_columns
from posterior.kernels.cuts import class_cells, digitize, mdl_cuts, pack_columns, sort_column
from posterior.kernels.descent import column_descent, column_squares, coordinate_descent
from posterior.kernels.edit import nearest_strings
from posterior.kernels.limbs import carry, to_pairs
from posterior.kernels.neighbors import nearest_rows
from posterior.kernels.pairs import Pair
from posterior.kernels.plain_text import count_known, count_terms, hash_terms, lookup, union
from posterior.kernels.soft import soft_moments, soft_products
from posterior.kernels.student import student_fit
from posterior.kernels.tree import find_leaves, grow_tree, search_tree

__all__ = [
    "add_cells",
    "add_products",
    "carry",
    "category_counts",
    "centered_by_group",
    "class_cells",
    "code_range",
    "column_descent",
    "column_squares",
    "coordinate_descent",
    "count_known",
    "count_terms",
    "dependence",
    "digitize",
    "find_leaves",
    "gaussian_log_joint",
    "group_counts",
    "grow_tree",
    "hash_terms",
    "linear_log_joint",
    "logistic_sums",
    "lookup",
    "mdl_cuts",
    "mean_and_scatter",
    "moments",
    "moments_without",
    "nearest",
    "nearest_bounded",
    "nearest_rows",
    "nearest_strings",
    "normalize",
    "own_distances",
    "pack_columns",
    "rows_by_group",
    "search_tree",
    "side_by_side",
    "soft_moments",
    "soft_products",
    "sort_column",
    "sparse_log_joint",
    "sparse_sums",
    "square_distances",
    "stack_columns",
    "student_fit",
    "sums_of_products",
    "table_log_joint",
    "take_columns",
    "to_pairs",
    "union",
]

Sum = tuple[Integers, int]
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


def gaussian_log_joint(
    X: Array,
    mean: Floats,
    inverse_deviation: Floats,
    term: Floats,
    constant: Floats,
    out: Floats,
) -> None:
    """constant_k - ½ Σⱼ ((xⱼ - μ_kj) / σ_kj)²; a missing cell takes its term out instead."""
    for rows in slabs(len(X), mean.size):
        x = np.ascontiguousarray(X[rows], np.float64)[:, None, :]
        missing = np.isnan(x)
        distance = np.where(missing, 0.0, (x - mean) * inverse_deviation)
        absent = np.where(missing, term, 0.0).sum(axis=2)
        out[rows] = (constant - absent) - 0.5 * (distance * distance).sum(axis=2)


def linear_log_joint(X: Array, weight: Floats, absent: Floats, bias: Floats, out: Floats) -> None:
    """bias_k + Σⱼ xⱼ w_kj; a missing cell takes absent_kj out instead."""
    for rows in slabs(len(X), weight.size):
        x = np.ascontiguousarray(X[rows], np.float64)[:, None, :]
        missing = np.isnan(x)
        missed = np.where(missing, absent, 0.0).sum(axis=2)
        out[rows] = (bias - missed) + np.where(missing, 0.0, x * weight).sum(axis=2)


def logistic_sums(
    X: Array | SparseRows,
    codes: Codes,
    weight: Floats | None,
    offset: Floats | None,
    coef: Floats,
    intercept: Floats,
    residual: Floats | None = None,
    origin: Floats | None = None,
    hessian: Floats | None = None,
) -> tuple[float, Floats, Floats]:
    """Σ w (log Σ_k exp η_k - η_y) over rows and its gradients,  η = (X - o) coefᵀ + b + offset.

    One output scores class 1 against class 0; a row of a negative code is left out. `residual`
    (n, m) receives the derivative by η, `hessian` (d + 1, whole lanes) with one output the upper
    triangle of the second derivatives, of the intercept last. Sparse rows have neither this nor
    an origin.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # of cells that are no numbers
        table = X.scipy() if isinstance(X, SparseRows) else np.asarray(X, np.float64)
        if origin is not None:
            table = table - origin
        w = np.where(codes < 0, 0.0, 1.0 if weight is None else weight)
        codes = np.maximum(codes, 0)
        eta = np.asarray(table @ coef.T) + intercept
        if offset is not None:
            eta += offset.reshape(eta.shape)
        if len(coef) == 1:
            full = np.column_stack([np.zeros(len(eta)), eta])
        else:
            full = eta
        top = full.max(axis=1, keepdims=True)
        share = np.exp(full - top)
        total = share.sum(axis=1)
        picked = full[np.arange(len(codes)), codes]
        # what the others add to the row's largest share: log(1 + small) keeps its digits
        rest = total - 1.0 if full.shape[1] > 2 else np.exp(-np.abs(full[:, 1] - full[:, 0]))
        value = float(w @ (np.log1p(rest) + (top[:, 0] - picked)))
        proba = share / total[:, None]
        proba[np.arange(len(codes)), codes] = 0.0
        others = np.minimum(proba.sum(axis=1), 1.0)
        proba[np.arange(len(codes)), codes] = -others  # p - 1, with all its digits
        derivative = (proba if len(coef) > 1 else proba[:, 1:]) * w[:, None]
        if residual is not None:
            residual[:] = derivative
        if hessian is not None:
            x = np.column_stack([table, np.ones(len(codes))])
            size = np.abs(derivative)
            h = np.where(w[:, None] > 0, size * (1 - size / np.where(w > 0, w, 1.0)[:, None]), 0.0)
            hessian[:, : x.shape[1]] += x.T @ (h * x)
        return value, np.asarray((table.T @ derivative).T), derivative.sum(axis=0)


def side_by_side(weight: Floats) -> Floats:
    """(k, d) as (d, k); the compiled twin pads k."""
    return np.ascontiguousarray(weight.T)


def sparse_log_joint(
    X: SparseRows, table: Floats, bias: Floats, threshold: float | None, out: Floats
) -> None:
    """bias_k + Σⱼ xⱼ table[j, k] of sparse rows; with a threshold, of x > threshold."""
    matrix = X.scipy()
    if threshold is not None:
        matrix.sum_duplicates()
        matrix.data = (matrix.data > threshold).astype(np.float64)
    out[:] = bias + matrix @ table


def table_log_joint(X: Array, table: Floats, offset: Integers, bias: Floats, out: Floats) -> None:
    """bias_k + Σⱼ table[offset[j] + xⱼ, k]; a column's last row stands for unseen values."""
    out[:] = bias
    for j in range(X.shape[1]):
        seen = X[:, j] >= 0
        out[seen] += table[np.minimum(offset[j] + X[seen, j], offset[j + 1] - 1)]


def square_distances(
    X: Array,
    origin: Floats,
    axes: Floats,
    centers: Floats,
    out: Floats,
    constant: Floats | None = None,
) -> None:
    """Σₐ (Σⱼ (x_j - origin_j) axis_aj - center_ka)² by group: axes are for each group or for all.

    They come eight at a time: axes (k or 1, vectors, d, 8) and centers (k, vectors, 8). With
    constants (k,), constant_k less half of it.
    """
    side_by_side = axes.swapaxes(1, 2).reshape(len(axes), X.shape[1], -1)
    moved = np.asarray(X, np.float64) - origin
    for k, center in enumerate(centers):
        z = moved @ side_by_side[k % len(axes)]
        out[:, k] = ((z - center.ravel()) ** 2).sum(axis=1)
    if constant is not None:
        out[:] = constant - 0.5 * out


def normalize(L: Floats, wanted: str, log_evidence: Floats | None = None) -> None:
    """Turn log p(x, k) into the "log_posterior" or "posterior", in place; or leave it."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        top = np.maximum(L.max(axis=1), -np.finfo(np.float64).max)
        below = L - top[:, None]
        share = np.exp(below)
        total = share.sum(axis=1)
        log_total = np.log(total)
        evidence = top + log_total
    impossible = total == 0
    evidence[impossible] = -np.inf
    if log_evidence is not None:
        log_evidence.reshape(-1)[:] = evidence
    if wanted == "posterior":
        L[:] = share / np.where(impossible, 1.0, total)[:, None]
        L[impossible] = 1 / L.shape[1]
    elif wanted == "log_posterior":
        L[:] = below - np.where(impossible, 0.0, log_total)[:, None]
        L[impossible] = -np.log(L.shape[1])
