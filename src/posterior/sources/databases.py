"""Tables in files of SQLite and DuckDB, which are only read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from posterior.sources import connections, headers, written_cells
from posterior.sources.csv_files import identifier, quoted
from posterior.sources.formats import SQLITE, beginning_of
from posterior.sources.naming import listed, part_named
from posterior.sources.opened_table import OpenedTable, queried

MAIN = "main"  # the schema that needs no name


@contextmanager
def opened(place: Path, part: str | None) -> Iterator[OpenedTable]:
    """A table of a database, whose first bytes say which one it is: endings are shared."""
    beginning = beginning_of(place)
    if beginning.startswith(SQLITE):
        with _sqlite(place, part) as table:
            yield table
    elif beginning[8:12] == b"DUCK":
        with closing(connections.connection()) as connection:
            yield _duckdb(connection, place, part)
    else:
        raise ValueError(f"Expected a database of SQLite or DuckDB, but {place.name!r} is neither.")


@contextmanager
def _sqlite(place: Path, part: str | None) -> Iterator[OpenedTable]:
    """Cells of SQLite have types, its columns do not: cells come as text."""
    address = f"{place.absolute().as_uri()}?mode=ro"
    # rows that are read ahead come by another thread, one at a time
    opened = sqlite3.connect(address, uri=True, check_same_thread=False)
    with closing(opened) as database:
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        with _plain_errors(place.name):
            database.execute("PRAGMA trusted_schema=OFF")  # views call no functions with effects
            found = database.execute(
                "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') "
                "AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
            ).fetchall()
        name = _chosen(place, part, [n for n, _ in found], [n for n, t in found if t == "view"])
        query = f"SELECT * FROM {identifier(name)}"
        with _plain_errors(place.name):
            columns = database.execute(f"{query} LIMIT 0").description
        header = headers.header([[column[0] for column in columns]])

        def pieces(rows: int, columns: Sequence[str] | None) -> Iterator[Any]:
            with _plain_errors(place.name):
                cursor = database.execute(query)
                while some := cursor.fetchmany(rows):
                    table = written_cells.table(header.names, some)
                    yield table if columns is None else table.select(list(columns))

        schema = written_cells.table(header.names, []).schema
        yield OpenedTable("sqlite", schema, pieces, header.notes)


@contextmanager
def _plain_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        text = str(error).rstrip(".")
        raise ValueError(f"Expected a database in {name!r}, but: {text}.") from None


def _duckdb(connection: Any, place: Path, part: str | None) -> OpenedTable:
    with connections.plain_errors(place.name):
        connection.execute(f"ATTACH {quoted(str(place))} AS file (READ_ONLY)")
        connection.execute("SET enable_external_access=false")  # views read no other file
        found = connection.sql(
            "SELECT table_schema, table_name, table_type FROM information_schema.tables "
            "WHERE table_catalog = 'file' ORDER BY ALL"
        ).fetchall()
    tables = {name if s == MAIN else f"{s}.{name}": (s, name) for s, name, _ in found}
    views = [name if s == MAIN else f"{s}.{name}" for s, name, kind in found if kind == "VIEW"]
    schema, name = map(identifier, tables[_chosen(place, part, list(tables), views)])
    with connections.plain_errors(place.name):
        relation = connection.sql(f"SELECT * FROM file.{schema}.{name}")
    return queried("duckdb", relation, place.name)


def _chosen(place: Path, part: str | None, names: list[str], views: list[str]) -> str:
    """The table that is named, or the only one."""
    if part is not None:
        return part_named(part, names, "table", place.name)
    tables = [name for name in names if name not in views] or names
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise ValueError(f"Expected a table in {place.name!r}, got a database without one.")
    raise ValueError(
        f"Expected one table in {place.name!r}, got {listed(names)}. Name one by --table."
    )
