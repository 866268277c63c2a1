"""What databases say differently, beyond what sqlglot translates."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from posterior.sql.expressions import SQL

Translation = Callable[[SQL], SQL]


def _duckdb(node: SQL) -> SQL:
    if isinstance(node, exp.Greatest):
        node.set("ignore_nulls", True)  # scores are NULL together or not at all
    return node


def _postgres(node: SQL) -> SQL:
    """A choice among numbers with a point is a decimal to PostgreSQL; a score is a double."""
    if isinstance(node, exp.Case) and node.args.get("default") is not None:
        return exp.cast(node.copy(), "double")
    return _materialized(node)


def _materialized(node: SQL) -> SQL:
    """Steps are computed once, rather than wherever the next one mentions them."""
    if isinstance(node, exp.CTE):
        node.set("materialized", True)
    return node


def _sqlite(node: SQL) -> SQL:
    if isinstance(node, exp.TimeToUnix):  # TimeToUnix(CAST(x AS TIMESTAMP))
        arguments = [exp.Literal.string("%s"), node.this.this]
        return exp.Anonymous(this="STRFTIME", expressions=arguments)
    return _materialized(node)


def _bigquery(node: SQL) -> SQL:
    if isinstance(node, exp.TimeToUnix):
        return exp.UnixSeconds(this=exp.cast(node.this.this, "timestamptz"))
    return node


def _as_it_is(node: SQL) -> SQL:
    return node


DIALECTS: dict[str, Translation] = {
    "bigquery": _bigquery,
    "duckdb": _duckdb,
    "postgres": _postgres,
    "spark": _as_it_is,
    "sqlite": _sqlite,
}


def adapted(query: SQL, dialect: str) -> SQL:
    """The query in the words of a database."""
    return query.transform(DIALECTS[dialect], copy=False)
