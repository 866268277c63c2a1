"""Decision boundaries: points, curves, or the equations of surfaces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, Protocol, TypeAlias, overload, runtime_checkable

import numpy as np

from posterior.data.names import feature_names, plain
from posterior.data.typing import Floats
from posterior.evaluation.contour import Box, Curves, curves
from posterior.evaluation.plane import extent, two_columns
from posterior.evaluation.quadratics import Points, Quadratics, middle, points, quadratics

FEATURES = {"points": 1, "curves": 2}  # the forms that need a certain number of them
DEVIATIONS = 4  # around every mean, in the box that is shown by default
LOG_ODDS = 4  # that a column may add to those of the mean row, in the box of a linear model


@runtime_checkable
class KnowsTheMeanRow(Protocol):
    """A linear model that kept the mean of its rows."""

    typical_: Any


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
    model: Any, *, form: Literal["auto"] = ..., box: Any = ..., resolution: int = ..., X: Any = ...
) -> Boundary: ...
@overload
def decision_boundary(
    model: Any, *, form: Literal["points"], box: None = ..., resolution: int = ..., X: Any = ...
) -> Points: ...
@overload
def decision_boundary(
    model: Any, *, form: Literal["curves"], box: Any = ..., resolution: int = ..., X: Any = ...
) -> Curves: ...
@overload
def decision_boundary(
    model: Any, *, form: Literal["surfaces"], box: None = ..., resolution: int = ..., X: Any = ...
) -> tuple[Surface, ...]: ...
def decision_boundary(
    model: Any,
    *,
    form: Literal["auto", "points", "curves", "surfaces"] = "auto",
    box: Any = None,
    resolution: int = 128,
    X: Any = None,
) -> Boundary:
    """Where the most probable class of a fitted model changes.

    The boundary of classes i and j is where log p(x, i) = log p(x, j) and no other class is
    larger. Both sides are quadratic in x for Gaussian classes, and linear for logistic regression
    and for naive Bayes of counts, of yes and no (1 and 0), and of categories: there x is 1 at the
    category that a row has, in the order of `feature_log_prob_`, and 0 at the others.

    Parameters
    ----------
    model : naive Bayes, discriminant analysis, or a linear classifier, fitted
    form : "auto", "points", "curves" or "surfaces"
        Points are for one feature, curves for two, surfaces for any number. "auto" gives points
        for one feature, curves for two, and surfaces for more, for categories, and for two where
        neither the model nor a box nor X says where to look for curves.
    box : ((x0, x1), (y0, y1)), optional
        Where to look for curves; by default where the rows X lie, or else 4 deviations around the
        mean of every class. Of logistic regression, whose classes have no means, as far around
        the mean of all rows as a column takes to change the log odds by 4, and on to the boundary.
    resolution : int
        Curves are searched for on a grid of this many lines each way, and as many again around
        the means. The points found are exact, but a piece smaller than a cell is missed.
    X : array or frame of two columns, optional
        Rows to look for curves among, instead of a box.

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
    asked = _usual(model, found, box is not None or X is not None) if form == "auto" else form
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
    if box is not None and X is not None:
        raise ValueError("Expected a box or rows X to look for curves in, got both. Give one.")
    start = np.zeros(2) if origin is None else origin
    given = box if X is None else np.stack(extent(two_columns(X)[1]), axis=1)
    chosen = _default_box(moved, model) if given is None else _moved(_checked(given), -start)
    traced = curves(moved, chosen, int(resolution), (names[0], names[1]))
    parts = tuple(replace(curve, points=curve.points + start) for curve in traced.curves)
    return replace(traced, curves=parts, box=_moved(chosen, start))


def _moved(box: Box, by: Floats) -> Box:
    (x0, x1), (y0, y1) = box
    return (x0 + by[0], x1 + by[0]), (y0 + by[1], y1 + by[1])


def _surface(model: Quadratics, i: int, j: int) -> Surface:
    return Surface(
        of=plain(model.classes[i]),
        against=plain(model.classes[j]),
        matrix=model.matrix(i, j),
        normal=model.b[i] - model.b[j],
        offset=float(model.c[i] - model.c[j]),
    )


def _usual(model: Any, found: Quadratics, placed: bool) -> str:
    """The form that shows most; a line without a place to look at is known by its equation."""
    d = found.b.shape[1]
    if _by_category(model, d) or d > 2:
        return "surfaces"
    known = placed or found.A is not None or isinstance(model, KnowsTheMeanRow)
    return "points" if d == 1 else "curves" if known else "surfaces"


def _by_category(model: Any, d: int) -> bool:
    """Whether there is a coefficient for each category, not for each column."""
    return bool(getattr(model, "n_features_in_", d) != d)


def _names(model: Any, d: int) -> list[str]:
    if (names := feature_names(model)) is not None and len(names) == d:
        return [str(name) for name in names]
    return ["x"] if d == 1 else [f"x{j}" for j in range(d)]


def _default_box(found: Quadratics, model: Any) -> Box:
    if (normals := found.normals()) is None:
        if isinstance(model, KnowsTheMeanRow):
            return _around(np.asarray(model.typical_, np.float64), found)
        raise ValueError(
            "Expected a box ((x0, x1), (y0, y1)), or rows X, to look for curves in: this model is "
            "linear or has no normal density for every class, so its coefficients do not say "
            "where the data lie."
        )
    mean, deviation = normals
    low, high = mean - DEVIATIONS * deviation, mean + DEVIATIONS * deviation
    return _checked(np.stack([low.min(axis=0), high.max(axis=0)], axis=1))


def _around(row: Floats, model: Quadratics) -> Box:
    """As far as each column takes to change some log odds by four, and to reach the boundary."""
    score = np.sort(model.log_joint(row[None])[0])
    steepest = np.ptp(model.b, axis=0)
    lead = score[-1] - score[-2] if len(score) > 1 else 0.0
    reach = (LOG_ODDS + lead) / np.where(steepest > 0, steepest, LOG_ODDS + lead)
    return _checked(np.stack([row - reach, row + reach], axis=1))


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
