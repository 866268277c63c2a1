"""The decision boundary in the two most informative numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from sklearn.base import clone

from posterior.app.report.report_schema import Boundary, BoundaryPoint
from posterior.data import frames
from posterior.data.cells import EPOCH
from posterior.data.table import round_digits
from posterior.data.typing import Array, Floats
from posterior.estimators.pool.candidates import candidates
from posterior.evaluation.held_out import HeldOut, aligned, floored
from posterior.evaluation.scores import measure
from posterior.preprocessing.roles import Roles
from posterior.selection.comparison import quiet, sampled
from posterior.selection.labeled_rows import LabeledRows

WIDTH, HEIGHT = 72, 54
MOST_ROWS = 5000
POINTS = 500


def boundary(
    rows: LabeledRows, roles: Roles, ranked: list[str], key: str, seed: int
) -> Boundary | None:
    """Posteriors of the chosen kind of model, fitted to two columns alone."""
    columns = {c.name: c for c in roles.table_columns if c.role in ("number", "date")}
    telling = [n for n in ranked if n in columns and columns[n].distinct > 5]
    telling.sort(key=lambda n: columns[n].role == "date")  # numbers first: axes show numbers
    if len(telling) < 2:
        return None
    x_name, y_name = telling[:2]
    both = roles.only(x_name, y_name)
    kinds = {c.key: c for c in candidates(both, min(len(rows), MOST_ROWS), len(rows.classes))}
    candidate = kinds.get(key, kinds["naive-bayes"])
    index = sampled(rows, MOST_ROWS, seed)
    table = frames.as_frame(both.prepare(rows.take(index)))
    assert table is not None
    X = np.column_stack([frames.numbers(table.get_column(n)) for n in (x_name, y_name)])
    known = np.isfinite(X).all(axis=1)
    if known.sum() < 10:
        return None
    low, high = np.quantile(X[known], [0.005, 0.995], axis=0)
    room = 0.05 * np.where(high > low, high - low, 1.0)
    x = np.linspace(low[0] - room[0], high[0] + room[0], WIDTH)
    y = np.linspace(low[1] - room[1], high[1] + room[1], HEIGHT)
    cells = {x_name: np.tile(x, HEIGHT), y_name: np.repeat(y, WIDTH)}
    grid = pa.table({n: _moments(v) if roles[n].role == "date" else v for n, v in cells.items()})
    with quiet():
        model = clone(candidate.classifier)
        folds = (rows.folds if rows.dealt.belonging is None else rows.held_out)[index]
        said = model.fit_held_out(rows.take(index), rows.y[index], folds)
        proba = model.predict_proba(grid)
    said = floored(aligned(said, model.classes_, rows.classes))
    held_out = HeldOut(said, rows.codes[index], rows.classes, folds)
    accuracy = measure(held_out.take(np.flatnonzero(folds >= 0)), "accuracy")
    codes = rows.codes_of(model.classes_)[proba.argmax(axis=1)]
    shown = np.flatnonzero(known)
    shown = shown[sampled_evenly(len(shown), POINTS)]
    places, groups = round_digits(X[shown]), rows.codes[index[shown]].tolist()
    points = [BoundaryPoint(a, b, code) for (a, b), code in zip(places, groups, strict=True)]
    return Boundary(
        model=candidate.name,
        x_name=x_name,
        y_name=y_name,
        x=round_digits(x),
        y=round_digits(y),
        codes=codes.reshape(HEIGHT, WIDTH).tolist(),
        proba=round_digits(proba.max(axis=1).reshape(HEIGHT, WIDTH), 3),
        points=points,
        accuracy=accuracy,
    )


def _moments(days: Floats) -> Array:
    """Days since 1970 as the times that they are."""
    return EPOCH + np.round(days * 86_400e6).astype("timedelta64[us]")


def sampled_evenly(n: int, most: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """At most some of n places, at even steps."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
