"""Two columns of few values: what models answer for every combination of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from posterior.data import frames
from posterior.data.names import plain
from posterior.data.typing import Array
from posterior.plots import look
from posterior.plots.normals import some_rows
from posterior.plots.regions import PALEST

MOST = 12  # values of a column
CELL = 74  # pixels
DEEPEST = 0.6
ACROSS = 2  # panels in a line
UNDECIDED, EQUAL = "undecided", 1e-6  # probabilities that differ by less are the same


def combinations(models: Any, X: Any, y: Any = None, target: str = "class") -> look.Chart:
    """The most probable class of each combination of two columns, and how probable it is.

    A panel for each model: where a line cannot part the combinations, as in the exclusive or, it
    is seen beside the models that can.

    Parameters
    ----------
    models : fitted classifier, or mapping of names to fitted classifiers
        Of the columns of X.
    X : array or frame
        Of two columns, with at most 12 different values each; combinations that no row has stay
        empty. Of further columns each row brings its own.
    y : array or name of a column, optional
        Classes of the rows; a model is then told by how many of them it answers correctly.
    target : str, default="class"
        What the classes are.

    Returns
    -------
    altair.ConcatChart
    """
    alt = look.optional("altair")
    if isinstance(y, str):
        target = y
        X, y = frames.split_target(X, y)
    asked = dict(models) if isinstance(models, Mapping) else {type(models).__name__: models}
    if not asked:
        raise ValueError("Expected a model or more, got none.")
    names, columns = _two(X)
    first = _firsts(columns)
    cells = some_rows(X, first)
    values = [sorted({column[i] for i in first}, key=_by_size) for column in columns]
    many = [name for name, found in zip(names, values, strict=True) if len(found) > MOST]
    if many:
        raise ValueError(
            f"Expected at most {MOST} different values in a column, got more in {many[0]!r}. Put "
            "them into bands first, or draw regions."
        )
    labels = look.labels(next(iter(asked.values())).classes_.tolist())
    panels = []
    for name, model in asked.items():
        p = np.asarray(model.predict_proba(cells))
        here = look.labels(model.classes_.tolist())
        if here != labels:
            raise ValueError(f"Expected models of the classes {labels}, got {here} in {name!r}.")
        told = name
        if y is not None:
            right = float((model.predict(X) == np.asarray(y)).mean())
            told = f"{name}: {100 * right:.0f} % correct"
        rows = [
            {
                "class": labels[k],
                "answer": UNDECIDED if (row > row[k] - EQUAL).sum() > 1 else labels[k],
                "x": columns[0][i],
                "y": columns[1][i],
                "probability": float(row[k]),
                "label": f"{100 * row[k]:.0f} %",
            }
            for i, row, k in zip(first, p, p.argmax(axis=1), strict=True)
        ]
        panels.append(_panel(alt, rows, values, names, labels, target, told))
    said = ["The most probable class of each combination, paler where it is less certain."]
    title = look.heading(f"{names[0]} and {names[1]}, by {target}", said)
    return alt.concat(*panels, columns=ACROSS, spacing=26).properties(title=title)


def _panel(
    alt: Any,
    rows: list[dict[str, Any]],
    values: list[list[str]],
    names: tuple[str, str],
    labels: list[str],
    target: str,
    told: str,
) -> look.Chart:
    down = {"sort": values[1][::-1], "axis": look.names_axis(names[1], limit=120)}
    along = look.names_axis(names[0], limit=CELL)
    along["labelAngle"] = 0
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("x:N", sort=values[0], axis=along), y=alt.Y("y:N", **down)
    )
    shade = alt.FillOpacity(
        "probability:Q",
        legend=None,
        scale=alt.Scale(domain=[1 / len(labels), 1], range=[PALEST, DEEPEST], clamp=True),
    )
    cells = base.mark_rect(stroke=look.INK, strokeWidth=0.6).encode(
        color=look.colors(labels, target),
        fillOpacity=alt.condition(f"datum.answer === '{UNDECIDED}'", alt.value(0), shade),
    )
    words = base.mark_text(color=look.INK, fontSize=13)
    size = {"width": CELL * len(values[0]), "height": CELL * len(values[1])}
    title = alt.Title(told, anchor="start", color=look.INK, fontSize=13, fontWeight="normal")
    return alt.layer(
        cells,
        words.encode(text="answer:N"),
        base.mark_text(color=look.INK, fontSize=12, dy=16).encode(text="label:N"),
    ).properties(**size, title=title, view=alt.ViewBackground(stroke=None))


def _two(X: Any) -> tuple[tuple[str, str], list[list[str]]]:
    """Names of the first two columns, and their cells as text."""
    frame = frames.as_frame(X)
    if frame is not None:
        if len(frame.columns) < 2:
            raise ValueError(f"Expected two columns, got {frame.columns}.")
        names = [str(plain(name)) for name in frame.columns[:2]]
        cells = [frame.get_column(name).to_list() for name in frame.columns[:2]]
    else:
        table = np.asarray(X)
        if table.ndim != 2 or table.shape[1] < 2:
            raise ValueError(f"Expected a table of two columns, got shape {table.shape}.")
        names, cells = ["x0", "x1"], [table[:, j].tolist() for j in (0, 1)]
    return (names[0], names[1]), [[_text(cell) for cell in column] for column in cells]


def _text(cell: Any) -> str:
    return f"{cell:g}" if isinstance(cell, float) else str(plain(cell))


def _by_size(text: str) -> tuple[int, float, str]:
    """Numbers by their size, before words."""
    try:
        return 0, float(text), ""
    except ValueError:
        return 1, 0.0, text


def _firsts(columns: list[list[str]]) -> Array:
    """The first row of each combination."""
    seen: dict[tuple[str, ...], int] = {}
    for i, pair in enumerate(zip(*columns, strict=True)):
        seen.setdefault(pair, i)
    return np.array(list(seen.values()), np.intp)
