"""Reads any table: an array of numbers as it is, and anything else column by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import InputTags, check_array

from posterior.data import containers, frames
from posterior.data.cells import Column
from posterior.data.one_row import OneRow
from posterior.data.rows import is_plain, readable
from posterior.data.table_columns import Columns
from posterior.data.typing import Array
from posterior.readers.reader import Reader


class TableReader(Reader):
    """Base class of readers of mixed tables: numbers and words, missing cells."""

    __slots__ = ()

    def describe(self, tags: InputTags) -> None:
        tags.allow_nan = True
        tags.categorical = True
        tags.string = True

    def table(self, X: Any, known: bool = True) -> Array | list[Column]:
        """An array of numbers, or the columns of a table; those that are known, if any are."""
        if sparse.issparse(X):
            raise TypeError(
                f"Sparse data was passed, but {self.columns.owner} reads dense data. Name a "
                "family of counts for all columns, such as Multinomial(), or pass X.toarray()."
            )
        if isinstance(X, OneRow):
            return [X.column(name) for name in self.known(X)]
        if known and self.columns.names is None and is_plain(X) and X.shape[1] == self.columns.n:
            return np.asarray(X)
        frame = frames.as_frame(X)
        table = containers.read(X if frame is None else frame)
        if frame is None and isinstance(table, np.ndarray):
            checked = check_array(
                table, ensure_all_finite=False, estimator=self.columns.owner, input_name="X"
            )
            table = readable(np.asarray(checked))
        if known:
            self.columns.check(table if frame is None and isinstance(table, np.ndarray) else X)
        return table

    def one_row(self, record: Mapping[str, Any]) -> Any:
        cells = self.columns.named(record)
        return Reader.one_row(self, record) if cells is None else OneRow(cells)

    def known(self, row: OneRow) -> Sequence[str]:
        """The names of the columns, which a row must have in this order."""
        names = row.names
        if names != self.columns.names:
            raise ValueError(f"Expected columns {self.columns.names}, got {names}.")
        return names


def learned_columns(columns: Columns, X: Any, table: Array | list[Column]) -> Columns:
    """The columns of a table that was just read, and the library that it came from."""
    frame = frames.as_frame(X)
    known = columns.of(table if frame is None and isinstance(table, np.ndarray) else X)
    return known if frame is None else replace(known, library=frame.implementation)
