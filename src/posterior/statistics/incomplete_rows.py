"""Rows with missing cells, kept as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.errors import NotFiniteError
from posterior.data.rows import Groups, Hard
from posterior.data.typing import Array, Floats
from posterior.statistics.exact import Exact


@dataclass(frozen=True, slots=True, eq=False)
class IncompleteRows:
    """Rows with missing cells, kept as they are, and how much of each a group received.

    What they say depends on the parameters, so no sum can stand for them. They still add (rows of
    both), subtract (rows of negative weight) and scale.
    """

    X: Floats  # (m, d), missing cells are NaN
    R: Floats  # (m, k)

    @classmethod
    def of(cls, X: Array, groups: Groups) -> IncompleteRows:
        if np.isinf(X).any():
            raise NotFiniteError("Expected finite values, got an infinite one.")
        cells = np.where(np.isnan(X), np.nan, X.astype(np.float64) + 0.0)  # one nothing, one zero
        if not isinstance(groups, Hard):
            return cls(cells, groups.R)
        known = groups.codes >= 0
        R = np.zeros((int(known.sum()), groups.n_groups))
        R[np.arange(len(R)), groups.codes[known]] = (
            1.0 if groups.weight is None else groups.weight[known]
        )
        return cls(cells[known], R)

    def __len__(self) -> int:
        return len(self.X)

    def __add__(self, other: IncompleteRows, /) -> IncompleteRows:
        return IncompleteRows(np.concatenate([self.X, other.X]), np.concatenate([self.R, other.R]))

    def __neg__(self) -> IncompleteRows:
        return IncompleteRows(self.X, -self.R)

    def __sub__(self, other: IncompleteRows, /) -> IncompleteRows:
        return (self + -other).compact()

    def __mul__(self, factor: float, /) -> IncompleteRows:
        return IncompleteRows(self.X, self.R * factor)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IncompleteRows):
            return NotImplemented
        return len((self - other).X) == 0

    __hash__ = None  # type: ignore[assignment]

    def take(self, groups: Any) -> IncompleteRows:
        return IncompleteRows(self.X, self.R[:, groups]).nonzero()

    def placed(self, index: Array, n_groups: int) -> IncompleteRows:
        R = np.zeros((len(self), n_groups))
        R[:, index] = self.R
        return IncompleteRows(self.X, R)

    def pooled(self) -> IncompleteRows:
        return IncompleteRows(self.X, self.R.sum(axis=1, keepdims=True))

    def compact(self) -> IncompleteRows:
        """Without rows that were added and taken back."""
        if not (self.R < 0).any():
            return self
        place, sign = self._signs()
        kept = np.asarray(sign.any(axis=1))[place]
        return IncompleteRows(self.X[kept], self.R[kept]).cancelled()

    def overdrawn(self) -> Array:
        """Groups (k,) from which more of a row was taken back than they had received."""
        if not (self.R < 0).any():
            return np.zeros(self.R.shape[1], bool)
        return np.asarray((self._signs()[1] < 0).any(axis=0))

    def _signs(self) -> tuple[Array, Array]:
        """Which of the different rows each is, and the sign of what a group has of each."""
        _, inverse = np.unique(_keys(self.X), return_inverse=True)
        place = inverse.ravel().astype(np.int32)
        _, weight, _ = kernels.moments(self.R, place, None, int(place.max()) + 1, False)
        return place, Exact(*weight).sign()

    def cancelled(self) -> IncompleteRows:
        """Equal rows of opposite weights, pair by pair."""
        sign = np.sign(self.R.sum(axis=1))
        keys = _keys(np.column_stack([self.X, np.abs(self.R)]))
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        net = np.bincount(place.ravel(), sign, len(first)).astype(np.int64)
        rows = np.repeat(first, np.abs(net))
        signs = np.repeat(np.sign(net), np.abs(net))
        return IncompleteRows(self.X[rows], signs[:, None] * np.abs(self.R[rows]))

    def nonzero(self) -> IncompleteRows:
        """Without rows that no group received."""
        kept = self.R.any(axis=1)
        return IncompleteRows(self.X[kept], self.R[kept])

    def patterns(self) -> list[tuple[Array, IncompleteRows]]:
        """Rows that miss the same cells: which columns are observed, and the rows."""
        return [
            (observed, IncompleteRows(self.X[rows], self.R[rows]))
            for observed, rows in patterns(self.X)
        ]


def patterns(X: Floats) -> Iterator[tuple[Array, Array]]:
    """Which columns are observed, and the rows of which this is so."""
    kinds, place = np.unique(~np.isnan(X), axis=0, return_inverse=True)
    order = kernels.rows_by_group(place.ravel().astype(np.int32), len(kinds))
    ends = np.cumsum(np.bincount(place.ravel(), minlength=len(kinds)))
    yield from zip(kinds, np.split(order, ends[:-1]), strict=True)


def _keys(table: Floats) -> Array:
    """Each row as one value, equal if its bits are."""
    return np.ascontiguousarray(table).view(f"V{table.shape[1] * table.itemsize}").ravel()
