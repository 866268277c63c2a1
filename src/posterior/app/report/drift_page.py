"""The page of a comparison of a table with a model: one HTML file that needs nothing else."""

from __future__ import annotations

from urllib.parse import quote

from posterior.app.report.column_drawings import column_drawings
from posterior.app.report.drawings import Drawing
from posterior.app.report.drift_schema import ColumnDrift, DriftFacts
from posterior.app.report.page import DARK, PICTURED, SHOWN, environment
from posterior.app.report.section_schema import ColumnShares
from posterior.evaluation.held_out import SCORES

SECTIONS = {
    "performance": "Performance",
    "score": "Predicted probabilities",
    "columns": "Drift by column",
    "how": "How every number was computed",
}
WHEN = ("when learned", "now")
MOST_VALUES = 8


def render_drift(facts: DriftFacts, beside: str | None = None) -> str:
    """The page as text; `beside` is the name of the JSON file in the same folder."""
    there = {
        "performance": facts.performance is not None,
        "score": facts.score is not None,
        "columns": bool(facts.columns),
        "how": True,
    }
    sizes = [facts.rows_then, facts.rows_now]
    columns = [_shares(column) for column in facts.columns if not column.absent]
    return (
        environment()
        .get_template("drift.html")
        .render(
            facts=facts,
            sections={key: title for key, title in SECTIONS.items() if there[key]},
            drawn=column_drawings(columns, WHEN, "", sizes),
            scored=_scored(facts),
            scores=SCORES,
            beside=None if beside is None else f"./{quote(beside)}",
            dark=DARK,
            allowed="",  # it has no script
            shown=SHOWN,
            pictured=PICTURED,
        )
    )


def _shares(column: ColumnDrift) -> ColumnShares:
    """Then and now, as if they were classes."""
    then, now, values = column.then, column.now, column.values
    if not column.edges:
        rest = slice(MOST_VALUES, None)
        then, now = ([*c[:MOST_VALUES], sum(c[rest])] for c in (then, now))
        values = [*values[:MOST_VALUES], "(others)"][: len(then)]
        if not then[-1] + now[-1]:
            then, now, values = then[:-1], now[:-1], values[: len(then) - 1]
    return ColumnShares(
        name=column.name,
        role=column.role,
        scale="category" if not column.edges else "date" if column.role == "date" else "linear",
        unit=column.unit,
        edges=column.edges,
        values=values,
        counts=[[int(n) for n in then], [int(n) for n in now]],
        missing=[0, 0],
        typical=["", ""],
    )


def _scored(facts: DriftFacts) -> list[Drawing]:
    found = facts.score
    if found is None:
        return []
    named = "the most probable class" if found.of is None else found.of
    counts = [[int(n) for n in found.then], [int(n) for n in found.now]]
    column = ColumnShares(
        f"P({named})", "number", "linear", "tenths of then", [], [], counts, [0, 0], ["", ""]
    )
    return column_drawings([column], WHEN, "", [facts.rows_then, facts.rows_now])
