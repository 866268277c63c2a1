"""Pictures as SVG that a page holds as they are: quick to make, and no script draws them.

Colors are those of the charts, as attributes, so that the style sheet can exchange them on a dark
page; lines and letters take the colors of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from posterior.app.report.figures import Legend
from posterior.app.report.phrases import short
from posterior.data.typing import Floats
from posterior.plots.look import PALETTE

WIDTH, HEIGHT = 400, 220  # of a chart of lines
LEFT, TOP, RIGHT, BOTTOM = 46, 26, 24, 40


@dataclass(frozen=True, slots=True)
class Drawing:
    """Title, explanation and legend wrap with the page; the drawing scales with it."""

    key: str
    title: str
    said: str
    legend: Legend
    svg: str
    described: str  # the picture in words, for someone who cannot see it


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    x: Sequence[float] | Floats
    y: Sequence[float] | Floats
    dashed: bool = False


def legend_of(title: str, names: Sequence[str]) -> Legend:
    return Legend(title, tuple(zip(names, PALETTE, strict=False)))


def svg(width: float, height: float, parts: Sequence[str], described: str) -> str:
    """The element, which says in words what it shows."""
    return (
        f'<svg class="drawn" role="img" aria-label="{escape(described)}" width="{width:g}" '
        f'height="{height:g}" viewBox="0 0 {width:g} {height:g}">{"".join(parts)}</svg>'
    )


def label(x: float, y: float, text: str, anchor: str = "start", most: int = 40) -> str:
    at = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:g}" y="{y:g}"{at}>{escape(short(text, most))}</text>'


def rule(x: float, y: float, x2: float, y2: float) -> str:
    return f'<path class="rule" d="M{x:g},{y:g}L{x2:g},{y2:g}"/>'


def lines_chart(
    key: str,
    lines: Sequence[Line],
    axes: tuple[str, str],
    ticks: tuple[Sequence[tuple[float, str]], Sequence[tuple[float, str]]],
    title: str,
    said: str,
) -> Drawing:
    """Lines over two axes, whose ticks say how far they go."""
    (x_ticks, y_ticks), (x_title, y_title) = ticks, axes
    low, high = x_ticks[0][0], x_ticks[-1][0]
    least, most = y_ticks[0][0], y_ticks[-1][0]
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        x, y = (x - low) / (high - low), (y - least) / (most - least)
        return LEFT + across * x, TOP + down * (1 - min(max(y, 0.0), 1.0))

    parts = [label(0, 11, y_title, most=70)]
    for value, text in y_ticks:
        _, y = place(low, value)
        parts += [rule(LEFT, y, WIDTH - RIGHT, y), label(LEFT - 6, y + 4, text, "end")]
    for value, text in x_ticks:
        parts.append(label(place(value, least)[0], HEIGHT - BOTTOM + 16, text, "middle"))
    parts.append(label(LEFT + across / 2, HEIGHT - 6, x_title, "middle", 70))
    for line, color in zip(lines, PALETTE, strict=False):
        points = (place(x, y) for x, y in zip(line.x, line.y, strict=True))
        path = "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if line.dashed else ""
        parts.append(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"{dash}/>')
    found = legend_of("", [line.name for line in lines])
    names = ", ".join(line.name for line in lines)
    words = f"Chart: {title}. {y_title} by {x_title}. {said} Lines: {names}."
    return Drawing(key, title, said, found, svg(WIDTH, HEIGHT, parts, words), words)
