"""posterior report: a table, its models and their reasons, on one page."""

from __future__ import annotations

import gc
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from posterior.app import models
from posterior.app.cli.command import (
    BANDS,
    DATA,
    GROUP,
    KEPT,
    LEFT_OUT,
    QUICK,
    READ_AS,
    SEED,
    SHEET,
    TABLE,
    TIME,
    Answer,
    busy,
    overrides,
    part_of,
)
from posterior.app.cli.progress_bar import progress_bar
from posterior.app.lean_imports import import_sklearn
from posterior.app.tables import name_of
from posterior.data import process
from posterior.sources.outputs import write_text
from posterior.sources.places import check_there

if TYPE_CHECKING:
    from rich.table import Table

    from posterior.app.report.report_schema import Facts, Measure

ASKED_TARGET = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="The column to predict; with --against, the labels.",
    ),
]
FILES = ("report.html", "report.json", "model_card.json", "model.posterior")
MOST_FLAGS = 8
MOST_CLASSES = 8
MOST_SCORES = 3  # that 80 letters hold; the page has them all


def report(
    data: DATA,
    target: ASKED_TARGET = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="MODEL", help="Compare the table with what this model learned."
        ),
    ] = None,
    bands: BANDS = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="The folder to write the files to."),
    ] = None,
    subgroup: Annotated[
        list[str] | None,
        typer.Option(
            "--subgroup",
            metavar="COLUMN",
            help="Also report scores by value of this column; may be repeated.",
        ),
    ] = None,
    read_as: READ_AS = None,
    keep: KEPT = None,
    leave_out: LEFT_OUT = None,
    group: GROUP = None,
    time: TIME = None,
    sheet: SHEET = None,
    table: TABLE = None,
    seed: SEED = 0,
    quick: QUICK = False,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> Answer:
    """Compare models of a table, pick one, and write a page about it.

    The page says how good the model is, and why it predicts what it does. Beside it are written all
    its numbers (JSON), the model and its card. With --against, what has changed since the model
    was learned: drift of columns and probabilities, and performance where the labels are there.
    """
    if against is not None:
        return _drift(data, against, target, out, part_of(sheet, table), open_page)
    if target is None:
        raise typer.BadParameter("Expected the column to predict: --target.")
    from posterior.sources import files

    part = part_of(sheet, table)
    folder = Path(out or f"{name_of(data, 'table')}-report")
    check_there(data)
    with progress_bar("reading") as watch:
        file = files.read(data, part)
        files.column_named(file.frame.column_names, target, "target column")
        import_sklearn()
        from posterior.app.report.charts import draw
        from posterior.app.report.facts import study
        from posterior.app.report.model_card_section import card_json
        from posterior.app.report.page import render
        from posterior.plots.vega_bundle import prepare_bundle

        gc.freeze()  # what was imported is looked at no more: nothing of it is garbage
        prepare_bundle()
        found = study(
            file.frame,
            target,
            source=file.source,
            notes=file.notes,
            subgroup=subgroup or (),
            seed=seed,
            quick=quick,
            progress=watch,
            **overrides(read_as, keep, leave_out, group, time, bands),
        )
        charts = draw(found.facts)
        facts = replace(found.facts, seconds=process.seconds())
        folder.mkdir(parents=True, exist_ok=True)
        page, numbers, card, model = (folder / name for name in FILES)
        write_text(page, render(facts, charts, beside=numbers.name, model=found.model))
        write_text(numbers, facts.to_json())
        write_text(card, card_json(facts.card))
        models.save(found.model, str(model), file.frame)
    if open_page:
        typer.launch(page.absolute().as_uri())
    files_written = {"numbers": numbers, "card": card, "model": model, "page": page}
    places = {name: str(place) for name, place in files_written.items()}
    lines = {"time": f"{process.seconds():.1f} s", **places}
    return Answer(
        {"data": data, "target": target, **_facts(facts), **places},
        [*_shown(facts), *(f"{name:8} {text}" for name, text in lines.items())],
    )


def _drift(
    data: str, against: str, target: str | None, out: str | None, part: str | None, shown: bool
) -> Answer:
    """A table against a model: page and numbers."""
    import pyarrow as pa

    from posterior.app import tables
    from posterior.app.report.drift_facts import drift
    from posterior.app.report.drift_page import render_drift
    from posterior.app.report.report_schema import plain

    known = models.load(against)
    with busy("comparing"):
        pieces = [read for _, read in tables.pieces(data, models.types_learned(known), part)]
        table = pa.concat_tables(pieces)
        names = Path(data).name if data != "-" else "standard input", Path(against).name
        found = drift(known, table, source=names[0], name=names[1], target=target)
        folder = Path(out or f"{name_of(data, 'table')}-drift")
        folder.mkdir(parents=True, exist_ok=True)
        page, numbers = folder / "drift.html", folder / "drift.json"
        write_text(page, render_drift(found, numbers.name))
        write_text(numbers, found.to_json())
    if shown:
        typer.launch(page.absolute().as_uri())
    places = {"numbers": str(numbers), "page": str(page)}
    told = {"data": data, "against": against, "summary": found.summary, "rows": found.rows_now}
    told |= {
        "drifted": [c.name for c in found.columns if c.verdict != "stable"],
        "alerts": plain(found.alerts),
        "scores": plain(found.performance.scores) if found.performance else None,
    }
    lines = [found.summary, *(f"! {alert.text}" for alert in found.alerts), ""]
    return Answer(told | places, [*lines, *(f"{n:8} {place}" for n, place in places.items())])


