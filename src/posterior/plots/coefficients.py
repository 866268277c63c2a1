"""Coefficients, the largest first, and how well they are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from posterior.data.typing import Floats
from posterior.plots import look

MOST = 40  # names that are drawn
ROW = 19  # pixels of a name
SURE, UNSURE = "does not hold zero", "holds zero"


def coefficients(
    names: Sequence[Any],
    values: ArrayLike,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
) -> look.Chart:
    """A dot for each coefficient and a bar for its interval, sorted by size, about a line at zero.

    Parameters
    ----------
    names : sequence of length d
        What each coefficient belongs to, none twice.
    values : array-like of shape (d,)
    low, high : array-like of shape (d,), optional
        Ends of the intervals; where one is not finite, there is no bar.

    Returns
    -------
    altair.LayerChart
        Of the 40 largest, if there are more.
    """
    alt = look.optional("altair")
    labels = look.labels(names)
    value = _numbers("values", values, len(labels))
    if not np.isfinite(value).all():
        at = int(np.argmin(np.isfinite(value)))
        raise ValueError(f"Expected finite values, got {value[at]} for {labels[at]!r}.")
    if (low is None) != (high is None):
        raise ValueError("Expected both ends of the intervals, or none, got one.")
    known = low is not None and high is not None
    ends = [
        _numbers(name, value if end is None else end, len(labels))
        for name, end in (("low", low), ("high", high))
    ]
    order = np.argsort(-np.abs(value), kind="stable")[:MOST]
    rows = [_row(labels[i], value[i], ends[0][i], ends[1][i], known) for i in order]

    left_out = len(labels) - len(order)
    said = ["Sorted by size."]
    if known:
        said[0] += " A bar that crosses the line at zero leaves the sign open."
    if left_out:
        said.append(f"The {len(order)} largest; {left_out:,} smaller ones are left out.")
    y = alt.Y("name:N", sort=[row["name"] for row in rows], axis=look.names_axis(None, 240))
    numbers = look.number_axis("coefficient", float(np.abs(value).max(initial=0.0)), grid=True)
    x = alt.X("zero:Q", axis=numbers, scale=alt.Scale(nice=False, padding=12))
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y)
    color = alt.Color(
        "interval:N",
        scale=alt.Scale(domain=[SURE, UNSURE], range=[look.PALETTE[0], look.PALETTE[7]]),
        legend=_legend(alt) if known else None,
    )
    tooltip = [
        alt.Tooltip("name:N"),
        *(alt.Tooltip(f"{f}:Q", format=look.DIGITS) for f in ("value", "low", "high")),
    ]
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color=look.INK)
    chart = alt.layer(
        zero.encode(x=x),
        base.mark_rule(strokeWidth=2.5, opacity=0.55).encode(
            x=alt.X("low:Q"), x2=alt.X2("high:Q"), color=color
        ),
        base.mark_point(filled=True, size=65, opacity=1).encode(
            x=alt.X("value:Q"), color=color, tooltip=tooltip if known else tooltip[:2]
        ),
    )
    return look.sized(chart, look.heading("Coefficients", said), alt.Step(ROW))


def _numbers(name: str, values: ArrayLike, length: int) -> Floats:
    found = np.asarray(values, np.float64)
    if found.shape != (length,):
        raise ValueError(
            f"Expected {name} of shape ({length},), one number a name, got shape {found.shape}."
        )
    return found


def _row(name: str, value: float, low: float, high: float, known: bool) -> dict[str, Any]:
    if not known:
        return {"name": name, "value": float(value), "interval": SURE}
    bounded = bool(np.isfinite(low) and np.isfinite(high))
    if bounded and low > high:
        raise ValueError(f"Expected low <= high, got {low:g} and {high:g} for {name!r}.")
    return {
        "name": name,
        "value": float(value),
        "low": float(low) if bounded else None,
        "high": float(high) if bounded else None,
        "interval": SURE if low > 0 or high < 0 else UNSURE,
    }


def _legend(alt: Any) -> Any:
    return alt.Legend(
        title="interval",
        orient="top",
        labelColor=look.INK,
        labelFontSize=12,
        symbolOpacity=1,
        titleColor=look.INK,
        titleFontSize=12,
        titleFontWeight="normal",
    )
