"""DuckDB and PostgreSQL over the user's own connection: columns, answers, and rows in batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Kind = Literal["whole", "long", "real", "truth", "text", "other"]
# whole: integers of 32 bits or fewer; long: of 64, which doubles cannot all hold

KINDS: dict[str, Kind] = {
    **dict.fromkeys(("tinyint", "smallint", "integer", "utinyint", "usmallint"), "whole"),
    **dict.fromkeys(("int2", "int4"), "whole"),
    **dict.fromkeys(("bigint", "uinteger", "int8"), "long"),
    **dict.fromkeys(("float", "double", "float4", "float8"), "real"),
    **dict.fromkeys(("boolean", "bool"), "truth"),
    **dict.fromkeys(("varchar", "text"), "text"),
}


class Database(Protocol):
    """What is asked of a database."""

    @property
    def dialect(self) -> str: ...

    @property
    def error(self) -> type[Exception]:
        """What it raises."""
        ...

    def columns(self, query: str) -> dict[str, Kind]:
        """The columns of a query's answer, and what they hold."""
        ...

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """A short answer."""
        ...

    def batches(self, query: str, rows: int) -> Iterator[Any]:
        """A long answer, as tables of Arrow with about so many rows each."""
        ...


def database(connection: Any) -> Database:
    """The database behind a connection."""
    home = type(connection).__module__.split(".")[0]
    if home in ("duckdb", "_duckdb"):
        return DuckDB(connection)
    if home == "psycopg" and hasattr(connection, "cursor"):
        return PostgreSQL(connection)
    raise TypeError(
        "Expected a connection of DuckDB (duckdb.connect) or PostgreSQL (psycopg.connect), got "
        f"{type(connection).__name__}."
    )


@dataclass(frozen=True)
class DuckDB:
    connection: Any
    dialect: str = "duckdb"

    @property
    def error(self) -> type[Exception]:
        import duckdb

        return duckdb.Error

    def columns(self, query: str) -> dict[str, Kind]:
        answer = self.connection.sql(f"SELECT * FROM ({query}) LIMIT 0")
        types = (str(each).lower() for each in answer.types)
        names = zip(answer.columns, types, strict=True)
        return {name: KINDS.get(kind, _enum(kind)) for name, kind in names}

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        return list(self.connection.execute(query).fetchall())  # sql would plan it twice

    def batches(self, query: str, rows: int) -> Iterator[Any]:
        import pyarrow as pa

        for batch in self.connection.sql(query).to_arrow_reader(rows):
            yield pa.Table.from_batches([batch])


def _enum(kind: str) -> Kind:
    return "text" if kind.startswith("enum") else "other"


@dataclass(frozen=True)
class PostgreSQL:
    """Each question is a transaction, or, inside one of the user's, a savepoint."""

    connection: Any
    dialect: str = "postgres"

    @property
    def error(self) -> type[Exception]:
        return self.connection.Error

    def _described(self, query: str) -> list[tuple[str, str]]:
        with self.connection.transaction():
            cursor = self.connection.execute(f"SELECT * FROM ({query}) AS t LIMIT 0")
        known = self.connection.adapters.types
        return [
            (c.name, each.name if (each := known.get(c.type_code)) else "")
            for c in cursor.description
        ]

    def columns(self, query: str) -> dict[str, Kind]:
        return {name: KINDS.get(kind, "other") for name, kind in self._described(query)}

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        with self.connection.transaction():
            return list(self.connection.execute(query).fetchall())

    def batches(self, query: str, rows: int) -> Iterator[Any]:
        """Rows of a cursor of the server, which holds the others back."""
        import pyarrow as pa

        described = self._described(query)
        names = [name for name, _ in described]
        with (
            self.connection.transaction(),
            self.connection.cursor(name="posterior_rows", binary=True) as cursor,
        ):
            cursor.execute(query)
            while fetched := cursor.fetchmany(rows):
                cells = zip(*fetched, strict=True)
                columns = [_arrow(c, kind) for c, (_, kind) in zip(cells, described, strict=True)]
                yield pa.Table.from_arrays(columns, names)


def _arrow(cells: tuple[Any, ...], kind: str) -> Any:
    """A column of PostgreSQL as one of Arrow; what has no like there is text."""
    import pyarrow as pa

    types = {
        "int2": pa.int16(),
        "int4": pa.int32(),
        "int8": pa.int64(),
        "float4": pa.float32(),
        "float8": pa.float64(),
        "bool": pa.bool_(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us"),
        "timestamptz": pa.timestamp("us", "UTC"),
        "text": pa.string(),
        "varchar": pa.string(),
    }
    if kind in types:
        return pa.array(cells, types[kind])
    convert = float if kind == "numeric" else str
    known = [None if cell is None else convert(cell) for cell in cells]
    return pa.array(known, pa.float64() if kind == "numeric" else pa.string())
