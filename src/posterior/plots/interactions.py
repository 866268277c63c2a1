"""Heat maps of pairs: what two columns say together, beside what each says alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.names import plain
from posterior.data.typing import Floats
from posterior.discriminative.additive.effect_tables import Shape
from posterior.discriminative.additive.fitted_additive import FittedAdditive
from posterior.plots import look
from posterior.plots.shape_functions import cut, fitted_of

SIZES = (14, 46)  # pixels of a cell, at least and at most
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
    alt = look.optional("altair")
    fitted = fitted_of(model)
    columns = fitted.term_of([first, second])
    shape = fitted.shapes()[columns]
    k = _output(fitted, shape, of)
    effect, rows = shape.effect[..., k], _rows(fitted, shape)
    names = [[cut(n, LETTERS) for n in each] for each in fitted.cell_names(shape)]
    names = [_different(each) for each in names]
    values = [
        {
            "first": names[0][a],
            "second": names[1][b],
            "effect": float(effect[a, b]),
            "size": float(abs(effect[a, b])),
            "sign": FOR if effect[a, b] > 0 else AGAINST,
            "rows": float(rows[a, b]),
        }
        for a, b in np.ndindex(effect.shape)
        if shape.share[a, b] > 0
    ]
    titles = [cut(fitted.reader.names[j], 2 * LETTERS) for j in columns]
    seen = [shape.share.sum(axis=1 - axis) > 0 for axis in (0, 1)]
    present = [np.array(each)[kept].tolist() for each, kept in zip(names, seen, strict=True)]
    across, down = look.names_axis(titles[0], limit=170), look.names_axis(titles[1], limit=170)
    across["labelAngle"] = -45
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("first:N", sort=None, scale=alt.Scale(domain=present[0]), axis=across),
        y=alt.Y("second:N", sort=None, scale=alt.Scale(domain=present[1][::-1]), axis=down),
    )
    largest = float(np.abs(effect).max(initial=0.0)) or 1.0
    sides = alt.Scale(domain=[FOR, AGAINST], range=[look.PALETTE[0], look.PALETTE[1]])
    cells = base.mark_rect(stroke=look.PALE, strokeWidth=0.5).encode(
        fill=alt.Fill("sign:N", scale=sides, legend=None),
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
    label = str(plain(fitted.classes[-shape.effect.shape[-1] :][k]))
    said = [
        f"Blue: for {cut(label)}; orange: against; full color: {look.digits(largest, 3)} log odds.",
        "Beside what both add alone. Dots: cells without rows.",
    ]
    title = look.heading(f"What {titles[0]} and {titles[1]} add together", said)
    wide, tall = (
        float(np.clip(room / max(len(n), 1), *SIZES)) * len(n)
        for room, n in zip((look.WIDTH, look.HEIGHT), present, strict=True)
    )
    return look.sized(alt.layer(cells, dots), title).properties(width=wide, height=tall)


def _output(fitted: FittedAdditive, shape: Shape, of: Any) -> int:
    """Which score."""
    labels = [plain(c) for c in fitted.classes[-shape.effect.shape[-1] :]]
    if of is None:
        moved = np.tensordot(shape.share, np.abs(shape.effect), 2)
        return int(moved.argmax())
    if of not in labels:
        raise ValueError(f"Expected one of the classes {labels} that have a score, got {of!r}.")
    return labels.index(of)


def _rows(fitted: FittedAdditive, shape: Shape) -> Floats:
    """The weight of the rows in each cell; as if columns were independent, if rows are gone."""
    if fitted.rows is None:
        return shape.share * float(fitted.cell_weight[0].sum())
    found = np.zeros(shape.share.shape)
    at = [group[fitted.rows.codes[j]] for j, group in zip(shape.columns, shape.groups, strict=True)]
    np.add.at(found, tuple(at), fitted.rows.weight)
    return found


def _different(names: list[str]) -> list[str]:
    """Names that were cut to the same letters, told apart."""
    return [n if n not in names[:i] else f"{n} ({i + 1})" for i, n in enumerate(names)]
