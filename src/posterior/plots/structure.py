"""Graphs of the columns that depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior.data.names import plain
from posterior.data.typing import Floats
from posterior.estimators import KDB, TAN
from posterior.plots.look import INK, PALETTE, PAPER, Chart, heading, inline, optional

ROW, GAP, LETTER, TALL = 84, 18, 6.6, 26  # pixels: between rows, between names, a letter, a box
CUT = 22  # letters of a name that are shown
SWEEPS = 8  # of putting names below the middle of their parents
STRUCTURED = (KDB, TAN)


def structure(model: Any) -> Chart:
    """The columns as boxes and an arrow from each parent to the column that depends on it.

    Parents stand above their children; every column also depends on the class, which is not drawn.

    Parameters
    ----------
    model : fitted TAN or KDB

    Returns
    -------
    altair.LayerChart
    """
    check_is_fitted(model)
    if not isinstance(model, STRUCTURED):
        raise TypeError(
            f"Expected a model that chose which column depends on which, such as TAN or KDB, got "
            f"{type(model).__name__}."
        )
    names = [str(plain(name)) for name in model.fitted_.reader.names]
    return dependence_graph(names, model.structure_, type(model).__name__)


def dependence_graph(
    columns: Sequence[str], structure: Sequence[Sequence[int] | None], title: str
) -> Chart:
    """The same of columns and the parents of each, None of a column that is left out."""
    alt = optional("altair")
    names = [_cut(name) for name in columns]
    parents = {j: (*above,) for j, above in enumerate(structure) if above is not None}
    width = {j: LETTER * max(len(names[j]), 2) + 16 for j in parents}
    rows = _rows(parents)
    x = _across(rows, parents, width)
    y = {j: ROW * i + TALL for i, row in enumerate(rows) for j in row}

    boxes = [
        {
            "name": names[j],
            "depends on": ", ".join(names[a] for a in parents[j]) or "the class alone",
            "left": x[j] - width[j] / 2,
            "right": x[j] + width[j] / 2,
            "top": y[j] - TALL / 2,
            "bottom": y[j] + TALL / 2,
            "x": x[j],
            "y": y[j],
        }
        for j in parents
    ]
    lines, tips = [], []
    for j, above in parents.items():
        for rank, a in enumerate(above):
            start, end = (x[a], y[a] + TALL / 2), (x[j], y[j] - TALL / 2 - 4)
            nearest = "closest parent" if rank == 0 else "further parent"
            lines.append(_line(start, end, names[a], names[j], nearest))
            turn = np.degrees(np.arctan2(end[1] - start[1], end[0] - start[0])) + 90
            tips.append({"x": end[0], "y": end[1] + 1, "turn": float(turn), "kind": nearest})
    wide = max(box["right"] for box in boxes) + GAP  # type: ignore[type-var, operator]
    tall = ROW * (len(rows) - 1) + 2 * TALL
    across = alt.Scale(domain=[0, wide], nice=False, zero=False)
    down = alt.Scale(domain=[tall, 0], nice=False, zero=False)
    at = {"x": alt.X("x:Q", scale=across, axis=None), "y": alt.Y("y:Q", scale=down, axis=None)}
    shade = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=["closest parent", "further parent"], range=[INK, "#b4bac4"]),
        legend=None,
    )
    layers = []
    if lines:
        rules = alt.Chart(inline(lines)).mark_rule(strokeWidth=1.4)
        layers.append(
            rules.encode(
                x=at["x"], y=at["y"], x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"), color=shade,
                tooltip=[alt.Tooltip("parent:N"), alt.Tooltip("column:N")],
            )
        )  # fmt: skip
        tip = alt.Chart(inline(tips)).mark_point(
            shape="triangle-up", size=60, opacity=1, filled=True
        )
        angle = alt.Angle("turn:Q", scale=None)
        layers.append(tip.encode(**at, angle=angle, color=shade))
    box = alt.Chart(inline(boxes))
    layers.append(
        box.mark_rect(cornerRadius=5, color=PALETTE[0]).encode(
            x=alt.X("left:Q", scale=across, axis=None), x2=alt.X2("right:Q"),
            y=alt.Y("top:Q", scale=down, axis=None), y2=alt.Y2("bottom:Q"),
            tooltip=[alt.Tooltip("name:N"), alt.Tooltip("depends on:N")],
        )
    )  # fmt: skip
    layers.append(box.mark_text(color=PAPER, fontSize=12).encode(**at, text=alt.Text("name:N")))
    left_out = [names[j] for j, above in enumerate(structure) if above is None]
    said = ["Arrows point from parents to the columns that depend on them, and on the class."]
    if left_out:
        said.append(f"Left out: {_cut(', '.join(left_out), 80)}")
    title = heading(f"What depends on what in {title}", said)
    view = alt.ViewBackground(stroke=None)
    return alt.layer(*layers).properties(width=wide, height=tall, title=title, view=view)


def _rows(parents: dict[int, tuple[int, ...]]) -> list[list[int]]:
    """Columns by the longest way to them from a column without parents."""
    depth: dict[int, int] = {}
    while len(depth) < len(parents):
        for j, above in parents.items():
            if all(a in depth for a in above):
                depth[j] = 1 + max((depth[a] for a in above), default=-1)
    return [[j for j in parents if depth[j] == i] for i in range(max(depth.values()) + 1)]


def _across(
    rows: list[list[int]], parents: dict[int, tuple[int, ...]], width: dict[int, float]
) -> dict[int, float]:
    """The middle of each box: below its parents and above its children, if there is room."""
    near: dict[int, list[int]] = {j: list(above) for j, above in parents.items()}
    for j, above in parents.items():
        for a in above:
            near[a].append(j)
    x: dict[int, float] = {}
    for row in rows:
        x |= _spread(row, [0.0] * len(row), width)
    for _ in range(SWEEPS):
        for row in rows:
            wish = {j: float(np.mean([x[i] for i in near[j]])) if near[j] else x[j] for j in row}
            row.sort(key=lambda j: (wish[j], j))
            x |= _spread(row, [wish[j] for j in row], width)
    first = min(x[j] - width[j] / 2 for j in x) - GAP
    return {j: middle - first for j, middle in x.items()}


def _spread(row: list[int], wish: list[float], width: dict[int, float]) -> dict[int, float]:
    """Boxes beside each other, in order, as near to where they wish to be as one shift allows."""
    sizes = np.array([width[j] + GAP for j in row])
    packed: Floats = np.cumsum(sizes) - sizes / 2
    # the least that keeps boxes apart, from the left and from the right, and the middle of both
    wished = np.array(wish)
    right = np.maximum.accumulate(wished - packed) + packed
    left = np.minimum.accumulate((wished - packed)[::-1])[::-1] + packed
    return dict(zip(row, ((right + left) / 2).tolist(), strict=True))


def _line(
    start: tuple[float, float], end: tuple[float, float], parent: str, column: str, kind: str
) -> dict[str, Any]:
    ends = {"x": start[0], "y": start[1], "x2": end[0], "y2": end[1]}
    return {**ends, "parent": parent, "column": column, "kind": kind}


def _cut(text: str, most: int = CUT) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
