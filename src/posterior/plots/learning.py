"""Learning curves: scores by number of training rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from posterior.plots import look

STEPS = (1, 2, 5)


def learning_curve(
    curves: Mapping[Any, tuple[ArrayLike, ArrayLike, ArrayLike]],
    score: str = "log loss",
    percent: bool = False,
) -> look.Chart:
    """A score on rows held out, by number of training rows; the bands are one standard error.

    Generative models tend to be good early, discriminative ones late (Ng and Jordan 2002).

    Parameters
    ----------
    curves : mapping of a model's name to (rows, score, standard error)
    score : str, default="log loss"
    percent : bool, default=False
        Whether the score is a share, written in percent.

    Returns
    -------
    altair.LayerChart
    """
    alt = look.optional("altair")
    if not curves:
        raise ValueError("Expected a curve or more, got none.")
    names = look.labels(list(curves))
    values: list[dict[str, Any]] = []
    for name, (rows, value, error) in zip(names, curves.values(), strict=True):
        n = look.numbers(f"rows of {name!r}", rows, -1)
        v = look.numbers(f"scores of {name!r}", value, len(n), open_ended=True)
        e = np.nan_to_num(look.numbers(f"errors of {name!r}", error, len(n), open_ended=True))
        values += [
            {"class": name, "rows": int(a), "score": float(b), **_ends(b, c, percent)}
            for a, b, c in zip(n, v, e, strict=True)
            if np.isfinite(b)
        ]
    if not values:
        raise ValueError("Expected finite scores, got none.")
    sizes = [point["rows"] for point in values]
    x = _across(alt, min(sizes), max(sizes))
    largest = max(abs(point["high"]) for point in values)
    up = (
        look.percent_axis(score, grid=True)
        if percent
        else look.number_axis(score, largest, grid=True)
    )
    scale = _up(alt, values) if percent else alt.Scale(zero=False, padding=8)
    color = look.colors(names, "model")
    base = alt.Chart(look.inline(values)).encode(x=x, color=color)
    band = base.mark_area(opacity=0.16).encode(
        y=alt.Y("low:Q", axis=up, scale=scale), y2=alt.Y2("high:Q")
    )
    line = base.mark_line(strokeWidth=2, point={"size": 32}).encode(
        y=alt.Y("score:Q", axis=up, scale=scale),
        tooltip=[
            alt.Tooltip("class:N", title="model"),
            alt.Tooltip("rows:Q", format=","),
            alt.Tooltip(
                "score:Q", format=".2%" if percent else look.DIGITS, title=look.titled(score)
            ),
        ],
    )
    said = "On rows held out; a band is one standard error to each side."
    return look.sized(alt.layer(band, line), look.heading("Learning curves", [said]))


def _ends(value: float, error: float, percent: bool) -> dict[str, float]:
    """One standard error to each side, but no share beyond one."""
    low, high = float(value - error), float(value + error)
    return {"low": max(low, 0.0), "high": min(high, 1.0)} if percent else {"low": low, "high": high}


def _up(alt: Any, values: list[dict[str, Any]]) -> Any:
    """Room above and below, but none beyond 0 and 100 %."""
    low, high = min(point["low"] for point in values), max(point["high"] for point in values)
    room = max(0.05 * (high - low), 0.005)
    return alt.Scale(domain=[max(low - room, 0.0), min(high + room, 1.0)], nice=False)


def _across(alt: Any, low: int, high: int) -> Any:
    """Numbers of rows on a scale of ratios, ticked at 1, 2, 5, 10, ..."""
    powers = range(int(np.log10(max(low, 1))), int(np.log10(high)) + 1)
    ticks = [s * 10**p for p in powers for s in STEPS if low <= s * 10**p <= high]
    if len(ticks) < 2:
        ticks = sorted({low, high})
    shown = look.axis("training rows")
    shown["values"], shown["format"], shown["labelOverlap"] = ticks, "~s", True
    scale = alt.Scale(type="log", domain=[low / 1.05, high * 1.05], nice=False)
    return alt.X("rows:Q", scale=scale, axis=shown)
