"""Charts of neighbors: error and log loss by the number of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior.data.typing import Array
from posterior.plots import look

PANELS = (("error", "share of wrong answers", ".1%"), ("log_loss", "log loss", look.DIGITS))


def error_by_k(model: Any) -> look.Chart:
    """Error and log loss by number of neighbors, each row answered by the others.

    The band is a standard error to each side; the chosen number is marked. The less, the better.

    Parameters
    ----------
    model : fitted KNeighborsClassifier that chose its number of neighbors
        `n_neighbors="auto"`, or several numbers.

    Returns
    -------
    altair.VConcatChart
    """
    alt = look.optional("altair")
    check_is_fitted(model)
    if not hasattr(model, "selection_"):
        raise ValueError(
            f"Expected a model that chose its number of neighbors, got {type(model).__name__} of "
            f'{model.n_neighbors!r}. Fit it with n_neighbors="auto", or with several numbers.'
        )
    table, chosen = model.selection_, int(model.n_neighbors_)
    numbers = np.asarray(table["n_neighbors"])
    panels = []
    for i, (name, title, style) in enumerate(PANELS):
        last = i == len(PANELS) - 1
        points = _points(numbers, table[name], table[f"{name}_se"])
        if not points:  # a log loss that is infinite for every number
            continue
        x = _across(alt, numbers, "number of neighbors" if last else None)
        panel = _panel(alt, points, x, title, style, look.PALETTE[i])
        panels.append(look.marked(panel, "neighbors", chosen, f"k = {chosen}" if i == 0 else None))
    rows = f"{model.n_samples_fit_:,}"
    said = f"Each of {rows} rows is predicted by the others. Chosen by log loss: {chosen}."
    return alt.vconcat(*panels, spacing=18).properties(
        title=look.heading("How many neighbors", [said])
    )


def _points(numbers: Array, value: Array, error: Array) -> list[dict[str, Any]]:
    return [
        {
            "neighbors": int(k),
            "value": float(v),
            "low": max(float(v - e), 0.0),
            "high": float(v + e),
        }
        for k, v, e in zip(numbers, value, error, strict=True)
        if np.isfinite(v)
    ]


def _across(alt: Any, numbers: Array, title: str | None) -> Any:
    """Whole numbers on a scale of ratios: from 1 to 2 neighbors is as far as from 50 to 100."""
    low, high = int(numbers.min()), int(numbers.max())
    steps = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000]
    ticks = [step for step in steps if low <= step <= high] or [low, high]
    style: dict[str, Any] = {"format": ",d", "labelFlush": False, "labelOverlap": False}
    style |= {"title": title, "values": ticks}
    scale = alt.Scale(type="log", domain=[low / 1.05, high * 1.05], nice=False)
    return alt.X("neighbors:Q", scale=scale, axis=alt.Axis(**{**look.axis("").to_dict(), **style}))


def _panel(
    alt: Any, points: list[dict[str, Any]], x: Any, title: str, style: str, color: str
) -> look.Chart:
    highest = max(point["high"] for point in points)
    up = look.number_axis(title, highest, grid=True)
    if style.endswith("%"):
        up["format"] = "~%"
    base = alt.Chart(alt.InlineData(values=points)).encode(x=x)
    y = {"axis": up, "scale": alt.Scale(zero=True)}
    tooltip = [
        alt.Tooltip("neighbors:Q", title="neighbors"),
        *(
            alt.Tooltip(f"{field}:Q", title=said, format=style)
            for field, said in (("value", title), ("low", "less one SE"), ("high", "plus one SE"))
        ),
    ]
    band = base.mark_area(color=color, opacity=0.18).encode(y=alt.Y("low:Q", **y), y2="high:Q")
    line = base.mark_line(color=color, strokeWidth=2, point={"size": 30, "color": color})
    return alt.layer(band, line.encode(y=alt.Y("value:Q", **y), tooltip=tooltip)).properties(
        width=look.WIDTH, height=look.HEIGHT * 3 // 4, view=alt.ViewBackground(stroke=None)
    )
