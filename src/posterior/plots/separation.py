"""Two columns: the classes of a model as regions, ellipses and boundaries, under the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from posterior.data.names import plain
from posterior.evaluation.boundary import decision_boundary
from posterior.evaluation.contour import Box, Curve
from posterior.evaluation.quadratics import middle, quadratics
from posterior.plots import look
from posterior.plots.columns import without_names
from posterior.plots.normals import Normals
from posterior.plots.regions import of_model

DASHES = {0.5: [1, 0], 0.95: [5, 3]}  # of an ellipse, by the share of a class's rows inside
DEEPEST = 0.3  # opacity of regions, on which ellipses and dots of their color are seen
STEPS = 20  # of the shade, from 0 to 1
LINES = 64  # of the grid on which boundaries are found
STRAIGHT = 1e-9  # of the length: how far from a straight line its points may be


def separation(model: Any, X: Any = None, y: Any = None, target: str = "class") -> look.Chart:
    """What a model of two columns answers anywhere, where the answer changes, and the rows.

    A class that is normal has two ellipses, which hold half and 95 % of its rows.

    Parameters
    ----------
    model : fitted classifier
        With the boundaries of `decision_boundary`.
    X, y : as in `fit`
        Of many rows, 500 are drawn; without y none. Without X, the plane is where
        `decision_boundary` looks by itself.
    target : str, default="class"
        What the classes are.

    Returns
    -------
    altair.LayerChart
    """
    if X is None:
        found = decision_boundary(model, form="curves")
        corners = np.array(found.box).T
        with without_names():
            regions = of_model(model, corners, None, target, DEEPEST, STEPS, found.feature_names)
        return _over(model, regions, None, target)
    return _over(model, of_model(model, X, y, target, DEEPEST, STEPS), y, target)


def _over(model: Any, chart: look.Chart, y: Any, target: str) -> look.Chart:
    names = [str(plain(label)) for label in model.classes_]
    rings = _ellipses(model, names) if len(names) <= len(look.PALETTE) else []
    said = ["Colors are the most probable class, paler where it is less certain."]
    said.append("The line is where it changes" + ("." if y is None else "; dots are rows."))
    if rings:
        said.append("Half of a class lies inside its solid ellipse, 95 % inside the dashed one.")
    return over(chart, [*_drawn(chart, rings), *border(model, chart)], said, target)


def over(chart: look.Chart, layers: Sequence[look.Chart], said: list[str], by: str) -> look.Chart:
    """Regions with more between them and the rows."""
    first, *dots = chart.layer
    if not dots:  # Altair gives the data of a single layer to the whole
        first = first.properties(data=chart.data)
    x, y = (first.encoding[axis]["axis"]["title"] for axis in "xy")
    title = look.heading(f"{x} and {y}, by {by}", said)
    return look.sized(look.optional("altair").layer(first, *layers, *dots), title)


def border(model: Any, chart: look.Chart) -> list[look.Chart]:
    """The boundaries of a model, within the regions of a chart."""
    alt = look.optional("altair")
    place = chart.layer[0].encoding
    (x0, x1), (y0, y1) = (place[axis]["scale"]["domain"] for axis in "xy")
    box: Box = ((x0, x1), (y0, y1))
    values = [
        {"line": number, "at": i, "between": f"{curve.of} | {curve.against}", "x": a, "y": b}
        for number, curve in enumerate(
            decision_boundary(model, form="curves", box=box, resolution=LINES)
        )
        for i, (a, b) in enumerate(_corners(curve))
    ]
    lines = alt.Chart(alt.InlineData(values=values)).mark_line(
        color=look.INK, strokeWidth=2, clip=True
    )
    tooltip = ["between:N"]
    drawn = lines.encode(x=place.x, y=place.y, detail="line:N", order="at:Q", tooltip=tooltip)
    return [drawn] if values else []


def _corners(curve: Curve) -> list[list[float]]:
    """The points of a curve; of a straight one its ends."""
    first, last = curve.points[0], curve.points[-1]
    along = last - first
    off = (curve.points - first) @ np.array([-along[1], along[0]])
    straight = abs(off).max() <= STRAIGHT * (abs(along) ** 2).sum()
    found: list[list[float]] = (curve.points[[0, -1]] if straight else curve.points).tolist()
    return found


def _ellipses(model: Any, names: list[str]) -> list[dict[str, Any]]:
    """Points of the ellipses of the classes that are possible, if all are normal."""
    origin = middle(model)
    found = quadratics(model, origin)
    if (moments := found.moments()) is None:
        return []
    mean, covariance = moments
    mean = mean if origin is None else mean + origin
    possible = [names.index(str(plain(label))) for label in found.classes]
    normals = Normals([0, 1], ["", ""], names, np.exp(found.c), mean, covariance)
    return [
        {"class": names[possible[k]], "level": level, "at": i, "x": float(a), "y": float(b)}
        for k in range(len(mean))
        for level in DASHES
        for i, (a, b) in enumerate(normals.ellipse(k, level))
    ]


def _drawn(chart: look.Chart, rings: list[dict[str, Any]]) -> list[look.Chart]:
    alt = look.optional("altair")
    place = chart.layer[0].encoding
    scale = alt.Scale(domain=list(DASHES), range=list(DASHES.values()))
    lines = alt.Chart(alt.InlineData(values=rings)).mark_line(strokeWidth=2, clip=True)
    drawn = lines.encode(
        x=place.x,
        y=place.y,
        color=place.color,
        order="at:Q",
        detail="level:N",
        strokeDash=alt.StrokeDash("level:N", legend=None, scale=scale),
        tooltip=["class:N", alt.Tooltip("level:Q", format=".0%")],
    )
    return [drawn] if rings else []
