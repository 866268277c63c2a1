"""Reliability diagrams: predicted probabilities against observed shares."""

from __future__ import annotations

from typing import Any, overload

from numpy.typing import ArrayLike

from posterior import evaluation
from posterior.evaluation import HeldOut
from posterior.plots import look


@overload
def reliability(predicted: HeldOut) -> look.Chart: ...
@overload
def reliability(
    predicted: ArrayLike,
    observed: ArrayLike,
    rows: ArrayLike,
    low: ArrayLike | None = ...,
    high: ArrayLike | None = ...,
) -> look.Chart: ...
def reliability(
    predicted: Any,
    observed: Any = None,
    rows: Any = None,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
) -> look.Chart:
    """How often things came true, by the probability they were given; on the diagonal if honest.

    Parameters
    ----------
    predicted : HeldOut, or array-like of shape (bins,)
        What `cross_validate` returned, and nothing else; or the mean probability in each bin.
    observed : array-like of shape (bins,)
        The share of its rows that came true.
    rows : array-like of shape (bins,)
        How many rows it holds; bins without any are left out. Dots grow with them.
    low, high : array-like of shape (bins,), optional
        Ends of intervals around `observed`.

    Returns
    -------
    altair.LayerChart
    """
    if isinstance(predicted, HeldOut):
        bins = evaluation.reliability(predicted).bins
        found = [(b.predicted, b.observed, b.rows, b.observed_low, b.observed_high) for b in bins]
        return reliability(*zip(*found, strict=True))
    alt = look.optional("altair")
    p = look.numbers("predicted", predicted, -1, open_ended=True)
    share = look.numbers("observed", observed, len(p), open_ended=True)
    count = look.numbers("rows", rows, len(p))
    ends = [
        look.numbers(name, share if end is None else end, len(p), open_ended=True)
        for name, end in (("low", low), ("high", high))
    ]
    values = [
        {
            "predicted": float(p[i]),
            "observed": float(share[i]),
            "rows": float(count[i]),
            "low": float(ends[0][i]),
            "high": float(ends[1][i]),
        }
        for i in range(len(p))
        if count[i] > 0
    ]
    if not values:
        raise ValueError("Expected bins that hold rows, got none.")
    unit = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("predicted:Q", scale=unit, axis=look.percent_axis("predicted probability"))
    y = alt.Y("observed:Q", scale=unit, axis=look.percent_axis("observed frequency", grid=True))
    ends_of_it = look.inline([{"predicted": v, "observed": v} for v in (0, 1)])
    honest = alt.Chart(ends_of_it).mark_line(color=look.INK, strokeDash=[4, 3], strokeWidth=1)
    base = alt.Chart(look.inline(values))
    bars = base.mark_rule(color=look.PALETTE[0], strokeWidth=2, opacity=0.6)
    dots = base.mark_point(color=look.PALETTE[0], filled=True, opacity=1)
    said = "Dots on the dashed line are calibrated probabilities."
    grown = " Larger dots hold more rows."
    layers = [honest.encode(x=x, y=y)]
    if low is not None:
        layers.append(bars.encode(x=x, y=alt.Y("low:Q", scale=unit), y2=alt.Y2("high:Q")))
    layers.append(
        dots.encode(
            x=x,
            y=y,
            size=alt.Size("rows:Q", legend=None, scale=alt.Scale(range=[25, 260], type="sqrt")),
            tooltip=[
                alt.Tooltip("predicted:Q", format=".1%"),
                alt.Tooltip("observed:Q", format=".1%"),
                alt.Tooltip("rows:Q", format=","),
            ],
        )
    )
    return look.sized(alt.layer(*layers), look.heading("Reliability", [said + grown]))


def confidence(rows: ArrayLike) -> look.Chart:
    """How often each probability was given: rows in bins of equal width from 0 to 1.

    Parameters
    ----------
    rows : array-like of shape (bins,)

    Returns
    -------
    altair.LayerChart
    """
    alt = look.optional("altair")
    count = look.numbers("rows", rows, -1)
    edges = [i / len(count) for i in range(len(count) + 1)]
    values = [
        {"from": a, "to": b, "rows": float(n)}
        for a, b, n in zip(edges, edges[1:], count, strict=False)
        if n > 0
    ]
    bars = alt.Chart(look.inline(values)).mark_bar(color=look.PALETTE[0], binSpacing=1)
    up = look.axis("rows", grid=True)
    up["format"], up["tickMinStep"] = ",~f", 1
    chart = bars.encode(
        x=alt.X(
            "from:Q",
            bin="binned",
            scale=alt.Scale(domain=[0, 1], nice=False),
            axis=look.percent_axis("predicted probability"),
        ),
        x2=alt.X2("to:Q"),
        y=alt.Y("rows:Q", axis=up),
        tooltip=[
            *(alt.Tooltip(f"{field}:Q", format=".0%") for field in ("from", "to")),
            alt.Tooltip("rows:Q", format=","),
        ],
    )
    return look.sized(
        alt.layer(chart), look.heading("How sure it is", ["Rows by predicted probability."])
    )
