"""The compiled loops, seen as NumPy functions: outputs are allocated here and filled there.

Each has a twin of the same name and meaning in `posterior.kernels.reference`.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

import posterior.kernels._compiled as _compiled
from posterior.data.errors import NotFiniteError
from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.kernels import compiled_dependence as dependence
from posterior.kernels import limbs
from posterior.kernels.compiled_columns import stack_columns
from posterior.kernels.compiled_cuts import (
    class_cells,
    digitize,
    mdl_cuts,
    pack_columns,
    sort_column,
)
from posterior.kernels.compiled_descent import column_descent, column_squares, coordinate_descent
from posterior.kernels.compiled_edit import nearest_strings
from posterior.kernels.compiled_student import student_fit
from posterior.kernels.compiled_text import (
    add_cells,
    count_known,
    count_terms,
    hash_terms,
    lookup,
    union,
)
from posterior.kernels.compiled_tree import find_leaves, grow_tree, search_tree
from posterior.kernels.pairs import Pair
from posterior.kernels.search import nearest, nearest_bounded, nearest_rows, own_distances

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

SLICED = 4 * 23  # bits below the largest number that the fast path of moments reaches
SAMPLE = 64  # rows looked at to guess which bits the sums will need
LANES = 8
WANTED = {"log_posterior": 0, "posterior": 1, "log_evidence": 2}
WINDOW_TOO_SMALL, INFINITE, NOT_ASCENDING = 1, 2, 2

carry = _compiled.carry


def to_pairs(table: Integers, exponent: int) -> tuple[Floats, Floats]:
    """Each number as high + low, about 106 bits: a function of the exact value alone."""
    high, low = np.empty(table.shape[:-1]), np.empty(table.shape[:-1])
    _compiled.to_pairs(table, exponent, high, low)
    return high, low


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
    table = (part for p in sums for part in (p.high, p.low))
    _compiled.moments_without(X, codes, weight, *table, left, mean, scatter)
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


def soft_products(X: Array, R: Floats, origin: Floats) -> tuple[Floats, Floats]:
    """Σ r (x - o) (k, d) and the upper triangles of Σ r (x - o)(x - o)ᵀ (k, d, d)."""
    (k, d), width = origin.shape, -(-origin.shape[1] // LANES) * LANES
    totals, products = np.zeros((k, width)), np.zeros((k, width, width))
    if not _compiled.soft_products(X, np.ascontiguousarray(R), origin, totals, products):
        products[:] = np.nan
    return totals[:, :d], products[:, :d, :d]


def soft_moments(X: Array, R: Floats, origin: Floats) -> tuple[Floats, Floats, Floats]:
    """Σ r, Σ r (x - o) and Σ r (x - o)² over the observed cells: (k, d) each."""
    (k, d), width = origin.shape, -(-origin.shape[1] // LANES) * LANES
    sums = np.zeros((3, k, width))
    _compiled.soft_moments(X, np.ascontiguousarray(R), origin, *sums)
    return sums[0, :, :d], sums[1, :, :d], sums[2, :, :d]


def sums_of_products(a: Floats, b: Floats) -> Sum:
    """Exact Σₜ a_t b_t over the first axis."""
    flat = [np.ascontiguousarray(x).reshape(len(x), -1) for x in (a, b)]
    lowest, top = _compiled.bits_of_products(*flat)
    total = _zeros(a.shape[1:], lowest, top + len(a).bit_length())
    _compiled.add_products_exactly(*flat, *total)
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
    outcome = _compiled.add_sparse_sums(
        X.data, X.column, X.start, codes, weight, n_groups, X.n_columns, _nan(threshold), *totals
    )
    if outcome == NOT_ASCENDING:
        return sparse_sums(X.canonical(), codes, weight, n_groups, threshold)
    assert outcome == 0, "the window of all entries holds all entries"
    return totals


def _nan(threshold: float | None) -> float:
    return np.nan if threshold is None else threshold


def gaussian_log_joint(
    X: Array,
    mean: Floats,
    inverse_deviation: Floats,
    term: Floats,
    constant: Floats,
    out: Floats,
) -> None:
    """constant_k - ½ Σⱼ ((xⱼ - μ_kj) / σ_kj)²; a missing cell takes its term out instead."""
    _compiled.gaussian_log_joint(X, mean, inverse_deviation, term, constant, out)


def linear_log_joint(X: Array, weight: Floats, absent: Floats, bias: Floats, out: Floats) -> None:
    """bias_k + Σⱼ xⱼ w_kj; a missing cell takes absent_kj out instead."""
    _compiled.linear_log_joint(X, weight, absent, bias, out)


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
    gradient, gradient_b = np.zeros(coef.shape), np.zeros(intercept.shape)
    known = None if offset is None else offset.reshape(-1)
    rows = codes, weight, known
    if not isinstance(X, SparseRows):
        out = (gradient, gradient_b, residual, hessian)
        return (
            _compiled.logistic_sums(X, origin, *rows, coef, intercept, *out),
            gradient,
            gradient_b,
        )
    table, sums = np.ascontiguousarray(coef.T), np.zeros(coef.shape[::-1])
    value = _compiled.sparse_logistic_sums(
        X.data, X.column, X.start, *rows, table, intercept, sums, gradient_b, residual
    )
    return value, sums.T, gradient_b


def take_columns(X: SparseRows, columns: Integers) -> sparse.csc_array:
    """Some columns of sparse rows, as float64, column by column."""
    place = np.full(X.n_columns, -1, np.int32)
    place[columns] = np.arange(len(columns))
    rows, start = (X.data, X.column, X.start, place), np.empty(len(columns) + 1, X.start.dtype)
    _compiled.take_columns(*rows, start, None, None)
    data, row = np.empty(start[-1]), np.empty(start[-1], start.dtype)
    _compiled.take_columns(*rows, start, data, row)
    taken = sparse.csc_array((data, row, start), shape=(X.shape[0], len(columns)))
    taken.sum_duplicates()
    return taken


def side_by_side(weight: Floats) -> Floats:
    """(k, d) as (d, k), padded with zeros to whole lanes."""
    k, d = weight.shape
    width = -(-k // LANES) * LANES
    memory = np.zeros(d * width + LANES)
    start = -(memory.ctypes.data // memory.itemsize) % LANES  # a row begins a line of the cache
    table = memory[start : start + d * width].reshape(d, width)
    table[:, :k] = weight.T
    return table


def sparse_log_joint(
    X: SparseRows, table: Floats, bias: Floats, threshold: float | None, out: Floats
) -> None:
    """bias_k + Σⱼ xⱼ table[j, k] of sparse rows; with a threshold, of x > threshold."""
    done = _compiled.sparse_log_joint(
        X.data, X.column, X.start, len(bias), table, bias, _nan(threshold), out
    )
    if not done:
        sparse_log_joint(X.canonical(), table, bias, threshold, out)


def table_log_joint(X: Array, table: Floats, offset: Integers, bias: Floats, out: Floats) -> None:
    """bias_k + Σⱼ table[offset[j] + xⱼ, k]; a column's last row stands for unseen values."""
    _compiled.table_log_joint(X, len(bias), table, offset, bias, out)


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
    _compiled.square_distances(X, origin, axes, centers, constant, out)


def normalize(L: Floats, wanted: str, log_evidence: Floats | None = None) -> None:
    """Turn log p(x, k) into the "log_posterior" or "posterior", in place; or leave it."""
    _compiled.normalize(L, WANTED[wanted], log_evidence)
