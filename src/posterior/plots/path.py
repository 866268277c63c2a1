"""Regularization paths: coefficients by strength of the penalty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from posterior.data.names import plain
from posterior.data.typing import Floats
from posterior.plots import look

NAMED, MOST = len(look.PALETTE) - 1, 100  # lines with a color and a name, and lines
GREY = "#c3c7ce"
EDGE = 0.1  # of the width: where a label is kept inside


def regularization_path(
    C: ArrayLike, coef: ArrayLike, names: Sequence[Any] | None = None, best: float | None = None
) -> look.Chart:
    """A line for each coefficient over C, the inverse strength of the penalty, in powers of ten.

    The seven that grow largest have a color and a name; up to a hundred are drawn.

    Parameters
    ----------
    C : array-like of shape (n,)
        Positive, in any order.
    coef : array-like of shape (n, d)
        The coefficients for each C.
    names : sequence of length d, optional
    best : float, optional
        The chosen C, drawn as a thin rule.

    Returns
    -------
    altair.LayerChart
    """
    alt = look.optional("altair")
    strength, table, labels = _checked(C, coef, names)
    size = np.abs(table).max(axis=0)
    order = np.argsort(-size, kind="stable")[:MOST]
    named = [int(j) for j in order[:NAMED] if size[j] > 0]
    rest = [int(j) for j in order if int(j) not in named]

    low, high = float(strength[0]), float(strength[-1])
    across = alt.Scale(type="log", domain=[low, high], nice=False)
    powers = look.power_axis("C, the inverse of the penalty's strength", low, high, most=9)
    x = alt.X("C:Q", scale=across, axis=powers)
    height = look.number_axis("coefficient", float(size.max(initial=0.0)), grid=True)
    y = alt.Y("coefficient:Q", axis=height)
    tooltip = [
        alt.Tooltip("class:N", title="name"),
        *(alt.Tooltip(f"{field}:Q", format=look.DIGITS) for field in ("C", "coefficient")),
    ]
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color=look.INK)
    layers = [zero.encode(y=alt.Y("zero:Q"))]
    if rest:
        layers.append(
            _lines(alt, strength, table, labels, rest)
            .mark_line(strokeWidth=1, color=GREY)
            .encode(x=x, y=y, detail="class:N", tooltip=tooltip)
        )
    if named:
        color = look.colors([labels[j] for j in named], "largest")
        color["legend"]["symbolType"] = "stroke"
        layers.append(
            _lines(alt, strength, table, labels, named)
            .mark_line(strokeWidth=2.2)
            .encode(x=x, y=y, color=color, tooltip=tooltip)
        )
    if best is not None:
        layers += _mark(alt, float(best), strength, across)
    said = ["A small C holds the coefficients near zero; a large C leaves them to the data."]
    if len(order) < len(labels):
        said.append(f"The {len(order)} largest; {len(labels) - len(order):,} are left out.")
    return look.sized(alt.layer(*layers), look.heading("Coefficients along the penalty", said))


def _checked(
    C: ArrayLike, coef: ArrayLike, names: Sequence[Any] | None
) -> tuple[Floats, Floats, list[str]]:
    """C ascending, with its coefficients, and a name for each."""
    strength, table = np.asarray(C, np.float64), np.asarray(coef, np.float64)
    if strength.ndim != 1 or len(strength) < 2:
        raise ValueError(f"Expected two or more values of C, got shape {strength.shape}.")
    if not ((strength > 0) & np.isfinite(strength)).all():
        wrong = strength[~((strength > 0) & np.isfinite(strength))][0]
        raise ValueError(f"Expected positive, finite values of C, got {wrong:g}.")
    if len(np.unique(strength)) < len(strength):
        raise ValueError("Expected different values of C, got one twice.")
    if table.ndim != 2 or len(table) != len(strength):
        raise ValueError(
            f"Expected coefficients of shape ({len(strength)}, d), a row for each C, got "
            f"{table.shape}."
        )
    if not np.isfinite(table).all():
        raise ValueError("Expected finite coefficients, got NaN or infinity.")
    d = table.shape[1]
    labels = [f"feature {j}" for j in range(d)] if names is None else [str(plain(n)) for n in names]
    if len(labels) != d or len(set(labels)) < d:
        raise ValueError(f"Expected {d} different names, got {len(set(labels))}.")
    order = np.argsort(strength)
    return strength[order], table[order], labels


def _lines(
    alt: Any, strength: Floats, table: Floats, labels: list[str], which: list[int]
) -> look.Chart:
    return alt.Chart(
        alt.InlineData(
            values=[
                {"class": labels[j], "C": float(c), "coefficient": float(b)}
                for j in which
                for c, b in zip(strength, table[:, j], strict=True)
            ]
        )
    )


def _mark(alt: Any, best: float, strength: Floats, across: Any) -> list[look.Chart]:
    """The chosen C, with its value written above."""
    if not strength[0] <= best <= strength[-1]:
        raise ValueError(
            f"Expected the best C between {strength[0]:g} and {strength[-1]:g}, got {best:g}."
        )
    base = alt.Chart(
        alt.InlineData(values=[{"best": best, "label": f"best C = {look.digits(best, 3)}"}])
    )
    base = base.encode(x=alt.X("best:Q", scale=across))
    share = np.log(best / strength[0]) / np.log(strength[-1] / strength[0])
    align = "left" if share < EDGE else "right" if share > 1 - EDGE else "center"
    return [
        base.mark_rule(color=look.INK, strokeDash=[4, 3]),
        base.mark_text(color=look.INK, fontSize=12, baseline="bottom", align=align).encode(
            y=alt.value(-5), text="label:N"
        ),
    ]
