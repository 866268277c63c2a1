"""What each column of a table is, and how it reaches a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.data.cells import ArrayColumn, Column
from posterior.data.one_row import OneRow, number, word
from posterior.data.shapes import fields_of
from posterior.preprocessing.bands import Bands
from posterior.preprocessing.date_parts import LEVELS, part
from posterior.preprocessing.dates import WrittenDates
from posterior.preprocessing.numbers import words
from posterior.preprocessing.understood_cells import Written, is_gap, understood
from posterior.sources.files import column_named, columns_named

TABLE_ROLES = ("number", "category", "boolean", "date")
TEXT_ROLES = ("text", "word")
SCREENED = "screened out: of so many columns, models read those that tell most"
PLAIN_NUMBERS = {float, int, type(None)}  # cells that are numbers however a column is written
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
    written: Written | None = None  # how cells of text are numbers or dates
    gaps: tuple[str, ...] | None = None  # cells that stand for missing ones; None: no cell is text
    parts: tuple[str, ...] = ()  # of dates, what models read besides: month, weekday, hour

    def read(self, column: Any) -> Any:
        """The column with what its cells mean: text as numbers, dates and gaps."""
        written = self.written
        if written is None and self.role == "date" and _is_text(column):
            written = WrittenDates()
        if written is None and self.gaps is None:
            return column
        return understood(column, written, self.gaps or ())

    def with_parts(self) -> tuple[ColumnRole, ...]:
        """The column, and beside it month, weekday and hour of its dates."""
        return self, *(
            ColumnRole(
                f"{self.name} {name}",
                "number" if name == "hour" else "category",
                self.used,
                f"{name} of {self.name}",
                LEVELS[name],
                self.missing,
                (),
            )
            for name in self.parts
        )

    @property
    def warnings(self) -> tuple[Flag, ...]:
        return tuple(flag for flag in self.flags if flag.severity == "warning")

    def flagged(self, kind: str, severity: str, text: str) -> ColumnRole:
        return replace(self, flags=(*self.flags, Flag(kind, severity, text)))


@dataclass(frozen=True)
class Roles:
    """The columns of a table, and how they reach a model."""

    target: str
    columns: tuple[ColumnRole, ...]
    bands: Bands | None = None  # of a target that is a number
    time: str | None = None  # the column that rows follow each other by

    @cached_property
    def used(self) -> tuple[ColumnRole, ...]:
        return tuple(column for column in self.columns if column.used)

    @cached_property
    def table_columns(self) -> tuple[ColumnRole, ...]:
        """Columns of the file that a model of tables reads."""
        return tuple(column for column in self.used if column.role in TABLE_ROLES)

    @property
    def table(self) -> tuple[ColumnRole, ...]:
        """Columns that a model of tables is given: those of the file, and parts of dates."""
        return tuple(part for column in self.table_columns for part in column.with_parts())

    @property
    def origins(self) -> dict[str, str]:
        """The column that each part of a date comes from."""
        return {part.name: c.name for c in self.table_columns for part in c.with_parts()[1:]}

    @cached_property
    def text(self) -> tuple[ColumnRole, ...]:
        """Columns that a model of documents reads."""
        return tuple(column for column in self.used if column.role in TEXT_ROLES)

    @property
    def screened(self) -> tuple[ColumnRole, ...]:
        """Columns of a wide table that no model reads, for others tell more."""
        return tuple(column for column in self.columns if column.reason == SCREENED)

    @cached_property
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
        found = next((column for column in self.columns if column.name == name), None)
        return found or next(column for column in self.table if column.name == name)

    def __deepcopy__(self, memo: Any) -> Roles:
        return self  # nothing in it changes

    def __getstate__(self) -> dict[str, Any]:
        """Without what follows from the fields."""
        return fields_of(self)

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
            return self.bands.labels(self[self.target].read(column))
        cells = [None if frames.missing(cell) else cell for cell in column.to_list()]
        fractions = any(isinstance(cell, float) and not cell.is_integer() for cell in cells)
        return frames.items(cells, self.target) if fractions else cells

    def read(self, frame: Any) -> Any:
        """The same table with cells of text as the numbers and dates that they mean."""
        wanted = {self.time, self.weight, self.target if self.bands is not None else None}
        written = {
            column.name: column
            for column in self.columns
            if (column.used or column.name in wanted)
            and (column.written is not None or column.gaps is not None or column.role == "date")
        }
        if not written:
            return frame
        if isinstance(frame, OneRow):
            given = {**frame.cells}
            for role in self.modeled:  # others are read where they are prepared
                given[role.name] = _cell(_named(given, role), role)[role.name]
            return OneRow(given)
        table = frame_of(frame)
        given = {name: table.get_column(name) for name in table.columns if name in written}
        with ThreadPoolExecutor() as threads:
            read = [*threads.map(lambda name: written[name].read(given[name]), given)]
        changed = [c for c, was in zip(read, given.values(), strict=True) if c is not was]
        return table.with_columns(*changed).to_native() if changed else frame

    def selected(self, frame: Any) -> Any:
        """A frame of the columns that are used, read."""
        table = frame_of(frame)
        if not self.used:
            reasons = ", ".join(f"{c.name} ({c.reason or c.role})" for c in self.columns)
            raise ValueError(f"Expected a column to learn from, but none is used: {reasons}.")
        names = columns_named(table.columns, [c.name for c in self.used])
        return self.read(table.select(names).to_native())

    def prepare(self, frame: Any, text: bool = False) -> Any:
        """The columns that models of tables read, with those of text if asked.

        Numbers as doubles, all else as words; beside a date stand its parts.
        """
        read = self.used if text else self.table_columns
        row = frame if isinstance(frame, OneRow) else OneRow.of_frame(frame)
        if row is not None:
            return self._one_row(row, read)
        table = frame_of(frame)
        names = columns_named(table.columns, [role.name for role in read])
        columns: dict[str, Any] = {}
        for name, role in zip(names, read, strict=True):
            columns |= _cells(table.get_column(name), role)
        return frames.from_columns(columns, table.implementation).to_native()

    def _one_row(self, row: OneRow, read: Sequence[ColumnRole]) -> OneRow:
        """The same of a row alone."""
        found: dict[str, Any] = {}
        for role in read:
            found |= _cell(_named(row.cells, role), role)
        return OneRow(found)

    def documents(self, frame: Any) -> list[str | None]:
        """The text of each row; several columns become one document."""
        if isinstance(frame, OneRow):
            columns = [[word(_named(frame.cells, r), r.name)] for r in self.text]
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


def _cells(column: Column, role: ColumnRole) -> dict[str, Any]:
    """A column as its role says, whatever type the file gave it, and its parts."""
    column = role.read(column)
    if role.role in ("number", "date"):
        numbers = frames.numbers(column)
        parts = {f"{role.name} {name}": part(numbers, name) for name in role.parts}
        return {role.name: numbers, **parts}
    cells = words(column)
    if role.role == "boolean":  # a file's TRUE is a frame's True
        cells = [None if cell is None else cell.lower() for cell in cells]
    return {role.name: cells}


def _named(cells: Mapping[str, Any], role: ColumnRole) -> Any:
    """The cell of a column, or an error that offers the nearest one."""
    return cells[column_named([*cells], role.name)] if role.name not in cells else cells[role.name]


def _cell(cell: Any, role: ColumnRole) -> dict[str, Any]:
    """`_cells` of one cell; those that need no look at how cells are written go straight."""
    kind, name = type(cell), role.name
    is_day = isinstance(role.written, WrittenDates)  # though it may count as a number
    if role.role == "number" and kind in PLAIN_NUMBERS and not is_day:
        return {name: number(cell, name)}
    if role.written is None and role.role not in ("number", "date"):
        text = word(cell, name)
        if text is None or (kind is str and role.gaps is not None and is_gap(text, role.gaps)):
            return {name: None}
        return {name: text.lower() if role.role == "boolean" else text}
    truth = kind is bool  # a column of such has their type
    column = ArrayColumn(name, np.array([cell])) if truth else ArrayColumn.of(name, [cell])
    found = _cells(column, role)
    return {each: cells[0] for each, cells in found.items()}


def _is_text(column: Column) -> bool:
    if isinstance(column, ArrayColumn):
        return column.words is not None
    return column.dtype == nw.String
