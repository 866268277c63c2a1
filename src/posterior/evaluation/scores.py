"""Scores of held-out rows: means with standard errors, confusion matrix, surprises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Array, Floats, Integers
from posterior.evaluation.held_out import HeldOut

DOUBTFUL = 0.1  # a label of less probability may be wrong


@dataclass(frozen=True, slots=True)
class Measure:
    """A mean over rows and its standard error, from fold to fold."""

    value: float
    standard_error: float | None  # None where it cannot be known

    def __str__(self) -> str:
        error = "" if self.standard_error is None else f" ± {self.standard_error:.3f}"
        return f"{self.value:.3f}{error}"


def mean_of(values: Floats) -> Measure:
    """The mean of some values, and its standard error from one to the next."""
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    return Measure(float(values.mean()), error)


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


def own_probability(held_out: HeldOut) -> Floats:
    """The probability of each row's own label, by a model that never saw the row."""
    return held_out.proba[np.arange(len(held_out.codes)), held_out.codes]


def least_expected(held_out: HeldOut) -> Integers:
    """All rows, the one whose label surprises most first."""
    return np.argsort(own_probability(held_out), kind="stable")


def doubtful_labels(held_out: HeldOut) -> Array:
    """Rows whose label is probably wrong, as a mask (after Northcutt, Jiang and Chuang 2021).

    The label has less than 10 %, and another class has at least the probability that rows of that
    class have on average.
    """
    return _likely(held_out) & (own_probability(held_out) < DOUBTFUL)


def doubtful_by_chance(held_out: HeldOut) -> float:
    """How many labels would be doubted if all were right and the probabilities, too.

    Σᵢ Σ_k p_ik [p_ik < 0.1], over rows in which another class is as probable as it has to be.
    """
    proba = held_out.proba[_likely(held_out)]
    return float(np.where(proba < DOUBTFUL, proba, 0.0).sum())


def _likely(held_out: HeldOut) -> Array:
    """Rows whose most probable class is as probable as in rows of that class on average."""
    proba, codes = held_out.proba, held_out.codes
    own, answer = own_probability(held_out), proba.argmax(axis=1)
    n, k = proba.shape
    usual = np.array([own[codes == c].mean() if (codes == c).any() else 1.0 for c in range(k)])
    return np.asarray(proba[np.arange(n), answer] >= usual[answer])
