"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

DATA = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="A table: .csv, .tsv, .parquet, .jsonl, .arrow; - is CSV on stdin."
    ),
]
MODEL = Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")]
TARGET = Annotated[
    str, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")
]
KNOWN_TARGET = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COLUMN", help="The column of the labels, if it has a new name."
    ),
]
LEFT_OUT = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="Leave a column out; may be repeated."),
]
ROWS_OUT = Annotated[
    str,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Where the rows go, by its ending; - is CSV on stdout."
    ),
]
MODEL_OUT = Annotated[
    str | None, typer.Option("--out", "-o", metavar="MODEL", help="The model file to write.")
]
SEED = Annotated[int, typer.Option("--seed", help="Of whatever is drawn at random.")]
BANDS = Annotated[
    str | None,
    typer.Option(
        "--bands",
        metavar="N|CUTS",
        help="Make classes of a target that is a number: 4 of equal shares, or 10000,20000.",
    ),
]
