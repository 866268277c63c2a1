"""Reads numbers and categories side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from posterior.data import containers, frames, one_row, validate
from posterior.data.cells import Column
from posterior.data.names import plain
from posterior.data.one_row import OneRow, number
from posterior.data.rows import Blocks, CodedRows
from posterior.data.table_columns import Columns
from posterior.data.typing import Array
from posterior.readers.table import TableReader, learned_columns


@dataclass(frozen=True, slots=True, eq=False)
class NumbersAndCategories(TableReader):
    """A block of numbers, in which cells may be missing, and a block of coded categories."""

    columns: Columns
    asked: Any = None  # numbers that are categories: all (True), or those named
    kinds: tuple[str, ...] = ()  # of each column: "number" or "category"
    by_column: ClassVar[bool] = False

    def learn(self, X: Any) -> tuple[Self, Blocks]:
        table = self.table(X, known=False)
        known = replace(self, columns=learned_columns(self.columns, X, table))
        known = replace(known, kinds=known._kinds(table))
        return known, known._rows(table)

    def read(self, X: Any, fitting: bool = False) -> Blocks:
        return self._row(X) if isinstance(X, OneRow) else self._rows(self.table(X))

    def _row(self, row: OneRow) -> Blocks:
        """The same of one row, cell by cell."""
        numbers, categories = self.places()
        names, cells = self.known(row), [*row.cells.values()]
        given = [(names[j], cells[j]) for j in numbers]
        measured = [c if type(c) is float else number(c, n, _remedy(n)) for n, c in given]
        coded = one_row.coded([cells[j] for j in categories], [names[j] for j in categories])
        return Blocks((np.array([measured], np.float64), coded))

    def _rows(self, table: Array | list[Column]) -> Blocks:
        numbers, categories = self.places()
        names = self.names
        if isinstance(table, np.ndarray):
            measured: Array = np.ascontiguousarray(table[:, numbers], np.float64)
        elif numbers:
            cells = [frames.numbers(table[j], _remedy(names[j])) for j in numbers]
            measured = np.stack(cells, axis=1)
        else:
            measured = np.empty((len(table[0]), 0))
        if categories and isinstance(table, np.ndarray):
            table = containers.columns(table)
        coded = [frames.coded(table[j], names[j]) for j in categories]
        none = np.empty((len(measured), 0), np.int32)
        codes = np.stack([c for c, _ in coded], axis=1) if coded else none
        return Blocks((measured, CodedRows(codes, tuple(values for _, values in coded))))

    def _kinds(self, table: Array | list[Column]) -> tuple[str, ...]:
        """Whether each column is of numbers or of categories: as asked, or as its values say."""
        names = [plain(name) for name in self.names]
        if self.asked is True:
            return ("category",) * len(names)
        unasked = self.asked is None or self.asked is False
        chosen = [] if unasked else [plain(name) for name in self.asked]
        unknown = [name for name in chosen if name not in names]
        if unknown:
            raise ValueError(f"Expected categories to be columns of {names}, got {unknown}.")
        if isinstance(table, np.ndarray):
            kinds = ["number"] * len(names)
        else:
            kinds = [frames.kind(column) for column in table]
        pairs = zip(names, kinds, strict=True)
        return tuple("category" if name in chosen else kind for name, kind in pairs)

    def places(self) -> tuple[list[int], list[int]]:
        """The columns of numbers, and those of categories."""
        numbers = [j for j, kind in enumerate(self.kinds) if kind == "number"]
        return numbers, [j for j, kind in enumerate(self.kinds) if kind != "number"]

    def numbers(self) -> list[Any]:
        """The names of the columns of numbers."""
        return [plain(self.names[j]) for j in self.places()[0]]

    def check(self, X: Any, first_row: int = 0, fitting: bool = False) -> None:
        if validate.are_ordinary(X.parts[0], allow_negative=True):
            return  # names are for those that are not
        validate.check_numbers(
            X.parts[0],
            first_row=first_row,
            names=self.names[self.places()[0]],
            allow_missing=True,
            allow_negative=True,
            estimator=self.columns.owner,
        )

    def to_input(self, features: Any) -> Any:
        """A frame of the library that came, or an array."""
        numbers, categories = self.places()
        measured, coded = features.parts
        table: dict[int, Array] = {j: measured[:, i] for i, j in enumerate(numbers)}
        for i, j in enumerate(categories):
            values, codes = coded.values[i].astype(object), coded.codes[:, i]
            table[j] = np.append(values, [None])[codes]
        columns = [table[j] for j in range(len(table))]
        if self.columns.names is not None:
            cells = {n: c.tolist() for n, c in zip(self.columns.names, columns, strict=True)}
            return frames.from_columns(cells, self.columns.library).to_native()
        return np.stack([c.astype(object) if categories else c for c in columns], axis=1)


def _remedy(name: Any) -> str:
    return f"Make the column a category, categories={[plain(name)]}"
