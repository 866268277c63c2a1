"""Small pictures of columns by class: shares within each class, many on a page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posterior.app.report.columns_section import written
from posterior.app.report.drawings import Drawing, label, legend_of, rule, svg
from posterior.app.report.figures import Legend
from posterior.app.report.phrases import percent, short
from posterior.app.report.section_schema import ColumnShares
from posterior.data.typing import Floats
from posterior.plots.look import PALETTE

WIDTH, HEIGHT = 250, 84
NAMES, ROW, LOW_ROW = 88, 15, 10  # pixels of names, and of a line of values or classes
MOST_LINES = 16  # classes of a picture that has a line for each
LEVELS = 6  # of a shade
MOST_SAID = 4  # classes
ENDS = (0.01, 0.02, 0.05, *(tenth / 10 for tenth in range(1, 11)))  # of an axis of shares


def column_drawings(
    columns: Sequence[ColumnShares], classes: Sequence[str], target: str, sizes: Sequence[int]
) -> list[Drawing]:
    """A picture of every column; more classes than there are colors have a line each."""
    many = len(classes) > len(PALETTE)
    shown = (
        np.argsort(-np.asarray(sizes), kind="stable")[:MOST_LINES] if many else range(len(classes))
    )
    kept = sorted(int(k) for k in shown)
    names = [classes[k] for k in kept]
    legend = Legend() if many else legend_of(target, names)
    found = []
    for place, column in enumerate(columns):
        counts = np.array(column.counts, np.float64)[kept]
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        draw = _shades if many else _dots if column.scale == "category" else _steps
        words = _described(column, names, [column.typical[k] for k in kept], target)
        drawn = draw(column, shares, names, words)
        found.append(
            Drawing(f"column-{place}", _title(column), _gaps(column), legend, drawn, words)
        )
    return found


def _title(column: ColumnShares) -> str:
    unit = ", ".join(filter(None, [column.unit, "log scale" if column.scale == "log" else ""]))
    return short(column.name, 30) + (f" ({unit})" if unit else "")


def _gaps(column: ColumnShares) -> str:
    missing, known = sum(column.missing), sum(map(sum, column.counts))
    return f"{percent(missing / (missing + known))} missing" if missing else ""


def _described(column: ColumnShares, names: list[str], typical: list[str], target: str) -> str:
    what = "Most frequent" if column.scale == "category" else "Median"
    said = [f"{t} for {n}" for n, t in zip(names, typical, strict=True) if t]
    if not said:
        return f"Chart: {column.name}, shares {' and '.join(names)}."
    more = f" and {len(said) - MOST_SAID} more" if len(said) > MOST_SAID else ""
    told = "; ".join(said[:MOST_SAID])
    return f"Chart: {column.name} by {target}, shares within each class. {what}: {told}{more}."


def _steps(column: ColumnShares, shares: Floats, names: list[str], words: str) -> str:
    """Histograms as outlines, of which all have the same area."""
    width, top = WIDTH / shares.shape[1], max(float(shares.max()), 1e-9)
    parts = []
    for line, color in zip(shares, PALETTE, strict=False):
        heights = HEIGHT - 2 - (HEIGHT - 6) * line / top
        path = "".join(f"V{y:.1f}H{width * (b + 1):.1f}" for b, y in enumerate(heights))
        parts.append(
            f'<path d="M0,{HEIGHT - 2}{path}V{HEIGHT - 2}" fill="{color}" fill-opacity=".13" '
            f'stroke="{color}" stroke-width="1.5"/>'
        )
    parts.append(rule(0, HEIGHT - 2, WIDTH, HEIGHT - 2))
    return svg(WIDTH, HEIGHT + 14, [*parts, *_ends(column, 0)], words)


def ends(column: ColumnShares) -> tuple[str, str]:
    """The least and the largest number that is drawn; bins of whole numbers stand around them."""
    low, high = column.edges[0], column.edges[-1]
    if low % 1 == 0.5 and (column.edges[1] - low) % 1 == 0:
        low, high = low + 0.5, high - 0.5
    return written(low, column.scale), written(high, column.scale)


def _ends(column: ColumnShares, left: float) -> list[str]:
    """What stands at the ends of the axis."""
    if not column.edges:
        return []
    low, high = ends(column)
    return [label(left, HEIGHT + 11, low), label(WIDTH, HEIGHT + 11, high, "end")]


def _dots(column: ColumnShares, shares: Floats, names: list[str], words: str) -> str:
    """A line for each value, on which dots are its shares of the classes."""
    top = next(end for end in ENDS if end >= shares.max(initial=0.0) - 1e-12)
    across = WIDTH - NAMES - 12
    parts = []
    for v, value in enumerate(column.values):
        y = ROW * v + 10
        parts += [label(0, y + 4, value, most=14), rule(NAMES, y, WIDTH, y)]
        parts += [
            f'<circle cx="{NAMES + 6 + across * s / top:.1f}" cy="{y}" r="4" fill="{color}"/>'
            for s, color in zip(shares[:, v], PALETTE, strict=False)
        ]
    height = ROW * len(column.values) + 18
    parts += [
        label(NAMES, height - 2, "0 %"),
        label(WIDTH, height - 2, f"{100 * top:.0f} %", "end"),
    ]
    return svg(WIDTH, height, parts, words)


def _shades(column: ColumnShares, shares: Floats, names: list[str], words: str) -> str:
    """A line for each class, fuller where more of its rows are."""
    top, width = max(float(shares.max(initial=0.0)), 1e-9), (WIDTH - NAMES) / shares.shape[1]
    levels = np.ceil(LEVELS * shares / top).astype(int)
    parts = [label(0, LOW_ROW * k + 8, name, most=14) for k, name in enumerate(names)]
    for level in range(1, LEVELS + 1):
        cells = "".join(
            f"M{NAMES + width * b:.1f},{LOW_ROW * k}h{width:.1f}v{LOW_ROW - 1}h-{width:.1f}z"
            for k, b in np.argwhere(levels == level)
        )
        if cells:
            parts.append(
                f'<path d="{cells}" fill="{PALETTE[0]}" fill-opacity="{level / LEVELS:.2f}"/>'
            )
    height = LOW_ROW * len(names) + 16
    if column.scale == "category":
        listed = ", ".join(short(value, 12) for value in column.values)
        words_below = [label(NAMES, height - 3, listed, most=27)]
    else:
        low, high = ends(column)
        words_below = [label(NAMES, height - 3, low), label(WIDTH, height - 3, high, "end")]
    return svg(WIDTH, height, [*parts, *words_below], words)
