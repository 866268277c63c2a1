"""The answer of DuckDB to a query, read in batches."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from posterior.sources import csv_files, files
from posterior.sources.connections import connection, plain_errors
from posterior.sources.source import Batch, Source

SQL = re.compile(r"\s*(select|from|with)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class Query(Source):
    """The rows of a DuckDB relation, in the order that the database gives them."""

    relation: Any
    place: str = "the query"
    rows: int = files.BATCH_ROWS

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self.relation.columns)

    def select(self, names: Sequence[str]) -> Query:
        """Some of the columns."""
        return replace(self, relation=self.relation.select(*map(csv_files.identifier, names)))

    def identity(self) -> dict[str, Any]:
        """The columns, and the query."""
        return Source.identity(self) | {"query": self.relation.sql_query()}

    def batches(self) -> Generator[Batch, None, None]:
        """The rows, as the query runs."""
        import pyarrow as pa

        first = 0
        with plain_errors(self.place):
            for batch in self.relation.to_arrow_reader(self.rows):
                if batch.num_rows:
                    yield Batch(pa.Table.from_batches([batch]), self.place, first)
                    first += batch.num_rows


def answer(text: str) -> Query:
    """The answer of an own DuckDB to a query, which may name files."""
    with plain_errors("the query"):
        return Query(connection().sql(text))
