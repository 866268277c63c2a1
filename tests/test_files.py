"""Files become frames: every format, every mark of a missing cell, every way to be broken."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

from posterior.sources.files import batches, read  # noqa: E402

pytestmark = pytest.mark.once

CSV = "name,age,since,member\nAda,36,1843-01-02,TRUE\nBob,?,1990-05-06,false\nEve,41.5,,\n"


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_cells_become_numbers_dates_and_booleans_where_all_of_them_are(tmp_path: Path) -> None:
    frame = read(written(tmp_path, "people.csv", CSV)).frame
    assert [str(t) for t in frame.schema.types] == ["string", "double", "timestamp[us]", "bool"]
    assert frame["age"].to_pylist() == [36.0, None, 41.5]
    assert frame["member"].to_pylist() == [True, False, None]


def test_numbers_may_have_decimal_commas(tmp_path: Path) -> None:
    rows = ["price;count;mixed;thousands", "72,36;7;1,5;1,234", "7;8;2.5;2,345", ",5;9;2;3,111"]
    frame = read(written(tmp_path, "a.csv", "\n".join(rows) + "\n")).frame
    assert frame["price"].to_pylist() == [72.36, 7.0, 0.5]
    assert frame["count"].to_pylist() == [7, 8, 9]
    assert frame["mixed"].to_pylist() == ["1,5", "2.5", "2"]  # one or the other
    assert frame["thousands"].to_pylist() == ["1,234", "2,345", "3,111"]  # or thousandths


def test_lines_that_end_as_on_old_macs_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line feed"):
        read(written(tmp_path, "a.csv", "x,y\r1,a\r"))


@pytest.mark.parametrize("cell", ["", "?", "NA", "N/A", "NaN", "null"])
def test_marks_of_missing_cells_are_missing(tmp_path: Path, cell: str) -> None:
    frame = read(written(tmp_path, "a.csv", f"x,y\n1,a\n{cell},b\n")).frame
    assert frame["x"].to_pylist() == [1, None]


def test_names_that_look_like_marks_stay_names(tmp_path: Path) -> None:
    frame = read(written(tmp_path, "a.csv", "name,code\nNan,007\nNull,012\n")).frame
    assert frame.to_pydict() == {"name": ["Nan", "Null"], "code": ["007", "012"]}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_header_tells_the_delimiter(tmp_path: Path, delimiter: str) -> None:
    text = f'a{delimiter}"b, c; d"\n1{delimiter}x\n'
    frame = read(written(tmp_path, "a.csv", text)).frame
    assert frame.to_pydict() == {"a": [1], "b, c; d": ["x"]}


def test_compressed_marked_and_windows_files_are_read_alike(tmp_path: Path) -> None:
    plain = read(written(tmp_path, "a.csv", CSV)).frame
    windows = b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode()
    assert read(written(tmp_path, "b.csv", windows)).frame.equals(plain)
    assert read(written(tmp_path, "c.csv.gz", gzip.compress(CSV.encode()))).frame.equals(plain)


def test_latin_1_is_read_and_said(tmp_path: Path) -> None:
    file = read(written(tmp_path, "a.csv", "city,n\nMálaga,1\n".encode("latin-1")))
    assert file.frame["city"].to_pylist() == ["Málaga"]
    assert "Latin-1" in file.notes[0]


def test_parquet_feather_and_json_lines_are_read_by_their_ending(tmp_path: Path) -> None:
    from pyarrow import feather, parquet

    table = pa.table({"x": [1.5, None], "y": ["a", "b"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, tmp_path / "a.feather")
    lines = '{"x": 1.5, "y": "a"}\n{"y": "b"}\n'
    paths = [tmp_path / "a.parquet", tmp_path / "a.feather", written(tmp_path, "a.jsonl", lines)]
    for path in paths:
        assert read(path).frame.to_pydict() == table.to_pydict()


def test_standard_input_is_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        buffer = io.BytesIO(b"x,y\n1,a\n")

    monkeypatch.setattr(sys, "stdin", Input())
    assert read("-").frame.to_pydict() == {"x": [1], "y": ["a"]}


def test_a_folder_for_each_class_is_a_table_of_documents(tmp_path: Path) -> None:
    for label, name, text in [("ham", "1.txt", "hello"), ("spam", "2.txt", "buy")]:
        (tmp_path / label).mkdir()
        written(tmp_path / label, name, text)
    assert read(tmp_path).frame.to_pydict() == {
        "text": ["hello", "buy"],
        "class": ["ham", "spam"],
        "file": ["ham/1.txt", "spam/2.txt"],
    }


def test_pieces_hold_all_rows_in_order(tmp_path: Path) -> None:
    text = "x\n" + "".join(f"{i}\n" for i in range(5000))
    pieces = list(batches(written(tmp_path, "a.csv", text), rows=2048))
    cells = [cell for piece in pieces for cell in piece["x"].to_pylist()]
    assert len(pieces) > 1 and [int(cell) for cell in cells] == list(range(5000))


def test_headers_that_repeat_or_lack_a_name_get_one(tmp_path: Path) -> None:
    frame = read(written(tmp_path, "a.csv", "x,x,\n1,2,3\n")).frame
    assert frame.column_names == ["x", "x (2)", "column 3"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "a header line"),
        (b"a,b\n", "empty table"),
        (b"a,b\n1,2\n3,4,5\n", "line 3 does not fit the header"),
        (b'a,b\n1,"2\n3,4\n', "unterminated quote"),
        (b"\0\1\2\n\0", "text file"),
    ],
)
def test_a_broken_file_is_told_in_one_sentence(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        read(written(tmp_path, "a.csv", content))
    assert "\n" not in str(caught.value)


def test_a_missing_file_offers_the_nearest_name(tmp_path: Path) -> None:
    written(tmp_path, "penguins.csv", CSV)
    with pytest.raises(FileNotFoundError, match=r"Did you mean 'penguins\.csv'"):
        read(tmp_path / "penguin.csv")


def test_a_broken_archive_and_an_empty_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a\.csv\.gz"):
        read(written(tmp_path, "a.csv.gz", gzip.compress(CSV.encode())[:20]))
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="folder with tables"):
        read(tmp_path / "empty")
    with pytest.raises(ValueError, match="Arrow"):
        read(written(tmp_path, "a.feather", "no"))
