"""Cells as numbers of bins, as ones in the column of their bin, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from posterior import kernels
from posterior.data.rows import Features
from posterior.data.typing import Array, Floats
from posterior.engines.local import Local


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
