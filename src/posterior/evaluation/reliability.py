"""Reliability and calibration error: whether probabilities come true as often as they say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Array, Floats
from posterior.evaluation.held_out import HeldOut
from posterior.evaluation.scores import Measure

BINS = 10
ROWS_A_BIN = 20
WIDTHS = np.linspace(0, 1, 21)  # edges of the histogram


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Predictions of about equal confidence."""

    low: float  # edges of the bin
    high: float
    rows: int
    predicted: float  # mean probability
    observed: float  # share of rows for which it came true
    observed_low: float  # Wilson's 95 % interval
    observed_high: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """Of two classes: probability of `of`. Of several: of the most probable class ("top")."""

    model: str
    of: str | None  # class, or None for the most probable one
    error: float  # expected calibration error: Σ_b (rows_b / rows) |observed_b - predicted_b|
    bins: list[ReliabilityBin]
    histogram: list[int]  # rows in 20 bins of equal width of the probability


def reliability(held_out: HeldOut, model: str = "") -> Reliability:
    """How often things came true, in bins of the probability they were given."""
    p, hit = claims(held_out)
    ends = edges(p)
    places = bin_of(p, ends)
    bins = []
    for b in np.unique(places):
        inside = places == b
        n, share = int(inside.sum()), float(hit[inside].mean())
        low, high = wilson(share, n)
        bins.append(
            ReliabilityBin(
                float(ends[b]), float(ends[b + 1]), n, float(p[inside].mean()), share, low, high
            )
        )
    names = held_out.names
    return Reliability(
        model=model,
        of=names[1] if len(names) == 2 else None,
        error=calibration_error(p, hit),
        bins=bins,
        histogram=np.histogram(p, WIDTHS)[0].tolist(),
    )


def claims(held_out: HeldOut) -> tuple[Floats, Array]:
    """Probabilities, and whether they came true.

    With two classes of the second one, with more of whichever is most probable.
    """
    proba = held_out.proba
    if proba.shape[1] == 2:
        return proba[:, 1], held_out.codes == 1
    top = proba.argmax(axis=1)
    return proba[np.arange(len(top)), top], held_out.codes == top


def edges(p: Floats) -> Floats:
    """Of bins with about as many rows each."""
    n_bins = int(np.clip(len(p) // ROWS_A_BIN, 1, BINS))
    inner = np.unique(np.quantile(p, np.arange(1, n_bins) / n_bins))
    return np.concatenate([[0.0], inner[(inner > 0) & (inner < 1)], [1.0]])


def bin_of(p: Floats, edges: Floats) -> Array:
    """A bin is low <= p < high; the last one holds its end."""
    return np.clip(np.searchsorted(edges, p, side="right") - 1, 0, len(edges) - 2)


def calibration_error(p: Floats, hit: Array) -> float:
    """Σ_b (n_b / n) |share that came true in bin b - mean probability in it|."""
    if not len(p):
        return np.nan
    bins = bin_of(p, edges(p))
    gap = np.bincount(bins, hit) - np.bincount(bins, p)
    return float(np.abs(gap).sum() / len(p))


def calibration_measure(held_out: HeldOut) -> tuple[Measure, Floats]:
    """The calibration error of all rows; its error by leaving folds out, and these values.

    A fold alone has too few rows: SE² = (K - 1) / K Σ_f (e_without_f - mean)², the jackknife.
    """
    p, hit = claims(held_out)
    folds = np.arange(len(p)) if held_out.folds is None else held_out.folds
    some = np.flatnonzero(np.bincount(folds))
    without = np.array([calibration_error(p[folds != f], hit[folds != f]) for f in some])
    k = len(without)
    spread = ((without - without.mean()) ** 2).sum() * (k - 1) / k if k > 1 else np.nan
    error = float(np.sqrt(spread)) if np.isfinite(spread) else None
    return Measure(calibration_error(p, hit), error), without


def wilson(share: float, n: int, z: float = 1.959964) -> tuple[float, float]:
    """The interval of a share (Wilson 1927)."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return float(max(0.0, min(share, middle - half))), float(min(1.0, max(share, middle + half)))
