"""One column by class, from counts: how the rows lie, and how the model thinks they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from posterior.data.typing import Floats
from posterior.plots import look

MOST = 12  # values that are drawn
A_YEAR = 365.25  # days
ROW, LOW_ROW = 22, 15  # pixels of a value, and of a class among many


def distribution(
    name: str,
    classes: Sequence[Any],
    edges: ArrayLike,
    counts: ArrayLike,
    grid: ArrayLike | None = None,
    density: ArrayLike | None = None,
    target: str = "class",
    dates: bool = False,
) -> look.Chart:
    """A histogram of numbers by class, under the densities that a model fitted to them.

    The bars of all classes have area 1 together; curves of share times density lie on their bars
    where the model is right. More classes than there are colors become lines of a heat map.

    Parameters
    ----------
    name : str
        The column.
    classes : sequence of length k
    edges : array-like of shape (b + 1,)
    counts : array-like of shape (k, b)
        Rows in each bin.
    grid, density : array-like of shape (m,) and (k, m), optional
        Points of the curves π_k p(x | k).
    target : str, default="class"
        What the classes are.
    dates : bool, default=False
        Whether the numbers are days since 1970, and shown as dates.

    Returns
    -------
    altair.LayerChart
    """
    alt = look.optional("altair")
    names = look.labels(classes)
    ends = look.numbers("edges", edges, -1)
    table = look.numbers("counts", counts, len(names), len(ends) - 1)
    title = look.heading(f"{name}, by {target}", [])
    across = alt.Scale(domain=[float(ends[0]), float(ends[-1])], nice=False, zero=False)
    x = alt.X("from:Q", bin="binned", scale=across, axis=_numbers_across(name, ends, dates))
    many = len(names) > len(look.PALETTE)
    bars = alt.Chart(look.inline(_bars(names, ends, table))).encode(
        x=x,
        x2=alt.X2("to:Q"),
        tooltip=[
            alt.Tooltip("class:N", title=look.titled(target)),
            *(
                alt.Tooltip(f"{field}:Q", format=look.DIGITS)
                for field in (() if dates else ("from", "to"))
            ),
            alt.Tooltip("rows:Q", format=","),
        ],
    )
    if many:
        return _heat(alt, bars, names, title)
    up = look.axis("share of all rows per unit", grid=True)
    up["labels"], up["title"] = False, None  # areas are compared, not heights read
    color = look.colors(names, target)
    layers = [
        bars.mark_bar(opacity=0.35, binSpacing=0, clip=True).encode(
            y=alt.Y("height:Q", stack=None, axis=up), color=color
        )
    ]
    if grid is not None and density is not None:
        points = look.numbers("grid", grid, -1)
        heights = look.numbers("density", density, len(names), len(points), open_ended=True)
        curves = [
            {"class": names[k], "x": float(a), "density": float(p)}
            for k in range(len(names))
            for a, p in zip(points, heights[k], strict=True)
            if np.isfinite(p)
        ]
        lines = alt.Chart(look.inline(curves))
        lines = lines.mark_line(strokeWidth=2.5, interpolate="monotone", clip=True)
        layers.append(lines.encode(x=alt.X("x:Q", scale=across), y=alt.Y("density:Q"), color=color))
    return look.sized(alt.layer(*layers), title)


def shares(
    name: str,
    classes: Sequence[Any],
    values: Sequence[Any],
    counts: ArrayLike,
    fitted: ArrayLike | None = None,
    target: str = "class",
) -> look.Chart:
    """How often each value of a column occurs in each class.

    Parameters
    ----------
    name : str
        The column.
    classes : sequence of length k
    values : sequence of length v
    counts : array-like of shape (k, v)
    fitted : array-like of shape (k, v), optional
        What the model took for the shares, drawn as thin strokes; NaN for none.
    target : str, default="class"
        What the classes are.

    Returns
    -------
    altair.LayerChart
        Of the 12 most frequent values, if there are more.
    """
    alt = look.optional("altair")
    names, kinds = look.labels(classes), look.labels(values)
    table = look.numbers("counts", counts, len(names), len(kinds))
    total = table.sum(axis=1, keepdims=True)
    share = np.divide(table, total, out=np.zeros_like(table), where=total > 0)
    model = np.full_like(table, np.nan)
    if fitted is not None:
        model = look.numbers("fitted", fitted, len(names), len(kinds), open_ended=True)
    order = np.argsort(-table.sum(axis=0), kind="stable")[:MOST]
    rows = [
        {
            "class": names[k],
            "value": kinds[v],
            "rows": float(table[k, v]),
            "share": float(share[k, v]),
            "fitted": float(model[k, v]) if np.isfinite(model[k, v]) else None,
        }
        for v in order
        for k in range(len(names))
    ]
    left_out = len(kinds) - len(order)
    said = [f"The {MOST} most frequent values; {left_out:,} are left out."] * (left_out > 0)
    title = look.heading(f"{name}, by {target}", said)
    base = alt.Chart(look.inline(rows))
    down = alt.Y("value:N", sort=[kinds[v] for v in order], axis=look.names_axis(None, limit=120))
    tooltip = [
        alt.Tooltip("class:N", title=look.titled(target)),
        alt.Tooltip("value:N", title=look.titled(name)),
        alt.Tooltip("rows:Q", format=","),
        alt.Tooltip("share:Q", format=".1%"),
    ]
    if len(names) > len(look.PALETTE):
        x = alt.X("value:N", sort=[kinds[v] for v in order], axis=look.names_axis(None, limit=90))
        return _heat(alt, base.encode(x=x, tooltip=tooltip), names, title)
    across = look.percent_axis("share of each class", grid=True)
    x = alt.X("share:Q", axis=across, scale=alt.Scale(domainMin=0))
    color = look.colors(names, target)
    dots = base.mark_point(filled=True, size=70, opacity=0.85)
    layers = [dots.encode(x=x, y=down, color=color, tooltip=tooltip)]
    if fitted is not None:
        strokes = base.mark_tick(thickness=2, size=ROW * 0.7, opacity=0.7)
        layers.append(strokes.encode(x=alt.X("fitted:Q"), y=down, color=color))
    return look.sized(alt.layer(*layers), title, alt.Step(ROW))


def _numbers_across(name: str, ends: Floats, dates: bool = False) -> Any:
    axis = look.number_axis(name, float(np.abs(ends).max()))
    if dates:
        form = "%b %Y" if ends[-1] - ends[0] > A_YEAR / 2 else "%d %b"
        form = "%Y" if ends[-1] - ends[0] > 6 * A_YEAR else form
        axis["labelExpr"] = f"utcFormat(datum.value * 86400000, '{form}')"
    return axis


def _bars(names: list[str], ends: Floats, table: Floats) -> list[dict[str, Any]]:
    """Bins that hold rows; `share` is of the class, and `height` makes the area of all 1."""
    n, width = max(table.sum(), 1.0), np.diff(ends)
    in_class = np.maximum(table.sum(axis=1), 1.0)
    return [
        {
            "class": names[k],
            "from": float(ends[b]),
            "to": float(ends[b + 1]),
            "rows": float(table[k, b]),
            "height": float(table[k, b] / (n * width[b])),
            "share": float(table[k, b] / in_class[k]),
        }
        for k in range(len(names))
        for b in np.flatnonzero(table[k])
    ]


def _heat(alt: Any, base: look.Chart, names: list[str], title: Any) -> look.Chart:
    """A line for each class, darker where more of its rows are."""
    y = alt.Y("class:N", scale=alt.Scale(domain=names), axis=look.names_axis(None, limit=120))
    shade = alt.FillOpacity("share:Q", legend=None, scale=alt.Scale(range=[0, 1]))
    cells = base.mark_rect(fill=look.PALETTE[0]).encode(y=y, fillOpacity=shade)
    return look.sized(alt.layer(cells), title, LOW_ROW * len(names))
