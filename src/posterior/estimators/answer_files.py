"""Answers for tables that are not in memory: files in pieces, and frames of clusters."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from posterior.engines.engine import ClusterEngine
from posterior.engines.locate import locate
from posterior.engines.progress import Progress
from posterior.engines.streaming import Streamed, ahead
from posterior.sources import outputs
from posterior.sources.answers import answered
from posterior.sources.learned_types import as_learned
from posterior.sources.source import Batch, Source, errors_in
from posterior.sources.table_files import Files

TYPES = "file_types_"  # of the columns in the file that a model has learned from, if it knows


def predict_file(self: Any, X: Any, out: str | os.PathLike[str], *, only: bool = False) -> int:
    """Write the most probable class of each row and all probabilities; returns how many rows.

    Rows are read and written some at a time, so that files may be larger than memory. The file
    appears when it is complete.

    Parameters
    ----------
    X : path, pattern such as "clicks/*.parquet", list of paths, query, or DuckDB relation
    out : path
        Its ending says the format: .csv, .tsv, .jsonl, .parquet or .arrow, and .gz packs it.
    only : bool, default=False
        Write the columns "predicted" and "p_..." alone, without those of X.
    """
    there = locate(X)
    if there is None or not isinstance(there[0], Streamed):
        raise TypeError(
            f"Expected the path of a file, a query or a DuckDB relation, got "
            f"{type(X).__name__}. Use predict_proba."
        )
    place = os.fspath(out)
    outputs.format_of(place)  # or an error, before anything is read
    n_rows = outputs.write(place, _pieces_answered(self, there[1], place, only))
    if n_rows == 0:
        raise ValueError("Expected rows, got an empty table.")
    return n_rows


def _pieces_answered(model: Any, source: Source, out: str, only: bool) -> Iterator[Any]:
    """Pieces of the table to write."""
    text = isinstance(source, Files) and source.is_text
    types = vars(model).get(TYPES) if text else None
    n_rows, known = 0, None if types else source.n_rows
    with Progress(vars(model).get("verbose", 0), "Answered", total=known) as progress:
        for written, batch in ahead(_pieces(source, plain=types is not None)):
            with errors_in(batch):
                read = batch.frame if types is None else as_learned(batch.frame, types, 0)
                piece = answered(model, written, read, out, only)
            yield piece
            n_rows += piece.num_rows
            progress(n_rows)


def _pieces(source: Source, plain: bool) -> Iterator[tuple[Any, Batch]]:
    """Tables as they are written, and as batches."""
    if isinstance(source, Files):
        return source.pieces(plain)
    return ((batch.frame, batch) for batch in source.batches())


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A batch with the answers of a model beside it."""

    model: Any
    only: bool

    def __call__(self, batch: Batch) -> Any:
        with errors_in(batch):
            return answered(self.model, batch.frame, batch.frame, outputs.STDOUT, self.only)


def predict_frame(model: Any, X: Any, *, only: bool = False) -> Any:
    """A Dask or Spark frame with the most probable class and all probabilities beside each row.

    It is as lazy as X: rows are answered where they are, when somebody asks.

    Parameters
    ----------
    model : fitted classifier, mixture or k-means
    X : frame of Dask or Spark, or bag of Dask, with the columns that the model reads
    only : bool, default=False
        The columns "predicted" and "p_..." alone, without those of X.
    """
    engine, source = locate(X) or (None, None)
    if not isinstance(engine, ClusterEngine) or source is None or not source.names:
        raise TypeError(
            f"Expected a frame of Dask or Spark, got {type(X).__name__}. Use predict_proba in "
            "memory, and predict_file for files."
        )
    return engine.map(Answer(model, only), source)
