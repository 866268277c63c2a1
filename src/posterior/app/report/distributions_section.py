"""Columns by class: counts of rows, and what the naive Bayes fitted to them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from posterior.app.report.report_schema import CategoryDistribution, NumberDistribution
from posterior.data import frames
from posterior.data.table import Table, round_digits
from posterior.data.typing import Floats
from posterior.estimators import NaiveBayes
from posterior.preprocessing.roles import ColumnRole
from posterior.selection.labeled_rows import LabeledRows

BINS = 30
GRID = 100
MOST_VALUES = 20


def distributions(
    rows: LabeledRows, columns: list[ColumnRole], model: NaiveBayes, table: Any, most: int = 12
) -> tuple[list[NumberDistribution], list[CategoryDistribution]]:
    """Of columns in the order they come, most informative first."""
    frame = frames.as_frame(table)
    assert frame is not None
    parameters = fitted(model.parameters())
    numbers: list[NumberDistribution] = []
    categories: list[CategoryDistribution] = []
    for column in columns:
        series = frame.get_column(column.name)
        if column.role in ("number", "date") and len(numbers) < most:
            cells = frames.numbers(series)
            found = _number(column.name, cells, rows, parameters[column.name])
            numbers.append(replace(found, dates=column.role == "date"))
        elif column.role not in ("number", "date") and len(categories) < most:
            categories.append(
                _category(column.name, series.to_list(), rows, parameters[column.name])
            )
    return numbers, categories


def fitted(parameters: Table) -> dict[str, dict[tuple[str, Any], float]]:
    """Values by feature, then by parameter and class."""
    found: dict[str, dict[tuple[str, Any], float]] = {}
    for name, parameter, group, value in zip(
        parameters["feature"],
        parameters["parameter"],
        parameters["class"],
        parameters["value"],
        strict=True,
    ):
        found.setdefault(str(name), {})[str(parameter), group] = float(value)
    return found


def bin_edges(values: Floats) -> Floats:
    """Whole numbers of few values have a bin each; far tails are drawn into the last bins."""
    distinct = np.unique(values)
    whole = bool((distinct == np.round(distinct)).all())
    if whole and distinct[-1] - distinct[0] < BINS:
        return np.arange(distinct[0] - 0.5, distinct[-1] + 1)
    low, q1, q3, high = np.quantile(values, [0, 0.02, 0.98, 1])
    room = max(q3 - q1, (high - low) / 20)
    low, high = max(low, q1 - room / 2), min(high, q3 + room / 2)
    return np.linspace(low, high, BINS + 1)


def _number(
    name: str, cells: Floats, rows: LabeledRows, parameters: dict[tuple[str, Any], float]
) -> NumberDistribution:
    edges = bin_edges(cells[~np.isnan(cells)])
    clipped = np.clip(cells, edges[0], edges[-1])
    k = len(rows.classes)
    counts = [np.histogram(clipped[rows.codes == c], edges)[0].tolist() for c in range(k)]
    grid = np.linspace(edges[0], edges[-1], GRID)
    means = np.array([parameters["mean", c] for c in rows.classes])
    variances = np.array([parameters["variance", c] for c in rows.classes])
    squares = (grid - means[:, None]) ** 2 / variances[:, None]
    densities = np.exp(-0.5 * squares) / np.sqrt(2 * np.pi * variances[:, None])
    return NumberDistribution(
        name=name,
        edges=round_digits(edges),
        counts=counts,
        grid=round_digits(grid),
        densities=round_digits(densities, 4),
        means=means.tolist(),
        deviations=np.sqrt(variances).tolist(),
    )


def _category(
    name: str, cells: list[str | None], rows: LabeledRows, parameters: dict[tuple[str, Any], float]
) -> CategoryDistribution:
    seen = Counter(cell for cell in cells if cell is not None)
    shown = [value for value, _ in seen.most_common(MOST_VALUES)]
    rest, gaps = len(seen) > len(shown), None in cells
    values = [*shown, *(["(others)"] if rest else []), *(["(missing)"] if gaps else [])]
    place: dict[str | None, int] = {value: i for i, value in enumerate(shown)}
    place[None] = len(values) - 1
    codes = np.array([place.get(cell, len(shown)) for cell in cells])
    counts = np.zeros((len(rows.classes), len(values)), np.int64)
    np.add.at(counts, (rows.codes, codes), 1)
    shares: list[list[float | None]] = []
    for group in rows.classes:
        line: list[float | None] = [parameters.get((f"P({v})", group), 0.0) for v in shown]
        if rest:
            line.append(max(0.0, 1.0 - sum(v or 0.0 for v in line)))
        shares.append([*line, None] if gaps else line)
    return CategoryDistribution(name, values, counts.tolist(), shares)
