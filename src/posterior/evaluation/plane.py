"""Predictions of a model of two columns, everywhere in their plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from posterior.data import frames
from posterior.data.names import plain
from posterior.data.typing import Array, Floats, Integers

WIDTH, HEIGHT = 72, 54  # cells
INSIDE = 0.005, 0.995  # quantiles of the rows that the plane holds
MARGIN = 0.05


@runtime_checkable
class Predicts(Protocol):
    """A fitted classifier, ours or anybody's."""

    classes_: Any

    def predict_proba(self, X: Any) -> Any: ...


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """The most probable class in each cell of a grid, and how probable it is."""

    x: Floats  # (a,) centers of the cells
    y: Floats  # (b,)
    codes: Integers  # (b, a) places in `classes`
    probability: Floats  # (b, a)
    classes: Array
    columns: tuple[str, str]


def plane(model: Predicts, X: Any) -> Plane:
    """Posteriors over the plane in which the rows of two columns lie."""
    names, cells = two_columns(X)
    low, high = extent(cells)
    x = np.linspace(low[0], high[0], WIDTH)
    y = np.linspace(low[1], high[1], HEIGHT)
    across, up = np.tile(x, HEIGHT), np.repeat(y, WIDTH)
    frame = frames.as_frame(X)
    grid: Any = np.column_stack([across, up])
    if frame is not None:
        columns = dict(zip(frame.columns, (across, up), strict=True))
        grid = frames.from_columns(columns, frame.implementation).to_native()
    proba = np.asarray(model.predict_proba(grid))
    return Plane(
        x,
        y,
        proba.argmax(axis=1).reshape(HEIGHT, WIDTH),
        proba.max(axis=1).reshape(HEIGHT, WIDTH),
        np.asarray(model.classes_),
        names,
    )


def extent(cells: Floats) -> tuple[Floats, Floats]:
    """Corners of the plane in which nearly all rows (n, 2) lie, with room."""
    known = cells[np.isfinite(cells).all(axis=1)]
    if len(known) == 0:
        raise ValueError("Expected rows with both cells to find the plane by, got none.")
    low, high = np.quantile(known, INSIDE, axis=0)
    room = MARGIN * np.where(high > low, high - low, 1.0)
    return low - room, high + room


def two_columns(X: Any) -> tuple[tuple[str, str], Floats]:
    """Names and cells (n, 2) of a table of two columns of numbers."""
    frame = frames.as_frame(X)
    if frame is None:
        cells, names = np.asarray(X, np.float64), ["x0", "x1"]
    else:
        cells = np.column_stack([frames.numbers(frame.get_column(n)) for n in frame.columns])
        names = [str(plain(name)) for name in frame.columns]
    if cells.ndim != 2 or cells.shape[1] != 2:
        raise ValueError(
            f"Expected two columns to draw the plane of, got a table of shape {cells.shape}. Fit "
            "the model to two columns."
        )
    return (names[0], names[1]), cells
