"""Heat maps of pairs: what two columns say together, beside what each says alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.plots import look
from posterior.plots.effects import PairEffect, cut, pair_effect

SIZES = (6, 46)  # pixels of a cell, at least and at most
LETTERS = 24  # of a cell's name
FOR, AGAINST = "for", "against"


def interaction(model: Any, first: Any, second: Any, of: Any = None) -> look.Chart:
    """What a pair of columns adds to the log odds, beside what both add one by one.

    The table is zero on average over either column.

    Parameters
    ----------
    model : fitted Additive
    first, second : names or numbers of columns
        Of a pair that the model has: see `model.terms_`.
    of : label, optional
        Whose score; by default the second of two classes, or the class that the pair moves most.

    Returns
    -------
    altair.LayerChart
        Blue speaks for the class and orange against it, the fuller the color the more. A dot is a
        cell without rows: fewer than half a row, as if columns were independent, in a model that
        has been stored, which knows no rows.
    """
    return pair_map(pair_effect(model, first, second, of))


def pair_map(pair: PairEffect) -> look.Chart:
    """The same of an effect that is known."""
    alt = look.optional("altair")
    names = [_different([cut(n, LETTERS) for n in each]) for each in pair.names]
    values: list[dict[str, Any]] = []
    for a, line in enumerate(pair.effects):
        for b, effect in enumerate(line):
            if effect is None:
                continue
            values.append(
                {
                    "first": names[0][a],
                    "second": names[1][b],
                    "effect": effect,
                    "size": abs(effect),
                    "sign": FOR if effect > 0 else AGAINST,
                    "rows": pair.rows[a][b],
                }
            )
    titles = [cut(name, 2 * LETTERS) for name in pair.columns]
    sides = [{value[side] for value in values} for side in ("first", "second")]
    present = [[n for n in each if n in kept] for each, kept in zip(names, sides, strict=True)]
    across, down = look.names_axis(titles[0], limit=170), look.names_axis(titles[1], limit=170)
    across["labelAngle"] = -45
    for axis in (across, down):  # of many cells, some are named
        axis["labelOverlap"] = "greedy"
    base = alt.Chart(look.inline(values)).encode(
        x=alt.X("first:N", sort=None, scale=alt.Scale(domain=present[0]), axis=across),
        y=alt.Y("second:N", sort=None, scale=alt.Scale(domain=present[1][::-1]), axis=down),
    )
    largest = max((value["size"] for value in values), default=0.0) or 1.0
    shades = alt.Scale(domain=[FOR, AGAINST], range=[look.PALETTE[0], look.PALETTE[1]])
    cells = base.mark_rect(stroke=look.PALE, strokeWidth=0.5).encode(
        fill=alt.Fill("sign:N", scale=shades, legend=None),
        fillOpacity=alt.FillOpacity(
            "size:Q", legend=None, scale=alt.Scale(domain=[0, largest], range=[0, 1])
        ),
        tooltip=[
            alt.Tooltip("first:N", title=look.titled(titles[0])),
            alt.Tooltip("second:N", title=look.titled(titles[1])),
            alt.Tooltip("effect:Q", format="+.3~r"),
            alt.Tooltip("rows:Q", format=",.3~r"),
        ],
    )
    dots = base.transform_filter("datum.rows < 0.5").mark_point(
        filled=True, size=8, color=look.INK, opacity=0.45
    )
    said = [
        f"Blue: for {cut(pair.of)}; orange: against; "
        f"full color: {look.digits(largest, 3)} log odds.",
        "Beside what both add alone. Dots: cells without rows.",
    ]
    title = look.heading(f"What {titles[0]} and {titles[1]} add together", said)
    wide, tall = (
        float(np.clip(room / max(len(n), 1), *SIZES)) * len(n)
        for room, n in zip((look.WIDTH, look.HEIGHT), present, strict=True)
    )
    return look.sized(alt.layer(cells, dots), title).properties(width=wide, height=tall)


def _different(names: list[str]) -> list[str]:
    """Names that were cut to the same letters, told apart."""
    return [n if n not in names[:i] else f"{n} ({i + 1})" for i, n in enumerate(names)]
