"""Reads tables of numbers as they are, and mixed tables as numbers by an encoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import InputTags

from posterior.data import containers, frames
from posterior.data.cells import ArrayColumn
from posterior.data.one_row import OneRow
from posterior.data.rows import Features, SparseRows
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats
from posterior.preprocessing.encoding import Encoding
from posterior.readers.numeric import Numeric
from posterior.readers.reader import Reader

WORDS = "Correct the cell, or mark it as missing"
GAPS = (
    "Fill it in, leave the row out, or give the rows as a frame, whose missing cells are learned "
    "and answered."
)


@dataclass(frozen=True, slots=True)
class Encoded(Reader):
    """Numbers; words, and cells that are missing in the frame of a fit, by their encoding.

    Where a frame to answer has other missing cells, they are NaN. Those of an array are refused.
    """

    columns: Columns
    encoding: Encoding | None = None  # None: the table has nothing but numbers

    def learn(self, X: Any) -> tuple[Self, Features]:
        X = _table(X)
        encoding = _encoding(X)
        if encoding is None:
            numeric, rows = self._numeric().learn(X)
            return replace(self, columns=numeric.columns, encoding=None), _row_by_row(rows)
        learned = replace(self, columns=self.columns.of(X), encoding=encoding)
        return learned, encoding(containers.split(X))

    def read(self, X: Any, fitting: bool = False) -> Features:
        X = _table(X)
        if self.encoding is None:
            return _row_by_row(self._numeric().read(X, fitting))
        if isinstance(X, OneRow):
            return self.encoding.row(X)
        self.columns.check(X)
        return self.encoding(containers.split(X))

    def one_row(self, record: Mapping[str, Any]) -> Any:
        if self.encoding is None:
            return self._numeric().one_row(record)
        cells = self.columns.named(record)
        return Reader.one_row(self, record) if cells is None else OneRow(cells)

    def filled(self, X: Any, typical: Floats) -> Array | SparseRows:
        """Rows to answer, with typical cells where some are missing."""
        features = self.read(X)
        self.check(features, missing=answers_missing(X))
        if isinstance(features, SparseRows):
            return features
        assert isinstance(features, np.ndarray)
        return np.where(np.isnan(features), typical, features)

    def check(
        self, X: Any, first_row: int = 0, fitting: bool = False, missing: bool = False
    ) -> None:
        """Refuse cells that are no numbers, unless they may be missing."""
        columns = self.columns
        if self.encoding is not None:
            columns = replace(columns, names=tuple(self.encoding.names().tolist()))
        Numeric(columns, missing=missing, gaps=GAPS).check(X, first_row, fitting)

    def describe(self, tags: InputTags) -> None:
        self._numeric().describe(tags)

    @property
    def names(self) -> Array:
        return self.columns.array() if self.encoding is None else self.encoding.names()

    @property
    def indicators(self) -> dict[int, tuple[int, ...]]:
        """Columns of zeros and ones that the encoding made, each with those of its category."""
        return {} if self.encoding is None else self.encoding.indicators()

    def widths(self) -> tuple[int, ...]:
        return (self.columns.n if self.encoding is None else len(self.names),)

    def cells(self, X: Any) -> tuple[Any, ...]:
        cells = frames.first_row(X)
        return cells if self.encoding is None else tuple(cells[i] for i in self.encoding.sources())

    def _numeric(self) -> Numeric:
        return Numeric(self.columns, missing=False, words=WORDS)


def answers_missing(X: Any) -> bool:
    """Whether cells of a table may be missing: of arrays, scikit-learn's contract says no."""
    return isinstance(X, OneRow) or frames.as_frame(X) is not None


def _table(X: Any) -> Any:
    return containers.array(X) if isinstance(X, list | tuple) else X


def _row_by_row(rows: Features) -> Features:
    """In memory, once: solvers look at them again and again."""
    return np.ascontiguousarray(rows) if isinstance(rows, np.ndarray) else rows


def _encoding(X: Any) -> Encoding | None:
    """How columns become numbers, where not all are; truths of an array are 0 and 1."""
    if sparse.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "fiub"):
        return None
    table = containers.read(X)
    if isinstance(table, list):
        truths = all(isinstance(c, ArrayColumn) and frames.are_truths(c) for c in table)
        return None if truths else Encoding.learn(table)
    gaps = table.dtype.kind == "f" and bool(np.isnan(table).any())
    return Encoding.learn(containers.split(X)) if gaps and answers_missing(X) else None
