"""Loops over rows that NumPy cannot fuse, seen as NumPy functions.

`compiled` and `reference` hold the same functions; POSTERIOR_KERNELS chooses between them.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

_choice = os.environ.get("POSTERIOR_KERNELS", "")
if _choice not in ("", "compiled", "reference"):
    raise ValueError(f"Expected POSTERIOR_KERNELS to be compiled or reference, got {_choice!r}.")

if TYPE_CHECKING or _choice == "reference":
    from posterior.kernels import reference as active
else:
    try:
        from posterior.kernels import compiled as active
    except ImportError as error:
        if _choice == "compiled":
            raise
        from posterior.kernels import reference as active

        warnings.warn(
            f"posterior runs without its compiled kernels ({error}): results are the same, fits "
            "and predictions are slower. Reinstall it where a C++20 compiler is at hand.",
            stacklevel=2,
        )

add_cells = active.add_cells
add_products = active.add_products
carry = active.carry
category_counts = active.category_counts
centered_by_group = active.centered_by_group
class_cells = active.class_cells
code_range = active.code_range
column_descent = active.column_descent
column_squares = active.column_squares
coordinate_descent = active.coordinate_descent
count_known = active.count_known
count_terms = active.count_terms
digitize = active.digitize
find_leaves = active.find_leaves
gaussian_log_joint = active.gaussian_log_joint
group_counts = active.group_counts
grow_tree = active.grow_tree
hash_terms = active.hash_terms
linear_log_joint = active.linear_log_joint
logistic_sums = active.logistic_sums
lookup = active.lookup
mdl_cuts = active.mdl_cuts
mean_and_scatter = active.mean_and_scatter
moments = active.moments
moments_without = active.moments_without
nearest = active.nearest
nearest_bounded = active.nearest_bounded
nearest_rows = active.nearest_rows
nearest_strings = active.nearest_strings
normalize = active.normalize
one_dependence_log_joint = active.dependence.one_dependence_log_joint
own_distances = active.own_distances
pack_columns = active.pack_columns
pair_counts = active.dependence.pair_counts
rows_by_group = active.rows_by_group
search_tree = active.search_tree
side_by_side = active.side_by_side
side_by_side_pairs = active.dependence.side_by_side_pairs
soft_moments = active.soft_moments
soft_products = active.soft_products
sort_column = active.sort_column
sparse_log_joint = active.sparse_log_joint
sparse_sums = active.sparse_sums
square_distances = active.square_distances
stack_columns = active.stack_columns
student_fit = active.student_fit
sums_of_products = active.sums_of_products
table_log_joint = active.table_log_joint
take_columns = active.take_columns
to_pairs = active.to_pairs
union = active.union
