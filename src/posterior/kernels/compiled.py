"""The compiled loops, seen as NumPy functions: outputs are allocated here and filled there.

Each has a twin of the same name and meaning in `posterior.kernels.reference`.
"""

from __future__ import annotations

from posterior.kernels import compiled_dependence as dependence
from posterior.kernels.compiled_columns import stack_columns, take_columns
from posterior.kernels.compiled_cuts import (
    class_cells,
    digitize,
    mdl_cuts,
    pack_columns,
    sort_column,
)
from posterior.kernels.compiled_descent import column_descent, column_squares, coordinate_descent
from posterior.kernels.compiled_edit import nearest_strings
from posterior.kernels.compiled_logistic import logistic_sums
from posterior.kernels.compiled_scores import (
    gaussian_log_joint,
    linear_log_joint,
    normalize,
    side_by_side,
    sparse_log_joint,
    square_distances,
    table_log_joint,
)
from posterior.kernels.compiled_search import nearest, nearest_bounded, nearest_rows, own_distances
from posterior.kernels.compiled_soft import soft_moments, soft_products
from posterior.kernels.compiled_student import student_fit
from posterior.kernels.compiled_sums import (
    add_products,
    carry,
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
    to_pairs,
)
from posterior.kernels.compiled_text import (
    add_cells,
    count_known,
    count_terms,
    hash_terms,
    lookup,
    union,
)
from posterior.kernels.compiled_tree import find_leaves, grow_tree, search_tree

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
