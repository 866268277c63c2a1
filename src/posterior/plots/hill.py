"""The likelihood of a logistic curve as a hill over its two coefficients, and a way up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from posterior.data.typing import Floats
from posterior.plots import look
from posterior.plots.regions import edges_of, runs
from posterior.plots.sigmoid import observed
from posterior.plots.trace import some_of

CELLS = 80, 60
ROOM = 0.2  # of the way's extent, to each side
HEIGHTS = 24  # shades, each a quarter less far below the top than the one outside it


def hill(x: ArrayLike, y: ArrayLike, path: ArrayLike, name: str = "x") -> look.Chart:
    """The log-likelihood of a logistic curve from above, with the steps of an ascent.

    ℓ(b, w) = Σᵢ [ yᵢ zᵢ - ln(1 + exp zᵢ) ]      zᵢ = b + w xᵢ

    Shades are heights, closer to each other near the highest that the way came to. The chart holds
    heights, never a row.

    Parameters
    ----------
    x : array-like of shape (n,)
        The column; rows where it is missing are left out.
    y : array-like of shape (n,)
        Zeros and ones.
    path : array-like of shape (steps, 2)
        Intercept b and slope w after each step, the start first.
    name : str, default="x"
        What x is called.

    Returns
    -------
    altair.LayerChart
    """
    alt = look.optional("altair")
    cells, ones = observed(x, y)
    way = look.numbers("path", path, -1, 2)
    if not len(way):
        raise ValueError("Expected steps of an ascent, its start at least, got none.")
    low, high = way.min(axis=0), way.max(axis=0)
    room = np.where(high > low, ROOM * (high - low), 1.0)
    b, w = (np.linspace(low[i] - room[i], high[i] + room[i], CELLS[i]) for i in (0, 1))
    height = log_likelihood(cells, ones, b, w[:, None])  # (w, b)
    climbed = log_likelihood(cells, ones, way[:, 0], way[:, 1])
    top = max(float(height.max()), float(climbed.max()))
    level = _levels(top - height)
    sides = edges_of(b), edges_of(w)
    values = [
        {
            "x": float(sides[0][j]),
            "x2": float(sides[0][end]),
            "y": float(sides[1][i]),
            "y2": float(sides[1][i + 1]),
            "level": int(level[i, j]),
        }
        for i in range(len(w))
        for j, end in runs(level[i], level[i])
    ]
    place = {}
    for axis, channel, side, said in zip(
        "xy", (alt.X, alt.Y), sides, ("intercept", f"slope of {name}"), strict=True
    ):
        scale = alt.Scale(domain=[float(side[0]), float(side[-1])], nice=False, zero=False)
        shown = look.number_axis(said, float(np.abs(side).max()))
        place[axis] = channel(f"{axis}:Q", scale=scale, axis=shown)
    shade = alt.Scale(domain=[0, HEIGHTS], range=[0.03, 0.75])
    ground = (
        alt.Chart(alt.InlineData(values=values))
        .mark_rect(color=look.PALETTE[0])
        .encode(
            **place,
            x2="x2:Q",
            y2="y2:Q",
            fillOpacity=alt.FillOpacity("level:Q", legend=None, scale=shade),
        )
    )
    title = look.heading(
        "The hill of the log-likelihood",
        [
            "The stronger the color, the higher. The line is the ascent, the diamond its end.",
            f"Log-likelihood {look.digits(climbed[0])} at the start, {look.digits(climbed[-1])} "
            f"after {len(way) - 1:,} step{'s' * (len(way) != 2)}.",
        ],
    )
    return look.sized(alt.layer(ground, *_way(alt, way, climbed, place)), title)


def log_likelihood(x: Floats, ones: Floats, intercept: Floats, slope: Floats) -> Floats:
    """ℓ at coefficients of any shapes that go together, summed row by row of the table."""
    shape = np.broadcast_shapes(np.shape(intercept), np.shape(slope))
    b, w = (np.broadcast_to(part, shape).ravel() for part in (intercept, slope))
    points, place = np.unique(x, return_inverse=True)
    rows, yes = np.bincount(place), np.bincount(place, ones)
    scores = (u + v * points for u, v in zip(b, w, strict=True))
    return np.array([yes @ z - rows @ np.logaddexp(0, z) for z in scores]).reshape(shape)


def _levels(below: Floats) -> Floats:
    """Shades from the foot, 0, to the top, by the logarithm of what is missing there."""
    deepest = float(below.max()) or 1.0
    share = np.maximum(below / deepest, 0.75**HEIGHTS)
    return np.asarray(np.floor(np.log(share) / np.log(0.75)))


def _way(alt: Any, way: Floats, climbed: Floats, place: dict[str, Any]) -> list[look.Chart]:
    values = [
        {"step": int(i), "x": float(way[i, 0]), "y": float(way[i, 1]), "height": float(climbed[i])}
        for i in some_of(len(way))
    ]
    tooltip = ["step:Q", alt.Tooltip("height:Q", title="log-likelihood", format=look.DIGITS)]
    line = alt.Chart(alt.InlineData(values=values)).mark_line(
        color=look.PALETTE[1], strokeWidth=2, point={"color": look.PALETTE[1], "size": 22}
    )
    end = alt.Chart(alt.InlineData(values=values[-1:])).mark_point(
        shape="diamond", filled=True, size=170, opacity=1, color=look.PALETTE[1], stroke=look.PAPER
    )
    return [
        line.encode(**place, order="step:Q", tooltip=tooltip),
        end.encode(**place, tooltip=tooltip),
    ]
