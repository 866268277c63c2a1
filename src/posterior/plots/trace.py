"""How a solver went downhill."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from posterior.data.typing import Floats, Integers
from posterior.plots.look import (
    HEIGHT,
    PALE,
    PALETTE,
    WIDTH,
    Chart,
    axis,
    heading,
    optional,
)
from posterior.plots.numbers import digits, power_axis

POINTS, FEW = 300, 60  # of a line: more cannot be told apart, and more need no dots
ROOM = 1.5  # times the largest, above it, and as much below the smallest


class Step(Protocol):
    """One iteration of a solver."""

    @property
    def value(self) -> float: ...

    @property
    def gradient_norm(self) -> float: ...


def trace(steps: Sequence[Step]) -> Chart:
    """What was left to gain and how steep it was, by iteration, on scales of powers of ten.

    A straight line is linear convergence, one that bends down is Newton's.

    Parameters
    ----------
    steps : sequence of steps
        As a solver's `trace`, the start first: each has a `value` and a `gradient_norm`.

    Returns
    -------
    altair.VConcatChart
    """
    alt = optional("altair")
    value = np.array([step.value for step in steps], np.float64)
    slope = np.array([step.gradient_norm for step in steps], np.float64)
    if not len(value):
        raise ValueError("Expected the steps of a solver, its start at least, got none.")
    if not (np.isfinite(value).all() and np.isfinite(slope).all()):
        at = int(np.argmin(np.isfinite(value) & np.isfinite(slope)))
        raise ValueError(
            f"Expected finite values and gradients, got {value[at]:g} and {slope[at]:g} at "
            f"iteration {at}. Draw the steps before it."
        )
    best, seen = value.min(), _some(len(value))
    panels = [
        ("objective − its best", value - best, None, PALETTE[0]),
        ("gradient, per row", slope, "iteration", PALETTE[1]),
    ]
    across = alt.Scale(domain=[0, max(len(value) - 1, 1)], nice=False)
    whole: dict[str, Any] = {"format": ",d", "labelFlush": False}
    if len(value) <= 12:
        whole |= {"values": list(range(len(value))), "tickCount": len(value)}  # no half iterations
    parts = [
        _line(
            alt,
            title,
            _points(height, value, seen),
            alt.X(
                "iteration:Q",
                scale=across,
                axis=alt.Axis(**{**axis("").to_dict(), **whole, "title": below}),
            ),
            color,
        )
        for title, height, below, color in panels
    ]
    said = f"Best: {digits(best, 6)}, at iteration {int(value.argmin()):,} of {len(value) - 1:,}."
    return alt.vconcat(*parts, spacing=18).properties(title=heading("The way down", [said]))


def _some(n: int) -> Integers:
    """All iterations, or the ends and as many between as can be seen, dense at the start."""
    if n <= POINTS:
        return np.arange(n)
    even, early = np.linspace(0, n - 1, POINTS // 2), np.geomspace(1, n - 1, POINTS // 2)
    return np.unique(np.concatenate([even, early]).round().astype(np.int64))


def _points(height: Floats, value: Floats, seen: Integers) -> list[dict[str, Any]]:
    """Of some iterations; zero has no logarithm and is left out."""
    return [
        {"iteration": int(i), "height": float(height[i]), "objective": float(value[i])}
        for i in seen
        if height[i] > 0
    ]


def _line(alt: Any, title: str, points: list[dict[str, Any]], x: Any, color: str) -> Chart:
    """One panel."""
    heights = [point["height"] for point in points] or [1.0]
    low, high = min(heights) / ROOM, max(heights) * ROOM
    dots = {"point": {"size": 22, "color": color}} if len(points) <= FEW else {}
    return (
        alt.Chart(alt.InlineData(values=points))
        .mark_line(strokeWidth=2, color=color, **dots)
        .encode(
            x=x,
            y=alt.Y(
                "height:Q",
                scale=alt.Scale(type="log", domain=[low, high], nice=False),
                axis=power_axis(title, low, high, grid=True),
            ),
            tooltip=[
                alt.Tooltip("iteration:Q", format=","),
                alt.Tooltip("height:Q", title=title, format=".3~g"),
                alt.Tooltip("objective:Q", format=".10~g"),
            ],
        )
        .properties(width=WIDTH, height=HEIGHT // 2, view=alt.ViewBackground(stroke=PALE))
    )
