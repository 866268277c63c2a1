"""Cut points of columns whose rows have classes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from posterior import kernels
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.statistics.class_histogram import ClassHistogram, Each

TABLE = 1 << 22  # counts whose logarithms are looked up


def cut_points(
    parts: Sequence[ClassHistogram], n_bins: int | None, each: Each = map
) -> list[Floats]:
    """Cuts of every column by description length, or into `n_bins` of equal frequency."""
    log_table = None if n_bins else _log_table([part.counts for part in parts])

    def cut(j: int) -> Floats:
        value, code, weight = parts[j].entries()
        places = _places(value, code, weight, parts[j].counts.shape[1], n_bins, log_table)
        return between(value[places - 1], value[places])

    return list(each(cut, range(len(parts))))


def cuts_between_cells(
    columns: Sequence[Floats], first: Sequence[Floats], last: Sequence[Floats], n_bins: int | None
) -> list[Floats]:
    """Cuts that no cell lies on both sides of: counts (k, m), ends of the cells (m,) by column."""
    log_table = None if n_bins else _log_table(columns)
    found = []
    for counts, start, end in zip(columns, first, last, strict=True):
        cell, code = np.nonzero(counts.T > 0)
        entries = start[cell], code.astype(np.int32), counts[code, cell]
        places = _places(*entries, len(counts), n_bins, log_table)
        found.append(between(end[cell[places - 1]], start[cell[places]]))
    return found


def between(below: Floats, above: Floats) -> Floats:
    """Halfway, or at the upper of neighbors that have nothing between them."""
    middle = below * 0.5 + above * 0.5
    return np.where(middle > below, middle, above)


def _places(
    value: Floats,
    code: Codes,
    weight: Floats,
    n_classes: int,
    n_bins: int | None,
    log_table: Floats | None,
) -> Integers:
    """The first entries after the cuts."""
    if n_bins is None:
        return kernels.mdl_cuts(value, code, weight, n_classes, log_table)
    if len(value) == 0:
        return np.empty(0, np.int64)
    return _frequency_cuts(value, code, weight, n_bins)


def _frequency_cuts(value: Floats, code: Codes, weight: Floats, n_bins: int) -> Integers:
    """Where (1/k) Σ_c P(x ≤ value | c) first reaches i / n_bins, for i from 1."""
    share = np.cumsum(weight / np.bincount(code, weight)[code])
    marks = share[-1] * np.arange(1, n_bins) / n_bins
    # a sum that rounding left just below its mark has reached it
    reached = np.searchsorted(share, marks * (1 - 1e-12))
    places = np.unique(np.searchsorted(value, value[reached], side="right"))
    return places[places < len(value)]


def ranges(cuts: Floats) -> list[str]:
    """Bins as text, with as many digits as distinguish the cut points."""
    digits = next(
        (d for d in range(4, 17) if len({f"{cut:.{d}g}" for cut in cuts}) == len(cuts)), 17
    )
    texts = ["-∞", *(f"{cut:.{digits}g}" for cut in cuts), "∞"]
    return [f"{'(' if a == '-∞' else '['}{a}, {b})" for a, b in pairwise(texts)]


def _log_table(counts: Sequence[Array]) -> Floats | None:
    """c log₂ c for all whole numbers up to the largest count, if counts are such numbers."""
    most = max((float(c.sum()) for c in counts), default=0.0)
    if most > TABLE or any((c % 1).any() for c in counts):
        return None
    c = np.arange(int(most) + 1, dtype=np.float64)
    c[1:] *= np.log2(c[1:])
    return c
