"""Shapes of an additive model: what a column adds, cell by cell, and how well that is known."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from posterior.data.names import plain
from posterior.discriminative.additive.fitted_additive import FittedAdditive
from posterior.estimators import Additive
from posterior.plots import look
from posterior.readers.cells import MISSING

MOST, LETTERS = 30, 24  # categories that are drawn, and letters of a name
WIDE = float(ndtri(0.975))  # standard errors on each side of a band
ROW = 16  # pixels of a bar
LOW = 4  # how many times lower than the picture the bars of the rows are
BESIDE = 0.05  # of the width: beyond the first and last cut, and up to missing cells
BAND = "Bands: ± 1.96 standard errors of a step, if all else were known."

Rows = list[dict[str, Any]]


def shape(model: Any, column: Any) -> look.Chart:
    """What a column adds to the log odds: steps over numbers, bars of categories.

    The band is effect ± 1.96 / √(λ + Σ w p (1 - p)), over the rows of a step: the normal
    approximation of one step's effect if all other effects were known. It says how far the rows of
    that step determine its height. It does not say how the choice of cuts, columns that move
    together or another sample would change the curve.

    Parameters
    ----------
    model : fitted Additive
    column : name or number of a column

    Returns
    -------
    altair.LayerChart
        Missing cells of numbers stand apart, at the right. Of more than two classes numbers have
        no band, and the eight classes are drawn that the column moves most; of more than 30
        categories those with most rows.
    """
    fitted = fitted_of(model)
    (j,) = fitted.term_of([column])
    steps = _steps(fitted, j)
    if fitted.reader.kinds[j] == "number":
        return _numbers(fitted, j, steps)
    return _categories(fitted, j, steps)


def fitted_of(model: Any) -> FittedAdditive:
    """What an additive model has learned."""
    if not isinstance(model, Additive):
        raise TypeError(f"Expected a fitted Additive, got {type(model).__name__}.")
    check_is_fitted(model)
    return model.fitted_


def effect_title(fitted: FittedAdditive) -> str:
    """What an effect is."""
    if len(fitted.intercept) > 1:
        return "effect on the score of each class"
    return f"effect on the log odds of {cut(fitted.classes[1])}"


def cut(name: Any, most: int = LETTERS) -> str:
    """A name with not too many letters: names that begin alike often differ at the end."""
    text = " ".join(str(plain(name)).split())
    tail = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - tail]}…{text[-tail:]}"


def _steps(fitted: FittedAdditive, j: int) -> Rows:
    """The effect of each group of cells on each class, its band, and its share of the rows."""
    found = fitted.shapes()[(j,)]
    (names,), (group,) = fitted.cell_names(found), found.groups
    classes = [str(plain(c)) for c in fitted.classes[-found.effect.shape[-1] :]]
    moved = found.share @ np.abs(found.effect)
    shown = np.sort(np.argsort(-moved, kind="stable")[: len(look.PALETTE)])
    rows = []
    for g, name in enumerate(names):
        own = np.flatnonzero(group == g)
        information = fitted.information[j][own].sum(axis=0)
        spread = WIDE / np.sqrt(information + fitted.shrinkage)
        for k in shown.tolist():
            effect = float(found.effect[g, k])
            rows.append(
                {
                    "cell": name,
                    "class": classes[k],
                    "effect": effect,
                    "low": effect - float(spread[k]),
                    "high": effect + float(spread[k]),
                    "rows": float(fitted.cell_weight[j][own].sum()),
                    "cells": own[own != MISSING].tolist(),
                    "missing": MISSING in own and bool(fitted.cell_weight[j][MISSING] > 0),
                }
            )
    return rows


def _numbers(fitted: FittedAdditive, j: int, steps: Rows) -> look.Chart:
    """Steps from cut to cut."""
    alt = look.optional("altair")
    cuts = fitted.reader.cuts[fitted.reader.places()[0].index(j)]
    first, last = (cuts[0], cuts[-1]) if len(cuts) else (0.0, 0.0)
    typical = float(np.median(np.diff(cuts))) if len(cuts) > 1 else abs(first) or 1.0
    room = max(BESIDE * (last - first), typical)
    edges = np.concatenate([[first - room], cuts, [last + room]])
    drawn: Rows = []
    for step in steps:
        if step["cells"]:
            ends = {"from": edges[step["cells"][0] - 1], "to": edges[step["cells"][-1]]}
            drawn.append({**_plain(step), **{k: float(v) for k, v in ends.items()}})
    gap = BESIDE * (edges[-1] - edges[0])
    apart = [{**_plain(s), "at": float(edges[-1] + 1.5 * gap)} for s in steps if s["missing"]]
    classes = list(dict.fromkeys(row["class"] for row in drawn))
    bands = len(classes) == 1  # those of several would hide each other
    low, high = _ends([*drawn, *apart], bands)
    largest = max(row["rows"] for row in drawn) or 1.0
    bars = [
        {**row, "bottom": low, "top": low + (high - low) / LOW * row["rows"] / largest}
        for row in drawn
        if row["class"] == classes[0]
    ]
    beyond = edges[-1] + (2.5 * gap if apart else 0.0)
    across = alt.Scale(domain=[float(edges[0]), float(beyond)], nice=False, zero=False)
    name = cut(fitted.reader.names[j], 2 * LETTERS)
    x_axis = look.number_axis(name, float(np.abs(edges).max()))
    x = alt.X("from:Q", scale=across, axis=x_axis)
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    title = look.number_axis(effect_title(fitted), max(abs(low), abs(high)), grid=True)
    y = alt.Y("effect:Q", scale=scale, axis=title)
    color = _color(fitted, classes)
    layers = [
        alt.Chart(alt.InlineData(values=bars))
        .mark_rect(color=look.PALE)
        .encode(x=x, x2="to:Q", y=alt.Y("bottom:Q", scale=scale, axis=title), y2="top:Q"),
        _zero(alt, scale, title),
    ]
    base = alt.Chart(alt.InlineData(values=drawn)).encode(color=color)
    if bands:
        band = base.mark_rect(opacity=0.2, clip=True)
        layers.append(
            band.encode(
                x=x, x2="to:Q", y=alt.Y("low:Q", scale=scale, axis=title), y2="high:Q",
                tooltip=_tooltip(alt),
            )
        )  # fmt: skip
    stops = [{**row, "from": row["to"]} for row in drawn if row["to"] == edges[-1]]
    line = alt.Chart(alt.InlineData(values=[*drawn, *stops]))
    line = line.mark_line(interpolate="step-after", strokeWidth=2, clip=True)
    layers.append(line.encode(x=x, y=y, color=color))
    if apart:
        layers += _apart(alt, apart, x, y, color, bands)
    said = ["Gray: the share of the rows in each step."]
    said += [BAND] * bands
    return look.sized(alt.layer(*layers), look.heading(f"What {name} adds", said))


def _apart(alt: Any, rows: Rows, x: Any, y: Any, color: Any, bands: bool) -> list[look.Chart]:
    """Missing cells, at the right."""
    base = alt.Chart(alt.InlineData(values=rows))
    at = alt.X("at:Q", scale=x["scale"], axis=x["axis"])
    word = alt.Chart(alt.InlineData(values=[{"at": rows[0]["at"], "word": "missing"}]))
    layers = [
        base.mark_point(filled=True, size=55, opacity=1).encode(
            x=at, y=y, color=color, tooltip=_tooltip(alt)
        ),
        word.mark_text(color=look.INK, fontSize=11, baseline="bottom").encode(
            x=at, y=alt.value(-2), text="word:N"
        ),
    ]
    if not bands:
        return layers
    low = alt.Y("low:Q", scale=y["scale"], axis=y["axis"])
    rule = base.mark_rule(strokeWidth=2, opacity=0.4)
    return [rule.encode(x=at, y=low, y2="high:Q", color=color), *layers]


def _categories(fitted: FittedAdditive, j: int, steps: Rows) -> look.Chart:
    """A bar for each category and class, sorted by the effect on the last class."""
    alt = look.optional("altair")
    by_cell: Rows = []
    names = ["missing", *fitted.reader.names_of(j)]
    weight = fitted.cell_weight[j]
    for step in steps:
        for cell in [*step["cells"], *[MISSING] * step["missing"]]:
            by_cell.append({**_plain(step), "place": cell, "rows": float(weight[cell])})
    heaviest = np.argsort(-weight, kind="stable")[:MOST]
    drawn = [r for r in by_cell if r["place"] in heaviest and r["rows"] > 0]
    classes = list(dict.fromkeys(row["class"] for row in drawn))
    last = {row["place"]: row["effect"] for row in drawn if row["class"] == classes[-1]}
    labels: dict[int, str] = {}
    for cell in sorted(last, key=lambda cell: -last[cell]):
        label = cut(names[cell])
        labels[cell] = label if label not in labels.values() else f"{label} ({cell})"
    drawn = [{**r, "cell": labels[r["place"]]} for r in drawn]
    low, high = _ends(drawn, bands=True)
    x_axis = look.number_axis(effect_title(fitted), max(abs(low), abs(high)), grid=True)
    scale = alt.Scale(domain=[low, high], nice=False)
    y = alt.Y("cell:N", sort=list(labels.values()), axis=look.names_axis(None))
    color = _color(fitted, classes)
    base = alt.Chart(alt.InlineData(values=drawn)).encode(y=y)
    beside = {"yOffset": alt.YOffset("class:N", sort=classes)} if len(classes) > 1 else {}
    bars = base.mark_bar(opacity=0.75).encode(
        x=alt.X("effect:Q", scale=scale, axis=x_axis), color=color, tooltip=_tooltip(alt), **beside
    )
    rules = base.mark_rule(color=look.INK, strokeWidth=1.5).encode(
        x=alt.X("low:Q", scale=scale, axis=x_axis), x2="high:Q", **beside
    )
    name, left_out = cut(fitted.reader.names[j], 2 * LETTERS), int((weight > 0).sum()) - len(labels)
    said = ["Lines: ± 1.96 standard errors of a bar, if all else were known."]
    if left_out:
        said.append(f"The {len(labels)} with most rows; {left_out:,} others are left out.")
    chart = look.sized(alt.layer(bars, rules), look.heading(f"What {name} adds", said))
    step = alt.Step(ROW if len(classes) == 1 else ROW - 4, **{"for": "offset"} if beside else {})
    return chart.properties(height=step)


def _plain(step: dict[str, Any]) -> dict[str, Any]:
    """What a chart needs of a step."""
    return {name: value for name, value in step.items() if name not in ("cells", "missing")}


def _ends(rows: Rows, bands: bool) -> tuple[float, float]:
    """The effects, their bands and zero, with a little room."""
    low = min(0.0, *(row["low" if bands else "effect"] for row in rows))
    high = max(0.0, *(row["high" if bands else "effect"] for row in rows))
    room = BESIDE * (high - low or 1.0)
    return low - room, high + room


def _color(fitted: FittedAdditive, classes: list[str]) -> Any:
    if len(fitted.intercept) == 1:
        return look.optional("altair").value(look.PALETTE[0])
    return look.colors(classes, "class")


def _zero(alt: Any, scale: Any, axis: Any) -> look.Chart:
    """A thin rule where a column says nothing."""
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color=look.INK, opacity=0.6)
    return zero.encode(y=alt.Y("zero:Q", scale=scale, axis=axis))


def _tooltip(alt: Any) -> list[Any]:
    numbers = [alt.Tooltip(f"{f}:Q", format=".3~r") for f in ("effect", "low", "high")]
    return ["cell:N", "class:N", *numbers, alt.Tooltip("rows:Q", format=",.4~r")]
