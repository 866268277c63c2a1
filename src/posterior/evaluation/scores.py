"""Means over held-out rows with their standard errors, and the confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Integers
from posterior.evaluation.held_out import HeldOut


@dataclass(frozen=True, slots=True)
class Measure:
    """A mean over rows and its standard error, from fold to fold."""

    value: float
    standard_error: float | None  # None where it cannot be known

    def __str__(self) -> str:
        error = "" if self.standard_error is None else f" ± {self.standard_error:.3f}"
        return f"{self.value:.3f}{error}"


def measure(held_out: HeldOut, name: str) -> Measure:
    """Mean and standard error of a score: "log_loss", "accuracy" or "brier"."""
    error = held_out.standard_error(name)
    return Measure(held_out.mean(name), error if np.isfinite(error) else None)


def confusion(held_out: HeldOut) -> Integers:
    """Confusion matrix (k, k): rows of true class i that were predicted as class j."""
    k = len(held_out.classes)
    counts = np.zeros((k, k), np.int64)
    np.add.at(counts, (held_out.codes, held_out.log_proba.argmax(axis=1)), 1)
    return counts
