"""Fitting inside a database, against SQL written by hand and against reading the rows.

    python -m benchmarks.push_down                # DuckDB over a Parquet file
    python -m benchmarks.push_down --postgres     # and a server of PostgreSQL that it starts
    python -m benchmarks.push_down --rows 500_000 --rounds 3

By hand means what many would write: count(*), sum(x) and sum(x * x) by class, which rounds; counts
of the values of each column; and for discriminant analysis all sum(x * y). The tables are made from
a seed. In each round every way runs once; the best of all rounds counts. What it prints is the part
"What it costs" of docs/sql.md.
"""

from __future__ import annotations

import argparse
import io
import os
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

import posterior
from benchmarks import postgres

WIDTH = 8  # columns of a case
SHARE = 10  # PostgreSQL gets one row of so many
LOOK = 2000  # rows that show which way is taken
TYPES = {"int32": "integer", "double": "double precision", "string": "text"}


def rows(n: int) -> pa.Table:
    """Columns of whole numbers, these as doubles, quarters, doubles of all digits, categories."""
    random = np.random.default_rng(0)
    columns: dict[str, Any] = {"y": random.choice(["a", "b", "c"], n)}
    for j in range(WIDTH):
        columns[f"whole{j}"] = random.integers(0, 1000, n).astype(np.int32)
        columns[f"float{j}"] = columns[f"whole{j}"].astype(np.float64)
        columns[f"quarter{j}"] = np.round(random.normal(50, 10, n) * 4) / 4
        columns[f"double{j}"] = random.normal(50, 10, n)
        columns[f"word{j}"] = random.choice(["red", "green", "blue", "gray"], n)
    return pa.table(columns)


@dataclass(frozen=True)
class Case:
    name: str
    model: Any
    columns: list[str]
    by_hand: Callable[[list[str], str], str]


def _moments(columns: list[str], table: str) -> str:
    sums = ", ".join(f"sum({c}), sum({c} * {c})" for c in columns)
    return f"SELECT y, count(*), {sums} FROM {table} GROUP BY y"


def _values(columns: list[str], table: str) -> str:
    parts = (f"SELECT y, {c}, count(*) FROM {table} GROUP BY y, {c}" for c in columns)
    return " UNION ALL ".join(parts)


def _products(columns: list[str], table: str) -> str:
    sums = [f"sum({c})" for c in columns]
    sums += [f"sum({a} * {b})" for a, b in combinations_with_replacement(columns, 2)]
    return f"SELECT y, count(*), {', '.join(sums)} FROM {table} GROUP BY y"


def cases() -> list[Case]:
    def named(kind: str, n: int = WIDTH) -> list[str]:
        return [f"{kind}{j}" for j in range(n)]

    return [
        Case("Gaussian, whole numbers", posterior.GaussianNB(), named("whole"), _moments),
        Case(
            "Gaussian, whole numbers in doubles", posterior.GaussianNB(), named("float"), _moments
        ),
        Case("Gaussian, quarters", posterior.GaussianNB(), named("quarter"), _moments),
        Case("Gaussian, all digits", posterior.GaussianNB(), named("double"), _moments),
        Case("categories", posterior.NaiveBayes(), named("word"), _values),
        Case("LDA", posterior.LinearDiscriminantAnalysis(), named("double", 6), _products),
    ]


def race(ways: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The best time of each."""
    best = dict.fromkeys(ways, float("inf"))
    for turn in range(rounds):
        for name in sorted(ways, reverse=bool(turn % 2)):
            start = time.perf_counter()
            ways[name]()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def report(place: str, connection: Any, table: str, n: int, rounds: int) -> None:
    """A line of the table for each case."""
    for case in cases():
        query = f"SELECT y, {', '.join(case.columns)} FROM {table}"
        by_hand = case.by_hand(case.columns, table)

        def fit(inside: bool, case: Case = case, query: str = query) -> Any:
            source = posterior.sql.table(connection, query, inside=inside)
            return case.model.fit(source, "y")

        ways = {
            "by hand": lambda by_hand=by_hand: connection.execute(by_hand).fetchall(),
            "inside": lambda fit=fit: fit(True),
            "read": lambda fit=fit: fit(False),
        }
        best = race(ways, rounds)
        hand, inside, read = (best[name] for name in ("by hand", "inside", "read"))
        few = posterior.sql.table(connection, f"{query} LIMIT {LOOK}")
        taken = "rows read" if few.summed(case.model, "y") is None else "inside"
        cells = [f"{place}: {case.name}", f"{1e9 * hand / n:,.0f} ns"]
        cells += [f"{1e9 * t / n:,.0f} ns ({t / hand:.2f})" for t in (inside, read)]
        print(f"| {' | '.join([*cells, taken])} |", flush=True)


def head(n: int, rounds: int, server: str | None) -> None:
    """What was measured, and the head of the table."""
    there = f", {n // SHARE:,} in PostgreSQL {server.split()[0]}" if server else ""
    text = (
        "Time for each row, and how many times that of the query by hand it is: "
        f"{WIDTH} columns (6 for LDA), 3 classes, {n:,} rows of a Parquet file in DuckDB "
        f"{duckdb.__version__}{there}; {os.cpu_count()} threads, best of {rounds} rounds. "
        "The last column says which way is taken by default."
    )
    print(textwrap.fill(text, 100), end="\n\n")
    print("| | by hand | inside | rows read | default |\n|---|---|---|---|---|", flush=True)


@contextmanager
def on_postgres(address: str, table: pa.Table) -> Iterator[Any]:
    """A connection that holds the table."""
    import psycopg

    columns = ", ".join(f"{f.name} {TYPES[str(f.type)]}" for f in table.schema)
    lines = io.BytesIO()
    csv.write_csv(table, lines, csv.WriteOptions(include_header=False))
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE TEMPORARY TABLE posterior_bench ({columns})")
        with connection.cursor().copy("COPY posterior_bench FROM STDIN (FORMAT csv)") as copy:
            copy.write(lines.getvalue())
        connection.execute("ANALYZE posterior_bench")
        yield connection


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--postgres", action="store_true", help="with some of the rows")
    given = parser.parse_args()
    table = rows(given.rows)
    with ExitStack() as stack:
        server: Any = None
        if given.postgres:
            n = given.rows // SHARE
            address = stack.enter_context(postgres.running())
            server = stack.enter_context(on_postgres(address, table.slice(0, n)))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        head(given.rows, given.rounds, server and server.info.parameter_status("server_version"))
        path = Path(folder, "rows.parquet")
        parquet.write_table(table, path)
        with duckdb.connect() as connection:
            report("DuckDB", connection, f"'{path}'", given.rows, given.rounds)
        if server:
            report("PostgreSQL", server, "posterior_bench", n, given.rounds)


if __name__ == "__main__":
    main()
