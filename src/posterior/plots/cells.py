"""Clusters of one column or two: the cells of their centers, and the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.names import plain
from posterior.data.typing import Array, Floats
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


def cells(model: Any, X: Any, bins: int = BINS) -> look.Chart:
    """Clusters by their centers: rows in the color of the nearest, and where cells meet.

    Parameters
    ----------
    model : fitted KMeans, MiniBatchKMeans, or KMedoids of Euclidean distances, of one column or two
    X : array or frame
        Rows to draw: of two columns 500 as dots, of one column all in a histogram.
    bins : int, default=60
        Of the histogram.

    Returns
    -------
    altair.LayerChart
    """
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
    return _line(model, X, bins) if d == 1 else _plane(model, X)


def _plane(model: Any, X: Any) -> look.Chart:
    alt = look.optional("altair")
    nearest = Nearest.of(model)
    chart = of_model(nearest, X, model.predict(X), TARGET, DEEPEST)
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
    drawn = over(chart, border(nearest, chart), said, TARGET)
    drawn.layer.append(centers)
    return drawn


def _line(model: Any, X: Any, bins: int) -> look.Chart:
    alt = look.optional("altair")
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise ValueError(f"Expected a number of bins, 1 or more, got {bins!r}.")
    column = column_of(model, X, 0)
    x, codes = column.values, model.predict(X)
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
    layers = [bars, *rules(alt, inside, (high - low) / look.WIDTH, across), centers]
    title = look.heading(f"{column.name}, by {TARGET}", said)
    return look.sized(alt.layer(*layers), title)
