"""Labels of which some are hidden."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from posterior.data import validate
from posterior.data.distant import Distant
from posterior.data.frames import missing
from posterior.data.rows import Hard, Rows
from posterior.data.typing import Array, Codes
from posterior.estimators.base import GenerativeClassifier
from posterior.generative.expectation import HIDDEN
from posterior.generative.joint import JointStatistics, labeling


def partly_known(y: Any, marker: Any, n_rows: int) -> tuple[Array, Codes]:
    """Classes, and the code of each row's class, or HIDDEN if it is marked or missing."""
    if y is None:
        return validate.labels(y, n_rows)
    labels = column_or_1d(y, warn=True)
    hidden = _hidden(labels, marker)
    if not hidden.any():
        return validate.labels(labels, n_rows)
    if hidden.all():
        raise ValueError(
            "Expected some rows with a label, all of them are hidden. Use Mixture to find groups "
            "that nobody has named."
        )
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


def _hidden(y: Array, marker: Any) -> Array:
    """Which rows have no label."""
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


def weighed(rows: Rows, hidden_weight: float) -> Rows:
    """Rows without a label count as much as was asked for."""
    groups = rows.hard
    hidden = groups.codes == HIDDEN
    if hidden_weight == 1 or not hidden.any():
        return rows
    weight = np.ones(len(hidden)) if groups.weight is None else groups.weight
    weight = np.where(hidden, hidden_weight, 1.0) * weight
    return Rows(rows.X, Hard(groups.codes, groups.n_groups, weight))


def in_one(rows: Rows) -> Rows:
    """All rows as one group."""
    return Rows(rows.X, Hard(np.zeros(len(rows), np.int32), 1, rows.hard.weight))


def summed(base: GenerativeClassifier, rows: Rows | Distant) -> JointStatistics[Any]:
    """Rows by their groups; cells of a table elsewhere are looked at when it is read."""
    if not isinstance(rows, Distant):
        return base._sum(rows)
    return base.engine_.sum(labeling(base._family()), rows)
