"""Clusters of one column or two: the cells of their centers, and the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from posterior.data.names import plain
from posterior.data.typing import Array, Codes, Floats
from posterior.estimators import KMeans, KMedoids, MiniBatchKMeans
from posterior.evaluation.boundary import decision_boundary
from posterior.plots import look
from posterior.plots.columns import column_of
from posterior.plots.densities import bars_of, bin_edges, rules
from posterior.plots.regions import of_model
from posterior.plots.separation import border, over

CLUSTERED = (KMeans, MiniBatchKMeans, KMedoids)
DEEPEST = 0.3
BINS = 60
TARGET = "cluster"


@dataclass(slots=True, eq=False)
class Nearest:
    """Clusters as classes: each row is certain of its nearest center."""

    model: Any
    means_: Floats  # (k, d)
    classes_: Array  # (k,)

    @classmethod
    def of(cls, model: Any) -> Nearest:
        centers = np.asarray(model.cluster_centers_, np.float64)
        return cls(model, centers, np.arange(len(centers)))

    def predict_proba(self, X: Any) -> Floats:
        return np.eye(len(self.means_))[self.model.predict(X)]

    def quadratics(self, origin: Floats | None = None) -> tuple[None, Floats, Floats]:
        """-½|u - c_k|² without the square of u = x - origin, which all centers share."""
        centers = self.means_ if origin is None else self.means_ - origin
        return None, centers, -0.5 * (centers**2).sum(axis=1)


def cells(model: Any, X: Any, bins: int = BINS, path: bool = False) -> look.Chart:
    """Clusters by their centers: rows in the color of the nearest, and where cells meet.

    Parameters
    ----------
    model : fitted KMeans, MiniBatchKMeans, or KMedoids of Euclidean distances, of one column or two
    X : array or frame
        Rows to draw: of two columns 500 as dots, of one column all in a histogram.
    bins : int, default=60
        Of the histogram.
    path : bool, default=False
        Whether to draw the way of the centers from where they began, by the steps of `KMeans`,
        which X must be the rows of, and whose start must not be left to chance.

    Returns
    -------
    altair.LayerChart
    """
    return draw_cells(model, X, bins, model.predict(X), _path_of(model, X) if path else None)


def _path_of(model: Any, X: Any) -> Floats:
    """The centers of every step to those of a model, (steps, k, d)."""
    if not isinstance(model, KMeans):
        raise TypeError(f"Expected KMeans for the path of its centers, got {type(model).__name__}.")
    last = model.steps(X)[-1]
    if not np.array_equal(last.centers, model.cluster_centers_):
        raise ValueError(
            "Expected steps that end at the centers of the model, got others. Give the rows that "
            "it learned from, and set random_state, or init, so that each fit begins alike."
        )
    return last.path


def draw_cells(model: Any, X: Any, bins: int, labels: Codes, path: Floats | None) -> look.Chart:
    """Cells of centers, rows in the color of their labels, and where the centers came from."""
    d = model.n_features_in_
    if d > 2:
        raise ValueError(
            f"Expected clusters of one column or two to draw, got {type(model).__name__} of {d} "
            "columns. Fit it to two of them, or to two components of them all."
        )
    if isinstance(model, KMedoids) and not model.fitted_.metric.euclidean:
        raise ValueError(
            f"Expected clusters by Euclidean distances to draw, got metric={model.metric!r}, whose "
            "cells have other borders."
        )
    X = X.toarray() if sparse.issparse(X) else X
    if path is not None:  # centers stay where they are while rows are assigned
        path = path[np.append(True, (np.diff(path, axis=0) != 0).any(axis=(1, 2)))]
    draw = partial(_line, bins=bins) if d == 1 else _plane
    return draw(model, X, labels=labels, path=path)


def _plane(model: Any, X: Any, labels: Codes, path: Floats | None) -> look.Chart:
    alt = look.optional("altair")
    nearest = Nearest.of(model)
    chart = of_model(nearest, X, labels, TARGET, DEEPEST)
    place = chart.layer[0].encoding
    values = [{"cluster": k, "x": a, "y": b} for k, (a, b) in enumerate(nearest.means_.tolist())]
    centers = (
        alt.Chart(alt.InlineData(values=values))
        .mark_point(
            shape="diamond",
            filled=True,
            size=170,
            opacity=1,
            color=look.INK,
            stroke=look.PAPER,
            strokeWidth=1.5,
            clip=True,
        )
        .encode(x=place.x, y=place.y, tooltip=["cluster:N", "x:Q", "y:Q"])
    )
    said = ["Each row belongs to its nearest center; lines are as far from one as from another."]
    said.append("Diamonds are centers, dots are rows.")
    if path is not None:
        said[1] = "Diamonds are centers, which came along the thin lines; dots are rows."
    whole = over(chart, border(nearest, chart), said, TARGET)
    if path is not None:
        ways = [
            {"cluster": k, "step": i, "x": float(a), "y": float(b)}
            for k in range(path.shape[1])
            for i, (a, b) in enumerate(path[:, k])
        ]
        whole.layer.append(_way(alt, ways, place.x, place.y))
    whole.layer.append(centers)
    return whole


def _way(alt: Any, values: list[dict[str, Any]], x: Any, y: Any) -> look.Chart:
    """The lines that centers came along, thin, with a dot where each began."""
    line = alt.Chart(alt.InlineData(values=values)).mark_line(
        color=look.INK, strokeWidth=1.5, point={"color": look.INK, "size": 26}, clip=True
    )
    return line.encode(x=x, y=y, detail="cluster:N", order="step:Q", tooltip=["cluster:N"])


def _line(model: Any, X: Any, bins: int, labels: Codes, path: Floats | None) -> look.Chart:
    alt = look.optional("altair")
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise ValueError(f"Expected a number of bins, 1 or more, got {bins!r}.")
    column = column_of(model, X, 0)
    x, codes = column.values, labels
    seen = np.isfinite(x)
    if not seen.any():
        raise ValueError(f"Expected numbers in column {column.name!r}, all of it is missing.")
    x, codes = x[seen], codes[seen]
    nearest = Nearest.of(model)
    names = [str(plain(k)) for k in nearest.classes_]
    cut = decision_boundary(nearest, form="points").at
    edges = bin_edges(x, int(bins))
    low, high = float(edges[0]), float(edges[-1])
    across = alt.Scale(domain=[low, high], nice=False, zero=False)
    below = look.number_axis(column.name, max(abs(low), abs(high)))
    bars = (
        alt.Chart(alt.InlineData(values=bars_of(x, codes, names, edges)))
        .mark_bar(opacity=0.55, binSpacing=0, clip=True)
        .encode(
            x=alt.X("from:Q", bin="binned", scale=across, axis=below),
            x2="to:Q",
            y=alt.Y("rows:Q", axis=look.axis("rows", grid=True)),
            color=look.colors(names, TARGET),
            tooltip=[
                "class:N",
                *(alt.Tooltip(f"{field}:Q", format=look.DIGITS) for field in ("from", "to")),
                alt.Tooltip("rows:Q", format=","),
            ],
        )
    )
    values = [{"center": float(c), "cluster": k} for k, (c,) in enumerate(nearest.means_)]
    centers = (
        alt.Chart(alt.InlineData(values=values))
        .mark_point(shape="diamond", filled=True, size=130, opacity=1, color=look.INK, clip=True)
        .encode(
            x=alt.X("center:Q", scale=across),
            y=alt.value(look.HEIGHT - 8),
            tooltip=["cluster:N", alt.Tooltip("center:Q", format=look.DIGITS)],
        )
    )
    inside = cut[(cut > low) & (cut < high)]
    said = ["Bars count the rows; diamonds are centers; rules are halfway between them."]
    layers = [bars, *rules(alt, inside, (high - low) / look.WIDTH, across)]
    if path is not None:
        said.append("The centers came along the thin lines, from the top to the bottom.")
        down = np.linspace(8, look.HEIGHT - 8, len(path)) if len(path) > 1 else [look.HEIGHT - 8]
        ways = [
            {"cluster": k, "step": i, "center": float(path[i, k, 0]), "down": float(down[i])}
            for k in range(path.shape[1])
            for i in range(len(path))
        ]
        place = alt.X("center:Q", scale=across), alt.Y("down:Q", scale=None, axis=None)
        layers.append(_way(alt, ways, *place))
    layers.append(centers)
    title = look.heading(f"{column.name}, by {TARGET}", said)
    return look.sized(alt.layer(*layers), title)
