"""One column by class: how the rows lie, and how the model thinks they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior.data import frames
from posterior.data.names import plain
from posterior.data.typing import Codes, Floats
from posterior.estimators import PoissonNB
from posterior.evaluation.quadratics import quadratics
from posterior.plots.columns import Column, column_alone, column_of, observed, without_names
from posterior.plots.look import DIGITS, INK, WIDTH, Chart, axis, colors, heading, optional, sized

POINTS, POINTS_NEAR = 101, 29  # of a curve: over the whole picture, and about its class
REACH = 3.5  # deviations from the mean that are always in the picture
CLOSE = 1e-12  # of the width of the picture: points that rounding alone keeps apart
VISIBLE = 1e-3  # of the peak: where a curve begins and ends
MOST_DOTS = 60  # whole numbers that are drawn one by one
LABEL, LANE = 50, 14  # pixels that a label is given


@runtime_checkable
class Joint(Protocol):
    """A model that knows log p(x, k)."""

    def predict_joint_log_proba(self, X: Any) -> Floats: ...


def densities(
    model: Any,
    X: Any = None,
    y: Any = None,
    feature: int | str = 0,
    bins: int = 60,
    boundaries: Sequence[float] | None = None,
) -> Chart:
    """A histogram of one column by class, under the densities that the model fitted to it.

    The bars of all classes have area 1 together, the curves are p(x, k) = π_k p(x | k), so a curve
    lies on its bars where the model is right. The chart holds counts, never a row.

    Parameters
    ----------
    model : fitted generative classifier
        Of one column, or one that leaves missing cells out, such as `GaussianNB`: then the curves
        are those of the one column, whatever the others hold.
    X, y : as in `fit`
        The rows to count; rows where the column is missing are left out. Classes that are normal
        or Poisson need none: their curves are drawn alone.
    feature : int or str, default=0
        Position or name of the column.
    bins : int, default=60
        How many, or somewhat fewer where the column holds whole numbers.
    boundaries : sequence of float, optional
        Where the model's answer changes, drawn as thin rules.

    Returns
    -------
    altair.LayerChart
    """
    alt = optional("altair")
    _check_model(model)
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise ValueError(f"Expected a number of bins, 1 or more, got {bins!r}.")
    target = y if isinstance(y, str) else getattr(y, "name", None)
    names = [str(plain(label)) for label in model.classes_]
    if X is None:
        column, j = column_alone(model, feature)
        near, edges, bars = _near_classes(model, j), np.empty(0), []
    else:
        if isinstance(y, str):
            X, y = frames.split_target(X, y)
        column = column_of(model, X, feature)
        x, codes = observed(column, y, model.classes_)
        near = [_near(x[codes == k]) for k in range(len(names))]
        edges = bin_edges(x, int(bins))
        bars = bars_of(x, codes, names, edges)
    counted = column.support == "count"
    if counted:
        near = [np.maximum(x, -0.5) for x in near]
    low, high = (float(f(np.concatenate([edges, *near]))) for f in (np.min, np.max))
    dots = counted and high - low < MOST_DOTS  # with a thin line to guide the eye
    with without_names():
        curves = _curves(model, column, names, near, np.linspace(low, high, POINTS))

    cut = np.sort(np.asarray([] if boundaries is None else boundaries, np.float64).ravel())
    inside = cut[(cut >= low) & (cut <= high)]
    outside = cut[(cut < low) | (cut > high)]
    what = f"are the model, class share × {'probability' if counted else 'density'}."
    marks = "dots" if dots else "lines"
    subtitle = [f"Bars count the rows; {marks} {what}" if bars else f"{marks.capitalize()} {what}"]
    if len(outside):
        noun = "a boundary" if len(outside) == 1 else "boundaries"
        places = ", ".join(map(_digits, outside))
        subtitle.append(f"Outside the picture: {noun} at {places}.")

    color = colors(names, str(target or "class"))
    across = alt.Scale(domain=[low, high], nice=False, zero=False)
    label, density = axis(column.name), axis("share of all rows per unit", grid=True)
    histogram = (
        alt.Chart(alt.InlineData(values=bars))
        .mark_bar(opacity=0.35, binSpacing=0, clip=True)
        .encode(
            x=alt.X("from:Q", bin="binned", scale=across, axis=label),
            x2="to:Q",
            y=alt.Y("height:Q", stack=None, axis=density),
            color=color,
            tooltip=[
                "class:N",
                *(alt.Tooltip(f"{field}:Q", format=DIGITS) for field in ("from", "to")),
                alt.Tooltip("rows:Q", format=","),
            ],
        )
    )
    model_lines = (
        alt.Chart(alt.InlineData(values=curves))
        .mark_line(
            strokeWidth=1 if dots else 2.5,
            interpolate="linear" if dots else "monotone",
            point={"size": 45, "filled": True} if dots else False,
            clip=True,
        )
        .encode(x=alt.X("x:Q", scale=across), y="density:Q", color=color)
    )
    layers = [histogram, model_lines]
    if len(inside):
        layers += rules(alt, inside, (high - low) / WIDTH, across)
    return sized(alt.layer(*layers), heading(f"{column.name}, by {target or 'class'}", subtitle))


def _check_model(model: Any) -> None:
    if not isinstance(model, Joint):
        raise TypeError(
            f"Expected a generative model, with predict_joint_log_proba, got "
            f"{type(model).__name__}: it has no density to draw."
        )
    check_is_fitted(model)


def _near(x: Floats) -> Floats:
    """Points about the rows of one class, so that a narrow curve is not missed."""
    if not len(x):
        return x
    return np.asarray(x.mean() + x.std() * np.linspace(-REACH, REACH, POINTS_NEAR))


def _near_classes(model: Any, j: int) -> list[Floats]:
    """The same of classes that are normal or Poisson, by their means and deviations in column j."""
    at = np.linspace(-REACH, REACH, POINTS_NEAR)
    if isinstance(model, PoissonNB):
        return [rate + np.sqrt(rate) * at for rate in model.rate_[:, j]]
    found = quadratics(model)
    if (normals := found.normals()) is None:
        raise ValueError(
            f"Expected rows to draw beside {type(model).__name__}, whose classes are not all "
            "normal, got none. Give X and y."
        )
    near = {
        plain(label): mean[j] + deviation[j] * at
        for label, mean, deviation in zip(found.classes, *normals, strict=True)
    }
    return [near.get(plain(label), np.empty(0)) for label in model.classes_]


def bin_edges(x: Floats, bins: int) -> Floats:
    """Bins of one width; among whole numbers each holds as many, or the bars would be a comb."""
    if (x != np.round(x)).any():
        return np.histogram_bin_edges(x, bins)
    low, high = x.min() - 0.5, x.max() + 0.5
    width = np.ceil((high - low) / bins)
    return np.asarray(low + width * np.arange(np.ceil((high - low) / width) + 1))


def bars_of(x: Floats, codes: Codes, names: list[str], edges: Floats) -> list[dict[str, Any]]:
    """Counts and heights of the bins that hold rows; the areas of all classes add up to 1."""
    counts = [np.histogram(x[codes == k], edges)[0] for k in range(len(names))]
    return [
        {
            "class": name,
            "from": float(edges[b]),
            "to": float(edges[b + 1]),
            "rows": int(count[b]),
            "height": float(count[b] / (len(x) * (edges[b + 1] - edges[b]))),
        }
        for name, count in zip(names, counts, strict=True)
        for b in np.flatnonzero(count)
    ]


def _curves(
    model: Any, column: Column, names: list[str], near: list[Floats], everywhere: Floats
) -> list[dict[str, Any]]:
    """Points of p(x, k) over x, for each class k."""
    points, area = [], 0.0
    for k, name in enumerate(names):
        grid = column.possible(_apart(np.concatenate([everywhere, near[k]])))
        density = np.exp(model.predict_joint_log_proba(column.table(grid))[:, k])
        seen = density > VISIBLE * density.max()
        area += float(np.trapezoid(density[seen], grid[seen]))
        points += [
            {"class": name, "x": float(a), "density": float(p)}
            for a, p in zip(grid[seen], density[seen], strict=True)
        ]
    if not area < 2:  # a density has 1; the doubt is for curves too narrow to be measured
        raise ValueError(
            f"Expected a model of numbers, whose curves have area 1 together, got area {area:.3g}: "
            f"{type(model).__name__} has no density for column {column.name!r}."
        )
    return points


def _apart(x: Floats) -> Floats:
    """In order, without points so close to the one before that a line through both would kink."""
    x = np.unique(x)
    return x[np.diff(x, prepend=-np.inf) > CLOSE * (x[-1] - x[0])]


def rules(alt: Any, places: Floats, pixel: float, across: Any) -> list[Chart]:
    """Thin vertical lines with their places, rising, written above them."""
    lane = _lanes(places, LABEL * pixel)
    values = [
        {"boundary": float(b), "label": _digits(b), "above": -6 - LANE * i}
        for b, i in zip(places, lane, strict=True)
    ]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("boundary:Q", scale=across), tooltip=[alt.Tooltip("boundary:Q", format=DIGITS)]
    )
    return [
        base.mark_rule(color=INK, strokeDash=[4, 3]),
        base.mark_text(color=INK, fontSize=12, baseline="bottom").encode(
            y=alt.Y("above:Q", scale=None), text="label:N"
        ),
    ]


def _lanes(places: Floats, gap: float) -> list[int]:
    """The line of each label, from below, so that none is written over another."""
    ends: list[float] = []
    lane = []
    for place in places:
        free = next((i for i, end in enumerate(ends) if place - end >= gap), len(ends))
        ends[free:] = [place, *ends[free + 1 :]]
        lane.append(free)
    return lane


def _digits(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")
