"""The compiled cuts of a column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import posterior.kernels._compiled as _compiled
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.kernels.cut_points import Cuts


def sort_column(x: Floats) -> tuple[Floats, Codes]:
    """The known cells in ascending order, and the rows they stand in."""
    value, row = np.empty(len(x)), np.empty(len(x), np.int32)
    n = _compiled.sort_column(x, value, row)
    return value[:n], row[:n]


def pack_columns(X: Array, code: Codes, bits: int, key: Array) -> list[Array]:
    """The known cells of each column as whole numbers in their order, classes in the last bits."""
    known = np.empty(X.shape[1], np.int64)
    _compiled.pack_columns(X, code, bits, key, known)
    return [line[:n] for line, n in zip(key, known, strict=False)]


def class_cells(
    key: Array, bits: int, n_classes: int, limit: int
) -> tuple[Integers, Floats, float]:
    """Sorted keys gathered in cells: their ends, their class counts (m, k), and what they move."""
    ends, counts, moved = _compiled.class_cells(key, bits, n_classes, limit)
    return ends, counts, float(moved)


def digitize(X: Array, cuts: Sequence[Array], out: Array | None = None) -> Array:
    """The bin of each cell, cₖ ≤ x < cₖ₊₁, in the dtype of X; a missing cell stays NaN."""
    out = np.empty(X.shape, X.dtype) if out is None else out
    known = Cuts.of(cuts)
    _compiled.digitize(X, known.flat, known.start, out)
    return out


def mdl_cuts(
    value: Floats,
    code: Codes,
    weight: Floats | None,
    n_classes: int,
    log_table: Floats | None = None,
) -> Integers:
    """Where to cut, by Fayyad and Irani (1993): ascending i, each between entries i - 1 and i."""
    return _compiled.mdl_cuts(value, code, weight, n_classes, log_table)
