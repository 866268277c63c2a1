"""Scores of rows that share a value, such as those of one sex or with a missing cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Array
from posterior.evaluation.held_out import HeldOut
from posterior.evaluation.scores import Measure


@dataclass(frozen=True, slots=True)
class Subgroup:
    """Rows that share a value."""

    column: str
    value: str
    rows: int
    accuracy: Measure
    log_loss: float
    target: list[float]  # shares of the classes among them
    predicted: list[float]  # mean probabilities


def subgroup(column: str, value: str, held_out: HeldOut, inside: Array) -> Subgroup:
    """Scores of rows that share a value."""
    proba, codes = held_out.proba[inside], held_out.codes[inside]
    right = proba.argmax(axis=1) == codes
    n, share = len(codes), float(right.mean())
    k = proba.shape[1]
    own = held_out.log_proba[inside][np.arange(n), codes]
    careful = (n * share + 2) / (n + 4)  # all right so far is not right for sure
    error = float(np.sqrt(careful * (1 - careful) / (n + 4)))
    return Subgroup(
        column=column,
        value=value,
        rows=n,
        accuracy=Measure(share, error),
        log_loss=float(-own.mean()),
        target=(np.bincount(codes, minlength=k) / n).tolist(),
        predicted=proba.mean(axis=0).tolist(),
    )
