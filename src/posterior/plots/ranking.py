"""How well the probabilities rank the rows: ROC, precision and recall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from posterior.plots.checked import labels, numbers
from posterior.plots.look import (
    INK,
    PALETTE,
    Chart,
    colors,
    heading,
    optional,
    percent_axis,
    sized,
)

Curves = Mapping[Any, tuple[ArrayLike, ArrayLike]]


def roc(curves: Curves, target: str = "class") -> Chart:
    """Rows of a class that are found, by the share of other rows that are taken for it.

    Parameters
    ----------
    curves : mapping of a class to (false positive rate, true positive rate)
        One against the rest. Up to eight are told apart by color.
    target : str, default="class"
        What the classes are.

    Returns
    -------
    altair.LayerChart
    """
    said = "A curve near the upper left corner ranks nearly all rows rightly; the dashed line"
    chart = _curves(
        curves, target, "share of the other rows taken for it", "share of its rows found"
    )
    return sized(
        _behind(chart, [(0, 0), (1, 1)]), heading("ROC", [said + " is what guessing gives."])
    )


def precision_recall(curves: Curves, target: str = "class") -> Chart:
    """How many of the rows taken for a class are of it, by how many of its rows are found.

    Parameters
    ----------
    curves : mapping of a class to (recall, precision)
        One against the rest. Up to eight are told apart by color.
    target : str, default="class"
        What the classes are.

    Returns
    -------
    altair.LayerChart
    """
    said = "A curve near the upper right corner finds all rows of the class, and no others."
    chart = _curves(curves, target, "share of its rows found", "share of the found that are right")
    return sized(optional("altair").layer(chart), heading("Precision and recall", [said]))


def _curves(curves: Curves, target: str, across: str, up: str) -> Chart:
    alt = optional("altair")
    if not curves:
        raise ValueError("Expected a curve or more, got none.")
    names = labels(list(curves))
    values = []
    for name, (x, y) in zip(names, curves.values(), strict=True):
        a = numbers(f"the first numbers of {name!r}", x, -1)
        b = numbers(f"the second numbers of {name!r}", y, len(a))
        values += [
            {"class": name, "at": i, "x": float(a[i]), "y": float(b[i])} for i in range(len(a))
        ]
    unit = alt.Scale(domain=[0, 1], nice=False)
    scale = {"scale": unit}
    color = colors(names, target)
    if len(names) == 1:
        color = alt.value(PALETTE[0])
    return (
        alt.Chart(alt.InlineData(values=values))
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            x=alt.X("x:Q", axis=percent_axis(across), **scale),
            y=alt.Y("y:Q", axis=percent_axis(up, grid=True), **scale),
            order="at:Q",
            detail="class:N",
            color=color,
            tooltip=[
                "class:N",
                alt.Tooltip("x:Q", format=".1%", title=across),
                alt.Tooltip("y:Q", format=".1%", title=up),
            ],
        )
    )


def _behind(chart: Chart, points: list[tuple[float, float]]) -> Chart:
    alt = optional("altair")
    values = [{"x": x, "y": y} for x, y in points]
    line = alt.Chart(alt.InlineData(values=values))
    line = line.mark_line(color=INK, strokeDash=[4, 3], strokeWidth=1).encode(x="x:Q", y="y:Q")
    return alt.layer(line, chart)
