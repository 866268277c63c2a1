"""Losses by row of earlier runs, so that a peer that takes hours is run once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.quality.folds import Answers
from benchmarks.quality.tables import HERE

KEPT = HERE / "docs" / "results" / "quality"
CODES = "true classes"


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """What a model lost on each row of a table, to three digits.

    Rounding adds less than 1e-3 of a loss to each row, at random: it does not show in a mean
    difference whose standard error is a share of the losses' spread.
    """

    codes: np.ndarray  # (n,)
    rounded: np.ndarray  # (n,)

    def losses(self) -> np.ndarray:
        return self.rounded.astype(np.float64)


def load(table: str) -> dict[str, Losses]:
    """By model; none if the table was never kept."""
    file = KEPT / f"{table}.npz"
    if not file.exists():
        return {}
    with np.load(file) as stored:
        return {m: Losses(stored[CODES], stored[m]) for m in stored.files if m != CODES}


def save(table: str, found: Mapping[str, Answers]) -> None:
    """What was run now, beside what was kept of the same rows."""
    if not found:
        return
    codes = next(iter(found.values())).codes
    earlier = {m: k for m, k in load(table).items() if np.array_equal(k.codes, codes)}
    losses = {m: k.rounded for m, k in earlier.items()} | {
        m: answers.losses().astype(np.float16) for m, answers in found.items()
    }
    KEPT.mkdir(parents=True, exist_ok=True)
    smallest = np.min_scalar_type(int(codes.max()))
    np.savez_compressed(KEPT / f"{table}.npz", **{CODES: codes.astype(smallest)}, **losses)
