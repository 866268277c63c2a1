"""Labels and weights that are columns of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data import arrow, validate
from posterior.data.typing import Array, Codes, Floats


def apart(frame: Any, *columns: Any) -> tuple[Any, ...]:
    """A frame without some columns, and these columns; None is none."""
    named = [name for name in columns if name is not None]
    if isinstance(frame, np.ndarray):
        parts = [None if j is None else frame[:, j] for j in columns]
        return np.delete(frame, named, axis=1) if named else frame, *parts
    for name in named:
        if name not in frame.column_names:
            raise ValueError(f"Expected a column {name!r}, got columns {frame.column_names}.")
    parts = [None if name is None else frame.column(name) for name in columns]
    return frame.drop_columns(named) if named else frame, *parts


def labels(column: Any) -> tuple[Array, Codes]:
    """Sorted classes of a column, and the code of each row's class."""
    if isinstance(column, np.ndarray):
        return validate.labels(column, len(column))
    values, place = different(column)
    not_numbers = [k for k, value in enumerate(values) if value != value]
    if not_numbers or place.min(initial=0) < 0:
        missing = (place < 0) | np.isin(place, not_numbers)
        raise ValueError(
            f"Input y contains NaN or None, first at row {int(missing.argmax())}. Drop rows "
            "without a label."
        )
    classes, codes = validate.labels(np.array(values), len(values))
    return classes, codes[place]


def different(column: Any) -> tuple[list[Any], Array]:
    """The different values of a column, and which of them each row has; -1 is none."""
    if isinstance(column, np.ndarray):
        values, place = np.unique(column, return_inverse=True)
        return values.tolist(), place
    cells, codes = arrow.different(column)
    return cells.to_pylist(), codes


def codes(column: Any, classes: Array) -> Codes:
    """The codes of labels among classes, which have them all."""
    found, places = labels(column)
    return np.searchsorted(classes, found).astype(np.int32)[places]


def weights(column: Any) -> Floats | None:
    """The weights of a column, which may all be zero in a batch."""
    if column is None:
        return None
    cells = column if isinstance(column, np.ndarray) else column.to_numpy()
    w = np.array(cells, np.float64)
    return w if not w.any() else validate.weights(w, len(w))
