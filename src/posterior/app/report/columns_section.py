"""Every column by class: counts in bins or by value, of which pictures show the shares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posterior.app.report.section_schema import ColumnShares, Scale
from posterior.data.cells import DAY, EPOCH
from posterior.data.table import round_digits, text
from posterior.data.typing import Array, Codes, Floats
from posterior.preprocessing.measured_columns import MeasuredColumn

BINS = 20
MOST_VALUES = 7
WIDE, SKEWED = 10.0, 0.4  # when numbers are drawn by their logarithms


def column_shares(columns: Sequence[MeasuredColumn], codes: Codes, k: int) -> list[ColumnShares]:
    """Of all columns, in the order they come."""
    return [
        _number(c, c.numbers, codes, k) if c.numbers is not None else _category(c, codes, k)
        for c in columns
    ]


def bin_edges(values: Floats, log: bool = False) -> Floats:
    """Bins of whole numbers hold equally many; far tails are drawn into the last bins."""
    if log:
        low, high = np.quantile(values, [0.002, 0.998])
        return np.geomspace(low, high, BINS + 1)
    distinct = np.unique(values)
    whole = bool((distinct == np.round(distinct)).all())
    if whole and distinct[-1] - distinct[0] < BINS:
        return np.arange(distinct[0] - 0.5, distinct[-1] + 1)
    low, q1, q3, high = np.quantile(values, [0, 0.02, 0.98, 1])
    room = max(q3 - q1, (high - low) / 20)
    low, high = max(low, q1 - room / 2), min(high, q3 + room / 2)
    if whole:
        width = np.ceil((high - low) / BINS)
        return np.arange(np.ceil(low) - 0.5, high + width, width)
    return np.linspace(low, high, BINS + 1)


def is_skewed(values: Floats) -> bool:
    """Whether logarithms show more: all are above zero, and lie wide and on one side.

    q₉₅ / q₀₅ ≥ 10, and (q₉₅ + q₀₅ - 2 q₅₀) / (q₉₅ - q₀₅) ≥ 0.4, more than that of the logarithms.
    """
    if values.min() <= 0:
        return False
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
    return bool(
        high >= WIDE * low
        and _one_sided(low, middle, high) >= SKEWED
        and abs(_one_sided(*np.log([low, middle, high]))) < _one_sided(low, middle, high)
    )


def _one_sided(low: float, middle: float, high: float) -> float:
    return (high + low - 2 * middle) / (high - low)


def _number(column: MeasuredColumn, cells: Floats, codes: Codes, k: int) -> ColumnShares:
    known = ~np.isnan(cells)
    values, own = cells[known], codes[known]
    scale: Scale = "date" if column.role == "date" else "linear"
    if len(values) and scale == "linear" and is_skewed(values):
        scale = "log"
    edges = bin_edges(values, scale == "log") if len(values) else np.array([0.0, 1.0])
    places = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    medians = [float(np.median(values[own == c])) if (own == c).any() else None for c in range(k)]
    return ColumnShares(
        name=column.name,
        role=column.role,
        scale=scale,
        unit=column.unit,
        edges=round_digits(edges, 8),
        values=[],
        counts=_counts(own, places, k, len(edges) - 1),
        missing=np.bincount(codes[~known], minlength=k).tolist(),
        typical=["" if m is None else written(m, scale) for m in medians],
    )


def _category(column: MeasuredColumn, codes: Codes, k: int) -> ColumnShares:
    places, values = column.grouped(MOST_VALUES)
    known = places >= 0
    counts = np.array(_counts(codes[known], places[known], k, len(values)))
    order = [*range(len(values))]
    if len(column.values) <= MOST_VALUES:
        order = np.argsort(-counts.sum(axis=0), kind="stable").tolist()
    counts = counts[:, order]
    values = tuple(values[v] for v in order)
    return ColumnShares(
        name=column.name,
        role=column.role,
        scale="category",
        unit="",
        edges=[],
        values=list(values),
        counts=counts.tolist(),
        missing=np.bincount(codes[~known], minlength=k).tolist(),
        typical=[values[int(line.argmax())] if line.sum() else "" for line in counts],
    )


def _counts(own: Codes, places: Array, k: int, width: int) -> list[list[int]]:
    flat = np.bincount(own.astype(np.int64) * width + places, minlength=k * width)
    found: list[list[int]] = flat.reshape(k, width).tolist()
    return found


def written(value: float, scale: Scale) -> str:
    """A number of a column as people write it; days since 1970 as a date."""
    if scale == "date":
        return str((EPOCH + np.round(value) * DAY).astype("datetime64[D]"))
    return text(float(value))
