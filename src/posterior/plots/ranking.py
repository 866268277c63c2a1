"""How well the probabilities rank the rows: ROC, precision and recall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from posterior import evaluation
from posterior.evaluation import HeldOut, RankCurve
from posterior.plots.look import (
    INK,
    PALETTE,
    Chart,
    colors,
    heading,
    labels,
    numbers,
    optional,
    percent_axis,
    sized,
)

Curves = Mapping[Any, tuple[ArrayLike, ArrayLike]]


def roc(curves: HeldOut | Curves, target: str = "class") -> Chart:
    """ROC curve: true positive rate by false positive rate.

    Parameters
    ----------
    curves : HeldOut, or mapping of a class to (false positive rate, true positive rate)
        What `cross_validate` returned, or each class against the rest. Up to eight are told apart
        by color.
    target : str, default="class"
        What the classes are.

    Returns
    -------
    altair.LayerChart
    """
    said = "A curve near the upper left corner ranks nearly all rows correctly; the dashed line"
    if isinstance(curves, HeldOut):
        curves = _by_class(evaluation.roc(curves))
    chart = _curves(curves, target, "false positive rate", "true positive rate (recall)")
    return sized(
        _behind(chart, [(0, 0), (1, 1)]), heading("ROC", [said + " is what guessing gives."])
    )


def precision_recall(curves: HeldOut | Curves, target: str = "class") -> Chart:
    """Precision by recall: which share of the rows predicted as a class are of it.

    Parameters
    ----------
    curves : HeldOut, or mapping of a class to (recall, precision)
        What `cross_validate` returned, or each class against the rest. Up to eight are told apart
        by color.
    target : str, default="class"
        What the classes are.

    Returns
    -------
    altair.LayerChart
    """
    said = "A curve near the upper right corner finds all rows of the class, and no others."
    if isinstance(curves, HeldOut):
        curves = _by_class(evaluation.precision_recall(curves))
    chart = _curves(curves, target, "recall", "precision")
    return sized(optional("altair").layer(chart), heading("Precision and recall", [said]))


def _by_class(curves: list[RankCurve]) -> Curves:
    return {curve.name: (curve.x, curve.y) for curve in curves}


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
