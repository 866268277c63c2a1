"""Files that Arrow reads in place of DuckDB, and types that all cells of a column decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

import pyarrow as pa

from posterior.preprocessing.cell_shapes import Shapes
from posterior.preprocessing.column_roles import role_of
from posterior.preprocessing.distinct_numbers import distinct_numbers
from posterior.preprocessing.roles import frame_of
from posterior.preprocessing.written_numbers import WrittenNumbers
from posterior.sources import csv_layout, plain_csv
from posterior.sources.csv_files import typed
from posterior.sources.files import batches, read

pytestmark = pytest.mark.once

CELLS = ["a", "1", "", '"a"', '"b,c"', '""', '"NA"', "?", "é", '" a"', " a", '",a"']
BROKEN = [
    '","',
    '"a,"',
    '"x\ny"',
    '"a""b"',
    'a"',
    '"a"b',
    ' "a"',
    '"a" ',
    '"a,"b',
    '"',
    '"""',
    "\0",
    "\r",
    "b,c",
]
PLAIN = {
    "without quotes": "x,y\n1,2\n3,4\n",
    "quotes": 'x,y\n"a, b",2\n"",4\n',
    "quoted header": '"x","y"\n1,2\n',
    "delimiters within": 'x,y\n",a",2\n"b, c",4\n',
    "Windows": 'x,y\r\n"a",2\r\n3,4\r\n',
    "mark": '\ufeff"x",y\n1,2\n',
    "no end": 'x,y\n1,"2"',
    "semicolons": 'x;y\n"1,5";2\n',
}
FORGIVEN = {
    "text behind a quote": 'x,y\n"a"b,1\n',
    "space behind a quote": 'x,y\n"a" ,1\n',
    "quote within": 'x,y\na"b,1\n',
    "two that look like one": 'x,y\na",1\n"b,"c,2\n',
    "quotes that double": 'x,y\n"a ""b""",1\n',
    "lines within a cell": 'x,y\n"a\nb",1\n',
    "blank line": "x,y\n1,2\n\n3,4\n",
    "too few": "x,y\n1,2\n3\n",
    "too many": "x,y\n1,2\n3,4,5\n",
    "carriage return": "x,y\n1\r,2\n",
    "zero": "x,y\n1,2\n3,\0\n",
    "no end of a quote": 'x,y\n1,"2\n',
}


def by_arrow(path: Path) -> Any:
    return plain_csv.read(path, csv_layout.layout(path))


def by_duckdb(path: Path) -> list[Any]:
    return [row for piece in batches(path) for row in piece.to_pylist()]


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_plain_files_are_read_by_arrow_as_by_duckdb(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    assert by_arrow(path).to_pylist() == by_duckdb(path)


@pytest.mark.parametrize("text", FORGIVEN.values(), ids=FORGIVEN)
def test_what_arrow_would_forgive_is_left_to_duckdb(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    layout = csv_layout.Layout("utf-8", ",", 1, ("x", "y"), ())
    assert plain_csv.read(path, layout) is None


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.lists(st.sampled_from(CELLS), min_size=2, max_size=2), min_size=1),
    broken=st.none() | st.tuples(st.integers(0, 99), st.sampled_from(BROKEN)),
    block=st.sampled_from([5, 16, 1 << 16]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_arrow_reads_what_duckdb_would_or_leaves_it(
    tmp_path: Path, rows: Any, broken: Any, block: int, end: str
) -> None:
    if broken is not None:
        assume("\0" not in broken[1])  # no text file has it, and the layout says so
        rows[broken[0] % len(rows)][broken[0] % 2] = broken[1]
    path = tmp_path / "a.csv"
    path.write_bytes(end.join(["x,y", *map(",".join, rows), ""]).encode())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(plain_csv, "BLOCK", block)
        found = by_arrow(path)
    if broken is None:
        assert found is not None
    if found is not None:
        assert found.to_pylist() == by_duckdb(path)


@pytest.mark.parametrize("place", [0, 150, -1])
@pytest.mark.parametrize(
    ("odd", "kind"),
    [
        *(("7", "int64"), (" 7 ", "int64"), (None, "int64")),
        *(("7.5", "double"), ("1e3", "double"), ("99999999999999999999", "double")),
        *((word, "string") for word in ("007", "-01", "0x1F", "inf", "word")),
    ],
)
def test_one_cell_anywhere_decides_the_type(place: int, odd: str | None, kind: str) -> None:
    cells: list[str | None] = [str(i + 10) for i in range(3000)]
    cells[place] = odd
    (found,) = typed(pa.table({"x": pa.chunked_array([cells[:1000], cells[1000:]])})).columns
    assert str(found.type) == kind
    if kind != "string" and odd is not None:
        assert found.to_pylist()[place] == float(odd)


def test_dates_with_an_hour_and_no_minutes_stay_words() -> None:
    days = [f"2024-01-{day:02d}" for day in range(1, 29)] * 10
    kinds = [
        str(typed(pa.table({"x": each})).schema.types[0])
        for each in (days, [*days, "2024-01-01 10"])
    ]
    assert kinds == ["timestamp[us]", "string"]


@pytest.mark.parametrize("first", ["012345", "912345"])
def test_many_names_of_digits_are_names_whichever_comes_first(tmp_path: Path, first: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["x,y", f"{first},1", *(f"{i:06d},1" for i in range(12_000))]))
    table = frame_of(read(path).frame)
    assert role_of(table.get_column("x")).role == "identifier"


@given(
    unit=st.sampled_from(["$", "Rs.", " €", " kg"]),
    scale=st.sampled_from(["", "k", " M"]),
    values=st.lists(st.integers(-(10**8), 10**8), min_size=1),
    cut=st.integers(0, 3),
)
def test_cells_are_read_by_their_shapes_as_one_by_one(
    unit: str, scale: str, values: list[int], cut: int
) -> None:
    written = WrittenNumbers(".", ",", (unit.strip(),))
    texts = [f"{v / 100:,.2f}{scale}{unit}" for v in values] + ["(1,026)", "none", "-.5", "1e-3"]
    some = pa.array(["before"] * cut + texts)[cut:]
    by_shape, alone = written.values(Shapes.of(some)), written.values(texts)
    np.testing.assert_array_equal(by_shape, alone)


@given(
    scale=st.sampled_from([1.0, 0.01, 1e-4, 1 / 3, 1e9, 1e300]),
    low=st.integers(-(10**6), 10**6),
    odd=st.sampled_from([0.0, 0.5, 1 / 3, 1e18, np.inf, -np.inf]),
    seed=st.integers(0, 9),
)
@settings(max_examples=60)
def test_numbers_that_are_counted_are_those_that_are_sorted(
    scale: float, low: int, odd: float, seed: int
) -> None:
    places = low + np.random.default_rng(seed).integers(0, 20_000, 12_000)
    values = np.append(np.divide(places, 1 / scale), odd)
    np.testing.assert_array_equal(distinct_numbers(values), np.unique(values))
