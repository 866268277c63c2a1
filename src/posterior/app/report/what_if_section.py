"""What if: the chosen model in the page itself, and whole rows to start from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np

from posterior.app.report.report_schema import Facts, Surprises
from posterior.app.report.section_schema import SampleRow, WholeRow
from posterior.data import frames
from posterior.data.names import feature_names, plain
from posterior.estimators import KNeighborsClassifier
from posterior.estimators.pool import Pool
from posterior.estimators.table_classifier import TableClassifier
from posterior.javascript import to_javascript
from posterior.selection.labeled_rows import LabeledRows

SCRIPTS = (  # one after the other, in one scope
    Path(__file__).parent.parent / "server" / "static" / "dom.js",
    Path(__file__).parent.parent / "server" / "static" / "waterfall.js",
    Path(__file__).parent / "templates" / "what_if_form.js",
    Path(__file__).parent / "templates" / "nomogram_scales.js",
    Path(__file__).parent / "templates" / "nomogram_lines.js",
    Path(__file__).parent / "templates" / "what_if.js",
    Path(__file__).parent / "templates" / "nomogram.js",
)
MOST_LETTERS = 200_000  # of all rows
NOT_HELD = (
    "The chosen model cannot be tried on this page, as it is not written as JavaScript; posterior "
    "serve model.posterior opens a local page that can."
)
TOO_LARGE = (
    "The chosen model cannot be tried on this page, which would grow beyond 2 MB with it; "
    "posterior serve model.posterior opens a local page that can."
)


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The panel: its scripts and what they read, or why there is none."""

    scripts: tuple[str, ...] = ()
    told: str = ""  # JSON
    rows: frozenset[int] = frozenset()  # that it can start from
    reason: str = ""
    holds_rows: bool = False  # all that were learned from


def what_if(facts: Facts, model: Any) -> WhatIf:
    """Of a fitted model that reads the columns of the report."""
    try:
        written = to_javascript(model, form="object")
    except (TypeError, ValueError):
        return WhatIf(reason=NOT_HELD)
    shown = "\n".join(_without_modules(path.read_text("utf-8")) for path in SCRIPTS)
    shares = {c.name: c.share for c in facts.data.target}
    classes = [str(plain(c)) for c in model.classes_]
    told = {
        "target": facts.target,
        "classes": classes,
        "shares": [shares.get(name, 0.0) for name in classes],
        "about": classes[0] if facts.gains is None else facts.gains.name,
        "ranked": [feature.name for feature in facts.evidence],
        "rows": [{"row": r.row, "label": r.label, "cells": r.cells} for r in facts.whole_rows],
    }
    return WhatIf(
        scripts=(f"const chosenModel = {written};", f"(() => {{\n{shown}\n}})();"),
        told=json.dumps(told, separators=(",", ":")),
        rows=frozenset(r.row for r in facts.whole_rows),
        holds_rows=any(
            map(_keeps_rows, model.fitted_.members if isinstance(model, Pool) else [model])
        ),
    )


def _keeps_rows(member: Any) -> bool:
    own = member.model_ if isinstance(member, TableClassifier) else member
    return isinstance(own, KNeighborsClassifier)


def whole_rows(
    rows: LabeledRows, model: Any, sample: Iterable[SampleRow], surprising: Surprises
) -> list[WholeRow]:
    """The rows that the page shows with all cells that the model reads, as far as there is room."""
    names = feature_names(model)
    if names is None:
        return []
    doubted = (*surprising.likely_errors, *surprising.least_expected)
    shown = [r.row for r in sample], [r.row for r in doubted], [r.row for r in surprising.strange]
    wanted = dict.fromkeys(row for part in shown for row in part)
    first = dict(zip(rows.places[::-1].tolist(), range(len(rows) - 1, -1, -1), strict=True))
    index = [first[row - 1] for row in wanted]
    table = frames.as_frame(frames.take(rows.frame, np.array(index, int)))
    assert table is not None
    columns = {str(name): table.get_column(name).to_list() for name in names}
    found, letters = [], 0
    for i, row in enumerate(wanted):
        cells = {name: cell(column[i]) for name, column in columns.items()}
        letters += len(json.dumps(cells))
        if letters > MOST_LETTERS:
            break
        found.append(WholeRow(row, rows.names[int(rows.codes[index[i]])], cells))
    return found


def cell(value: Any) -> Any:
    """As JavaScript reads it: null where missing, dates as ISO texts."""
    value = plain(value)
    if value is None or frames.missing(value):
        return None
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time.min else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return value if isinstance(value, bool | int | float) else str(value)


def _without_modules(script: str) -> str:
    """A module as a part of one script: nothing is imported, and nothing exported."""
    lines = (line.removeprefix("export ") for line in script.splitlines())
    return "\n".join(line for line in lines if not line.startswith("import "))
