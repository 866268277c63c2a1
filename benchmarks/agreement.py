"""Figures that show whether two contestants gave the same answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.arrays import Array
from benchmarks.timing import Quality

Compare = Callable[[Any, Any], Quality]


def same_values(ours: Array, theirs: Array) -> Quality:
    return {"max |Δ|": largest_difference(ours, theirs)}


def same_model(X: Array) -> Compare:
    """Two fitted models, by the log-probabilities of the first thousand rows."""
    head = X[:1000]
    return lambda ours, theirs: {
        "max |Δ log p|": largest_difference(
            ours.predict_log_proba(head), theirs.predict_log_proba(head)
        )
    }


def same_accuracy(y: Array) -> Compare:
    """Two arrays of probabilities, when the answers differ by right."""
    return lambda ours, theirs: {
        "our accuracy": float((ours.argmax(axis=1) == y).mean()),
        "peer accuracy": float((theirs.argmax(axis=1) == y).mean()),
    }


def largest_difference(a: Array, b: Array) -> float:
    a, b = np.asarray(a), np.asarray(b)
    return float(np.max(np.abs(a - b), where=a != b, initial=0.0))  # -inf is equal to -inf
