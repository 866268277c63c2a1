"""Rows that a model did not expect, and labels that are probably wrong."""

from __future__ import annotations

import numpy as np

from posterior.data.typing import Array, Floats, Integers
from posterior.evaluation.held_out import HeldOut

DOUBTFUL = 0.1  # a label of less probability may be wrong


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
    proba, codes = held_out.proba, held_out.codes
    own, answer = own_probability(held_out), proba.argmax(axis=1)
    n, k = proba.shape
    usual = np.array([own[codes == c].mean() if (codes == c).any() else 1.0 for c in range(k)])
    likely = proba[np.arange(n), answer] >= usual[answer]
    return np.asarray((own < DOUBTFUL) & (answer != codes) & likely)
