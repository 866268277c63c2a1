"""Groups that the chosen model predicts worse than the rest: by which values and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from posterior.app.report.columns_section import written
from posterior.app.report.section_schema import Scale
from posterior.data.typing import Array, Codes, Floats
from posterior.evaluation.held_out import HeldOut
from posterior.evaluation.worst_subgroups import GroupedColumn, WorstSubgroups, worst_subgroups
from posterior.preprocessing.measured_columns import MeasuredColumn

MOST_VALUES = 8  # of a category: the rest are in no group
FEW_NUMBERS = 4  # different ones: each is a group


def worst(held_out: HeldOut, columns: Sequence[MeasuredColumn], index: Array) -> WorstSubgroups:
    """By values of categories and quartiles of numbers; cells that are missing are a group, too."""
    return worst_subgroups(held_out, [_grouped(column, index) for column in columns])


def _grouped(column: MeasuredColumn, index: Array) -> GroupedColumn:
    if column.numbers is not None:
        codes, groups = _ranges(column, column.numbers[index])
    else:
        found, values = column.grouped(MOST_VALUES)
        kept = min(len(column.values), MOST_VALUES)
        codes, groups = found[index], values[:kept]
        codes = np.where(codes >= kept, -1, codes)
    missing = column.missing[index]
    name = f"{column.name} ({column.unit})" if column.unit else column.name
    if missing.any():
        codes, groups = np.where(missing, len(groups), codes), (*groups, "(missing)")
    return GroupedColumn(name, codes.astype(np.int32), groups)


def _ranges(column: MeasuredColumn, cells: Floats) -> tuple[Codes, tuple[str, ...]]:
    """Quartiles of numbers, or the numbers themselves where they are few."""
    known = cells[~np.isnan(cells)]
    distinct = np.unique(known)
    scale: Scale = "date" if column.role == "date" else "linear"
    if len(distinct) <= FEW_NUMBERS:
        codes = np.searchsorted(distinct, np.where(np.isnan(cells), np.inf, cells))
        codes = np.where(np.isnan(cells), -1, codes)
        return codes.astype(np.int32), tuple(written(v, scale) for v in distinct)
    cuts = np.unique(np.quantile(known, [0.25, 0.5, 0.75], method="lower"))
    cuts = cuts[cuts < distinct[-1]]
    codes = np.where(np.isnan(cells), -1, np.searchsorted(cuts, cells, side="left"))
    said = [written(c, scale) for c in cuts]
    groups = (f"up to {said[0]}", *(f"{a} to {b}" for a, b in pairwise(said)))
    return codes.astype(np.int32), (*groups, f"above {said[-1]}")
