"""Evidence of each column, over all rows and for one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from posterior.data.table import text
from posterior.plots import look

MOST, STEPS = 25, 12  # columns and steps that are drawn
ROW = 22  # pixels of a name
WIDE = 1.96  # standard errors to each side
FOR, AGAINST, WHOLE = "for", "against", "prior and posterior"


def evidence(
    features: Sequence[Any],
    values: ArrayLike,
    meaning: str = "evidence",
    errors: ArrayLike | None = None,
) -> look.Chart:
    """A bar for the evidence of each column, the most informative first.

    Parameters
    ----------
    features : sequence of length d
    values : array-like of shape (d,)
        Such as the mean absolute weight of evidence, or the rise of log loss without the column.
    meaning : str, default="evidence"
        What the values are.
    errors : array-like of shape (d,), optional
        Standard errors, of which 1.96 are drawn to each side; NaN where one is not known.

    Returns
    -------
    altair.LayerChart
        Of the 25 largest, if there are more; bars below zero are orange.
    """
    alt = look.optional("altair")
    names = look.labels(features)
    value = look.numbers("values", values, len(names))
    given = np.full(len(names), np.nan) if errors is None else errors
    spread = WIDE * np.nan_to_num(look.numbers("errors", given, len(names), open_ended=True))
    order = np.argsort(-value, kind="stable")[:MOST]
    rows = [
        {
            "feature": names[i],
            "value": float(value[i]),
            "low": float(value[i] - spread[i]),
            "high": float(value[i] + spread[i]),
            "part": FOR if value[i] >= 0 else AGAINST,
        }
        for i in order
    ]
    left_out = len(names) - len(order)
    said = [f"The {len(order)} largest; {left_out:,} smaller ones are left out."] * (left_out > 0)
    if errors is not None:
        said.append("Lines are 95 % intervals.")
    y = alt.Y("feature:N", sort=[row["feature"] for row in rows], axis=look.names_axis(None))
    across = look.number_axis(meaning, float(np.abs(value).max(initial=0.0)), grid=True)
    base = alt.Chart(look.inline(rows)).encode(
        y=y,
        tooltip=[
            alt.Tooltip("feature:N"),
            *(
                alt.Tooltip(f"{field}:Q", format=look.DIGITS, title=look.titled(title))
                for field, title in (("value", meaning), ("low", "from"), ("high", "to"))
                if field == "value" or errors is not None
            ),
        ],
    )
    sides = alt.Scale(domain=[FOR, AGAINST], range=[look.PALETTE[0], look.PALETTE[1]])
    bars = base.mark_bar(height={"band": 0.62}, cornerRadiusEnd=2).encode(
        x=alt.X("value:Q", axis=across), color=alt.Color("part:N", scale=sides, legend=None)
    )
    layers = [bars]
    if errors is not None:
        rule = base.mark_rule(color=look.INK, strokeWidth=1.5)
        layers.append(rule.encode(x=alt.X("low:Q", axis=across), x2=alt.X2("high:Q")))
    if errors is not None or (value < 0).any():
        zero = alt.Chart(look.inline([{"zero": 0}])).mark_rule(color=look.INK)
        layers.append(zero.encode(x=alt.X("zero:Q")))
    title = look.heading("Evidence of each column", ["The most informative first.", *said])
    return look.sized(alt.layer(*layers), title, alt.Step(ROW))


def waterfall(explanation: Any) -> look.Chart:
    """One row's log odds, from the prior through each column's weight to the posterior.

    log odds = log prior odds + Σⱼ weight of evidence of column j

    Parameters
    ----------
    explanation : Explanation
        As a model's `explain` returns it.

    Returns
    -------
    altair.LayerChart
        The 11 heaviest columns one by one and the others together, if there are more than 12.
    """
    alt = look.optional("altair")
    weights = look.numbers("weights", explanation.weights, -1)
    order = np.argsort(-np.abs(weights), kind="stable")
    shown = order if len(order) <= STEPS else order[: STEPS - 1]
    steps = [(_named(explanation, j), float(weights[j])) for j in shown]
    if len(shown) < len(order):
        rest = len(order) - len(shown)
        steps.append((f"{rest:,} others", float(weights[order[len(shown) :]].sum())))
    rows = [_bar("prior", 0.0, float(explanation.prior), WHOLE)]
    for name, weight in steps:
        start = rows[-1]["to"]
        rows.append(_bar(name, start, start + weight, FOR if weight > 0 else AGAINST))
    rows.append(_bar("posterior", 0.0, float(explanation.log_odds), WHOLE))
    for place, row in enumerate(rows):  # a name may come twice: the place distinguishes them
        row["place"] = place

    y = alt.Y(
        "place:O",
        axis=_named_places([row["name"] for row in rows]),
        scale=alt.Scale(paddingInner=0.3),
    )
    largest = max(abs(row["to"]) for row in rows)
    title = f"log odds of {explanation.of} against {explanation.against}"
    across = look.number_axis(title, largest, grid=True)
    color = alt.Color(
        "part:N",
        legend=None,
        scale=alt.Scale(
            domain=[FOR, AGAINST, WHOLE], range=[look.PALETTE[0], look.PALETTE[1], look.PALETTE[7]]
        ),
    )
    base = alt.Chart(look.inline(rows)).encode(y=y)
    bars = base.mark_bar(cornerRadius=1).encode(
        x=alt.X("from:Q", axis=across),
        x2=alt.X2("to:Q"),
        color=color,
        tooltip=[
            alt.Tooltip("name:N"),
            alt.Tooltip("weight:Q", format="+.3r"),
            alt.Tooltip("to:Q", format="+.3r", title="log odds so far"),
        ],
    )
    zero = alt.Chart(look.inline([{"zero": 0}])).mark_rule(color=look.INK)
    best = explanation.posterior.get(explanation.of)
    said = "Bars to the right favor it, bars to the left are against it."
    if best is not None:
        said += f" P({explanation.of}) = {look.digits(100 * best, 4)} %."
    top = look.heading(f"Why {explanation.of}, rather than {explanation.against}", [said])
    return look.sized(alt.layer(bars, zero.encode(x=alt.X("zero:Q"))), top).properties(
        height=alt.Step(ROW + 4)
    )


def _bar(name: str, start: float, end: float, part: str) -> dict[str, Any]:
    return {"name": name, "from": start, "to": end, "weight": end - start, "part": part}


def _named(explanation: Any, j: int) -> str:
    """A column and the row's cell in it."""
    value = text(explanation.values[j])
    name = str(explanation.feature_names[j])
    return f"{name} = {value}" if value else name


def _named_places(names: list[str]) -> Any:
    """An axis of places that shows names: two may be alike."""
    shown = look.names_axis(None)
    shown["labelExpr"] = f"({json.dumps(names)})[datum.value]"
    return shown
