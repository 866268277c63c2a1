"""Where to cut columns whose rows have classes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from posterior import kernels
from posterior.data.typing import Codes, Floats, Integers
from posterior.statistics.class_histogram import ClassHistogram

TABLE = 1 << 22  # counts whose logarithms are looked up


def cut_points(parts: Sequence[ClassHistogram], n_bins: int | None) -> list[Floats]:
    """Cuts of every column by description length, or into `n_bins` of equal frequency."""
    log_table = None if n_bins else _log_table(parts)
    return [_cut(part, n_bins, log_table) for part in parts]


def _cut(part: ClassHistogram, n_bins: int | None, log_table: Floats | None) -> Floats:
    value, code, weight = part.entries()
    if n_bins is None:
        places = kernels.mdl_cuts(value, code, weight, part.counts.shape[1], log_table)
    else:
        places = _frequency_cuts(value, code, weight, n_bins)
    below, above = value[places - 1], value[places]
    middle = below * 0.5 + above * 0.5
    return np.where(middle > below, middle, above)  # neighbors have nothing between them


def _frequency_cuts(value: Floats, code: Codes, weight: Floats, n_bins: int) -> Integers:
    """Where (1/k) Σ_c P(x ≤ value | c) first reaches i / n_bins, for i from 1."""
    if len(value) == 0:
        return np.empty(0, np.int64)
    share = np.cumsum(weight / np.bincount(code, weight)[code])
    marks = share[-1] * np.arange(1, n_bins) / n_bins
    # a sum that rounding left just below its mark has reached it
    reached = np.searchsorted(share, marks * (1 - 1e-12))
    places = np.unique(np.searchsorted(value, value[reached], side="right"))
    return places[places < len(value)]


def ranges(cuts: Floats) -> list[str]:
    """Bins as text, with as many digits as tell the cut points apart."""
    digits = next(
        (d for d in range(4, 17) if len({f"{cut:.{d}g}" for cut in cuts}) == len(cuts)), 17
    )
    texts = ["-∞", *(f"{cut:.{digits}g}" for cut in cuts), "∞"]
    return [f"{'(' if a == '-∞' else '['}{a}, {b})" for a, b in pairwise(texts)]


def _log_table(parts: Sequence[ClassHistogram]) -> Floats | None:
    """c log₂ c for all whole numbers up to the largest count, if counts are such numbers."""
    most = max(part.weight for part in parts)
    if most > TABLE or any((part.counts % 1).any() for part in parts):
        return None
    c = np.arange(int(most) + 1, dtype=np.float64)
    c[1:] *= np.log2(c[1:])
    return c
