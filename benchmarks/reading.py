"""What reading costs: a million rows of numbers, dates, money and words, next to DuckDB's reader.

    python -m benchmarks.reading

DuckDB reads the file to Arrow, by types that it guesses; then once more with the conversions that
a person would add by hand, since it leaves American dates and money as text. Ours reads the file,
decides what every column is, and makes numbers of dates and money. Each is timed in turn, and the
best of some rounds counts. What it prints is docs/results/reading.md.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks.quality.tables import HERE
from posterior.preprocessing.column_roles import roles_of
from posterior.preprocessing.roles import Roles
from posterior.sources import csv_layout, files

PAGE = HERE / "docs" / "results" / "reading.md"
ROWS, ROUNDS = 1_000_000, 7
BY_HAND = """SELECT age, score, balance, ordered, segment,
    strptime(shipped, '%m/%d/%Y') AS shipped,
    CAST(replace(replace(price, '$', ''), ',', '') AS DOUBLE) AS price
FROM read_csv('{}')"""


def made(n: int) -> pa.Table:
    """Three numbers, two dates, money and a category."""
    random = np.random.default_rng(0)
    days = np.datetime64("2015-01-01") + random.integers(0, 3650, n).astype("timedelta64[D]")
    shipped = np.datetime_as_string(days + random.integers(0, 30, n)).tolist()
    return pa.table(
        {
            "age": random.integers(18, 90, n),
            "score": random.normal(0, 1, n).round(4),
            "balance": random.gamma(2, 900, n).round(2),
            "ordered": np.datetime_as_string(days).tolist(),
            "shipped": [f"{day[5:7]}/{day[8:]}/{day[:4]}" for day in shipped],
            "price": [f"${price:,.2f}" for price in random.gamma(2, 2000, n).round(2).tolist()],
            "segment": random.choice(["home", "office", "school"], n).tolist(),
        }
    )


def by_duckdb(path: str) -> Any:
    return duckdb.sql(f"SELECT * FROM read_csv('{path}')").to_arrow_table()


def by_hand(path: str) -> Any:
    return duckdb.sql(BY_HAND.format(path)).to_arrow_table()


def by_us(path: str) -> Any:
    csv_layout._layout.cache_clear()  # every file is new
    frame = files.read(path).frame
    roles = Roles("", tuple(roles_of(nw.from_native(frame, eager_only=True), {})))
    assert [c.role for c in roles.columns] == [
        *["number"] * 3,
        "date",
        "date",
        "number",
        "category",
    ]
    return roles.read(frame)


WAYS: dict[str, Callable[[str], Any]] = {
    "DuckDB, American dates and money left as text": by_duckdb,
    "DuckDB, both converted by hand": by_hand,
    "posterior: read, understood and converted": by_us,
}


def main() -> None:
    duckdb.execute("SET enable_progress_bar=false")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.csv")
        pyarrow.csv.write_csv(made(ROWS), path)
        best = dict.fromkeys(WAYS, np.inf)
        for _ in range(ROUNDS):
            for name, way in WAYS.items():
                began = time.perf_counter()
                way(path)
                best[name] = min(best[name], time.perf_counter() - began)
    first = next(iter(best.values()))
    lines = [
        f"A CSV file of {ROWS:,} rows: three numbers, an ISO date, an American date, money and a",
        f"category. Seconds, best of {ROUNDS} rounds, and how many times those of DuckDB's reader.",
        "",
        "| | seconds | times |",
        "|---|---|---|",
        *(f"| {name} | {took:.2f} | {took / first:.2f} |" for name, took in best.items()),
    ]
    PAGE.write_text("\n".join(lines) + "\n", "utf-8")
    print(PAGE.read_text("utf-8"))


if __name__ == "__main__":
    main()
