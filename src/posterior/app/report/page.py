"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from posterior.app.report import phrases
from posterior.app.report.charts import draw
from posterior.app.report.figures import Figure
from posterior.app.report.flag_groups import grouped
from posterior.app.report.report_schema import (
    ClassCount,
    ColumnRole,
    Facts,
    RowFacts,
    Subgroup,
    plain,
)
from posterior.app.report.section_drawings import drawings
from posterior.app.report.subgroups_section import SMALLEST_GROUP
from posterior.app.report.what_if_section import TOO_LARGE, WhatIf, what_if
from posterior.evaluation.held_out import SCORES
from posterior.plots.look import INK, PALE, PALETTE, PAPER, optional
from posterior.plots.vega_bundle import bundle
from posterior.preprocessing.roles import SCREENED

TEMPLATES = Path(__file__).parent / "templates"
SHOWN = 12  # lines of a long table that are seen at once
PICTURED = 24  # columns whose picture is seen at once
FILTERS = (  # words that the templates use
    phrases.count,
    phrases.extent,
    phrases.gaps,
    phrases.interval,
    phrases.measure,
    phrases.number,
    phrases.percent,
    phrases.percent_measure,
    phrases.score,
    phrases.seconds,
    phrases.short,
    phrases.unbroken,
)
MOST_BYTES = 2_000_000  # of a page with a model in it
CONFUSED = 10  # pairs of classes that are named

# What the colors of charts become on a dark page.
DARK = {
    INK: "#d5d9e0",
    PALE: "#323842",
    PAPER: "#11141a",
    PALETTE[0]: "#6ba5f2",
    PALETTE[3]: "#d884c4",
    PALETTE[4]: "#a9dcfa",
    PALETTE[5]: "#bd8f64",
    PALETTE[7]: "#9aa1ac",
}

SECTIONS = {
    "data": "The data",
    "sample": "Some rows",
    "comparison": "The models compared",
    "what-if": "What if?",
    "reliability": "Calibration",
    "mistakes": "Confusion matrix, precision and recall",
    "gains": "Lift, gains and cost",
    "learning": "Learning curve",
    "evidence": "Importance of each column",
    "columns": "Every column by class",
    "associations": "Associations between columns",
    "boundary": "Decision boundary in two columns",
    "rows": "Rows that surprise the model",
    "subgroups": "Scores by subgroup",
    "worst": "Worst subgroups",
    "missing": "Rows with missing values",
    "parameters": "What the model learned",
    "card": "Model card",
    "use": "Use the model",
    "how": "How every number was computed",
}


def render(
    facts: Facts,
    charts: Mapping[str, list[Figure]] | None = None,
    beside: str | None = None,
    model: Any = None,
) -> str:
    """The page as text.

    Parameters
    ----------
    facts : Facts
    charts : figures by section, optional
        As `charts.draw` gives them, which is the default.
    beside : str, optional
        Name of the JSON file with the facts, in the same folder.
    model : the chosen one, optional
        Fitted to all rows: the page holds it as JavaScript, to ask what if.
    """
    figures = draw(facts) if charts is None else charts
    panel = None if model is None else what_if(facts, model)
    page = _page(facts, figures, beside, panel)
    if panel is None or not panel.scripts or len(page.encode()) <= MOST_BYTES:
        return page
    return _page(facts, figures, beside, WhatIf(reason=TOO_LARGE))


def _page(
    facts: Facts, figures: Mapping[str, list[Figure]], beside: str | None, panel: WhatIf | None
) -> str:
    specs = {f.key: f.spec for part in figures.values() for f in part}
    moving = bool(facts.class_gains) and all(0 < g.positives < g.rows for g in facts.class_gains)
    scripts = [] if panel is None else [*panel.scripts]
    scripts += [_script("sliders.js")] if moving else []
    scripts += [bundle(), _script("report.js")] if specs else []
    loader = _script("unpack.js")
    return str(
        environment()
        .get_template("report.html")
        .render(
            facts=facts,
            scores=SCORES,
            figures=figures,
            drawn=drawings(facts),
            panel=panel,
            moving=moving,
            sections=_present(facts, figures, panel),
            flags=grouped(facts.data.columns),
            columns=_ordered_columns(facts),
            classes=_ordered_classes(facts),
            confused=_confused(facts),
            unexpected=_unexpected(facts),
            subgroups=_by_column(facts.subgroups),
            chosen=next((c for c in facts.candidates if c.key == facts.choice.key), None),
            beside=None if beside is None else f"./{quote(beside)}",
            dark=DARK,
            packed=[_packed(text) for text in scripts],
            loader=loader,
            allowed=" ".join(_digest(text) for text in (loader, *scripts)) if scripts else "",
            data=_read_by_scripts(facts, specs, panel, moving),
            shown=SHOWN,
            pictured=PICTURED,
            smallest=SMALLEST_GROUP,
        )
    )


