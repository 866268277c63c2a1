"""Decision regions: what a model predicts anywhere in the plane of two columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from posterior.data.typing import Floats, Integers
from posterior.evaluation.plane import Predicts, plane, two_columns
from posterior.plots import look

OTHERS = "others"
MOST_DOTS = 500
PALEST = 0.05
DEEPEST = 0.6  # opacity of a cell whose class is certain
SHADES = 2  # digits of a probability that can be seen
STEPS = 100  # from 0 to 1


@overload
def regions(x: Predicts, y: Any, codes: Any = None, /, *, target: str = ...) -> look.Chart: ...
@overload
def regions(
    x: ArrayLike,
    y: ArrayLike,
    codes: ArrayLike,
    probability: ArrayLike,
    classes: Sequence[Any],
    columns: tuple[str, str] = ...,
    points: tuple[ArrayLike, ArrayLike, ArrayLike] | None = ...,
    target: str = ...,
    deepest: float = ...,
) -> look.Chart: ...
def regions(
    x: Any,
    y: Any,
    codes: Any = None,
    probability: Any = None,
    classes: Any = None,
    columns: tuple[str, str] = ("x", "y"),
    points: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    target: str = "class",
    deepest: float = DEEPEST,
) -> look.Chart:
    """The most probable class over a grid, paler where it is less certain.

    `regions(model, X, y)` draws a model of two columns and the rows it learned from; the grid may
    also be given itself.

    Parameters
    ----------
    x, y : array-like of shape (a,) and (b,)
        Centers of the cells, evenly spaced.
    codes : array-like of shape (b, a)
        Which class is the most probable one, as a place in `classes`.
    probability : array-like of shape (b, a)
        How probable it is.
    classes : sequence of length k
        Those beyond the seven that win most cells are drawn as one, if there are more than eight.
    columns : two names
    points : x, y and codes of some rows, optional
        Drawn as dots in the color of their class.
    target : str, default="class"
        What the classes are.
    deepest : float, default=0.6
        How opaque a cell is whose class is certain.

    Returns
    -------
    altair.LayerChart
    """
    if isinstance(x, Predicts):
        return of_model(x, y, codes, target)
    alt = look.optional("altair")
    names = look.labels(classes)
    across, up = look.numbers("x", x, -1), look.numbers("y", y, -1)
    best = look.numbers("codes", codes, len(up), len(across)).astype(np.int64)
    sure = look.numbers("probability", probability, len(up), len(across)).round(SHADES)
    shown = _drawn(best.ravel(), len(names))
    called = [names[k] if k in shown else OTHERS for k in range(len(names))]
    sides = [edges_of(across), edges_of(up)]
    cells = [
        {
            "class": called[best[i, j]],
            "label": names[best[i, j]],
            "x": float(sides[0][j]),
            "x2": float(sides[0][end]),
            "y": float(sides[1][i]),
            "y2": float(sides[1][i + 1]),
            "probability": float(sure[i, j]),
        }
        for i in range(len(up))
        for j, end in runs(best[i], sure[i])
    ]
    place = {}
    for name, channel, side, title in zip("xy", (alt.X, alt.Y), sides, columns, strict=True):
        scale = alt.Scale(domain=[float(side[0]), float(side[-1])], nice=False, zero=False)
        shown_axis = look.number_axis(title, float(np.abs(side).max()))
        place[name] = channel(f"{name}:Q", scale=scale, axis=shown_axis)
    color = look.colors(list(dict.fromkeys([*(names[k] for k in shown), *called])), target)
    shade = alt.FillOpacity(
        "probability:Q",
        legend=None,
        scale=alt.Scale(domain=[1 / len(names), 1], range=[PALEST, deepest], clamp=True),
    )
    plane = (
        alt.Chart(look.inline(cells))
        .mark_rect()
        .encode(
            **place,
            x2=alt.X2("x2:Q"),
            y2=alt.Y2("y2:Q"),
            color=color,
            fillOpacity=shade,
            tooltip=[
                alt.Tooltip("label:N", title=look.titled(target)),
                alt.Tooltip("probability:Q", format=".1%"),
            ],
        )
    )
    said = ["The most probable class everywhere in the plane; paler where it is less certain."]
    layers = [plane]
    if points is not None:
        rows = [
            {"class": called[int(code)], "label": names[int(code)], "x": float(a), "y": float(b)}
            for a, b, code in zip(*map(np.asarray, points), strict=True)
        ]
        dots = alt.Chart(look.inline(rows))
        dots = dots.mark_point(
            filled=True, size=26, opacity=1, clip=True, stroke=look.PAPER, strokeWidth=0.6
        )
        layers.append(
            dots.encode(
                **place,
                color=color,
                tooltip=[alt.Tooltip(field) for field in ("label:N", "x:Q", "y:Q")],
            )
        )
        said.append("Dots are rows, in the color of their own class.")
    return look.sized(alt.layer(*layers), look.heading(f"{columns[0]} and {columns[1]}", said))


def of_model(
    model: Predicts,
    X: Any,
    y: Any,
    target: str,
    deepest: float = DEEPEST,
    steps: int = STEPS,
    columns: tuple[str, str] | None = None,
) -> look.Chart:
    """The regions of a model of two columns, shaded in so many steps, and some of the rows."""
    found = plane(model, X)
    shown = None
    if y is not None:
        _, cells = two_columns(X)
        y = np.asarray(y).tolist()
        place = {label: code for code, label in enumerate(found.classes.tolist())}
        known = [i for i in np.flatnonzero(np.isfinite(cells).all(axis=1)) if y[i] in place]
        some = known[:: -(-len(known) // MOST_DOTS) or 1]
        shown = cells[some, 0], cells[some, 1], np.array([place[y[i]] for i in some])
    return regions(
        found.x,
        found.y,
        found.codes,
        (found.probability * steps).round() / steps,
        found.classes.tolist(),
        columns or found.columns,
        shown,
        target,
        deepest,
    )


def edges_of(centers: Floats) -> Floats:
    """Sides of cells about their centers."""
    half = (centers[1] - centers[0]) / 2 if len(centers) > 1 else 0.5
    return np.append(centers - half, centers[-1] + half)


def runs(best: Integers, sure: Floats) -> list[tuple[int, int]]:
    """First and last-but-one place of neighbors that look the same; they are drawn as one."""
    changes = np.flatnonzero((np.diff(best) != 0) | (np.diff(sure) != 0)) + 1
    ends = [0, *changes.tolist(), len(best)]
    return list(pairwise(ends))


def _drawn(best: Integers, k: int) -> list[int]:
    """The classes with a color of their own."""
    if k <= len(look.PALETTE):
        return list(range(k))
    cells = np.bincount(best, minlength=k)
    return sorted(np.argsort(-cells, kind="stable")[: len(look.PALETTE) - 1].tolist())
