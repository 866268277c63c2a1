"""The same rows in every format: sheets, databases, archives, several files, titles, encodings."""

from __future__ import annotations

import bz2
import gzip
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import date, datetime, time
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from posterior import NaiveBayes
from posterior.sources import csv_layout, headers, unpacking
from posterior.sources.files import batches, read

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")
duckdb = pytest.importorskip("duckdb")
openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")

pytestmark = pytest.mark.once

NAMES = ["weight", "river", "caught", "tagged"]
ROWS: list[list[Any]] = [
    [30.25, "Rhine", datetime(2024, 3, 1), True],
    [None, "Elbe", datetime(2024, 3, 2, 13, 45), False],
    [16.0, None, None, None],
    [1 / 3, "Öder", datetime(2024, 4, 1), True],
]
FRAME = pa.table({name: [row[j] for row in ROWS] for j, name in enumerate(NAMES)})
LINES = [
    ",".join(
        "" if cell is None else str(cell).lower() if cell in (True, False) else str(cell)
        for cell in row
    )
    for row in ROWS
]
CSV = "\n".join([",".join(NAMES), *LINES]) + "\n"


def sheet(path: Path, rows: list[list[Any]] | None = None, **others: list[list[Any]]) -> Path:
    """A workbook whose first sheet has these rows, and others after it."""
    book = openpyxl.Workbook()
    for name, cells in {"Fish": rows or [NAMES, *ROWS], **others}.items():
        page = book.active if name == "Fish" else book.create_sheet(name)
        page.title = name
        for row in cells:
            page.append(row)
    book.save(path)
    return path


def text(path: Path, content: str | bytes = CSV) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def pandas_sheet(path: Path) -> None:
    pytest.importorskip("odf")
    FRAME.to_pandas().to_excel(path, index=False, engine="odf")


def sqlite(path: Path, tables: tuple[str, ...] = ("fish",)) -> Path:
    database = sqlite3.connect(path)
    for table in tables:
        database.execute(f'CREATE TABLE "{table}" ({", ".join(NAMES)})')
        rows = [
            [
                str(c).lower() if c in (True, False) else str(c) if isinstance(c, date) else c
                for c in row
            ]
            for row in ROWS
        ]
        database.executemany(f'INSERT INTO "{table}" VALUES (?, ?, ?, ?)', rows)
    database.commit()
    database.close()
    return path


def duck(path: Path, tables: tuple[str, ...] = ("fish",)) -> Path:
    with duckdb.connect(str(path)) as database:
        database.register("rows", FRAME)
        for table in tables:
            database.execute(f"CREATE TABLE {table} AS FROM rows")
    return path


