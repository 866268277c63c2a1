"""Traces of solvers and of EM: the objective by iteration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from posterior.data.table import Table
from posterior.data.typing import Floats, Integers
from posterior.estimators import LogisticRegression
from posterior.plots import look
from posterior.plots.normals import MIXTURES

POINTS, FEW = 300, 60  # of a line: more cannot be seen, and more need no dots
ROOM = 1.5  # times the largest, above it, and as much below the smallest


class Step(Protocol):
    """One iteration of a solver."""

    @property
    def value(self) -> float: ...

    @property
    def gradient_norm(self) -> float: ...


def trace(steps: Sequence[Step] | Any) -> look.Chart:
    """What was left to gain and how steep it was, by iteration, on scales of powers of ten.

    A straight line is linear convergence, one that bends down is Newton's. Of EM the second panel
    has what each step gained, which is compared with `tol`, and crosses are where the other starts
    ended.

    Parameters
    ----------
    steps : sequence of steps, or a fitted logistic regression or mixture
        As a solver's `trace`, the start first: each has a `value` and a `gradient_norm`. Or a
        model with `trace_`, whose values are those of minus the log-likelihood, with any penalty;
        or with `lower_bounds_`, and `starts_` if it had several.

    Returns
    -------
    altair.VConcatChart
    """
    alt = look.optional("altair")
    if isinstance(steps, MIXTURES):
        return _ascent(alt, steps)
    ascent = isinstance(steps, LogisticRegression)
    steps = steps.trace_ if isinstance(steps, LogisticRegression) else steps
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
    best, seen = value.min(), some_of(len(value))
    panels = [
        (
            "best − log-likelihood" if ascent else "objective − its best",
            value - best,
            None,
            look.PALETTE[0],
        ),
        ("gradient, per row", slope, "iteration", look.PALETTE[1]),
    ]
    parts = [
        _line(alt, title, _points(height, value, seen), _across(alt, len(value), below), color)
        for title, height, below, color in panels
    ]
    found = look.digits(-best if ascent else best, 6)
    said = f"Best: {found}, at iteration {int(value.argmin()):,} of {len(value) - 1:,}"
    title = f"{'Log-likelihood' if ascent else 'Objective'} by iteration"
    said += "; less the penalty, if there is one." if ascent else "."
    return alt.vconcat(*parts, spacing=18).properties(title=look.heading(title, [said]))


def _ascent(alt: Any, model: Any) -> look.Chart:
    """The trace of EM: what is left of the best start, what steps gain, and the other starts."""
    value = np.asarray(model.lower_bounds_, np.float64)
    if not len(value) or not np.isfinite(value).all():
        raise ValueError(
            f"Expected steps of EM, each of a finite objective, got {value.tolist()[:3]}. Raise "
            "max_iter, or fit again."
        )
    ends, n_steps = _other_starts(model)
    best, seen = max(value.max(), ends.max(initial=-np.inf)), some_of(len(value))
    lower = best - ends > model.tol
    last = max([len(value), *n_steps[lower]])
    left = _line(
        alt,
        "best − objective, per row",
        _points(best - value, value, seen),
        _across(alt, last, None),
        look.PALETTE[0],
    )
    if lower.any():
        crosses = [
            {"iteration": int(n - 1), "height": float(best - end), "objective": float(end)}
            for n, end in zip(n_steps[lower], ends[lower], strict=True)
        ]
        left = _with_ends(alt, left, crosses)
    slope = _line(
        alt,
        "gain of a step, per row",
        _points(np.append(0.0, np.diff(value)), value, seen),
        _across(alt, last, "step"),
        look.PALETTE[1],
    )
    said = [f"Objective of an average row: {look.digits(value[-1], 6)} after {len(value):,} steps."]
    if len(ends):
        said.append(f"Of {len(ends)} other starts {lower.sum() or 'none'} ended lower")
        said[1] += ", at the crosses." if lower.any() else " by more than tol."
    return alt.vconcat(left, slope, spacing=18).properties(title=look.heading("The way up", said))


def starts_of(model: Any) -> Table | None:
    """The starts of a fit; a stream, or what was stated, has none."""
    return getattr(model, "starts_", None)


def _other_starts(model: Any) -> tuple[Floats, Integers]:
    """Objectives and numbers of steps of all starts that arrived, but the best one."""
    if (starts := starts_of(model)) is None:
        return np.empty(0), np.empty(0, np.int64)
    ends = np.asarray(starts["objective"], np.float64)
    others = (np.arange(len(ends)) != ends.argmax()) & np.isfinite(ends)  # or collapsed
    return ends[others], np.asarray(starts["steps"], np.int64)[others]


def _with_ends(alt: Any, panel: look.Chart, crosses: list[dict[str, Any]]) -> look.Chart:
    """A panel with the ends of other starts, and room for them."""
    lowest, highest = panel.encoding.y["scale"]["domain"]
    heights = [cross["height"] for cross in crosses]
    low, high = min(lowest, min(heights) / ROOM), max(highest, max(heights) * ROOM)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    title = panel.encoding.y["axis"]["title"]
    y = alt.Y("height:Q", scale=scale, axis=look.power_axis(title, low, high, grid=True))
    marks = (
        alt.Chart(alt.InlineData(values=crosses))
        .mark_point(shape="cross", angle=45, filled=True, size=70, color=look.INK, opacity=0.8)
        .encode(x=panel.encoding.x, y=y, tooltip=panel.encoding.tooltip)
    )
    size = {"width": look.WIDTH, "height": look.HEIGHT // 2}
    return alt.layer(panel.encode(y=y), marks).properties(**size)


def _across(alt: Any, n: int, title: str | None) -> Any:
    """Iterations, without halves between them."""
    whole: dict[str, Any] = {"format": ",d", "labelFlush": False, "title": title}
    if n <= 12:
        whole |= {"values": list(range(n)), "tickCount": n}
    scale = alt.Scale(domain=[0, max(n - 1, 1)], nice=False)
    return alt.X("iteration:Q", scale=scale, axis=alt.Axis(**{**look.axis("").to_dict(), **whole}))


def some_of(n: int) -> Integers:
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


def _line(alt: Any, title: str, points: list[dict[str, Any]], x: Any, color: str) -> look.Chart:
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
                axis=look.power_axis(title, low, high, grid=True),
            ),
            tooltip=[
                alt.Tooltip("iteration:Q", format=","),
                alt.Tooltip("height:Q", title=title, format=".3~g"),
                alt.Tooltip("objective:Q", format=".10~g"),
            ],
        )
        .properties(
            width=look.WIDTH, height=look.HEIGHT // 2, view=alt.ViewBackground(stroke=look.PALE)
        )
    )
