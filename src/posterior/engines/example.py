"""A few rows, to learn from them which columns a function will make."""

from __future__ import annotations

from contextlib import closing

from posterior.sources.source import Batch, Source

ROWS = 5


def first_rows(source: Source, rows: int = ROWS) -> Batch:
    """The head of the first batch."""
    with closing(source.head(rows).batches()) as batches:
        batch = next(batches, None)
    if batch is None:
        raise ValueError("Expected rows, got an empty table.")
    return Batch(batch.frame[:rows], batch.place, batch.first)