def zipped(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (members or {"data/fish.csv": CSV}).items():
            archive.writestr(name, content)
    return path


FORMATS: dict[str, Callable[[Path], object]] = {
    "fish.csv": text,
    "fish.csv.gz": lambda path: text(path, gzip.compress(CSV.encode())),
    "fish.csv.bz2": lambda path: text(path, bz2.compress(CSV.encode())),
    "fish.csv.zst": lambda path: text(path, bytes(pa.compress(CSV.encode(), "zstd"))),
    "fish.tsv": lambda path: text(path, CSV.replace(",", "\t")),
    "fish.xlsx": sheet,
    "fish.ods": pandas_sheet,
    "fish.parquet": lambda path: parquet.write_table(FRAME, path),
    "fish.feather": lambda path: feather.write_feather(FRAME, path),
    "fish.sqlite": sqlite,
    "fish.db": sqlite,
    "fish.duckdb": duck,
    "more.db": duck,
    "fish.zip": zipped,
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_holds_the_same_table(name: str, tmp_path: Path) -> None:
    FORMATS[name](tmp_path / name)
    file = read(tmp_path / name)
    assert file.frame.cast(FRAME.schema).to_pydict() == FRAME.to_pydict()
    assert file.notes == ()


@pytest.mark.parametrize("name", ["a.xlsx", "a.sqlite", "a.duckdb", "a.zip"])
def test_every_format_can_be_streamed(name: str, tmp_path: Path) -> None:
    labeled = pa.table({"x": [i % 5 + i % 2 for i in range(40)], "y": ["a", "b"] * 20})
    path, frame = tmp_path / name, labeled.to_pandas()
    if name == "a.xlsx":
        frame.to_excel(path, index=False, engine="openpyxl")
    elif name == "a.sqlite":
        with closing(sqlite3.connect(path)) as database:
            frame.to_sql("t", database, index=False)
    elif name == "a.duckdb":
        with duckdb.connect(str(path)) as database:
            database.execute("CREATE TABLE t AS FROM labeled")
    else:
        zipped(path, **{"a.csv": frame.to_csv(index=False)})
    assert [piece.num_rows for piece in batches(path, rows=15)][:2] in ([15, 15], [40])
    model = NaiveBayes().fit(str(path), y="y")
    assert model.statistics_ == NaiveBayes().fit(labeled, y="y").statistics_


def test_json_arrays_are_tables(tmp_path: Path) -> None:
    path = text(tmp_path / "a.json", '[{"x": 1, "y": "a"}, {"x": 2.5, "y": null}]')
    assert read(path).frame.to_pydict() == {"x": [1.0, 2.5], "y": ["a", None]}


def test_cells_of_a_sheet_are_numbers_dates_and_words(tmp_path: Path) -> None:
    cells = [
        ["n", "x", "day", "code", "mixed", "gaps"],
        [1, 1.5, date(2024, 1, 2), "007", "a", "NA"],
        [2, 1e300, date(2024, 1, 3), "012", 7, 3],
        [3, -0.1, None, "3", time(3, 4), "?"],
    ]
    frame = read(sheet(tmp_path / "a.xlsx", cells)).frame
    assert frame["n"].to_pylist() == [1, 2, 3]
    assert frame["x"].to_pylist() == [1.5, 1e300, -0.1]
    assert frame["day"].to_pylist() == [datetime(2024, 1, 2), datetime(2024, 1, 3), None]
    assert frame["code"].to_pylist() == ["007", "012", "3"]
    assert frame["mixed"].to_pylist() == ["a", "7", "03:04:00"]
    assert frame["gaps"].to_pylist() == [None, 3, None]


def test_a_sheet_is_named_or_numbered_and_the_others_are_said(tmp_path: Path) -> None:
    path = sheet(tmp_path / "a.xlsx", Rivers=[["river"], ["Oder"]], Empty=[])
    first = read(path)
    assert first.frame.column_names == NAMES and "'Rivers'" in first.notes[0]
    for part in ("Rivers", "rivers", "2"):
        assert read(path, part).frame.to_pydict() == {"river": ["Oder"]}
    with pytest.raises(ValueError, match=r"sheet 'Rivrs'.*Did you mean 'Rivers'\?"):
        read(path, "Rivrs")
    with pytest.raises(ValueError, match=r"sheet 'Empty' of 'a.xlsx'"):
        read(path, "Empty")


def test_a_cover_page_and_a_hidden_sheet_are_passed_over(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["About this book"])
    book.create_sheet("Codes").append([1, 2])
    book["Codes"].append([1, 2])
    book["Codes"].sheet_state = "hidden"
    data = book.create_sheet("Data")
    for row in (["x", "y"], [1, "a"]):
        data.append(row)
    book.save(tmp_path / "a.xlsx")
    file = read(tmp_path / "a.xlsx")
    assert file.frame.to_pydict() == {"x": [1], "y": ["a"]}
    assert file.notes == ("Sheet 'Data' is read; others are 'Sheet', 'Codes'.",)


def test_borders_and_merged_titles_of_a_sheet_are_no_part_of_its_table(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    page = book.active
    page["C2"] = "Catches of the year"
    page.merge_cells("C2:F2")
    for i, row in enumerate([NAMES, *ROWS]):
        for j, cell in enumerate(row):
            page.cell(4 + i, 3 + j, cell)
    page.cell(4 + len(ROWS) + 5, 3, " ").value = None
    page.cell(20, 20).number_format = "0.00"
    book.save(tmp_path / "a.xlsx")
    file = read(tmp_path / "a.xlsx")
    assert file.frame.to_pydict() == FRAME.to_pydict()
    assert file.notes == ("2 lines above the header are left out: 'Catches of the year'.",)


def test_a_table_of_a_database_is_named_where_there_are_several(tmp_path: Path) -> None:
    for make, name in ((sqlite, "a.sqlite"), (duck, "a.duckdb")):
        path = make(tmp_path / name, ("fish", "boats"))
        assert read(path, "boats").frame.num_rows == len(ROWS)
        with pytest.raises(ValueError, match=r"'fish'.*--table") as caught:
            read(path)
        assert "'boats'" in str(caught.value)
        with pytest.raises(ValueError, match=r"Did you mean 'boats'\?"):
            read(path, "boat")
    with pytest.raises(ValueError, match=r"workbook or a database.*'a.csv'"):
        read(text(tmp_path / "a.csv"), "fish")


def test_views_of_a_database_read_no_other_file(tmp_path: Path) -> None:
    secret = text(tmp_path / "secret.csv", "word\nxyzzy\n")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as database:
        database.execute(f"CREATE VIEW spy AS FROM read_csv('{secret}')")
    with pytest.raises(ValueError, match="disabled"):
        read(tmp_path / "a.duckdb", "spy")


def test_a_database_is_never_written(tmp_path: Path) -> None:
    for path in (sqlite(tmp_path / "a.sqlite"), duck(tmp_path / "a.duckdb")):
        before = path.read_bytes()
        read(path)
        assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.duckdb", "a.sqlite"]


def test_a_zip_may_hold_what_systems_and_people_add(tmp_path: Path) -> None:
    members = {
        "x/fish.csv": CSV,
        "__MACOSX/x/._fish.csv": "?",
        "x/.DS_Store": "?",
        "LICENSE": "MIT",
    }
    path = zipped(tmp_path / "a.zip", **members)
    file = read(path)
    assert file.frame.num_rows == len(ROWS) and file.notes == ("Of a.zip, fish.csv is read.",)


# --- several files --------------------------------------------------------------------------------


def test_a_folder_and_a_pattern_are_one_table(tmp_path: Path) -> None:
    text(tmp_path / "a.csv", "x,y\n1,a\n2,b\n")
    text(tmp_path / "b.csv", "y,x\nc,3.5\n")
    text(tmp_path / ".hidden.csv", "z\n1\n")
    text(tmp_path / "README.txt", "About the tables\n")
    (tmp_path / "old").mkdir()
    text(tmp_path / "old" / "c.csv", "z\n1\n")
    for path in (tmp_path, tmp_path / "*.csv"):
        file = read(path)
        assert file.frame.to_pydict() == {"x": [1.0, 2.0, 3.5], "y": ["a", "b", "c"]}
        assert file.notes == ("2 files are read as one table.",)
        assert [p.column_names for p in batches(path)] == [["x", "y"]] * 2


def test_workbooks_in_a_folder_are_one_table(tmp_path: Path) -> None:
    for name, x in (("a", 1), ("b", 2.5)):
        sheet(tmp_path / f"{name}.xlsx", [["x"], [x]])
    assert read(tmp_path).frame.to_pydict() == {"x": [1.0, 2.5]}


def test_files_with_other_columns_or_formats_are_told(tmp_path: Path) -> None:
    text(tmp_path / "a.csv", "x,y\n1,a\n")
    text(tmp_path / "b.csv", "x,z\n1,a\n")
    with pytest.raises(ValueError, match=r"b\.csv has 'z' more and lacks 'y'"):
        read(tmp_path)
    (tmp_path / "b.csv").unlink()
    sheet(tmp_path / "b.xlsx", [["x", "y"], [1, "a"]])
    with pytest.raises(ValueError, match="one format"):
        read(tmp_path)


# --- headers --------------------------------------------------------------------------------------

TABLE = "name,age,city\nAda,36,Rom\nBob,7,Ulm\n"


@pytest.mark.parametrize(
    ("above", "n"),
    [
        ("A table of people\n", 1),
        ("People, 2024\n\n", 2),
        ("People,,\n,,\n", 2),
        ("\n\n", 2),
        ("sep=,\n", 1),
        ('He said "no"\n', 1),
    ],
)
def test_lines_above_the_header_are_left_out_and_said(above: str, n: int, tmp_path: Path) -> None:
    file = read(text(tmp_path / "a.csv", above + TABLE))
    assert file.frame.to_pydict() == {
        "name": ["Ada", "Bob"],
        "age": [36, 7],
        "city": ["Rom", "Ulm"],
    }
    lines = "1 line above the header is" if n == 1 else f"{n} lines above the header are"
    assert file.notes[0].startswith(f"{lines} left out")
    assert [p.num_rows for p in batches(tmp_path / "a.csv")] == [2]


@pytest.mark.parametrize("title", ["All sales", "Sales, in euros", "Sales", "Sales, 2024\n"])
def test_a_title_does_not_decide_the_delimiter(title: str, tmp_path: Path) -> None:
    rows = "1,5;x;2\n2,5;y;3\n" * 40
    file = read(text(tmp_path / "a.csv", f"{title}\na;b;c\n{rows}"))
    assert file.frame.column_names == ["a", "b", "c"]
    assert file.frame["a"].to_pylist() == [1.5, 2.5] * 40


def test_a_row_of_another_length_makes_no_title_of_those_above(tmp_path: Path) -> None:
    rows = "1,2,x;y\n" * 30
    with pytest.raises(ValueError, match="line 32 does not fit"):
        read(text(tmp_path / "a.csv", f"a,b,c\n{rows}1,2,3,4\n{rows}"))


def test_a_title_may_hold_the_delimiter_of_another_table(tmp_path: Path) -> None:
    file = read(text(tmp_path / "a.csv", "Sales, in euros\na;b\n1,5;x\n2,5;y\n"))
    assert file.frame.to_pydict() == {"a": [1.5, 2.5], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("name,\nBob,x\nEve,y\n", ["name", "column 2"]),
        (",name\nx,Bob\ny,Eve\n", ["column 1", "name"]),
        ("a,b\n1,2\n3,4\n", ["a", "b"]),
        ("x\nlong words here\nmore\n", ["x"]),
        ("x\nhello; you\nand; me\n", ["x"]),
        ("a,b,c\n,,\n1,,\n,2,\n", ["a", "b", "c"]),
        ("a,b\nr1,1,2\nr2,3,4\n", ["column 1", "a", "b"]),  # row names, as R writes them
        ("a,b\n1,2,\n3,4,\n", ["a", "b", "column 3"]),  # a delimiter at the end of each row
        ('"Height\n(cm)",b\n1,2\n', ["Height (cm)", "b"]),
        ("PAR1,BZh\n1,2\n", ["PAR1", "BZh"]),
    ],
)
def test_a_first_line_that_is_a_header_stays_one(
    content: str, names: list[str], tmp_path: Path
) -> None:
    assert read(text(tmp_path / "a.csv", content)).frame.column_names == names


def test_a_first_line_that_looks_like_a_row_is_doubted(tmp_path: Path) -> None:
    file = read(text(tmp_path / "a.csv", "5.1,3.5,setosa\n4.9,3.0,setosa\n"))
    assert "taken as the header, though it holds '5.1', '3.5'" in file.notes[0]
    assert read(text(tmp_path / "b.csv", "id,2019,2020\na,1,2\n")).notes == ()


def test_names_that_repeat_or_lack_are_said(tmp_path: Path) -> None:
    file = read(text(tmp_path / "a.csv", "x,x,\n1,2,3\n"))
    assert file.frame.column_names == ["x", "x (2)", "column 3"]
    assert "'x (2)'" in file.notes[1] and "'column 3'" in file.notes[0]
    same = read(sheet(tmp_path / "a.xlsx", [["x", "x", None], [1, 2, 3]]))
    assert same.frame.column_names == file.frame.column_names and same.notes == file.notes


def test_lines_are_titles_if_they_are_few_and_a_table_follows() -> None:
    table = [["a", "b"], ["1", "2"], ["3", "4"]]
    assert headers.find([["A title"], *table]) == 1
    assert headers.find([["A title"]] * (headers.MOST_TITLES + 1) + table) == 0
    assert headers.find([["A title"]] * 3) == 0
    assert headers.find([["A title"], ["1", "2"], ["3", "4"]]) == 0  # numbers are no names


# --- encodings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_umlauts_survive_every_encoding(encoding: str, end: str, tmp_path: Path) -> None:
    lines = ["Größe;Straße", '1,5;"Äußere\nGasse"', "2,5;„Am Öl“ 3€", ""]
    path = text(tmp_path / "a.csv", end.join(lines).encode(encoding))
    frame = read(path).frame
    assert frame.to_pydict() == {"Größe": [1.5, 2.5], "Straße": ["Äußere\nGasse", "„Am Öl“ 3€"]}
    assert next(batches(path)).column_names == ["Größe", "Straße"]


# --- limits ---------------------------------------------------------------------------------------


def test_an_archive_may_not_unpack_to_far_more_than_a_table_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "FREE", 1000)
    names = ["a.zip", "a.csv.bz2", "a.xlsx"]
    content = "x\n" + "0\n" * 1_000_000
    zipped(tmp_path / "a.zip", **{"a.csv": content})
    text(tmp_path / "a.csv.bz2", bz2.compress(content.encode()))
    zipped(tmp_path / "a.xlsx", **{"a.xml": content})
    for name in names:
        with pytest.raises(ValueError, match="unpack"):
            read(tmp_path / name)


@pytest.mark.parametrize("ends", product(("\n", "\r\n"), repeat=3))
def test_lines_may_end_in_two_ways(ends: tuple[str, str, str], tmp_path: Path) -> None:
    title, header, row = ends
    lines = [f"{i};{i % 7},5;word {i}" for i in range(50)]
    text = f"Sales{title}a;b;c{header}" + row.join(lines)
    (tmp_path / "x.csv").write_bytes(text.encode())
    found = read(tmp_path / "x.csv").frame
    assert found.shape == (50, 3)
    assert found.column("c").to_pylist() == [f"word {i}" for i in range(50)]


def test_a_small_packed_file_takes_little_memory(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(CSV.encode()))
    with duckdb.connect() as connection:
        connection.execute("SET memory_limit = '500MB'")
        source = csv_layout.sql(path, csv_layout.layout(path))
        assert len(connection.execute(f"SELECT * FROM {source}").fetchall()) == len(ROWS)


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_rows_decide_where_two_signs_part_the_header(tmp_path, sign):
    path = tmp_path / "a.csv"
    path.write_text(f"length, cm{sign}river\n12{sign}Elbe\n15{sign}Rhine\n")
    frame = read(path).frame
    assert frame.column_names == ["length, cm", "river"]
    assert frame["river"].to_pylist() == ["Elbe", "Rhine"]
