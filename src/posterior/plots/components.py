"""A mixture: how the rows lie, and the components that it took them apart into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from posterior.data.typing import Floats
from posterior.estimators import MixtureClassifier
from posterior.plots import look
from posterior.plots.columns import column_of
from posterior.plots.densities import bin_edges
from posterior.plots.normals import Normals, normals_of, some_rows

BINS = 60
MOST = 2_000  # rows that are drawn as points
INNER, OUTER = 0.5, 0.95  # of a component's rows inside its ellipses
POINTS, REACH = 161, 3.5  # of a curve, and how many deviations it goes from its mean
BEYOND = 0.25  # of the rows' extent, by which ellipses may widen the picture
GREY = "#c3c7ce"
LOUD, QUIET = {"size": 30, "opacity": 0.8}, {"size": 18, "opacity": 0.45}  # dots, mixed or not


def components(
    model: Any, X: Any = None, columns: int | str | Sequence[Any] | None = None, bins: int = BINS
) -> look.Chart:
    """The components of a mixture over the rows, in two columns or in one.

    Two columns: rows as points, colored by their most probable component, and two ellipses for
    each component, which hold half and 95 % of its rows. One column: the histogram of the rows,
    of area 1, with the curves π_k p(x | k) and their sum.

    Parameters
    ----------
    model : fitted GaussianMixture, Mixture or MixtureClassifier
        The columns that are drawn must be normal; the others are integrated out.
    X : array or frame, optional
        Rows with all columns of the model. Of many, a sample of 2,000 is drawn as points, while
        a histogram counts them all. Rows where a drawn column is missing are left out.
    columns : int, str, or one or two of them, optional
        Positions or names; the first two normal columns if not given.
    bins : int, default=60
        Of the histogram: how many, or somewhat fewer where the column holds whole numbers.

    Returns
    -------
    altair.LayerChart
    """
    return draw_components(model, X, columns, bins)


def draw_components(
    model: Any,
    X: Any,
    columns: int | str | Sequence[Any] | None = None,
    bins: int = BINS,
    shares: Floats | None = None,
) -> look.Chart:
    """Components over rows; with shares (n, k) of the rows, in the colors that these mix."""
    look.optional("altair")
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise ValueError(f"Expected a number of bins, 1 or more, got {bins!r}.")
    normals = normals_of(model, columns)
    cells = None
    if X is not None:
        cells = np.column_stack([column_of(model, X, place).values for place in normals.places])
        if np.isinf(cells).any() or np.isnan(cells).any(axis=1).all():
            raise ValueError(
                f"Expected finite numbers in {' and '.join(normals.columns)}, got infinity or none."
            )
    if len(normals.columns) == 1:
        return _histogram(normals, None if cells is None else cells[:, 0], int(bins), shares)
    mixed = shares is not None and len(normals.components) <= len(look.PALETTE)
    return _ellipses(normals, *_sample(model, X, cells, shares), mixed)


def _sample(
    model: Any, X: Any, cells: Floats | None, shares: Floats | None
) -> tuple[Floats, Floats, int]:
    """Some rows (n, 2), their shares in the components (n, k), and how many rows there are."""
    if cells is None:
        return np.empty((0, 2)), np.empty((0, len(model.weights_))), 0
    seen = np.flatnonzero(~np.isnan(cells).any(axis=1))
    n = len(seen)
    if n > MOST:
        seen = np.sort(np.random.default_rng(0).choice(seen, MOST, replace=False))
    if shares is not None:
        return cells[seen], shares[seen], n
    rows = some_rows(X, seen)
    by_class = isinstance(model, MixtureClassifier)
    R = model.predict_components(rows) if by_class else model.predict_proba(rows)
    return cells[seen], R, n


def _mixed(R: Floats) -> list[str]:
    """The colors of components, mixed by the shares of each row to a percent."""
    palette = [look.PALETTE[k % len(look.PALETTE)] for k in range(R.shape[1])]
    red_green_blue = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in palette])
    return [
        f"#{r:02x}{g:02x}{b:02x}" for r, g, b in (R.round(2) @ red_green_blue).round().astype(int)
    ]


def _ellipses(normals: Normals, points: Floats, R: Floats, n: int, mixed: bool) -> look.Chart:
    alt = look.optional("altair")
    names = normals.components
    drawn = [
        (k, level, normals.ellipse(k, level))
        for k in range(len(names))
        for level in (INNER, OUTER)
        if normals.weight[k] > 0
    ]
    low, high = _extent(points, np.concatenate([ring for *_, ring in drawn]))
    x, y = (
        alt.Scale(domain=[float(low[i]), float(high[i])], nice=False, zero=False) for i in (0, 1)
    )
    largest = np.maximum(np.abs(low), np.abs(high))
    across = look.number_axis(normals.columns[0], float(largest[0]))
    up = look.number_axis(normals.columns[1], float(largest[1]))
    color = look.colors(names, "component: share")
    best = R.argmax(axis=1)
    tints = _mixed(R) if mixed else [None] * len(R)
    dots = [
        {"class": names[k], "x": float(a), "y": float(b), "share": float(r[k]), "tint": tint}
        for (a, b), k, r, tint in zip(points, best, R, tints, strict=True)
    ]
    lines = [
        {"class": names[k], "level": level, "at": i, "x": float(a), "y": float(b)}
        for k, level, ring in drawn
        for i, (a, b) in enumerate(ring)
    ]
    centers = [
        {"class": names[k], "label": names[k].rsplit(":", 1)[0], "x": float(a), "y": float(b)}
        for k, (a, b) in enumerate(normals.mean)
        if normals.weight[k] > 0
    ]
    place = {"x": alt.X("x:Q", scale=x, axis=across), "y": alt.Y("y:Q", scale=y, axis=up)}
    text = alt.Chart(alt.InlineData(values=centers)).encode(text="label:N", **place)
    layers = [
        alt.Chart(alt.InlineData(values=dots))
        .mark_point(
            filled=True, size=30 if mixed else 18, opacity=0.8 if mixed else 0.45, clip=True
        )
        .encode(
            **({"fill": alt.Fill("tint:N", scale=None)} if mixed else {"color": color}),
            tooltip=["class:N", alt.Tooltip("share:Q", format=".1%")],
            **place,
        ),
        alt.Chart(alt.InlineData(values=lines))
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            color=color,
            order="at:Q",
            detail="level:N",
            strokeDash=alt.StrokeDash(
                "level:N",
                legend=None,
                scale=alt.Scale(domain=[INNER, OUTER], range=[[1, 0], [5, 3]]),
            ),
            tooltip=["class:N", alt.Tooltip("level:Q", format=".0%")],
            **place,
        ),
        text.mark_text(fontSize=13, fontWeight="bold", stroke=look.PAPER, strokeWidth=4, clip=True),
        text.mark_text(fontSize=13, fontWeight="bold", color=look.INK, clip=True),
    ]
    said = "Half of a component's rows lie inside its solid line, 95 % inside the dashed one."
    rows = [f"{len(points):,} of {n:,} rows are drawn."] if len(points) < n else []
    if mixed:
        rows.insert(0, "A row has the colors of the components that share it.")
    title = look.heading(_title(normals), [said, *rows])
    return look.sized(alt.layer(*layers), title, look.HEIGHT * 5 // 4)


def _title(normals: Normals) -> str:
    k = len(normals.weight)
    return f"{k} component{'s' if k > 1 else ''} in {' and '.join(normals.columns)}"


def _extent(points: Floats, rings: Floats) -> tuple[Floats, Floats]:
    """Corners of the picture: rows with room, and ellipses unless they go far beyond."""
    low, high = rings.min(axis=0), rings.max(axis=0)
    if len(points):
        first, last = points.min(axis=0), points.max(axis=0)
        far = BEYOND * (last - first)
        low = np.minimum(first, np.maximum(low, first - far))
        high = np.maximum(last, np.minimum(high, last + far))
    room = 0.03 * (high - low)
    room = np.where(room > 0, room, 1.0)
    return low - room, high + room


def _histogram(
    normals: Normals, cells: Floats | None, bins: int, shares: Floats | None
) -> look.Chart:
    alt = look.optional("altair")
    names, seen = normals.components, normals.weight > 0
    mean, deviation = normals.mean[:, 0], np.sqrt(normals.covariance[:, 0, 0])
    x = np.empty(0) if cells is None else cells[~np.isnan(cells)]
    edges = bin_edges(x, bins) if len(x) else x
    ends = np.concatenate([mean - REACH * deviation, mean + REACH * deviation])[np.tile(seen, 2)]
    low, high = (float(side[0]) for side in _extent(edges[:, None], ends[:, None]))
    near = mean[:, None] + deviation[:, None] * np.linspace(-REACH, REACH, POINTS // 4)
    grid = np.unique(np.concatenate([np.linspace(low, high, POINTS), near[seen].ravel()]))
    grid = grid[(grid >= low) & (grid <= high)]
    with np.errstate(divide="ignore", invalid="ignore"):
        density = normals.weight * scipy.stats.norm.pdf(grid[:, None], mean, deviation)  # (grid, k)
    density = np.where(seen, density, 0.0)
    curves = [
        {"class": names[k], "x": float(a), "density": float(p)}
        for k in np.flatnonzero(seen)
        for a, p in zip(grid, density[:, k], strict=True)
        if p > 1e-3 * density[:, k].max()
    ]
    total = [
        {"x": float(a), "density": float(p)} for a, p in zip(grid, density.sum(axis=1), strict=True)
    ]
    across = alt.Scale(domain=[low, high], nice=False, zero=False)
    below = look.number_axis(normals.columns[0], max(abs(low), abs(high)))
    up = look.number_axis("share of all rows per unit", float(density.max()), grid=True)
    place = {"x": alt.X("x:Q", scale=across, axis=below), "y": alt.Y("density:Q", axis=up)}
    color = look.colors(names, "component: share")
    color["legend"]["symbolType"] = "stroke"
    layers = [
        alt.Chart(alt.InlineData(values=total))
        .mark_line(strokeWidth=1.5, color=look.INK, strokeDash=[5, 3], clip=True)
        .encode(**place),
        alt.Chart(alt.InlineData(values=curves))
        .mark_line(strokeWidth=2.5, clip=True)
        .encode(color=color, **place),
    ]
    told = ["Lines are the components, share × density; the dashed line is their sum."]
    if len(x):
        if shares is None:
            told[0] = f"Bars count {len(x):,} rows. {told[0]}"
            layers.insert(0, _bars(alt, x, edges, across, below, up))
        else:
            assert cells is not None
            R = shares[~np.isnan(cells)]
            parts = [(name, R[:, k]) for k, name in enumerate(names)]
            layers.insert(0, _bars(alt, x, edges, across, below, up, parts, color))
            told.insert(0, f"Bars count {len(x):,} rows, in the colors of those that share them.")
    return look.sized(alt.layer(*layers), look.heading(_title(normals), told))


def _bars(
    alt: Any,
    x: Floats,
    edges: Floats,
    across: Any,
    below: Any,
    up: Any,
    parts: Sequence[tuple[str, Floats | None]] = (("", None),),
    color: Any = None,
) -> look.Chart:
    """Of area 1 together; those of several parts of the rows stand on each other."""
    bars, under = [], np.zeros(len(edges) - 1)
    for name, share in parts:
        counts = np.histogram(x, edges, weights=share)[0]
        height = counts / (len(x) * np.diff(edges))
        bars += [
            {
                "class": name,
                "from": float(edges[b]),
                "to": float(edges[b + 1]),
                "rows": float(counts[b]),
                "low": float(under[b]),
                "height": float(under[b] + height[b]),
            }
            for b in np.flatnonzero(counts)
        ]
        under = under + height
    look_of_bars = {"color": GREY} if color is None else {"opacity": 0.45}
    return (
        alt.Chart(alt.InlineData(values=bars))
        .mark_bar(binSpacing=0, clip=True, **look_of_bars)
        .encode(
            x=alt.X("from:Q", bin="binned", scale=across, axis=below),
            x2="to:Q",
            y=alt.Y("low:Q", axis=up),
            y2="height:Q",
            **({} if color is None else {"color": color}),
            tooltip=[
                *(alt.Tooltip(f"{field}:Q", format=look.DIGITS) for field in ("from", "to")),
                alt.Tooltip("rows:Q", format=",.4~r"),
            ],
        )
    )
