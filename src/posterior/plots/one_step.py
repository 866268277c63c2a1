"""One step of an algorithm: what it has found so far, over the rows, and the way to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.rows import SparseRows
from posterior.discriminative.steps import LogisticStep
from posterior.generative.em_steps import EMStep
from posterior.generative.kmeans.steps import ClusterStep
from posterior.plots import look
from posterior.plots.cells import BINS, draw_cells
from posterior.plots.components import draw_components
from posterior.plots.hill import has_hill, hill_of
from posterior.plots.logistic_picture import logistic
from posterior.plots.trace import some_of

STEPS = (ClusterStep, EMStep, LogisticStep)
DOES = {
    "assign": "rows go to their nearest center",
    "move": "centers go to the mean of their rows",
    "expect": "rows are shared out",
    "maximize": "components follow their shares",
}


def of_step(step: ClusterStep | EMStep | LogisticStep, **options: Any) -> look.Chart:
    """The picture of a step, whichever it is."""
    if isinstance(step, ClusterStep):
        return _clusters(step, **options)
    return _components(step, **options) if isinstance(step, EMStep) else _ascent(step, **options)


def _clusters(step: ClusterStep, bins: int = BINS) -> look.Chart:
    """Cells of the centers, rows in the color of theirs, and the way of the centers so far."""
    chart = draw_cells(step.model, step.run.X, bins, step.labels, step.path)
    told = f"Inertia {look.digits(step.inertia)}."
    return _titled(chart, f"Step {step.number}, {step.kind}: {DOES[step.kind]}", told)


def _components(step: EMStep, columns: Any = None, bins: int = BINS) -> look.Chart:
    """Components over the rows, which have the colors of those that share them."""
    shares = step.responsibilities
    chart = draw_components(step.model, step.run.X, columns, bins, shares)
    told = f"Log likelihood {look.digits(step.log_likelihood, 6)}"
    told += f", bound {look.digits(step.bound, 6)}." if step.kind == "maximize" else "."
    return _titled(chart, f"Step {step.number}, {step.kind}: {DOES[step.kind]}", told)


def _ascent(step: LogisticStep) -> look.Chart:
    """The curve, the line or the coefficients of this step, above the hill or the climb so far."""
    chart = logistic(step.model, step.run.X, step.run.y, {})
    if step.row is not None and step.coef.shape[1] <= 2:
        chart.layer.append(_ring(step, chart.layer[0].encoding))
    told = f"Log likelihood {look.digits(step.log_likelihood, 6)}"
    if not step.ground.penalty.is_flat:
        told += f", less the penalty {look.digits(step.objective, 6)}"
    by = "" if step.row is None else f", by row {step.row} (the ring)"
    chart = _titled(chart, f"Step {step.number}{by}", f"{told}.")
    below = hill_of(step) if has_hill(step) else _climb(step)
    alt = look.optional("altair")
    return alt.vconcat(chart, below, spacing=24).resolve_scale(color="independent")


def _titled(chart: look.Chart, text: str, told: str) -> look.Chart:
    """A picture with the words of its step before its own."""
    return chart.properties(title=look.heading(text, [told, *chart.title.subtitle]))


def _ring(step: LogisticStep, place: Any) -> look.Chart:
    """About the example that led here."""
    alt, rows = look.optional("altair"), step.ground.at_hand
    X = rows.X.scipy().toarray() if isinstance(rows.X, SparseRows) else np.asarray(rows.X)
    row = X[step.row].tolist()
    x, y = row if len(row) == 2 else (row[0], rows.hard.codes[step.row])
    values = [{"row": step.row, "x": float(x), "y": float(y)}]
    ring = alt.Chart(alt.InlineData(values=values)).mark_point(
        filled=False, size=240, strokeWidth=2.5, color=look.INK, opacity=1
    )
    return ring.encode(
        x=alt.X("x:Q", scale=place.x["scale"]), y=alt.Y("y:Q", scale=place.y["scale"])
    )


def _climb(step: LogisticStep) -> look.Chart:
    """What is climbed, by step: the way so far, and room for what is to come."""
    alt, steps = look.optional("altair"), step.run.steps
    shown = some_of(len(steps))
    height = {int(i): steps[i].objective for i in {*shown.tolist(), step.number}}
    values = [
        {"step": i, "height": h}
        for i, h in sorted(height.items())
        if i <= step.number and np.isfinite(h)
    ]
    known = [h for h in height.values() if np.isfinite(h)]
    low, high = min(known), max(known)
    room = 0.05 * (high - low) or 1.0
    what = "log likelihood" + " less penalty" * (not step.ground.penalty.is_flat)
    up = look.number_axis(what, max(abs(low), abs(high)), grid=True)
    across = look.number_axis("step", len(steps))
    across["format"], across["tickMinStep"] = ",d", 1
    scales = [[0, max(len(steps) - 1, 1)], [low - room, high + room]]
    x, y = (alt.Scale(domain=domain, nice=False, zero=False) for domain in scales)
    place = {"x": alt.X("step:Q", scale=x, axis=across), "y": alt.Y("height:Q", scale=y, axis=up)}
    way = alt.Chart(alt.InlineData(values=values)).mark_line(color=look.PALETTE[1], strokeWidth=2)
    end = alt.Chart(alt.InlineData(values=values[-1:])).mark_point(
        shape="diamond", filled=True, size=170, opacity=1, color=look.PALETTE[1], stroke=look.PAPER
    )
    title = look.heading("The climb", [f"Step {step.number:,} of {len(steps) - 1:,}."])
    chart = look.sized(alt.layer(way.encode(**place), end.encode(**place)), title)
    return chart.properties(height=look.HEIGHT // 2)
