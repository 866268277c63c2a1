"""The likelihood of a logistic curve as a hill over its two coefficients, and a way up."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from posterior.data.names import feature_names, plain
from posterior.data.rows import SparseRows
from posterior.data.typing import Floats
from posterior.discriminative.steps import LogisticStep
from posterior.estimators import LogisticRegression
from posterior.plots import look
from posterior.plots.regions import edges_of, runs
from posterior.plots.sigmoid import observed
from posterior.plots.trace import some_of

CELLS = 80, 60
ROOM = 0.2  # of the way's extent, to each side
HEIGHTS = 24  # shades, each a quarter less far below the top than the one outside it


@overload
def hill(x: LogisticRegression, y: Any, path: Any, /) -> look.Chart: ...
@overload
def hill(x: ArrayLike, y: ArrayLike, path: ArrayLike, name: str = ...) -> look.Chart: ...
def hill(x: Any, y: Any, path: Any, name: str = "x") -> look.Chart:
    """The log-likelihood of a logistic curve from above, with the steps of an ascent.

    ℓ(b, w) = Σᵢ [ yᵢ zᵢ - ln(1 + exp zᵢ) ]      zᵢ = b + w xᵢ

    `hill(model, X, y)` takes the steps of a logistic regression of one column and two classes, and
    draws what they climb, less the penalty if there is one; column, zeros and ones, and path may
    also be given themselves.

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
    if isinstance(x, LogisticRegression):
        return hill_of(x.steps(y, path)[-1])
    cells, ones = observed(x, y)
    way = look.numbers("path", path, -1, 2)
    if not len(way):
        raise ValueError("Expected steps of an ascent, its start at least, got none.")
    return _drawn(partial(log_likelihood, cells, ones), way, len(way), name)


def has_hill(step: LogisticStep) -> bool:
    """Whether an ascent is over two coefficients, which make a plane."""
    return step.place.shape == (1, 2) and step.ground.loss.intercept


def hill_of(step: LogisticStep) -> look.Chart:
    """The hill of a whole ascent, and the way up to one of its steps."""
    if not has_hill(step):
        outputs, d = step.coef.shape
        raise ValueError(
            f"Expected a logistic regression of one column and two classes, with an intercept, for "
            f"the plane of its coefficients, got {d} column(s) and {max(outputs, 2)} classes. Fit "
            "it to one column."
        )
    ground = step.ground
    rows, penalty = ground.at_hand, ground.penalty
    X = rows.X.scipy().toarray() if isinstance(rows.X, SparseRows) else np.asarray(rows.X)
    x, ones, weight = X[:, 0].astype(float), rows.hard.codes.astype(float), rows.hard.weight

    def height(b: Floats, w: Floats) -> Floats:
        cost = sum(
            ridge * (part - center) ** 2 / 2
            for part, ridge, center in zip((w, b), penalty.ridge[0], penalty.center[0], strict=True)
        )
        return np.asarray(log_likelihood(x, ones, b, w, weight) - cost)

    way = step.run.steps[-1].path[:, 0, ::-1]
    known = feature_names(step.model)
    name = "x" if known is None else str(plain(known[0]))
    return _drawn(height, way, step.number + 1, name, "" if penalty.is_flat else " less penalty")


def _drawn(
    height_at: Callable[[Floats, Floats], Floats], way: Floats, n: int, name: str, less: str = ""
) -> look.Chart:
    """A hill on which there is room for all of a way, and the first n places of it."""
    alt = look.optional("altair")
    low, high = way.min(axis=0), way.max(axis=0)
    room = np.where(high > low, ROOM * (high - low), 1.0)
    b, w = (np.linspace(low[i] - room[i], high[i] + room[i], CELLS[i]) for i in (0, 1))
    height = height_at(b, w[:, None])  # (w, b)
    way = way[:n]
    climbed = height_at(way[:, 0], way[:, 1])
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
            f"Log-likelihood{less} {look.digits(climbed[0])} at the start, "
            f"{look.digits(climbed[-1])} "
            f"after {len(way) - 1:,} step{'s' * (len(way) != 2)}.",
        ],
    )
    return look.sized(alt.layer(ground, *_way(alt, way, climbed, place)), title)


def log_likelihood(
    x: Floats, ones: Floats, intercept: Floats, slope: Floats, weight: Floats | None = None
) -> Floats:
    """ℓ at coefficients of any shapes that go together, summed row by row of the table."""
    shape = np.broadcast_shapes(np.shape(intercept), np.shape(slope))
    b, w = (np.broadcast_to(part, shape).ravel() for part in (intercept, slope))
    points, place = np.unique(x, return_inverse=True)
    weight = np.ones(len(x)) if weight is None else weight
    rows, yes = np.bincount(place, weight), np.bincount(place, weight * ones)
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
        color=look.PALETTE[1],
        strokeWidth=2,
        strokeJoin="round",
        point={"color": look.PALETTE[1], "size": 22},
    )
    end = alt.Chart(alt.InlineData(values=values[-1:])).mark_point(
        shape="diamond", filled=True, size=170, opacity=1, color=look.PALETTE[1], stroke=look.PAPER
    )
    return [
        line.encode(**place, order="step:Q", tooltip=tooltip),
        end.encode(**place, tooltip=tooltip),
    ]
