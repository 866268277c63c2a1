"""Terms of an additive model ranked, and the shapes of those that matter most."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from posterior.plots import look
from posterior.plots.effects import cut, fitted_of
from posterior.plots.interactions import interaction
from posterior.plots.shape_functions import shape

MOST, LETTERS = 20, 44  # terms that are drawn, and letters of their names
ROW = 20  # pixels of a name
FIRST, SHAPES = 12, 4  # terms ranked in a panel, and columns and pairs drawn
WIDTH, HEIGHT = 400, 210  # pixels of each


def importances(model: Any, most: int = MOST) -> look.Chart:
    """Columns, pairs and triples ranked by their mean absolute effect over the rows.

    Parameters
    ----------
    model : fitted Additive
    most : int, default=20
        How many to draw.

    Returns
    -------
    altair.LayerChart
    """
    alt = look.optional("altair")
    table = fitted_of(model).importances()
    kinds = ["column", "pair", "triple"]
    sizes = [len(columns) for columns in fitted_of(model).shapes()]
    found = zip(table["term"], table["importance"], sizes, strict=True)
    ranked = [(str(name), float(value), kinds[n - 1]) for name, value, n in found][:most]
    rows = [
        {"place": i, "term": cut(name, LETTERS), "importance": value, "of": kind}
        for i, (name, value, kind) in enumerate(ranked)
    ]
    names = look.names_axis(None, limit=290)
    shown = {str(row["place"]): row["term"] for row in rows}
    names["labelExpr"] = f"({json.dumps(shown)})[datum.value]"
    largest = float(np.max(table["importance"], initial=0.0))
    across = look.number_axis("mean |effect|, in log odds", largest, grid=True)
    legend = alt.Legend(title=None, orient="bottom-right", labelColor=look.INK, labelFontSize=12)
    range_ = [look.PALETTE[0], look.PALETTE[4], look.PALETTE[7]]
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(height={"band": 0.62}, cornerRadiusEnd=2)
        .encode(
            y=alt.Y("place:O", axis=names),
            x=alt.X("importance:Q", axis=across),
            color=alt.Color("of:N", legend=legend, scale=alt.Scale(domain=kinds, range=range_)),
            tooltip=["term:N", alt.Tooltip("importance:Q", format=".3~r")],
        )
    )
    left_out = len(table) - len(rows)
    said = ["The mean absolute effect over the rows, largest first."]
    said += [f"{left_out:,} smaller ones are left out."] * (left_out > 0)
    title = look.heading("Terms that matter most", said)
    return look.sized(alt.layer(bars), title, alt.Step(ROW))


def panel(model: Any, most: int = SHAPES) -> look.Chart:
    """The terms ranked, and below them the shapes of the most important columns and pairs.

    Parameters
    ----------
    model : fitted Additive
    most : int, default=4
        How many shapes to draw.
    """
    alt = look.optional("altair")
    fitted = fitted_of(model)
    names = fitted.reader.names
    drawn: list[look.Chart] = []
    for columns, found in fitted.shapes().items():
        if len(columns) > 2 or not found.effect.any() or len(drawn) == most:
            continue
        given = [names[j] for j in columns]
        chart = shape(model, *given) if len(columns) == 1 else interaction(model, *given)
        drawn.append(_smaller(chart))
    independent = dict.fromkeys(("color", "fill", "fillOpacity", "y"), "independent")
    below = [alt.concat(*drawn, columns=2, spacing=36)] if drawn else []
    return alt.vconcat(importances(model, FIRST), *below, spacing=36).resolve_scale(**independent)


def _smaller(chart: look.Chart) -> look.Chart:
    """A chart that two stand side by side of."""
    chart = chart.properties(width=min(chart.width, WIDTH))
    if isinstance(chart.height, int | float):
        chart = chart.properties(height=min(chart.height, HEIGHT))
    return chart
