"""posterior inspect, sql, javascript: a model file shown, as a query, and as code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from posterior.app import models
from posterior.app.cli.command import JSON, MODEL, Answer

if TYPE_CHECKING:
    from rich.table import Table


MOST = 40  # columns or classes that are shown


def inspect(model: MODEL) -> Answer:
    """Show what a model file holds."""
    facts = models.facts(model)
    facts |= facts.pop("table", None) or _inside(model)
    return Answer({"file": model, **facts}, [_summary(model, facts), *_columns(facts)])


def _inside(path: str) -> dict[str, Any]:
    """The same of a file that an earlier version wrote."""
    known = models.load(path)
    from posterior.storage.summary import of_table

    return of_table(known)


def _summary(path: str, facts: dict[str, Any]) -> Table:
    from rich.table import Table

    rows, classes, left_out = facts.get("rows"), facts.get("classes"), facts.get("left_out")
    lines = {
        "file": f"{path} ({facts['bytes']:,} bytes)",
        "model": facts["model"],
        "corrected by": facts["calibration"],
        "target": facts["target"],
        "classes": None if classes is None else _listed(classes),
        "rows learned": None if rows is None else f"{rows:,.10g}",
        "columns": facts.get("n_features"),
        "left out": _listed(left_out) if left_out else None,
        "written by": f"posterior {facts['version']}, format {facts['schema']}",
        "checksum": f"sha256 {facts['sha256'][:16]}…, which fits",
    }
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in lines.items():
        if value is not None:
            table.add_row(name, _plain(value))
    return table


def _columns(facts: dict[str, Any]) -> list[Any]:
    """The columns and what each is read as, where the model decides that."""
    from rich.table import Table

    columns = facts.get("columns") or []
    if not columns:
        return []
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("column")
    table.add_column("read as")
    for column in columns[:MOST]:
        table.add_row(_plain(column["name"]), _plain(column["role"] or "number"))
    hidden = len(columns) - MOST
    return ["", table, *([f"... and {hidden} more"] if hidden > 0 else [])]


def _listed(values: list[Any]) -> str:
    shown = ", ".join(map(str, values[:MOST]))
    hidden = len(values) - MOST
    return f"{shown} ... and {hidden} more" if hidden > 0 else shown


def _plain(value: Any) -> str:
    """Text that rich takes as it is."""
    from rich.markup import escape

    return escape(str(value))


def sql(
    model: MODEL,
    dialect: Annotated[
        str, typer.Option("--dialect", "-d", help="duckdb, postgres, sqlite, spark or bigquery.")
    ] = "duckdb",
    table: Annotated[
        str, typer.Option("--table", help="Where the rows are: a table, or schema.table.")
    ] = "data",
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="COLUMN",
            help="Column to keep in the result, as a key; may be repeated.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="COLUMN", help="Name of a column the model reads, in its order."
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", "--evidence", help="Add the evidence of each column for each class."
        ),
    ] = False,
    json: JSON = False,
) -> Answer:
    """Write the model as a SQL query, to predict inside a database."""
    from posterior.sql import to_sql

    known = models.load(model)
    query = to_sql(
        known,
        dialect,
        table,
        columns=columns or None,
        keep=keep or None,
        classes=_classes(known),
        explain=explain,
    )
    if not json:
        typer.echo(query)  # as it is: a name may look like markup
    return Answer({"file": model, "dialect": dialect, "table": table, "sql": query})


def javascript(model: MODEL, json: JSON = False) -> Answer:
    """Write the model as a JavaScript module, to predict in a page or in Node."""
    from posterior.javascript import to_javascript

    text = to_javascript(models.load(model))
    if not json:
        typer.echo(text, nl=False)
    return Answer({"file": model, "javascript": text})


def _classes(model: Any) -> Any:
    """As `predict` calls them: clusters count from 1."""
    from sklearn.base import is_classifier

    from posterior.estimators import KMeans, MiniBatchKMeans

    if is_classifier(model):
        return model.classes_
    clusters = isinstance(model, KMeans | MiniBatchKMeans)
    return models.classes(model, len(model.cluster_centers_)) if clusters else None
