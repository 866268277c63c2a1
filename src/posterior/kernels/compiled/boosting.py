"""The compiled boosting of symmetric trees."""

from __future__ import annotations

import numpy as np

import posterior.kernels._compiled as _compiled
from posterior.data.typing import Array, Codes, Floats, Integers

CODES = 256


def residuals(
    scores: Floats,
    labels: Codes,
    weight: Floats,
    scale: float,
    drawn: tuple[Array, Floats, int] | None = None,
    out: Integers | None = None,
) -> Integers:
    """g = w (p - y) and h = w p (1 - p) of each row, (n, 2, outputs), in units of 1 / scale."""
    found = np.empty((len(scores), 2, scores.shape[1]), np.int64) if out is None else out
    key, luck, turn = (None, None, 0) if drawn is None else drawn
    _compiled.residuals(scores, labels, weight, key, luck, turn, scale, found)
    return found


def log_loss(scores: Floats, labels: Codes, weight: Floats) -> float:
    """Σ -w log p(y)."""
    return _compiled.log_loss(scores, labels, weight)


def symmetric_tree(
    codes: Array,
    residual: Integers,
    sizes: Codes,
    ordered: Array,
    candidates: Codes,
    unit: float,
    shrinkage: float,
    noise: tuple[float, Floats, int],
) -> tuple[Codes, Array, Integers]:
    """The column of each level (depth,), sides of its cells (depth, 256), sums of the leaves."""
    depth = len(candidates)
    columns, sides = np.empty(depth, np.int32), np.empty((depth, CODES), np.uint8)
    leaves = np.empty((1 << depth, *residual.shape[1:]), np.int64)
    _compiled.symmetric_tree(
        *(codes, residual, sizes, ordered, candidates, unit, shrinkage, *noise),
        *(columns, sides, leaves),
    )
    return columns, sides, leaves


def add_tables(
    codes: Array,
    axis: Integers,
    column: Codes,
    first: Integers,
    stride: Integers,
    group: Array,
    start: Integers,
    values: Floats,
    out: Floats,
) -> None:
    """out ← out + Σ_t T_t[groups of the cells of a row], codes (columns, n)."""
    _compiled.add_tables(codes, axis, column, first, stride, group, start, values, out)