def _facts(facts: Facts) -> dict[str, Any]:
    """The answer in short; the file beside the page has all of it."""
    from posterior.app.report.report_schema import plain

    return {
        "chosen": facts.choice.key,
        "summary": facts.choice.summary,
        "suspects": plain(facts.choice.suspects),
        "decisions": plain(facts.decisions),
        "rows": facts.data.rows,
        "classes": facts.classes,
        "comparison": [
            {"key": c.key, "name": c.name, **plain(c.scores())} for c in facts.candidates
        ],
        "flags": [
            {"column": column.name, "kind": flag.kind, "text": flag.text}
            for column in facts.data.columns
            for flag in column.flags
        ],
        "seconds": process.seconds(),
    }


def _shown(facts: Facts) -> list[Any]:
    """The answer, the comparison, and what to look at."""
    from rich.text import Text

    from posterior.app.report.flag_groups import grouped

    data = facts.data
    head = (
        f"{data.source}: {data.file_rows:,} rows, {len(data.columns)} columns, "
        f"{len(facts.classes)} classes of {facts.target}"
    )
    suspects = facts.choice.suspects
    found = [flag for _, flag in grouped(data.columns)]
    leaks = [f"! {flag.text}" for flag in found if flag.kind == "leak"]
    flags = [flag for flag in found if flag.kind != "leak"]
    lines = [f"{'!' if flag.severity == 'warning' else '-'} {flag.text}" for flag in flags]
    missed = [f"{failure.name} was left out: {failure.reason}" for failure in facts.failures]
    parts: list[Any] = [Text(head), ""]
    if suspects is not None:
        parts += [*map(Text, [*_few(leaks), suspects.sentence]), ""]
    parts += [Text(facts.choice.summary), "", _comparison(facts), ""]
    if len(facts.classes) <= MOST_CLASSES:
        parts += [_classes(facts), ""]
    for said in (missed, ["Columns to look at", *_few(lines)] if lines else [], data.notes):
        parts += [*map(Text, said), ""] if said else []
    return parts


def _few(lines: list[str]) -> list[str]:
    """The first ones, and how many there are more."""
    rest = len(lines) - MOST_FLAGS
    return lines if rest <= 0 else [*lines[:MOST_FLAGS], f"... and {rest} more on the page"]


def _comparison(facts: Facts) -> Table:
    from rich.table import Table

    from posterior.evaluation.held_out import SCORES

    shown = dict(islice(SCORES.items(), MOST_SCORES))
    table = Table(box=None, pad_edge=False, collapse_padding=True, header_style="dim")
    table.add_column("\nmodel", no_wrap=True)
    scores = [f"{s.title}\n%" if s.percent else f"\n{s.title}" for s in shown.values()]
    for name in (*scores, "calibration\nerror %"):
        table.add_column(name, justify="right", no_wrap=True)
    for model in facts.candidates:
        chosen = model.key == facts.choice.key
        table.add_row(
            f"{'*' if chosen else ' '} {model.name}",
            *(
                _percent(model.scores()[name]) if score.percent else _number(model.scores()[name])
                for name, score in shown.items()
            ),
            _percent(model.calibration_error),
            style="bold" if chosen else None,
        )
    return table


def _classes(facts: Facts) -> Table:
    """How well each class is found."""
    from rich.table import Table

    from posterior.app.report.phrases import percent, short

    table = Table(box=None, pad_edge=False, collapse_padding=True, header_style="dim")
    table.add_column(short(facts.target, 24), no_wrap=True)
    for name in ("rows", "predicted", "precision", "recall", "F1"):
        table.add_column(name, justify="right", no_wrap=True)
    for c in facts.decisions.classes:
        rates = percent(c.precision), percent(c.recall), f"{c.f1:.3f}"
        table.add_row(short(c.name, 24), f"{c.rows:,}", f"{c.predicted:,}", *rates)
    return table


def _number(measure: Measure) -> str:
    error = measure.standard_error
    return f"{measure.value:.3f}" + ("" if error is None else f" ± {error:.3f}")


def _percent(measure: Measure) -> str:
    error = measure.standard_error
    return f"{100 * measure.value:.1f}" + ("" if error is None else f" ± {100 * error:.1f}")
