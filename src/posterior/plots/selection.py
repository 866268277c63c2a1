"""BIC and ICL by number of components."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior.data.table import Table
from posterior.data.typing import Array
from posterior.plots import look

CRITERIA = {"bic": "BIC", "icl": "ICL"}
HELD_OUT = "held out"


def selection(model: Any) -> look.Chart:
    """BIC and ICL by number of components, the chosen number marked; the less, the better.

    Where types of covariance were compared too, these are the numbers of the chosen one. Where
    rows were held out to choose, a second panel has their log likelihood, an average row's; the
    more, the better.

    Parameters
    ----------
    model : fitted mixture that was given several numbers of components
        `n_components="bic"`, or a range.

    Returns
    -------
    altair.VConcatChart
    """
    alt = look.optional("altair")
    check_is_fitted(model)
    if not hasattr(model, "selection_"):
        raise ValueError(
            f"Expected a mixture that chose its number of components, got {type(model).__name__} "
            f'of {model.n_components!r}. Fit it with n_components="bic", or with a range.'
        )
    table, chosen = model.selection_, int(model.n_components_)
    form = ""
    if "covariance_type" in table.columns:
        form = f"; covariances are {model.covariance_type_}"
        own = table["covariance_type"] == model.covariance_type_
        table = Table({name: column[own] for name, column in table.columns.items()})
    numbers = np.asarray(table["n_components"])
    held_out = "held_out" in table.columns
    x = _across(alt, numbers, None if held_out else "number of components")
    lines = [
        point | {"class": name}
        for key, name in CRITERIA.items()
        for point in _points(numbers, table[key])
    ]
    panels = [
        _panel(
            alt,
            lines,
            "BIC and ICL",
            x,
            look.colors(list(CRITERIA.values()), "the less, the better"),
        )
    ]
    if held_out:
        points = [p | {"class": HELD_OUT} for p in _points(numbers, table["held_out"])]
        color = alt.Color(
            "class:N", legend=None, scale=alt.Scale(domain=[HELD_OUT], range=[look.PALETTE[2]])
        )
        last = _across(alt, numbers, "number of components")
        panels.append(_panel(alt, points, "log p(x), held out", last, color))
    panels = [
        look.marked(panel, "components", chosen, str(chosen) if i == 0 else None)
        for i, panel in enumerate(panels)
    ]
    by = "rows held out" if held_out else CRITERIA[_asked(model)]
    said = f"Chosen by {by}: {chosen}, of {numbers.min():,} to {numbers.max():,}{form}."
    return (
        alt.vconcat(*panels, spacing=18)
        .resolve_scale(color="independent")
        .properties(title=look.heading("How many components", [said]))
    )


def _asked(model: Any) -> str:
    return str(model.n_components if isinstance(model.n_components, str) else model.criterion)


def _points(numbers: Array, values: Array) -> list[dict[str, Any]]:
    return [
        {"components": int(k), "value": float(v)}
        for k, v in zip(numbers, values, strict=True)
        if np.isfinite(v)
    ]


def _across(alt: Any, numbers: Array, title: str | None) -> Any:
    """Whole numbers, a tick for each if there is room."""
    ticks = numbers if len(numbers) <= 20 else numbers[:: -(-len(numbers) // 20)]
    whole = {
        "format": ",d",
        "labelFlush": False,
        "title": title,
        "values": ticks.tolist(),
        "tickCount": len(ticks),
    }
    side = 0.03 * max(float(numbers.max() - numbers.min()), 1.0)
    scale = alt.Scale(domain=[float(numbers.min()) - side, float(numbers.max()) + side], nice=False)
    return alt.X("components:Q", scale=scale, axis=alt.Axis(**{**look.axis("").to_dict(), **whole}))


def _panel(alt: Any, points: list[dict[str, Any]], title: str, x: Any, color: Any) -> look.Chart:
    heights = [abs(point["value"]) for point in points] or [1.0]
    up = look.number_axis(title, max(heights), grid=True)
    return (
        alt.Chart(alt.InlineData(values=points))
        .mark_line(strokeWidth=2, point={"size": 30})
        .encode(
            x=x,
            y=alt.Y("value:Q", axis=up, scale=alt.Scale(zero=False, padding=12)),
            color=color,
            tooltip=[
                "class:N",
                "components:Q",
                alt.Tooltip("value:Q", format=look.DIGITS if max(heights) < 1e4 else ",.1f"),
            ],
        )
        .properties(
            width=look.WIDTH, height=look.HEIGHT * 3 // 4, view=alt.ViewBackground(stroke=None)
        )
    )
