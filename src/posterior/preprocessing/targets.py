"""Targets: classes are learned; numbers, texts and identifiers are refused, with what to do."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.preprocessing.bands import bands_of
from posterior.preprocessing.roles import ColumnRole

FEW = 20  # different values that are always classes
MOST_CLASSES = 1000
ROWS_EACH = 5  # of whole numbers that are classes, on average


def is_continuous(column: nw.Series[Any], role: ColumnRole, n_rows: int) -> bool:
    """Whether cells are dates, or numbers that are measured rather than names of classes."""
    if role.low is None or role.distinct <= FEW:
        return False
    if role.role == "date" or role.distinct > min(MOST_CLASSES, n_rows / ROWS_EACH):
        return True
    values = frames.numbers(column)
    return bool((np.isfinite(values) & (values != np.round(values))).any())


def check_classes(column: nw.Series[Any], role: ColumnRole, n_rows: int) -> None:
    """Raise if a column to predict, of so many known cells, holds no classes."""
    name, distinct = role.name, role.distinct
    if is_continuous(column, role, n_rows):
        bands = bands_of(column, 4)
        what = "dates" if bands.dates else "numbers"
        raise ValueError(
            f"Expected classes in the target column {name!r}, got {distinct:,} different {what} "
            f"in {n_rows:,} rows: to predict those is regression. Cut them into bands: "
            f"--bands 4, or --bands {bands.cuts}, on the command line; bands=4 in Python."
        )
    if distinct <= FEW:
        return
    if role.role == "text":
        raise ValueError(
            f"Expected classes in the target column {name!r}, got {distinct:,} different texts in "
            f"{n_rows:,} rows. Choose a column whose values repeat."
        )
    if distinct > n_rows / 2:
        raise ValueError(
            f"Expected classes that repeat in the target column {name!r}, got {distinct:,} "
            f"different values in {n_rows:,} rows, which identify each row. Choose a column whose "
            "values repeat."
        )
    if distinct > MOST_CLASSES:
        raise ValueError(
            f"Expected at most {MOST_CLASSES:,} classes in the target column {name!r}, got "
            f"{distinct:,}. Join those that are rare."
        )
