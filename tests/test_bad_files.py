"""Files that are no tables: one line that names the file, exit code 1, soon, nothing written."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import re
import sqlite3
import struct
import time
import zipfile
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
pytest.importorskip("python_calamine")

import pyarrow as pa
from pyarrow import parquet
from typer.testing import CliRunner

from posterior.app.cli.commands_app import app

openpyxl = pytest.importorskip("openpyxl")
pytestmark = pytest.mark.once

SECONDS = 2.0  # of the processor: other work on the machine is no fault of ours
TABLE = b"x,y\n" + b"".join(b"%d,%c\n" % (i, b"ab"[i % 2]) for i in range(40))


def archive(flags: int = 0, size: int | None = None, ahead: int = 0, **members: bytes) -> bytes:
    """A zip archive; flags, sizes and places may be claimed that are not true."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members.items():
            out.writestr(name, content)
    found = bytearray(packed.getvalue())
    local, central = 0, found.find(b"PK\1\2")
    if flags:
        found[local + 6] |= flags
        found[central + 8] |= flags
    if size is not None:
        found[central + 24 : central + 28] = struct.pack("<I", size)
    if ahead:
        end = found.rfind(b"PK\5\6")
        found[end + 16 : end + 20] = struct.pack("<I", central + ahead)
    return bytes(found)


