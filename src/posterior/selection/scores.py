"""How good probabilities are that rows got from models which never saw them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Array, Floats
from posterior.generative.validation import HeldOut

BINS = 10
ROWS_A_BIN = 20


@dataclass(frozen=True, slots=True)
class Measure:
    """A mean over rows and its standard error, from fold to fold."""

    value: float
    standard_error: float | None  # None where it cannot be known

    def __str__(self) -> str:
        error = "" if self.standard_error is None else f" ± {self.standard_error:.3f}"
        return f"{self.value:.3f}{error}"


def measure(held_out: HeldOut, name: str) -> Measure:
    """log_loss, accuracy or brier."""
    value = float(np.average(held_out.losses()[name], weights=held_out.weight))
    error = held_out.standard_error(name)
    return Measure(value, float(error) if np.isfinite(error) else None)


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
