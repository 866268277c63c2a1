"""Sheets of workbooks: .xlsx, .xls, .xlsb, .ods."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from posterior.sources import headers, unpacking, written_cells
from posterior.sources.formats import beginning_of, recognized
from posterior.sources.naming import listed, part_named

if TYPE_CHECKING:
    import pyarrow as pa


def sheet(place: Path, part: str | None = None) -> tuple[pa.Table, tuple[str, ...]]:
    """The cells of a sheet as text, and what to know about it.

    The first sheet that holds a table, or one by its name or number.
    """
    calamine = _calamine()
    beginning = beginning_of(place)
    if not beginning.startswith((b"PK\3\4", b"\xd0\xcf\x11\xe0")):
        text = "not one" if b"\0" in beginning else "text: name it .csv"
        what = recognized(beginning) or (text if beginning else "empty")
        raise ValueError(f"Expected a workbook, but {place.name!r} is {what}.")
    unpacking.check_size(place)
    try:
        with calamine.CalamineWorkbook.from_path(place) as book:
            sheets = [s for s in book.sheets_metadata if _is(s.typ, "WorkSheet")]  # no charts
            if not sheets:
                raise ValueError(f"Expected a sheet in {place.name!r}, got none.")
            names = [s.name for s in sheets]
            if part is None:
                visible = [s.name for s in sheets if _is(s.visible, "Visible")]
                name, rows = _first_table(book, visible or names)
            else:
                name = _named(part, names, place.name)
                rows = book.get_sheet_by_name(name).to_python()
    except calamine.PasswordError:
        raise ValueError(
            f"Expected a workbook without a password, got {place.name!r}. Save it without one."
        ) from None
    except calamine.CalamineError as error:
        text = " ".join(str(error).split())[:200].rstrip(".")
        raise ValueError(f"Expected a workbook, got {place.name!r}: {text}.") from None
    if not rows:
        others = [other for other in names if other != name]
        hint = f" Others are {listed(others)}: name one by --sheet." if others else ""
        raise ValueError(f"Expected a table in sheet {name!r} of {place.name!r}, got none.{hint}")
    table, notes = _table(rows)
    if len(names) > 1 and part is None:
        shown = listed([other for other in names if other != name])
        notes = (f"Sheet {name!r} is read; others are {shown}.", *notes)
    return table, notes


def _table(rows: list[list[Any]]) -> tuple[pa.Table, tuple[str, ...]]:
    """Cells below the header, without rows at the end and columns that nobody filled."""
    place = headers.find(rows[: headers.SAMPLE])
    while len(rows) > place + 1 and all(cell == "" for cell in rows[-1]):
        rows.pop()
    blank = [all(row[j] == "" for row in rows[place:]) for j in range(len(rows[place]))]
    if any(blank):
        rows = [[cell for cell, out in zip(row, blank, strict=True) if not out] for row in rows]
    header = headers.header(rows[: headers.SAMPLE])
    return written_cells.table(header.names, rows[header.place + 1 :]), header.notes


def _named(part: str, names: list[str], place: str) -> str:
    """A sheet by its name, or by its number."""
    if part.isdecimal() and part not in names and 1 <= int(part) <= len(names):
        return names[int(part) - 1]
    return part_named(part, names, "sheet", place)


def _first_table(book: Any, names: list[str]) -> tuple[str, list[list[Any]]]:
    """The first sheet of two columns and rows or more; a cover page has less."""
    first: tuple[str, list[list[Any]]] | None = None
    for name in names:
        rows = book.get_sheet_by_name(name).to_python()
        if len(rows) > 1 and len(rows[0]) > 1:
            return name, rows
        first = first or (name, rows)
    assert first is not None
    return first


def _is(kind: Any, name: str) -> bool:
    """Whether a value of an enumeration has a name."""
    return str(kind).rpartition(".")[2] == name


def _calamine() -> Any:
    try:
        import python_calamine
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Reading workbooks needs python-calamine: pip install posterior[app]."
        ) from None
    return python_calamine