def workbook(**sheets: list[list[object]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        page = book.create_sheet(name)
        for row in rows:
            page.append(row)
    packed = io.BytesIO()
    book.save(packed)
    return packed.getvalue()


def database(*tables: str) -> bytes:
    with sqlite3.connect(":memory:") as made:
        made.execute("PRAGMA user_version = 1")  # or there would be no bytes at all
        for name in tables:
            made.execute(f"CREATE TABLE {name} (x, y)")
            made.executemany(
                f"INSERT INTO {name} VALUES (?, ?)", [(i, "ab"[i % 2]) for i in range(999)]
            )
        made.commit()
        return made.serialize()


def as_parquet() -> bytes:
    packed = io.BytesIO()
    parquet.write_table(pa.table({"x": range(999), "y": ["a", "b", "c"] * 333}), packed)
    return packed.getvalue()


def as_arrow(table: pa.Table | None = None) -> bytes:
    packed = io.BytesIO()
    table = pa.table({"x": range(999)}) if table is None else table
    with pa.ipc.new_file(packed, table.schema) as out:
        out.write_table(table)
    return packed.getvalue()


def twice_named() -> bytes:
    return as_arrow(pa.table([[1, 2], [3, 4], ["a", "b"]], ["x", "x", "y"]))


def not_text() -> bytes:
    return as_arrow(pa.table({"x": ["ab", "cd"], "y": ["a", "b"]})).replace(b"abcd", b"a\xefcd")


NOISE = np.random.default_rng(0).bytes(20_000)
SHEETS = workbook(Fish=[["x", "y"], [1, "a"]], Boats=[["x", "y"], [2, "b"]], Empty=[])

# What the file is called, what it holds, what is said, and further options.
BAD: dict[str, tuple[str, Callable[[], bytes], str, list[str]]] = {
    "empty": ("a.csv", lambda: b"", "header line", []),
    "blank": ("a.csv", lambda: b"\n\n\n", "header line", []),
    "header alone": ("a.csv", lambda: b"x,y\n", "empty table", []),
    "title alone": ("a.csv", lambda: b"Report\n\nx,y\n", "line 3|empty", []),
    "ragged": ("a.csv", lambda: TABLE + b"1,a,2\n", "line 42 ", []),
    "quote without end": ("a.csv", lambda: TABLE + b'"1,a\n', "line 42 .*quote", []),
    "binary": ("a.csv", lambda: NOISE, "text file", []),
    "PDF": ("a.csv", lambda: b"%PDF-1.7\n%\xe2\xe3\n" + NOISE, "PDF", []),
    "web page": ("a.csv", lambda: b"\n<!DOCTYPE html>\n<html><p>404", "web page", []),
    "workbook as text": ("a.csv", lambda: SHEETS, r"\.xlsx", []),
    "Parquet as text": ("a.csv", as_parquet, r"\.parquet", []),
    "database as text": ("a.csv", lambda: database("fish"), r"\.sqlite", []),
    "one long line": ("a.csv", lambda: b"x" * 20_000_000, "first line", []),
    "broken gzip": ("a.csv.gz", lambda: gzip.compress(TABLE * 99)[:200], "a.csv.gz", []),
    "damaged gzip": (
        "a.csv.gz",
        lambda: gzip.compress(TABLE * 99)[:60] + b"\xff" * 40 + gzip.compress(TABLE * 99)[100:],
        "a.csv.gz",
        [],
    ),
    "no gzip": ("a.csv.gz", lambda: TABLE, "a.csv.gz", []),
    "broken bzip2": ("a.csv.bz2", lambda: bz2.compress(TABLE)[:40], "a.csv.bz2", []),
    "no zstandard": ("a.csv.zst", lambda: TABLE, "a.csv.zst", []),
    "broken Parquet": ("a.parquet", lambda: as_parquet()[:-200], "a.parquet", []),
    "broken Arrow": ("a.arrow", lambda: as_arrow()[:1000], "a.arrow", []),
    "Arrow that is damaged": ("a.arrow", lambda: as_arrow() + b"x", "a.arrow", []),
    "Arrow with a name twice": ("a.arrow", twice_named, "'x' 2 times", []),
    "Arrow of bytes for text": ("a.arrow", not_text, "UTF8", []),
    "zero in a name of UTF-16": (
        "a.csv",
        lambda: "x\0,y\n1,a\n2,b\n".encode("utf-16"),
        "zeros in its header",
        [],
    ),
    "broken JSON": ("a.json", lambda: b'[{"x": 1, "y": "a"}, {"x":', "a.json", []),
    "empty JSON": ("a.jsonl", lambda: b"", "a.jsonl", []),
    "text as workbook": ("a.xlsx", lambda: TABLE, r"text: name it \.csv", []),
    "empty workbook": ("a.xlsx", lambda: b"", "empty", []),
    "broken workbook": ("a.xlsx", lambda: SHEETS[:-500], "a.xlsx", []),
    "archive as workbook": ("a.xlsx", lambda: archive(**{"a.csv": TABLE}), "workbook", []),
    "web page as workbook": ("a.xls", lambda: b"<html><table><tr>", "web page", []),
    "broken old workbook": ("a.xls", lambda: b"\xd0\xcf\x11\xe0" + NOISE, "workbook", []),
    "workbook as another": ("a.ods", lambda: SHEETS, "a.ods", []),
    "no such sheet": ("a.xlsx", lambda: SHEETS, "Did you mean 'Boats'", ["--sheet", "Boat"]),
    "sheet beyond the last": ("a.xlsx", lambda: SHEETS, "'Boats'", ["--sheet", "9"]),
    "empty sheet": ("a.xlsx", lambda: SHEETS, "'Fish', 'Boats'", ["--sheet", "Empty"]),
    "sheet of a text": ("a.csv", lambda: TABLE, "workbook", ["--sheet", "1"]),
    "no database": ("a.sqlite", lambda: TABLE, "neither", []),
    "no DuckDB": ("a.duckdb", lambda: NOISE, "neither", []),
    "broken DuckDB": ("a.duckdb", lambda: bytes(8) + b"DUCK" + NOISE, "a.duckdb", []),
    "broken database": ("a.db", lambda: database("fish")[:9000], "malformed", []),
    "database without tables": ("a.db", lambda: database(), "without one", []),
    "tables to choose from": ("a.db", lambda: database("fish", "boats"), "--table", []),
    "no such table": ("a.db", lambda: database("fish"), "'fish'", ["--table", "fsh"]),
    "an archive that begins too late": (
        "a.zip",
        lambda: archive(ahead=100, **{"a.csv": TABLE}),
        "before",
        [],
    ),
    "no archive": ("a.zip", lambda: NOISE, "zip archive", []),
    "empty archive": ("a.zip", lambda: archive(), "got none", []),
    "several in an archive": (
        "a.zip",
        lambda: archive(**{"a.csv": TABLE, "b.csv": TABLE}),
        "'a.csv', 'b.csv'",
        [],
    ),
    "archive in an archive": (
        "a.zip",
        lambda: archive(**{"b.zip": archive(**{"a.csv": TABLE})}),
        "another archive",
        [],
    ),
    "path out of an archive": ("a.zip", lambda: archive(**{"../a.csv": TABLE}), "a path out", []),
    "archive with a password": ("a.zip", lambda: archive(1, **{"a.csv": TABLE}), "password", []),
    "archive that bursts": (
        "a.zip",
        lambda: archive(size=3_000_000_000, **{"a.csv": TABLE}),
        "unpack",
        [],
    ),
    "archive of noise": ("a.zip", lambda: archive(**{"a.csv": NOISE}), "text file", []),
}


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """What commands import counts for the first of them, not for the file that it reads."""
    for command in ("fit", "report"):
        CliRunner().invoke(app, [command, "nowhere.csv", "--target", "y"])
    CliRunner().invoke(app, ["cluster", "nowhere.csv"])


def complaint(folder: Path, *arguments: object) -> str:
    """The one line that is said of a file that cannot be read; all else stays as it was."""
    before = sorted(folder.rglob("*"))
    began = time.process_time()
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert time.process_time() - began < SECONDS
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("posterior: ") and line.endswith((".", "?")) and len(line) < 600, line
    assert "(--debug" not in line
    assert sorted(folder.rglob("*")) == before
    return line


@pytest.mark.parametrize(
    ("kind", "command"), list(zip(BAD, cycle(["fit", "report", "cluster"]), strict=False))
)
def test_a_file_that_is_no_table_is_told_in_a_line(
    kind: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name, content, said, more = BAD[kind]
    Path(name).write_bytes(content())
    target = [] if command == "cluster" else ["--target", "y"]
    line = complaint(tmp_path, command, name, *target, *more)
    assert re.search(said, line), line
    assert "a." in line  # its name, or that of the file in it


def test_a_file_that_nobody_may_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    if os.geteuid():
        path.touch(mode=0)
    else:  # who may read every file, but not the memory of a process from its start
        path.symlink_to("/proc/self/mem")
    assert "a.csv" in complaint(tmp_path, "fit", path, "--target", "y")


def test_folders_and_patterns_without_tables_are_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(b"\x89PNG")
    for place in ("empty", "pictures"):
        assert place in complaint(tmp_path, "report", tmp_path / place, "--target", "y")
    line = complaint(tmp_path, "report", f"{tmp_path}/*.csv", "--target", "y")
    assert "files that match" in line
    for name, header in (("a", "x,y"), ("b", "x,z")):
        (tmp_path / "empty" / f"{name}.csv").write_text(f"{header}\n1,a\n")
    line = complaint(tmp_path, "fit", f"{tmp_path}/empty/*.csv", "--target", "y")
    assert "has 'z' more and lacks 'y'" in line


def test_a_sheet_and_a_table_at_once_are_wrong_usage(tmp_path: Path) -> None:
    arguments = ["fit", str(tmp_path / "a.csv"), "-t", "y", "--sheet", "1", "--table", "b"]
    assert CliRunner().invoke(app, arguments).exit_code == 2
