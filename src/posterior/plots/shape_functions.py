"""Shapes of an additive model: what a column adds, cell by cell, and how well that is known."""

from __future__ import annotations

from typing import Any

from posterior.plots import look
from posterior.plots.effects import BESIDE, LETTERS, ColumnEffect, column_effect, cut

ROW = 16  # pixels of a bar
LOW = 4  # how many times lower than the picture the bars of the rows are
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
    return column_shape(column_effect(model, column))


def column_shape(effect: ColumnEffect) -> look.Chart:
    """The same of an effect that is known."""
    return _numbers(effect) if effect.numeric else _categories(effect)


def _numbers(effect: ColumnEffect) -> look.Chart:
    """Steps from cut to cut."""
    alt = look.optional("altair")
    drawn, missing = _rows(effect, numeric=True), _rows(effect, numeric=False)
    edges = [min(row["from"] for row in drawn), max(row["to"] for row in drawn)]
    gap = BESIDE * (edges[-1] - edges[0])
    apart = [{**row, "at": edges[-1] + 1.5 * gap} for row in missing]
    classes = effect.classes
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
    name = cut(effect.column, 2 * LETTERS)
    x_axis = look.number_axis(name, max(map(abs, edges)))
    x, x2 = alt.X("from:Q", scale=across, axis=x_axis), alt.X2("to:Q")
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    title = look.number_axis(effect.title, max(abs(low), abs(high)), grid=True)
    y = alt.Y("effect:Q", scale=scale, axis=title)
    color = _color(classes)
    layers = [
        alt.Chart(look.inline(bars))
        .mark_rect(color=look.PALE)
        .encode(x=x, x2=x2, y=alt.Y("bottom:Q", scale=scale, axis=title), y2=alt.Y2("top:Q")),
        _zero(alt, scale, title),
    ]
    base = alt.Chart(look.inline(drawn)).encode(color=color)
    if bands:
        band = base.mark_rect(opacity=0.2, clip=True)
        layers.append(
            band.encode(
                x=x, x2=x2, y=alt.Y("low:Q", scale=scale, axis=title), y2=alt.Y2("high:Q"),
                tooltip=_tooltip(alt),
            )
        )  # fmt: skip
    stops = [{**row, "from": row["to"]} for row in drawn if row["to"] == edges[-1]]
    line = alt.Chart(look.inline([*drawn, *stops]))
    line = line.mark_line(interpolate="step-after", strokeWidth=2, clip=True)
    layers.append(line.encode(x=x, y=y, color=color))
    if apart:
        layers += _apart(alt, apart, x, y, color, bands)
    said = ["Gray: the share of the rows in each step."]
    said += [BAND] * bands
    return look.sized(alt.layer(*layers), look.heading(f"What {name} adds", said))


def _apart(alt: Any, rows: Rows, x: Any, y: Any, color: Any, bands: bool) -> list[look.Chart]:
    """Missing cells, at the right."""
    base = alt.Chart(look.inline(rows))
    at = alt.X("at:Q", scale=x["scale"], axis=x["axis"])
    word = alt.Chart(look.inline([{"at": rows[0]["at"], "word": "missing"}]))
    layers = [
        base.mark_point(filled=True, size=55, opacity=1).encode(
            x=at, y=y, color=color, tooltip=_tooltip(alt)
        ),
        word.mark_text(color=look.INK, fontSize=11, baseline="bottom").encode(
            x=at, y=alt.YValue(-2), text=alt.Text("word:N")
        ),
    ]
    if not bands:
        return layers
    low = alt.Y("low:Q", scale=y["scale"], axis=y["axis"])
    rule = base.mark_rule(strokeWidth=2, opacity=0.4)
    return [rule.encode(x=at, y=low, y2=alt.Y2("high:Q"), color=color), *layers]


def _categories(effect: ColumnEffect) -> look.Chart:
    """A bar for each category and class, sorted by the effect on the last class."""
    alt = look.optional("altair")
    drawn, classes = _rows(effect, numeric=False), effect.classes
    labels = list(dict.fromkeys(row["cell"] for row in drawn))
    low, high = _ends(drawn, bands=True)
    x_axis = look.number_axis(effect.title, max(abs(low), abs(high)), grid=True)
    scale = alt.Scale(domain=[low, high], nice=False)
    y = alt.Y("cell:N", sort=labels, axis=look.names_axis(None))
    color = _color(classes)
    base = alt.Chart(look.inline(drawn)).encode(y=y)
    beside = {"yOffset": alt.YOffset("class:N", sort=classes)} if len(classes) > 1 else {}
    bars = base.mark_bar(opacity=0.75).encode(
        x=alt.X("effect:Q", scale=scale, axis=x_axis), color=color, tooltip=_tooltip(alt), **beside
    )
    rules = base.mark_rule(color=look.INK, strokeWidth=1.5).encode(
        x=alt.X("low:Q", scale=scale, axis=x_axis), x2=alt.X2("high:Q"), **beside
    )
    name = cut(effect.column, 2 * LETTERS)
    said = ["Lines: ± 1.96 standard errors of a bar, if all else were known."]
    if effect.left_out:
        said.append(f"The {len(labels)} with most rows; {effect.left_out:,} others are left out.")
    step = alt.Step(ROW if len(classes) == 1 else ROW - 4, **{"for": "offset"} if beside else {})
    return look.sized(alt.layer(bars, rules), look.heading(f"What {name} adds", said), step)


def _rows(effect: ColumnEffect, numeric: bool) -> Rows:
    """Steps of bins, or the others, as a chart reads them."""
    return [
        {
            "cell": step.cell,
            "class": step.group,
            "effect": step.effect,
            "low": step.low,
            "high": step.high,
            "rows": step.rows,
            **({"from": step.start, "to": step.end} if numeric else {}),
        }
        for step in effect.steps
        if (step.start is not None) == numeric
    ]


def _ends(rows: Rows, bands: bool) -> tuple[float, float]:
    """The effects, their bands and zero, with a little room."""
    low = min(0.0, *(row["low" if bands else "effect"] for row in rows))
    high = max(0.0, *(row["high" if bands else "effect"] for row in rows))
    room = BESIDE * (high - low or 1.0)
    return low - room, high + room


def _color(classes: list[str]) -> Any:
    if len(classes) == 1:
        return look.optional("altair").ColorValue(look.PALETTE[0])
    return look.colors(classes, "class")


def _zero(alt: Any, scale: Any, axis: Any) -> look.Chart:
    """A thin rule where a column says nothing."""
    zero = alt.Chart(look.inline([{"zero": 0}])).mark_rule(color=look.INK, opacity=0.6)
    return zero.encode(y=alt.Y("zero:Q", scale=scale, axis=axis))


def _tooltip(alt: Any) -> list[Any]:
    numbers = [alt.Tooltip(f"{f}:Q", format=".3~r") for f in ("effect", "low", "high")]
    names = [alt.Tooltip(f"{f}:N") for f in ("cell", "class")]
    return [*names, *numbers, alt.Tooltip("rows:Q", format=",.4~r")]
