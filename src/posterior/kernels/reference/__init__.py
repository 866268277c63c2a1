"""The kernels in plain NumPy: slow, short, their sums those of the compiled ones to the bit.

This is the list of all kernels. The compiled twin of a function has its name and stands in the
module of the same name in `posterior.kernels.compiled`.
"""

from __future__ import annotations

from posterior.kernels.limbs import carry, to_pairs
from posterior.kernels.reference.boosting import add_tables, log_loss, residuals, symmetric_tree
from posterior.kernels.reference.columns import stack_columns, take_columns
from posterior.kernels.reference.cuts import (
    class_cells,
    digitize,
    mdl_cuts,
    pack_columns,
    sort_column,
)
from posterior.kernels.reference.dependence import (
    one_dependence_log_joint,
    pair_counts,
    side_by_side_pairs,
)
from posterior.kernels.reference.descent import column_descent, column_squares, coordinate_descent
from posterior.kernels.reference.edit import nearest_strings
from posterior.kernels.reference.logistic import logistic_sums
from posterior.kernels.reference.scores import (
    gaussian_log_joint,
    linear_log_joint,
    normalize,
    ordered_products,
    side_by_side,
    sparse_log_joint,
    square_distances,
    table_log_joint,
)
from posterior.kernels.reference.search import (
    nearest,
    nearest_bounded,
    nearest_rows,
    own_distances,
)
from posterior.kernels.reference.soft import soft_moments, soft_products
from posterior.kernels.reference.student import student_fit
from posterior.kernels.reference.sums import (
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
from posterior.kernels.reference.text import (
    add_cells,
    count_known,
    count_terms,
    hash_terms,
    lookup,
    union,
)
from posterior.kernels.reference.tree import find_leaves, grow_tree, search_tree

__all__ = [
    "add_cells",
    "add_products",
    "add_tables",
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
    "digitize",
    "find_leaves",
    "gaussian_log_joint",
    "group_counts",
    "grow_tree",
    "hash_terms",
    "linear_log_joint",
    "log_loss",
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
    "one_dependence_log_joint",
    "ordered_products",
    "own_distances",
    "pack_columns",
    "pair_counts",
    "residuals",
    "rows_by_group",
    "search_tree",
    "side_by_side",
    "side_by_side_pairs",
    "soft_moments",
    "soft_products",
    "sort_column",
    "sparse_log_joint",
    "sparse_sums",
    "square_distances",
    "stack_columns",
    "student_fit",
    "sums_of_products",
    "symmetric_tree",
    "table_log_joint",
    "take_columns",
    "to_pairs",
    "union",
]
