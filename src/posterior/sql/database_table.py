"""A table or a query of a database: read in batches, or summed where it is."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from posterior.data.typing import Array
from posterior.generative.joint import JointStatistics
from posterior.sources.source import Batch, Source
from posterior.sql.connections import Database, Kind, database
from posterior.sql.countable import NotInsideError
from posterior.sql.expressions import table_named
from posterior.sql.inside import summed
from posterior.sql.writing import table_parts

QUERY = re.compile(r"\s*(select|from|with|values|table)\b", re.IGNORECASE)
ROWS = 65_536  # of a batch


@dataclass(frozen=True, eq=False)
class Table(Source):
    """Rows of a database. What `posterior.sql.table` returns, and every `fit` takes."""

    database: Database
    query: str
    place: str
    inside: bool | None = None

    @cached_property
    def _columns(self) -> dict[str, Kind]:
        return self.database.columns(self.query)

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self._columns)

    def batches(self) -> Generator[Batch, None, None]:
        """The rows, as the database sends them."""
        first = 0
        for frame in self.database.batches(self.query, ROWS):
            yield Batch(frame, self.place, first)
            first += frame.num_rows

    def summed(self, learner: Any, y: str) -> tuple[Any, Array, JointStatistics[Any]] | None:
        """A reader, classes and sums that the database takes itself, where that is faster."""
        if self.inside is False:
            return None
        try:
            return summed(learner, self.database, self.query, y, always=self.inside is True)
        except NotInsideError as reason:
            if self.inside is None:
                return None
            raise ValueError(
                f"Expected sums that the database can take, but: {reason} Leave inside=None, which "
                "reads the rows then."
            ) from reason


def opened(connection: Any, name: str | Sequence[str], inside: bool | None) -> Table:
    """A table by its name, or a query."""
    known = database(connection)
    if isinstance(name, str) and QUERY.match(name):
        return Table(known, name.strip().rstrip(";"), "the query", inside)
    parts = table_parts(name)
    source = table_named(parts, parts[-1]).sql(dialect=known.dialect)
    return Table(known, f"SELECT * FROM {source}", f"the table {'.'.join(parts)}", inside)
