"""Reads labels of which some are hidden: marked, or missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from posterior.data import validate
from posterior.data.frames import missing
from posterior.data.rows import HIDDEN
from posterior.data.typing import Array, Codes
from posterior.sources import target


@dataclass(frozen=True, slots=True)
class HiddenLabels:
    """Classes, and the codes of rows, HIDDEN where a label is the marker or missing."""

    marker: Any = None

    def __call__(self, column: Any) -> tuple[Array, Codes]:
        """Of a column of a batch, which may have no label at all."""
        different, place = target.different(column)
        known = np.array([not missing(v) and v != self.marker for v in different], bool)
        labels = [v for v, is_known in zip(different, known, strict=True) if is_known]
        codes = np.full(len(different) + 1, HIDDEN, np.int32)  # the last is that of nothing
        classes = np.array(labels)
        if labels:
            classes, codes[np.flatnonzero(known)] = validate.labels(classes, len(labels))
        return classes, codes[place]

    def learn(self, y: Any, n_rows: int) -> tuple[Array, Codes]:
        """Of all rows, some of which must have a label."""
        if y is None:
            return validate.labels(y, n_rows)
        labels = column_or_1d(y, warn=True)
        hidden = self._hides(labels)
        if not hidden.any():
            return validate.labels(labels, n_rows)
        if hidden.all():
            raise all_hidden()
        if len(labels) != n_rows:
            validate.labels(np.zeros(len(labels), int), n_rows)  # says how many there are
        known = labels[~hidden]
        if known.dtype.kind == "O" and len({type(v) for v in known}) == 1:
            known = np.array(known.tolist())
        elif known.dtype.kind == "f" and (known == np.round(known)).all():
            known = known.astype(np.int64)  # a NaN among whole numbers made them floats
        classes, of_known = validate.labels(known, len(known))
        codes = np.full(n_rows, HIDDEN, np.int32)
        codes[~hidden] = of_known
        return classes, codes

    def _hides(self, y: Array) -> Array:
        """Which rows have no label."""
        marker = self.marker
        hidden: Array = np.zeros(len(y), bool)
        if marker is not None and not missing(marker):
            if np.ndim(marker) != 0:
                raise TypeError(f"Expected one label that marks hidden rows, got {marker!r}.")
            if y.dtype.kind in "iufU" and isinstance(marker, str) != (y.dtype.kind == "U"):
                raise TypeError(
                    f"Expected hidden_label of the type of the labels, got {marker!r} beside "
                    f"{y[0].item()!r}."
                )
            hidden = np.asarray(y == marker)
        if y.dtype.kind == "f":
            return hidden | np.isnan(y)
        if y.dtype.kind == "O":
            return hidden | np.array([missing(v) for v in y], bool)
        return hidden


def all_hidden() -> ValueError:
    return ValueError(
        "Expected some rows with a label, all of them are hidden. Use Mixture to find groups "
        "that nobody has named."
    )
