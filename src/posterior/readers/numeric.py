"""Reads tables of numbers, dense or sparse, as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils import InputTags, check_array

from posterior.data import containers, frames, validate
from posterior.data.one_row import OneRow
from posterior.data.rows import Features, SparseRows, is_plain, readable
from posterior.data.table_columns import Columns
from posterior.data.typing import Floats
from posterior.readers.reader import Reader

CSR = (sparse.csr_array, sparse.csr_matrix)
FILL = "Fill it in, or leave the row out."


@dataclass(frozen=True, slots=True)
class Numeric(Reader):
    """Numbers of any container, without a copy where kernels can read them."""

    columns: Columns
    sparse: bool = True  # whether sparse matrices are read,
    missing: bool = True  # and missing cells
    negative: Literal["read", "answered", "refused"] = "read"  # answered: refused in learning
    noticed: Literal["never", "dense", "sparse"] = "never"  # rows whose sums show a bad cell
    words: str = containers.CONVERT  # what to do about words,
    gaps: str = FILL  # and about missing cells that are not read

    def learn(self, X: Any) -> tuple[Self, Features]:
        if self._is_plain(X):
            columns = Columns(self.columns.owner, X.shape[1])
            return replace(self, columns=columns), _as_it_is(X)
        rows = self._rows(X)
        return replace(self, columns=self.columns.of(X)), rows

    def read(self, X: Any, fitting: bool = False) -> Features:
        if isinstance(X, OneRow):
            return X.numbers()
        if self._is_plain(X) and self.columns.names is None and X.shape[1] == self.columns.n:
            return _as_it_is(X)
        rows = self._rows(X)
        self.columns.check(X)
        return rows

    def one_row(self, record: Mapping[str, Any]) -> Any:
        cells = self.columns.named(record)
        plain = cells is not None and {float, int}.issuperset(map(type, cells.values()))
        return OneRow(cells) if cells is not None and plain else Reader.one_row(self, record)

    def describe(self, tags: InputTags) -> None:
        tags.sparse = self.sparse
        tags.allow_nan = self.missing
        tags.positive_only = self.negative != "read"

    def _is_plain(self, X: Any) -> bool:
        """Whether X is what the kernels read, so that the long way of checking can be spared."""
        if type(X) is np.ndarray or not (self.sparse and type(X) in CSR):
            return is_plain(X)
        return X.dtype.kind in "fiu" and 0 not in X.shape and X.dtype.itemsize <= 8

    def _rows(self, X: Any) -> Features:
        frame = frames.as_frame(X)
        numbers = None if frame is None else containers.number_rows(frame, doubles=True)
        if numbers is not None and 0 not in numbers.shape:
            return numbers
        if frame is not None and frame.shape[1] == 0:  # it has no type either
            raise ValueError(
                f"Found array with 0 feature(s) (shape={frame.shape}) while a minimum of 1 is "
                "required."
            )
        containers.refuse_words(X, self.words)
        table = check_array(
            X,
            accept_sparse="csr" if self.sparse else False,
            ensure_all_finite=False,  # looked at chunk by chunk, while it is in cache
            estimator=self.columns.owner,
            input_name="X",
        )
        if not isinstance(table, np.ndarray):
            return SparseRows.of(table)
        # None is missing
        return table.astype(np.float64) if table.dtype.kind == "O" else readable(table)

    def check(self, X: Any, first_row: int = 0, fitting: bool = False) -> None:
        validate.check_numbers(
            X,
            first_row=first_row,
            names=self.columns.names,
            allow_missing=self.missing and not isinstance(X, SparseRows),
            allow_negative=self.negative == "read" or (self.negative == "answered" and not fitting),
            estimator=self.columns.owner,
            remedy=self.gaps,
        )

    def _notices(self, X: Any) -> bool:
        return self.noticed == ("sparse" if isinstance(X, SparseRows) else "dense")

    def check_chunk(self, X: Any, first_row: int = 0, fitting: bool = False) -> None:
        if not self._notices(X):
            self.check(X, first_row, fitting)

    def check_scores(self, scores: Floats, X: Any, first_row: int) -> None:
        """A cell that is no number makes a score that is none."""
        if self.noticed == "never":
            return
        with np.errstate(invalid="ignore"):
            strange = not np.isfinite(scores.sum())
        if strange:
            self.check(X, first_row)


def _as_it_is(X: Any) -> Features:
    return X if isinstance(X, np.ndarray) else SparseRows.of(X)
