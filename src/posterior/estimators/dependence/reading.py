"""A column of categories as codes."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.data.typing import Array


def coded_column(columns: Array | list[nw.Series[Any]], j: int, name: Any) -> tuple[Array, Array]:
    """Codes of the cells, -1 where missing, and the sorted values, as text."""
    if not isinstance(columns, np.ndarray):
        return frames.coded(columns[j], name)
    # few values stand in many cells: only the values become text
    numbers, place = np.unique(columns[:, j], return_inverse=True)
    texts = frames.items(numbers.tolist(), name)
    values = frames.distinct(texts)
    return frames.encode(texts, values)[place], values
