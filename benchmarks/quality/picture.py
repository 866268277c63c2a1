"""The picture of the scores: log loss of every model, as a multiple of the best peer's."""

from __future__ import annotations

from typing import Any

from benchmarks.quality.models import ELSEWHERE, SCIKIT_LEARN
from posterior.plots import look

PEERS = (*SCIKIT_LEARN, *ELSEWHERE)
LEAST = 1e-3  # of a log loss: below, a ratio says nothing
LOW, HIGH = 1 / 8, 8.0  # ratios that are drawn; what is beyond stands at the edge
STEP = 20  # pixels a table


def ratios(sets: dict[str, Any], subject: str) -> list[dict[str, Any]]:
    """A point for each table and model, tables in the order of our ratio."""
    points = []
    for name, found in sets.items():
        losses = {
            model: max(scores["log_loss"], LEAST)
            for model in (subject, *PEERS)
            if "log_loss" in (scores := found["models"].get(model, {}))
        }
        if subject not in losses or len(losses) == 1:
            continue
        best = min(loss for model, loss in losses.items() if model != subject)
        points += [
            {
                "table": name,
                "model": model,
                "ratio": min(max(loss / best, LOW), HIGH),
                "ours": losses[subject] / best,
            }
            for model, loss in losses.items()
        ]
    return sorted(points, key=lambda point: point["ours"])


def draw(found: dict[str, Any]) -> Any:
    """One line a table: left of 1 is better than every peer."""
    alt = look.optional("altair")
    subject = found["subject"]
    points = ratios(found["sets"], subject)
    order = list(dict.fromkeys(point["table"] for point in points))
    models = [subject, *(m for m in PEERS if any(p["model"] == m for p in points))]
    ours = alt.datum.model == subject
    axis = look.axis("log loss, as a multiple of the best peer's", grid=True)
    axis["values"], axis["format"] = [0.125, 0.25, 0.5, 1, 2, 4, 8], "~g"
    axis["tickCount"] = 7  # of fewer, a scale of logarithms draws every second one
    scale = alt.Scale(type="log", domain=[LOW, HIGH], nice=False)
    legend = alt.Legend(
        title=None, orient="top", columns=4, labelFontSize=12, labelColor=look.INK, symbolOpacity=1
    )
    base = alt.Chart(alt.InlineData(values=points)).encode(
        x=alt.X("ratio:Q", scale=scale, axis=axis),
        y=alt.Y("table:N", sort=order, axis=look.names_axis(None)),
        color=alt.Color(
            "model:N",
            scale=alt.Scale(domain=models, range=list(look.PALETTE[: len(models)])),
            legend=legend,
        ),
    )
    one = alt.Chart(alt.InlineData(values=[{"ratio": 1}])).mark_rule(color=look.INK)
    peers = base.transform_filter(~ours).mark_point(size=45, strokeWidth=2, opacity=1)
    subjects = base.transform_filter(ours).mark_point(size=110, filled=True, opacity=1)
    title = look.heading(
        f"{subject} and its peers, table by table",
        ["Left of 1 is better than every peer. What is beyond an end stands at that end."],
    )
    layers = alt.layer(one.encode(x=alt.X("ratio:Q", scale=scale, axis=axis)), peers, subjects)
    return layers.properties(
        width=look.WIDTH,
        height=STEP * len(order),
        title=title,
        view=alt.ViewBackground(stroke=None),
    )