def _read_by_scripts(
    facts: Facts, specs: Mapping[str, Any], panel: WhatIf | None, moving: bool
) -> dict[str, str]:
    """What the scripts of the page read, as packed JSON by the name of its element."""
    told = {"drawings": json.dumps(specs, separators=(",", ":"))} if specs else {}
    if panel is not None and panel.scripts:
        told["what-if-rows"] = panel.told
    if moving:
        told["held-out-counts"] = json.dumps(plain(facts.class_gains), separators=(",", ":"))
    return {name: _packed(text) for name, text in told.items()}


def environment() -> Any:
    jinja2 = optional("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {phrase.__name__: phrase for phrase in FILTERS}
    environment.filters["gap"] = _widest_gap
    return environment


def _script(name: str) -> str:
    return (TEMPLATES / name).read_text("utf-8")


def _packed(text: str) -> str:
    """In letters that no string inside it can end early; the same text gives the same."""
    return b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def _digest(script: str) -> str:
    """The page runs these scripts and no others."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


def _present(
    facts: Facts, figures: Mapping[str, list[Figure]], panel: WhatIf | None
) -> dict[str, str]:
    """The sections that have something to say."""
    rows, missing = facts.surprises, facts.missing
    said = {
        "data": True,
        "what-if": panel is not None,
        "comparison": bool(facts.candidates),
        "mistakes": bool(facts.confusion),
        "evidence": bool(facts.evidence or facts.terms),
        "rows": bool(_unexpected(facts) or rows.likely_errors or rows.strange),
        "subgroups": bool(facts.subgroups),
        "missing": missing is not None and bool(missing.incomplete or missing.by_column),
        "parameters": bool(facts.learned) or any(p.rows for p in facts.parameters),
        "use": bool(facts.snippets),
        "sample": bool(facts.sample),
        "columns": bool(facts.column_shares),
        "associations": facts.associations is not None,
        "gains": bool(facts.class_gains),
        "worst": facts.worst is not None,
        "card": facts.card is not None,
        "how": True,
    }
    return {key: title for key, title in SECTIONS.items() if said.get(key, key in figures)}


def _ordered_columns(facts: Facts) -> list[ColumnRole]:
    """The target, then the most informative columns; a short table stays as the file has it.

    Columns of a wide table that were screened out are many, and stand in the file of numbers.
    """
    columns = [column for column in facts.data.columns if column.reason != SCREENED]
    if len(columns) <= SHOWN:
        return columns
    rank = {feature.name: place for place, feature in enumerate(facts.evidence)}
    return sorted(columns, key=lambda c: -1 if c.role == "target" else rank.get(c.name, len(rank)))


def _ordered_classes(facts: Facts) -> list[ClassCount]:
    """The largest first where not all are seen at once."""
    classes = facts.data.target
    return classes if len(classes) <= SHOWN else sorted(classes, key=lambda c: -c.rows)


def _confused(facts: Facts) -> list[tuple[str, str, int]]:
    """(true, predicted, rows) of the most frequent mistakes."""
    pairs = [
        (facts.classes[i], facts.classes[j], rows)
        for i, line in enumerate(facts.confusion)
        for j, rows in enumerate(line)
        if i != j and rows
    ]
    return sorted(pairs, key=lambda pair: -pair[2])[:CONFUSED]


def _unexpected(facts: Facts) -> list[RowFacts]:
    """Rows whose label is not the probable one, and that are not among the likely errors."""
    doubted = {row.row for row in facts.surprises.likely_errors}
    return [
        row
        for row in facts.surprises.least_expected
        if row.row not in doubted and row.label != row.predicted
    ]


def _by_column(groups: Sequence[Subgroup]) -> dict[str, list[Subgroup]]:
    """Groups of one column together, in the order in which columns come."""
    found: dict[str, list[Subgroup]] = {}
    for group in groups:
        found.setdefault(group.column, []).append(group)
    return found


def _widest_gap(group: Subgroup) -> int:
    """The class whose share the model misjudges most in a group; the second one of two."""
    if len(group.target) == 2:
        return 1
    gaps = [abs(t - p) for t, p in zip(group.target, group.predicted, strict=True)]
    return gaps.index(max(gaps))
