"""Base class of discretizers: cells become bins, as numbers or as ones in a column, and back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted

from posterior import kernels
from posterior.data import frames
from posterior.data.rows import Features
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats, Integers
from posterior.engines.local import Local

FLOATS = (np.float64, np.float32)


class Discretizer(TransformerMixin, BaseEstimator):
    """Columns cut into bins. What a call learns is put in place at its end, all at once."""

    encode: str
    n_bins_: Integers
    n_features_in_: int
    feature_names_in_: Array  # of tables whose columns have names

    @abstractmethod
    def _table(self, X: Any, fitting: bool) -> Array:
        """The numbers of any container."""

    @abstractmethod
    def _cuts(self) -> Sequence[Floats]:
        """The inner edges of the bins of each column."""

    @abstractmethod
    def _ends(self) -> list[Array]:
        """The same between the lowest and the highest value."""

    def _read(self, X: Any, *, known: bool = True, fitting: bool = False) -> tuple[Columns, Array]:
        """The columns of a table, which must be those that are known, and its numbers."""
        table = self._table(X, fitting)
        named = table if frames.as_frame(X) is None else X
        if not known:
            return Columns(type(self).__name__).of(named), table
        columns = self._columns()
        columns.check(named)
        return columns, table

    def _columns(self) -> Columns:
        names = vars(self).get("feature_names_in_")
        known = None if names is None else tuple(names)
        return Columns(type(self).__name__, self.n_features_in_, known)

    def _learn(self, columns: Columns, **learned: Any) -> Self:
        """Put in place what was learned."""
        names = {} if columns.names is None else {"feature_names_in_": columns.array()}
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(learned, n_features_in_=columns.n, **names)
        return self

    def transform(self, X: Any) -> Any:
        """The bin of each cell, as its number or as a one in its column."""
        check_is_fitted(self)
        codes = digitized(self._read(X)[1], self._cuts())
        if self.encode == "ordinal":
            return codes
        return one_hot(codes, self.n_bins_, dense=self.encode == "onehot-dense")

    def inverse_transform(self, X: Any) -> Array:
        """The middle of the bin of each cell."""
        return centers(self._codes(X), self._ends())

    def _codes(self, X: Any) -> Array:
        """Numbers of bins from what `transform` gave."""
        check_is_fitted(self)
        from_columns = self.encode != "ordinal"
        codes = check_array(
            X,
            accept_sparse="csc" if from_columns else False,
            dtype=FLOATS,
            ensure_all_finite="allow-nan",
        )
        if from_columns:
            codes = from_one_hot(codes, self.n_bins_)
        if codes.shape[1] != len(self.n_bins_):
            raise ValueError(
                f"Incorrect number of features. Expecting {len(self.n_bins_)}, received "
                f"{codes.shape[1]}."
            )
        return np.asarray(codes)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def digitized(X: Array, cuts: Sequence[Floats]) -> Array:
    """The bin of each cell, rows shared by threads; a missing cell stays NaN."""
    out = np.empty(X.shape, X.dtype)

    def fill(_: Features, rows: slice, part: Array) -> None:
        kernels.digitize(X[rows], cuts, part)

    Local().fill(fill, X, out)
    return out


def one_hot(codes: Array, n_bins: Array, *, dense: bool) -> Any:
    """One in the column of each cell's bin; a missing cell has none."""
    start = np.append(0, np.cumsum(n_bins))
    known = ~np.isnan(codes)
    row, column = np.nonzero(known)
    place = start[column] + codes[row, column].astype(np.int64)
    shape = len(codes), int(start[-1])
    if dense:
        out = np.zeros(shape, codes.dtype)
        out[row, place] = 1.0
        return out
    ends = np.append(0, np.cumsum(known.sum(axis=1)))
    small = np.int32 if max(*shape, len(place)) < 2**31 else np.int64
    parts = np.ones(len(place), codes.dtype), place.astype(small), ends.astype(small)
    return sparse.csr_matrix(parts, shape=shape)


def from_one_hot(X: Any, n_bins: Array) -> Array:
    """The bin whose column is largest; NaN where no column of a feature is above zero."""
    start = np.append(0, np.cumsum(n_bins))
    if X.shape[1] != start[-1]:
        raise ValueError(
            f"Shape of the passed X data is not correct. Expected {start[-1]} columns, got "
            f"{X.shape[1]}."
        )
    codes = np.empty((X.shape[0], len(n_bins)), X.dtype)
    table = X.tocsc() if sparse.issparse(X) else X
    for j in range(len(n_bins)):
        block = table[:, start[j] : start[j + 1]]
        block = block.toarray() if sparse.issparse(block) else block
        codes[:, j] = np.where(block.max(axis=1) > 0, block.argmax(axis=1), np.nan)
    return codes


def centers(codes: Array, edges: Sequence[Array]) -> Array:
    """The middle of each cell's bin; NaN where the cell is missing."""
    out = np.full(codes.shape, np.nan, codes.dtype)
    for j, ends in enumerate(edges):
        known = ~np.isnan(codes[:, j])
        middle = ends[1:] * 0.5 + ends[:-1] * 0.5
        place = codes[known, j].astype(np.int64)
        if len(place) and not (0 <= place.min() and place.max() < len(middle)):
            raise ValueError(
                f"Expected bins from 0 to {len(middle) - 1} in feature {j}, got "
                f"{place.min() if place.min() < 0 else place.max()}."
            )
        out[known, j] = middle[place]
    return out
