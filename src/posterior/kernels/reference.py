"""The kernels in plain NumPy: slow, short, their sums those of the compiled ones to the bit."""

from __future__ import annotations

from posterior.kernels import dependence
from posterior.kernels.cells import add_cells
from posterior.kernels.centers import nearest, nearest_bounded, own_distances
from posterior.kernels.columns import stack_columns, take_columns
from posterior.kernels.cuts import class_cells, digitize, mdl_cuts, pack_columns, sort_column
from posterior.kernels.descent import column_descent, column_squares, coordinate_descent
from posterior.kernels.edit import nearest_strings
from posterior.kernels.limbs import carry, to_pairs
from posterior.kernels.logistic import logistic_sums
from posterior.kernels.neighbors import nearest_rows
from posterior.kernels.plain_text import count_known, count_terms, hash_terms, lookup, union
from posterior.kernels.scores import (
    gaussian_log_joint,
    linear_log_joint,
    normalize,
    side_by_side,
    sparse_log_joint,
    square_distances,
    table_log_joint,
)
from posterior.kernels.soft import soft_moments, soft_products
from posterior.kernels.student import student_fit
from posterior.kernels.sums import (
    add_products,
    category_counts,
    centered_by_group,
    code_range,
    group_counts,
    mean_and_scatter,
    moments,
    moments_without,
    rows_by_group,
    sparse_sums,
    sums_of_products,
)
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
