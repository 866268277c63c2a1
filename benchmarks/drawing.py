"""Pictures of the results: ratios as bars, and cost by size as lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.report import Run
from benchmarks.timing import Result
from posterior.plots import look

PANEL = 190  # pixels wide
COLUMNS = 3
SIZES = {  # what grows, by case
    "growth_rows": "rows",
    "growth_columns": "columns",
    "growth_groups": "classes, components or centers",
    "growth_words": "words in the vocabulary",
    "text_growth": "megabytes of text",
}


def draw(runs: Sequence[Run], path: Path) -> None:
    """All in one file; SVG or PNG by the suffix."""
    alt = look.optional("altair")
    fixed = [r for run in runs for r in run.results if r.size is None]
    pictures = [*([bars(fixed, runs[0].machine)] if fixed else []), *growth(runs).values()]
    whole = alt.vconcat(*pictures, spacing=40).resolve_scale(
        color="independent", shape="independent"
    )
    whole.configure_axis(labelLimit=400).save(path)


def growth(runs: Sequence[Run]) -> dict[str, Any]:
    """By case, a picture of every one that has sizes."""
    return {run.case: lines(run) for run in runs if grows(run)}


def grows(run: Run) -> bool:
    return bool(run.results) and all(r.size is not None for r in run.results)


def series(results: Sequence[Result]) -> dict[str, list[Result]]:
    """By model, the results from the smallest size to the largest."""

    def model(r: Result) -> str:
        return r.operation.rpartition(", ")[0]

    order = list(dict.fromkeys(map(model, results)))
    ordered = sorted(results, key=lambda r: (order.index(model(r)), r.size or 0))
    return {name: list(rows) for name, rows in groupby(ordered, model)}


def lines(run: Run) -> Any:
    """Seconds by size on logarithmic axes, a panel a model: slope one is cost in proportion."""
    alt = look.optional("altair")
    peers = list(dict.fromkeys(r.peer for r in run.results))
    rows = [
        {"model": name, "size": r.size, "who": who, "seconds": cost.seconds}
        for name, results in series(run.results).items()
        for r in results
        for who, cost in (("posterior", r.ours), (r.peer, r.theirs))
    ]
    log, who = alt.Scale(type="log", nice=False), ["posterior", *peers]
    few = look.axis(SIZES.get(run.case, "size"), grid=True)
    few["values"], few["format"], few["labelFlush"] = decades(rows, "size"), "~s", False
    seconds = look.axis("seconds", grid=True)
    seconds["values"], seconds["format"] = decades(rows, "seconds"), "~g"
    color = alt.Color(
        "who:N",
        scale=alt.Scale(domain=who, range=list(look.PALETTE[: len(who)])),
        legend=alt.Legend(title=None, orient="top", labelFontSize=12, labelColor=look.INK),
    )
    panel = (
        alt.Chart()
        .mark_line(point=alt.OverlayMarkDef(size=45), strokeWidth=2)
        .encode(
            x=alt.X("size:Q", scale=log, axis=few),
            y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), axis=seconds),
            color=color,
            shape=alt.Shape("who:N", scale=alt.Scale(domain=who), legend=None),
        )
        .properties(width=PANEL, height=PANEL * 0.8)
    )
    head = alt.Header(
        title=None, labelFontSize=12, labelColor=look.INK, labelAnchor="start", labelLineHeight=15
    )
    title = look.heading(run.about.split(":")[0], [run.about.partition(": ")[2]])
    names = list(dict.fromkeys(row["model"] for row in rows))
    return alt.layer(panel, data=alt.InlineData(values=rows)).facet(
        facet=alt.Facet("model:N", header=head, sort=names),
        columns=min(COLUMNS, len(names)),
        title=title,
    )


def decades(rows: Sequence[dict[str, Any]], field: str) -> list[float]:
    """Powers of ten from below the least to above the most."""
    logs = [math.log10(row[field]) for row in rows]
    return [10.0**i for i in range(math.floor(min(logs)), math.ceil(max(logs)) + 1)]


def bars(results: Sequence[Result], facts: dict[str, str | int]) -> Any:
    """From 1 (as fast) to the ratio, a tick at the target."""
    alt = look.optional("altair")
    rows = [
        {
            "label": f"{r.case} {r.operation}, {r.peer}",
            "ratio": r.ratio,
            "target": r.target,
            "verdict": {None: "no target", True: "met", False: "missed"}[r.met],
        }
        for r in results
    ]
    colors = alt.Scale(domain=["met", "missed", "no target"], range=["#1c62b7", "#e8820c", "#999"])
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=alt.Y("label:N", sort=None, title=None))
    scale = alt.Scale(type="log")
    ratio = base.mark_bar().encode(
        x=alt.X("ratio:Q", scale=scale, title="peer's time / our time"),
        x2=alt.datum(1),
        color=alt.Color("verdict:N", scale=colors, title="target"),
    )
    ticks = base.mark_tick(color="black", thickness=2).encode(x=alt.X("target:Q", scale=scale))
    subtitle = f"{facts['cpu']}, {facts['cores']} cores, scikit-learn {facts['scikit-learn']}"
    title = alt.Title("How many times as fast as the peer", subtitle=subtitle)
    return (ratio + ticks).properties(width=500, height=alt.Step(15), title=title)
