"""Reads categories that are numbered 0, 1, 2, ..., as scikit-learn codes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils import InputTags

from posterior.data.names import quoted
from posterior.data.rows import CodedRows, Hard, Rows
from posterior.data.table_columns import Columns
from posterior.data.typing import Array
from posterior.engines.local import Local
from posterior.readers.numeric import Numeric
from posterior.readers.reader import Reader
from posterior.statistics.algebra import Exactly
from posterior.statistics.extent import Extent

MOST_CATEGORIES = 10_000_000  # of a column; beyond, someone passed identifiers or measurements


@dataclass(frozen=True, slots=True)
class NumberedCategories(Reader):
    """Categories by their numbers; each batch brings those from zero to its largest."""

    numbers: Numeric
    least: Any = None  # categories that exist at least, seen or not

    @property
    def columns(self) -> Columns:  # type: ignore[override]
        return self.numbers.columns

    def of(self, columns: Columns) -> Self:
        return replace(self, numbers=self.numbers.of(columns))

    def describe(self, tags: InputTags) -> None:
        self.numbers.describe(tags)
        tags.categorical = True

    def learn(self, X: Any) -> tuple[Self, CodedRows]:
        numbers, table = self.numbers.learn(X)
        known = replace(self, numbers=numbers)
        return known, known._counted(table)

    def read(self, X: Any, fitting: bool = False) -> CodedRows:
        """The parameters know which categories there are when rows are answered."""
        table = self.numbers.read(X)
        assert isinstance(table, np.ndarray)
        return self._counted(table) if fitting else CodedRows(table, ())

    def _counted(self, table: Any) -> CodedRows:
        anyone = Hard(np.zeros(len(table), np.int32), 1)
        try:
            extent = Local().sum(Exactly(self._extent), Rows(table, anyone))
        except ValueError:
            self.check(CodedRows(table, ()), fitting=True)  # says where in the whole table
            raise
        if extent.largest.max(initial=0) >= MOST_CATEGORIES:
            column = quoted(self.names[int(extent.largest.argmax())])
            raise ValueError(
                f"Expected categories 0, 1, 2, ... below {MOST_CATEGORIES:,}, got a number beyond "
                f"it in column {column}. Use NaiveBayes, which takes categories as they are."
            )
        return CodedRows(table, whole_numbers(self.at_least(extent.largest + 1)))

    def _extent(self, rows: Rows) -> Extent:
        assert isinstance(rows.X, np.ndarray)
        self.numbers.check(rows.X, fitting=True)
        return Extent.of(rows.X)

    def at_least(self, sizes: Array) -> Array:
        """Numbers of categories, at least those that must exist."""
        if self.least is None:
            return sizes
        least = np.asarray(self.least)
        if least.dtype.kind not in "iu":
            raise ValueError(
                f"'min_categories' should have integral type. Got {least.dtype} instead."
            )
        if least.ndim and least.shape != sizes.shape:
            raise ValueError(
                f"'min_categories' should have shape ({len(sizes)},) when an array-like is "
                f"provided. Got {least.shape} instead."
            )
        return np.maximum(sizes, least)

    def check(self, X: Any, first_row: int = 0, fitting: bool = False) -> None:
        self.numbers.check(X.codes, first_row, fitting=True)

    def check_chunk(self, X: Any, first_row: int = 0, fitting: bool = False) -> None:
        if not fitting:  # while fitting, the categories were looked up first
            self.check(X, first_row, fitting)

    def to_input(self, features: Any) -> Array:
        return np.asarray(features.codes)


def whole_numbers(sizes: Array) -> tuple[Array, ...]:
    """The categories 0 .. n - 1 of each column."""
    return tuple(np.arange(n) for n in sizes)
