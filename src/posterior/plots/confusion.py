"""Confusion matrix: which classes are predicted as which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from posterior import evaluation
from posterior.evaluation import HeldOut
from posterior.plots import look

WRITTEN = 12  # classes, up to which counts are written into the cells
SMALLEST, LARGEST = 14, 60  # pixels of a cell
LETTERS = 42  # of all names in a line, beyond which they are written at a slant


def confusion(
    counts: HeldOut | ArrayLike, classes: Sequence[Any] | None = None, target: str = "class"
) -> look.Chart:
    """Confusion matrix: rows by true and by predicted class; those on the diagonal are correct.

    Parameters
    ----------
    counts : HeldOut, or array-like of shape (k, k)
        What `cross_validate` returned, or rows of true class i that were predicted as class j.
    classes : sequence of length k; not needed with a HeldOut
    target : str, default="class"
        What the classes are.

    Returns
    -------
    altair.LayerChart
        Color is the share of the true class. Counts are written in for up to 12 classes.
    """
    alt = look.optional("altair")
    if isinstance(counts, HeldOut):
        classes = counts.classes.tolist()
        counts = evaluation.confusion(counts)
    names = look.labels([] if classes is None else classes)
    k = len(names)
    table = look.numbers("counts", counts, k, k)
    total = table.sum(axis=1, keepdims=True)
    share = np.divide(table, total, out=np.zeros_like(table), where=total > 0)
    values = [
        {
            "true": names[i],
            "predicted": names[j],
            "rows": float(table[i, j]),
            "share": float(share[i, j]),
        }
        for i in range(k)
        for j in range(k)
        if table[i, j] > 0 or k <= WRITTEN
    ]
    across = look.names_axis(f"predicted {target}", limit=120)
    turned = -45 if k <= WRITTEN else -90  # upright names need least room side by side
    across["labelAngle"] = turned if max(map(len, names)) * k > LETTERS else 0
    across["labelOverlap"] = k > WRITTEN  # on a phone some are left out: the order is the same
    x = alt.X("predicted:N", scale=alt.Scale(domain=names), axis=across)
    y = alt.Y(
        "true:N", scale=alt.Scale(domain=names), axis=look.names_axis(f"true {target}", limit=120)
    )
    base = alt.Chart(look.inline(values)).encode(x=x, y=y)
    shade = alt.FillOpacity("share:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0, 1]))
    cells = base.mark_rect(fill=look.PALETTE[0], stroke=look.PALE, strokeWidth=0.5).encode(
        fillOpacity=shade,
        tooltip=[
            alt.Tooltip("true:N"),
            alt.Tooltip("predicted:N"),
            alt.Tooltip("rows:Q", format=","),
            alt.Tooltip("share:Q", format=".1%", title="share of the true class"),
        ],
    )
    layers = [cells]
    if k <= WRITTEN:
        paper, ink = alt.value(look.PAPER), alt.value(look.INK)
        color = alt.ColorValue(**alt.condition("datum.share > 0.68", paper, ink))
        written = base.transform_filter("datum.rows > 0").mark_text(fontSize=12)
        layers.append(written.encode(text=alt.Text("rows:Q", format=","), color=color))
    said = "Lines are true classes, columns predicted ones; the diagonal is correct."
    shown = "The fuller the color, the more of the true class."
    size = int(np.clip(look.WIDTH / k, SMALLEST, LARGEST))
    return look.sized(alt.layer(*layers), look.heading("Confusion matrix", [said, shown]), size * k)
