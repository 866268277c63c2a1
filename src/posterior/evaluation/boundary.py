"""Where the most probable class changes: points, curves, or the equations of surfaces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from posterior.data.names import feature_names, plain
from posterior.data.typing import Floats
from posterior.evaluation.contour import Box, Curves, curves
from posterior.evaluation.quadratics import Points, Quadratics, middle, points, quadratics

FEATURES = {"points": 1, "curves": 2}  # the forms that need a certain number of them
DEVIATIONS = 4  # around every mean, in the box that is shown by default


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """Where two classes are equally probable; there a third may be more probable than both.

    log p(of | x) / p(against | x) = xᵀ matrix x + normal · x + offset = 0

    A hyperplane if the matrix is None, else a quadric.
    """

    of: Any
    against: Any
    matrix: Floats | None  # (d, d), symmetric
    normal: Floats  # (d,)
    offset: float

    def log_odds(self, X: Any) -> Floats:
        """The left side of the equation at rows X, (n,): positive where `of` is more probable."""
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.normal):
            raise ValueError(
                f"Expected rows of {len(self.normal)} features, got an array of shape {rows.shape}."
            )
        linear = rows @ self.normal + self.offset
        return linear if self.matrix is None else ((rows @ self.matrix) * rows).sum(axis=1) + linear


Boundary: TypeAlias = Points | Curves | tuple[Surface, ...]


@overload
def decision_boundary(
    model: Any, *, form: Literal["auto"] = ..., box: Any = ..., resolution: int = ...
) -> Boundary: ...
@overload
def decision_boundary(
    model: Any, *, form: Literal["points"], box: None = ..., resolution: int = ...
) -> Points: ...
@overload
def decision_boundary(
    model: Any, *, form: Literal["curves"], box: Any = ..., resolution: int = ...
) -> Curves: ...
@overload
def decision_boundary(
    model: Any, *, form: Literal["surfaces"], box: None = ..., resolution: int = ...
) -> tuple[Surface, ...]: ...
def decision_boundary(
    model: Any,
    *,
    form: Literal["auto", "points", "curves", "surfaces"] = "auto",
    box: Any = None,
    resolution: int = 128,
) -> Boundary:
    """Where the most probable class of a fitted model changes.

    The boundary of classes i and j is where log p(x, i) = log p(x, j) and no other class is
    larger. Both sides are quadratic in x for Gaussian classes, and linear for logistic regression.

    Parameters
    ----------
    model : Gaussian naive Bayes, discriminant analysis, or a linear classifier, fitted
    form : "auto", "points", "curves" or "surfaces"
        Points are for one feature, curves for two, surfaces for any number. "auto" gives points
        for one feature, curves for two, and surfaces for more.
    box : ((x0, x1), (y0, y1)), optional
        Where to look for curves; by default 4 deviations around the mean of every class.
    resolution : int
        Curves are searched for on a grid of this many lines each way, and as many again around
        the means. The points found are exact, but a piece smaller than a cell is missed.

    Returns
    -------
    Points, Curves or a tuple of Surface, one for each pair of classes

    Examples
    --------
    >>> from posterior import GaussianNB
    >>> from posterior.evaluation import decision_boundary
    >>> lengths = [[13.0], [16.0], [19.0], [26.0], [30.0], [34.0]]
    >>> model = GaussianNB().fit(lengths, ["bass"] * 3 + ["salmon"] * 3)
    >>> decision_boundary(model)
    x < -26.16        : salmon
    -26.16 < x < 22.16: bass
    x > 22.16         : salmon
    """
    if form not in {"auto", "points", "curves", "surfaces"}:
        raise ValueError(f'Expected form "auto", "points", "curves" or "surfaces", got {form!r}.')
    found = quadratics(model)  # says what is wrong with the model, if anything is
    d = found.b.shape[1]
    names = _names(model, d)
    asked = {1: "points", 2: "curves"}.get(d, "surfaces") if form == "auto" else form
    if FEATURES.get(asked, d) != d:
        raise ValueError(
            f"Expected a model of {FEATURES[asked]} feature{'s' * (asked == 'curves')} for "
            f'form="{asked}", got one of {d}. Ask for form="surfaces".'
        )
    if asked != "curves" and box is not None:
        raise ValueError(f"Expected a box with curves only, got box={box!r} for {asked}.")
    origin = middle(model)
    moved = found if origin is None else quadratics(model, origin)
    if asked == "points":
        crossed = points(moved, names[0])
        return crossed if origin is None else replace(crossed, at=crossed.at + origin[0])
    if asked == "surfaces":
        return tuple(_surface(found, i, j) for i, j in combinations(range(len(found.c)), 2))
    if not isinstance(resolution, int | np.integer) or resolution < 1:
        raise ValueError(f"Expected a resolution of one cell or more, got {resolution!r}.")
    start = np.zeros(2) if origin is None else origin
    chosen = _default_box(moved) if box is None else _moved(_checked(box), -start)
    traced = curves(moved, chosen, int(resolution), (names[0], names[1]))
    parts = tuple(replace(curve, points=curve.points + start) for curve in traced.curves)
    return replace(traced, curves=parts, box=_moved(chosen, start))


def _moved(box: Box, by: Floats) -> Box:
    (x0, x1), (y0, y1) = box
    return (x0 + by[0], x1 + by[0]), (y0 + by[1], y1 + by[1])


def _surface(model: Quadratics, i: int, j: int) -> Surface:
    matrix = model.A[i] - model.A[j]
    return Surface(
        of=plain(model.classes[i]),
        against=plain(model.classes[j]),
        matrix=matrix if matrix.any() else None,
        normal=model.b[i] - model.b[j],
        offset=float(model.c[i] - model.c[j]),
    )


def _names(model: Any, d: int) -> list[str]:
    if (names := feature_names(model)) is not None:
        return [str(name) for name in names]
    return ["x"] if d == 1 else [f"x{j}" for j in range(d)]


def _default_box(model: Quadratics) -> Box:
    if (normals := model.normals()) is None:
        raise ValueError(
            "Expected a box ((x0, x1), (y0, y1)) to look for curves in: this model is linear or "
            "has no normal density for every class, so its coefficients do not say where the "
            "data lie."
        )
    mean, deviation = normals
    low, high = mean - DEVIATIONS * deviation, mean + DEVIATIONS * deviation
    return _checked(np.stack([low.min(axis=0), high.max(axis=0)], axis=1))


def _checked(box: Any) -> Box:
    try:
        (x0, x1), (y0, y1) = ((float(low), float(high)) for low, high in box)
    except (TypeError, ValueError):
        x0 = x1 = y0 = y1 = np.nan
    if not (np.isfinite([x0, x1, y0, y1]).all() and x0 < x1 and y0 < y1):
        raise ValueError(
            "Expected a box ((x0, x1), (y0, y1)) with x0 < x1 and y0 < y1, all finite, "
            f"got {box!r}."
        )
    return (x0, x1), (y0, y1)
