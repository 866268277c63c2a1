"""A table or a query of a database: read in batches, or summed where it is."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from posterior.data.typing import Array
from posterior.estimators.summed_classifier import SummedClassifier
from posterior.families.family import AnyFamily, Summed
from posterior.generative.joint import JointStatistics
from posterior.readers.numbered import NumberedCategories
from posterior.readers.reader import Reader
from posterior.sources.source import Batch, Source
from posterior.sql.connections import Database, Kind, database
from posterior.sql.countable import Cells, NotInsideError
from posterior.sql.expressions import table_named
from posterior.sql.family_sums import asked, numbered
from posterior.sql.sql_sums import Ledger, answered
from posterior.sql.writing import table_parts
from posterior.statistics.cross_products import CrossSums
from posterior.statistics.exact import Exact

FEW_COLUMNS = 8  # whose products DuckDB takes faster than it hands rows over
SAMPLE = 1000  # rows that say which columns there are, and in which units they count
QUERY = re.compile(r"\s*(select|from|with|values|table)\b", re.IGNORECASE)
ROWS = 65_536  # of a batch


def summed(
    learner: SummedClassifier, database: Database, query: str, y: str, always: bool
) -> tuple[Reader, Array, JointStatistics[Any]]:
    """How rows are read, the classes, and their sums, which the database takes.

    `NotInsideError` says why it does not take them.
    """
    reader = learner.reader()
    if not reader.by_column:  # it sees rows whole, or by what others hold
        raise NotInsideError(f"{type(learner).__name__} needs more than sums by class.")
    kinds = database.columns(query)  # as they are now
    if kinds[y] == "other":
        raise NotInsideError(f"Classes in {y!r} are of no plain kind.")
    sample = next(database.batches(f"SELECT * FROM ({query}) AS t LIMIT {SAMPLE}", SAMPLE), None)
    if sample is None:
        raise NotInsideError("There are no rows.")
    features = sample.drop_columns([y])
    try:
        reader, _ = reader.learn(features)
        family = learner.rule(reader, None).family
    except (TypeError, ValueError) as error:  # reading the rows will say where
        raise NotInsideError(str(error)) from error
    ledger = Ledger()
    columns = [_cells(name, kinds[name], features) for name in features.column_names]
    read = asked(family, columns, ledger)
    if not always and database.dialect == "duckdb":
        _check_that_it_pays(family, columns, ledger)
    try:
        lines = database.ask(ledger.query(query, y, database.dialect))
    except database.error as error:  # such as of a square that is too large
        raise NotInsideError(f"It said: {error}") from error
    answer = answered(lines, ledger)
    statistics = read(answer)
    if isinstance(reader, NumberedCategories):
        statistics = numbered(statistics, reader.at_least)
    return reader, answer.classes, JointStatistics(Exact.of(answer.rows), statistics)


def _check_that_it_pays(family: AnyFamily, columns: Sequence[Cells], ledger: Ledger) -> None:
    """DuckDB hands rows over in two or three times what sums take; PostgreSQL needs ten times.

    So whatever adds up as it is should stay there. Cells cut into parts need four sums of whole
    numbers of 64 bits, or more, for each two of doubles, which takes longer than to read them.
    """
    if family.summed() == Summed(CrossSums) and len(columns) > FEW_COLUMNS:
        raise NotInsideError("So many products are faster taken of the rows.")
    if ledger.cut and not ledger.histograms:
        raise NotInsideError("Exact sums of so many digits are faster taken of the rows.")


def _cells(name: str, kind: Kind, sample: Any) -> Cells:
    if kind not in ("whole", "long", "real"):
        return Cells(name, kind)
    cells = sample[name]
    if str(cells.type) != "float":  # which is of 32 bits
        cells = cells.cast("float64", safe=False)
    return Cells.of(name, kind, cells.to_numpy())


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
