"""Formats of files, by their endings, and by their first bytes where an ending misleads."""

from __future__ import annotations

from pathlib import Path, PurePath

ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "workbook",
    ".xlsm": "workbook",
    ".xlsb": "workbook",
    ".xls": "workbook",
    ".ods": "workbook",
    ".sqlite": "database",
    ".sqlite3": "database",
    ".db": "database",
    ".duckdb": "database",
}
ARCHIVE = ".zip"
PACKED = (".gz", ".bz2", ".zst")  # around one file, whose ending stands before
UNTYPED = ("csv", "workbook", "sqlite")  # cells say what they are, columns do not
SQLITE = b"SQLite format 3\0"
BEGINNINGS = {  # of what is no text; a column may be called PAR1
    b"%PDF": "a PDF document",
    b"PK\3\4": "a zip archive or a workbook: name it .zip, .xlsx or .ods",
    b"\xd0\xcf\x11\xe0": "an old workbook or a protected one: name it .xls",
    b"PAR1\x15": "a Parquet file: name it .parquet",
    b"ARROW1\0": "an Arrow file: name it .arrow",
    SQLITE: "a SQLite database: name it .sqlite",
    b"\x1f\x8b": "a compressed file: name it .csv.gz",
    b"BZh9": "a compressed file: name it .csv.bz2",
    b"\x28\xb5\x2f\xfd": "a compressed file: name it .csv.zst",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"{\\rtf": "a document of a word processor",
}
WEB_PAGE = (b"<!doctype html", b"<html", b"<?xml", b"<table")


def format_of(place: PurePath) -> str:
    """The format that a file's ending names; anything unknown is read as CSV."""
    return _named_format(place) or "csv"


def is_table(place: PurePath) -> bool:
    """Whether a file's ending says that it holds a table."""
    return _named_format(place) is not None or place.suffix.lower() == ARCHIVE


def is_packed(place: PurePath) -> bool:
    """Whether a file's ending says that its table is packed in it."""
    return place.suffix.lower() in (*PACKED, ARCHIVE)


def recognized(beginning: bytes) -> str | None:
    """What a file is that begins like this, if that is known not to be lines of text."""
    found = [what for first, what in BEGINNINGS.items() if beginning.startswith(first)]
    if beginning[8:12] == b"DUCK":
        found.append("a DuckDB database: name it .duckdb")
    plain = beginning.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if plain.startswith(WEB_PAGE):
        found.append("a web page or XML: save its table as CSV or .xlsx")
    return next(iter(found), None)


def beginning_of(place: Path) -> bytes:
    """The first bytes of a file."""
    with place.open("rb") as file:
        return file.read(512)


def _named_format(place: PurePath) -> str | None:
    endings = [e.lower() for e in place.suffixes if e.lower() not in PACKED]
    return ENDINGS.get(endings[-1]) if endings else None
