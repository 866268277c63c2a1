"""Models side by side: a score and how well it is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from posterior.plots import look

ROW = 30  # pixels of a model


def comparison(
    models: Sequence[Any],
    values: ArrayLike,
    errors: ArrayLike,
    score: str = "log loss",
    chosen: Any = None,
    limit: float | None = None,
    percent: bool = False,
) -> look.Chart:
    """A dot for each model's score and a bar for one standard error to each side.

    Parameters
    ----------
    models : sequence of length m
        Names, drawn in this order from above.
    values, errors : array-like of shape (m,)
        Scores, and their standard errors; without a bar where one is not finite.
    score : str, default="log loss"
    chosen : name, optional
        The model to point out.
    limit : float, optional
        A thin rule, such as the best score and its standard error.
    percent : bool, default=False
        Whether the score is a share, written in percent.

    Returns
    -------
    altair.LayerChart
    """
    alt = look.optional("altair")
    names = look.labels(models)
    value = look.numbers("values", values, len(names))
    error = np.nan_to_num(look.numbers("errors", errors, len(names), open_ended=True))
    picked = None if chosen is None else str(chosen)
    rows = [
        {
            "model": name,
            "value": float(v),
            "error": e,
            "low": max(float(v - e), 0.0) if percent else float(v - e),
            "high": min(float(v + e), 1.0) if percent else float(v + e),
            "chosen": name == picked,
        }
        for name, v, e in zip(names, value, error.tolist(), strict=True)
    ]
    y = alt.Y("model:N", sort=names, axis=look.names_axis(None))
    largest = float(np.abs(value).max(initial=0.0))
    down = (
        look.percent_axis(score, grid=True)
        if percent
        else look.number_axis(score, largest, grid=True)
    )
    down["tickCount"] = 5
    scale = alt.Scale(zero=False, nice=True, padding=10)
    if percent:
        scale = alt.Scale(domain=_within_one(rows), nice=False)
    across = {"scale": scale}
    x = alt.X("value:Q", axis=down, **across)
    blue, gray = alt.value(look.PALETTE[0]), alt.value(look.PALETTE[7])
    shade = alt.ColorValue(**alt.condition("datum.chosen", blue, gray))
    base = alt.Chart(look.inline(rows)).encode(y=y, color=shade)
    style = ".2%" if percent else look.DIGITS
    tooltip = [
        alt.Tooltip("model:N"),
        alt.Tooltip("value:Q", format=style, title=look.titled(score)),
        alt.Tooltip("error:Q", format=style, title="standard error"),
    ]
    layers = [
        base.mark_rule(strokeWidth=2.5, opacity=0.6).encode(
            x=alt.X("low:Q", **across), x2=alt.X2("high:Q")
        ),
        base.mark_point(filled=True, size=80, opacity=1).encode(x=x, tooltip=tooltip),
    ]
    said = "A bar is one standard error to each side."
    if limit is not None:
        rule = alt.Chart(look.inline([{"limit": float(limit)}]))
        rule = rule.mark_rule(color=look.INK, strokeDash=[4, 3])
        layers.insert(0, rule.encode(x=alt.X("limit:Q", **across)))
        said += " The dashed line is the best score and its standard error."
    title = look.heading(f"Models by {score}", [said])
    return look.sized(alt.layer(*layers), title, alt.Step(ROW))


def _within_one(rows: list[dict[str, Any]]) -> list[float]:
    """The extent of the bars and some room, but no share below 0 or above 1."""
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    room = max(0.08 * (high - low), 0.005)
    return [max(low - room, 0.0), min(high + room, 1.0)]
