"""What each column of a table is, and how it reaches a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import narwhals as nw

from posterior.data import frames
from posterior.data.cells import Column
from posterior.data.one_row import OneRow
from posterior.preprocessing.bands import Bands
from posterior.preprocessing.numbers import words
from posterior.sources.files import column_named, columns_named

TABLE_ROLES = ("number", "category", "boolean", "date")
TEXT_ROLES = ("text", "word")
SCREENED = "screened out: of so many columns, models read those that tell most"
MANY_VALUED = "many-valued"  # categories that reach models by a model of their own


@dataclass(frozen=True, slots=True)
class Flag:
    """Something about a column that a person should look at."""

    kind: str  # leak, identifier, constant, codes, zeros, many values, weight, missing, ...
    severity: str  # "warning" or "note"
    text: str  # one sentence


@dataclass(frozen=True, slots=True)
class ColumnRole:
    """One column: number, category, many-valued, boolean, date, text, word, or what no model sees.

    That is: identifier, constant, empty, nested, weight, group, and the target itself.
    """

    name: str
    role: str
    used: bool
    reason: str
    distinct: int  # different values, missing ones left out
    missing: int
    examples: tuple[str, ...]
    low: float | None = None  # of numbers, and of dates in days since 1970
    mean: float | None = None
    high: float | None = None
    flags: tuple[Flag, ...] = ()

    @property
    def warnings(self) -> tuple[Flag, ...]:
        return tuple(flag for flag in self.flags if flag.severity == "warning")

    def flagged(self, kind: str, severity: str, text: str) -> ColumnRole:
        return replace(self, flags=(*self.flags, Flag(kind, severity, text)))


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns of a table, and how they reach a model."""

    target: str
    columns: tuple[ColumnRole, ...]
    bands: Bands | None = None  # of a target that is a number
    time: str | None = None  # the column that rows follow each other by

    @property
    def used(self) -> tuple[ColumnRole, ...]:
        return tuple(column for column in self.columns if column.used)

    @property
    def table(self) -> tuple[ColumnRole, ...]:
        """Columns that a model of tables reads."""
        return tuple(column for column in self.used if column.role in TABLE_ROLES)

    @property
    def text(self) -> tuple[ColumnRole, ...]:
        """Columns that a model of documents reads."""
        return tuple(column for column in self.used if column.role in TEXT_ROLES)

    @property
    def screened(self) -> tuple[ColumnRole, ...]:
        """Columns of a wide table that no model reads, for others tell more."""
        return tuple(column for column in self.columns if column.reason == SCREENED)

    @property
    def modeled(self) -> tuple[ColumnRole, ...]:
        """Columns that a model of each alone reads first: of many values, and texts beside others.

        Where there is nothing but text, models of words read it themselves.
        """
        many = tuple(column for column in self.used if column.role == MANY_VALUED)
        return (*many, *self.text) if many or self.table else ()

    @property
    def by_letters(self) -> bool:
        """Whether documents are single words, to be read by their letters."""
        return all(column.role == "word" for column in self.text)

    @property
    def weight(self) -> str | None:
        """The column that says how many rows a row stands for."""
        return next((column.name for column in self.columns if column.role == "weight"), None)

    @property
    def group(self) -> str | None:
        """The column whose rows of one value belong together."""
        return next((column.name for column in self.columns if column.role == "group"), None)

    @property
    def n_classes(self) -> int:
        """How many classes the target has."""
        return self[self.target].distinct if self.bands is None else len(self.bands.names)

    def __getitem__(self, name: str) -> ColumnRole:
        return next(column for column in self.columns if column.name == name)

    def __deepcopy__(self, memo: Any) -> Roles:
        return self  # nothing in it changes

    @property
    def suspects(self) -> tuple[str, ...]:
        """Columns in use that may give the target away."""
        return tuple(c.name for c in self.used if any(f.kind == "leak" for f in c.flags))

    def without_suspects(self) -> Roles:
        """The same with its suspects left out, unless they are all there is."""
        suspects = self.suspects
        if len(suspects) == len(self.used):
            return self
        reason = f"left out: it may give {self.target} away"
        columns = (
            replace(c, used=False, reason=reason) if c.name in suspects else c for c in self.columns
        )
        return replace(self, columns=tuple(columns))

    def without(self, *names: str) -> Roles:
        """The same with some columns left out."""
        some = frozenset(names)
        rest = tuple(replace(c, used=False) if c.name in some else c for c in self.columns)
        return replace(self, columns=rest)

    def only(self, *names: str) -> Roles:
        """The same with some columns alone."""
        some = frozenset(names)
        return self.without(*(c.name for c in self.used if c.name not in some))

    def screened_to(self, *names: str) -> Roles:
        """The same after models have chosen among many columns; `reason` says so of the others."""
        some = frozenset(names)
        columns = tuple(
            replace(c, used=False, reason=SCREENED)
            if c.used and c.role in TABLE_ROLES and c.name not in some
            else c
            for c in self.columns
        )
        return replace(self, columns=columns)

    def labels(self, column: nw.Series[Any]) -> list[Any]:
        """The class of each cell of the target, None where it is missing.

        Numbers by their bands, if there are some; those with fractions are names, such as "4.5".
        """
        if self.bands is not None:
            return self.bands.labels(column)
        cells = [None if frames.missing(cell) else cell for cell in column.to_list()]
        fractions = any(isinstance(cell, float) and not cell.is_integer() for cell in cells)
        return frames.items(cells, self.target) if fractions else cells

    def selected(self, frame: Any) -> Any:
        """A frame of the columns that are used, as they are."""
        table = frame_of(frame)
        if not self.used:
            reasons = ", ".join(f"{c.name} ({c.reason or c.role})" for c in self.columns)
            raise ValueError(f"Expected a column to learn from, but none is used: {reasons}.")
        return table.select(columns_named(table.columns, [c.name for c in self.used])).to_native()

    def prepare(self, frame: Any, text: bool = False) -> Any:
        """The columns that models of tables read, with those of text if asked.

        Numbers as doubles, all else as words.
        """
        read = self.used if text else self.table
        if isinstance(frame, OneRow):
            return self._one_row(frame, read)
        table = frame_of(frame)
        if len(table) == 1 and all(role.role != "date" for role in read):
            return self._one_row(OneRow.of_frame(table), read)
        names = columns_named(table.columns, [role.name for role in read])
        columns = {
            r.name: _cells(table.get_column(n), r.role) for r, n in zip(read, names, strict=True)
        }
        return frames.from_columns(columns, table.implementation).to_native()

    def _one_row(self, row: OneRow, read: Sequence[ColumnRole]) -> OneRow:
        """The same of a row alone."""
        cells = row.by_name()
        names = columns_named(row.names, [role.name for role in read])
        found = [_cells(cells[n], role.role) for n, role in zip(names, read, strict=True)]
        return OneRow.of([role.name for role in read], [cell[0] for cell in found])

    def documents(self, frame: Any) -> list[str | None]:
        """The text of each row; several columns become one document."""
        if isinstance(frame, OneRow):
            cells = frame.by_name()
            columns = [words(cells[column_named([*cells], role.name)]) for role in self.text]
        else:
            table = frame_of(frame)
            names = [column_named(table.columns, role.name) for role in self.text]
            columns = [frames.items(table.get_column(n).to_list(), n) for n in names]
        if len(columns) == 1:
            return columns[0]
        parts = ([cell for cell in row if cell is not None] for row in zip(*columns, strict=True))
        return ["\n".join(row) if row else None for row in parts]


def frame_of(frame: Any) -> nw.DataFrame[Any]:
    """A frame of any library, or an error."""
    table = frames.as_frame(frame)
    if table is None:
        raise TypeError(f"Expected a frame with named columns, got {type(frame).__name__}.")
    return table


def _cells(column: Column, role: str) -> Any:
    """A column as its role says, whatever type the file gave it."""
    if role == "date" and isinstance(column, nw.Series) and column.dtype == nw.String:
        return frames.numbers(nw.new_series(column.name, _dates(column), backend="pyarrow"))
    if role in ("number", "date"):
        return frames.numbers(column)
    cells = words(column)
    if role == "boolean":  # a file's TRUE is a frame's True
        return [None if cell is None else cell.lower() for cell in cells]
    return cells


def _dates(column: nw.Series[Any]) -> list[datetime | None]:
    dates: list[datetime | None] = []
    for row, cell in enumerate(column.to_list()):
        try:
            dates.append(None if cell is None else datetime.fromisoformat(cell))
        except ValueError:
            raise ValueError(
                f"Expected dates such as 2024-01-31 in column {column.name!r}, got {cell!r} in row "
                f"{row}."
            ) from None
    return dates
