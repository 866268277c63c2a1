"""The logistic curve of one column, over the rows that it was learned from."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from posterior.data import frames
from posterior.data.names import feature_names, plain
from posterior.data.typing import Floats
from posterior.evaluation.plane import Predicts
from posterior.plots import look

POINTS = 201  # of the curve
LOG_ODDS = 6  # from the middle of a curve that comes without rows to its ends
MARGIN = 0.04  # of the width, at either side of the rows


@overload
def sigmoid(
    x: Predicts,
    y: Any = ...,
    intercept: Any = ...,
    /,
    *,
    name: str = ...,
    answer: str = ...,
    bins: int = ...,
) -> look.Chart: ...
@overload
def sigmoid(
    x: ArrayLike,
    y: ArrayLike,
    intercept: float,
    slope: float,
    *,
    name: str = ...,
    answer: str = ...,
    bins: int = ...,
) -> look.Chart: ...
def sigmoid(
    x: Any,
    y: Any = None,
    intercept: Any = None,
    slope: Any = None,
    *,
    name: str = "x",
    answer: str = "y = 1",
    bins: int = 25,
) -> look.Chart:
    """p(y = 1 | x) = 1 / (1 + exp(-(b + w x))) as a curve, and the share of ones in bins of x.

    `sigmoid(model, X, y)` draws a logistic regression of one column and two classes, and
    `sigmoid(model)` its curve alone; column, zeros and ones, and coefficients may also be given
    themselves.

    Where the model is right the dots lie on the curve, the large ones closest. The chart holds
    counts, never a row.

    Parameters
    ----------
    x : array-like of shape (n,)
        The column; rows where it is missing are left out.
    y : array-like of shape (n,)
        Zeros and ones.
    intercept, slope : float
        b and w.
    name, answer : str
        What x is called, and what y = 1 means.
    bins : int, default=25
        Of equal width.

    Returns
    -------
    altair.LayerChart
    """
    if isinstance(x, Predicts):
        return _of_model(x, y, intercept, name, bins)
    b, w = float(intercept), float(slope)
    if not (np.isfinite(b) and np.isfinite(w)):
        raise ValueError(f"Expected a finite intercept and slope, got {b} and {w}.")
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise ValueError(f"Expected a number of bins, 1 or more, got {bins!r}.")
    cells, ones = observed(x, y)
    spare = MARGIN * (cells.max() - cells.min()) or 1.0
    span = float(cells.min() - spare), float(cells.max() + spare)
    return _curve(b, w, span, _dots(cells, ones, int(bins)), name, answer)


def _curve(
    b: float,
    w: float,
    span: tuple[float, float],
    dots: list[dict[str, Any]],
    name: str,
    answer: str,
) -> look.Chart:
    """The curve of b + w x between two places, and dots if there are some."""
    alt, (low, high) = look.optional("altair"), span
    grid = np.linspace(low, high, POINTS)
    curve = [
        {"x": float(a), "probability": float(p)}
        for a, p in zip(grid, expit(b + w * grid), strict=True)
    ]

    across = alt.Scale(domain=[low, high], nice=False, zero=False)
    up = alt.Scale(domain=[0, 1])
    share = alt.Axis(**{**look.axis(f"P({answer})", grid=True).to_dict(), "format": ".0%"})
    line = (
        alt.Chart(alt.InlineData(values=curve))
        .mark_line(strokeWidth=2.5, color=look.PALETTE[0], clip=True)
        .encode(
            x=alt.X("x:Q", scale=across, axis=look.axis(name)),
            y=alt.Y("probability:Q", scale=up, axis=share),
        )
    )
    marks = (
        alt.Chart(alt.InlineData(values=dots))
        .mark_point(filled=True, color=look.PALETTE[1], opacity=0.75)
        .encode(
            x=alt.X("mean:Q", scale=across),
            y=alt.Y("share:Q", scale=up),
            size=alt.Size(
                "rows:Q", legend=None, scale=alt.Scale(type="sqrt", range=[12, 220], zero=True)
            ),
            tooltip=[
                *(alt.Tooltip(f"{f}:Q", format=look.DIGITS) for f in ("from", "to")),
                alt.Tooltip("rows:Q", format=","),
                alt.Tooltip("share:Q", title=answer, format=".1%"),
            ],
        )
    )
    layers, said = [line], []
    if dots:
        layers.append(marks)
        said = [
            f"Dots: share of {answer} among the rows of a bin, larger for more rows; line: model."
        ]
    half = -b / w if w else np.inf
    if low <= half <= high:
        layers += _boundary(alt, half, across)
    elif np.isfinite(half):
        said.append(f"Outside the picture: probability ½ at {look.digits(half)}.")
    return look.sized(alt.layer(*layers), look.heading(f"P({answer}), by {name}", said))


def _of_model(model: Any, X: Any, y: Any, name: str, bins: int) -> look.Chart:
    if np.shape(model.coef_) != (1, 1):
        raise ValueError(
            f"Expected a logistic regression of one column and two classes, got coefficients of "
            f"shape {np.shape(model.coef_)}. Fit it to one column."
        )
    second = plain(model.classes_[1])
    line = float(model.intercept_[0]), float(model.coef_[0, 0])
    if X is None:
        known = feature_names(model)
        name = name if known is None or name != "x" else str(plain(known[0]))
        return _curve(*line, _around(*line), [], name, str(second))
    frame = frames.as_frame(X)
    if frame is not None:
        name = str(plain(frame.columns[0])) if name == "x" else name
        x = frames.numbers(frame.get_column(frame.columns[0]))
    else:
        x = np.asarray(X, np.float64)[:, 0]
    ones = np.array([label == second for label in np.asarray(y).tolist()], float)
    return sigmoid(x, ones, *line, name=name, answer=str(second), bins=bins)


def _around(b: float, w: float) -> tuple[float, float]:
    """Where the curve of b + w x rises: within log odds of so many of its middle."""
    if w == 0:
        return -1.0, 1.0
    half, reach = -b / w, LOG_ODDS / abs(w)
    return half - reach, half + reach


def observed(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """A column and its zeros and ones, without the rows where it is missing."""
    cells, ones = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if cells.ndim != 1 or ones.shape != cells.shape:
        raise ValueError(
            f"Expected x and y of one shape (n,), got {cells.shape} and {ones.shape}. "
            f"Give one column."
        )
    if not np.isin(ones, (0, 1)).all():
        wrong = ones[~np.isin(ones, (0, 1))][0]
        raise ValueError(f"Expected zeros and ones in y, got {wrong:g}. Give y == label.")
    if np.isinf(cells).any():
        raise ValueError("Expected finite numbers in x, got infinity.")
    seen = ~np.isnan(cells)
    if not seen.any():
        raise ValueError("Expected at least one number in x, got none.")
    return cells[seen], ones[seen]


def _dots(x: Floats, ones: Floats, bins: int) -> list[dict[str, Any]]:
    """The bins that hold rows: where they lie on average, how many they are, how many are ones."""
    edges = np.histogram_bin_edges(x, bins)
    place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, bins - 1)
    rows, yes, total = (np.bincount(place, v, bins) for v in (np.ones(len(x)), ones, x))
    return [
        {
            "from": float(edges[i]),
            "to": float(edges[i + 1]),
            "mean": float(total[i] / rows[i]),
            "rows": int(rows[i]),
            "share": float(yes[i] / rows[i]),
        }
        for i in np.flatnonzero(rows)
    ]


def _boundary(alt: Any, half: float, across: Any) -> list[look.Chart]:
    """Where the answer changes, with its place written above."""
    base = alt.Chart(alt.InlineData(values=[{"boundary": float(half), "label": look.digits(half)}]))
    base = base.encode(x=alt.X("boundary:Q", scale=across))
    return [
        base.mark_rule(color=look.INK, strokeDash=[4, 3]),
        base.mark_text(color=look.INK, fontSize=12, baseline="bottom").encode(
            y=alt.value(-5), text="label:N"
        ),
    ]
