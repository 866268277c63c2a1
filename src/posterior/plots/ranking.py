"""Curves of ranked rows: ROC, precision and recall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from posterior import evaluation
from posterior.evaluation import HeldOut, RankCurve
from posterior.plots import look

Curves = Mapping[Any, tuple[ArrayLike, ArrayLike]]


def roc(curves: HeldOut | Curves, target: str = "class") -> look.Chart:
    """ROC curve: true positive rate by false positive rate.

    Parameters
    ----------
    curves : HeldOut, or mapping of a class to (false positive rate, true positive rate)
        What `cross_validate` returned, or each class against the rest. Up to eight have
        colors of their own.
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
    return look.sized(
        _behind(chart, [(0, 0), (1, 1)]), look.heading("ROC", [said + " is what guessing gives."])
    )


def precision_recall(curves: HeldOut | Curves, target: str = "class") -> look.Chart:
    """Precision by recall: which share of the rows predicted as a class are of it.

    Parameters
    ----------
    curves : HeldOut, or mapping of a class to (recall, precision)
        What `cross_validate` returned, or each class against the rest. Up to eight have
        colors of their own.
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
    return look.sized(
        look.optional("altair").layer(chart), look.heading("Precision and recall", [said])
    )


def _by_class(curves: list[RankCurve]) -> Curves:
    return {curve.name: (curve.x, curve.y) for curve in curves}


def _curves(curves: Curves, target: str, across: str, up: str) -> look.Chart:
    alt = look.optional("altair")
    if not curves:
        raise ValueError("Expected a curve or more, got none.")
    names = look.labels(list(curves))
    values = []
    for name, (x, y) in zip(names, curves.values(), strict=True):
        a = look.numbers(f"the first numbers of {name!r}", x, -1)
        b = look.numbers(f"the second numbers of {name!r}", y, len(a))
        values += [
            {"class": name, "at": i, "x": float(a[i]), "y": float(b[i])} for i in range(len(a))
        ]
    unit = alt.Scale(domain=[0, 1], nice=False)
    scale = {"scale": unit}
    color = look.colors(names, target)
    if len(names) == 1:
        color = alt.ColorValue(look.PALETTE[0])
    return (
        alt.Chart(look.inline(values))
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            x=alt.X("x:Q", axis=look.percent_axis(across), **scale),
            y=alt.Y("y:Q", axis=look.percent_axis(up, grid=True), **scale),
            order=alt.Order("at:Q"),
            detail=alt.Detail("class:N"),
            color=color,
            tooltip=[
                alt.Tooltip("class:N"),
                alt.Tooltip("x:Q", format=".1%", title=across),
                alt.Tooltip("y:Q", format=".1%", title=up),
            ],
        )
    )


def _behind(chart: look.Chart, points: list[tuple[float, float]]) -> look.Chart:
    alt = look.optional("altair")
    values = [{"x": x, "y": y} for x, y in points]
    line = alt.Chart(look.inline(values))
    line = line.mark_line(color=look.INK, strokeDash=[4, 3], strokeWidth=1).encode(
        x=alt.X("x:Q"), y=alt.Y("y:Q")
    )
    return alt.layer(line, chart)
