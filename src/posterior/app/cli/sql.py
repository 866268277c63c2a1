"""posterior sql."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from posterior.app import models
from posterior.app.cli.command import JSON, Answer
from posterior.app.cli.options import MODEL


def sql(
    model: MODEL,
    dialect: Annotated[
        str,
        typer.Option("--dialect", "-d", help="duckdb, postgres, sqlite, spark or bigquery."),
    ] = "duckdb",
    table: Annotated[
        str, typer.Option("--table", help="Where the rows are: a table, or schema.table.")
    ] = "data",
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep", metavar="COLUMN", help="Stands beside the answer, as a key; may be repeated."
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="COLUMN", help="Names of what the model reads, in its order."
        ),
    ] = None,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Add what each column says for each class.")
    ] = False,
    json: JSON = False,
) -> Answer:
    """Write the model as a query, to answer where the rows are."""
    from posterior.sql import to_sql

    known = models.load(model)
    query = to_sql(
        known,
        dialect,
        table,
        columns=columns or None,
        keep=keep or None,
        classes=_classes(known),
        evidence=evidence,
    )
    if not json:
        typer.echo(query)  # as it is: a name may look like markup
    return Answer({"file": model, "dialect": dialect, "table": table, "sql": query})


def _classes(model: Any) -> Any:
    """As `predict` calls them: clusters count from 1."""
    from sklearn.base import is_classifier

    from posterior.estimators import KMeans, MiniBatchKMeans

    if is_classifier(model):
        return model.classes_
    clusters = isinstance(model, KMeans | MiniBatchKMeans)
    return models.classes(model, len(model.cluster_centers_)) if clusters else None
