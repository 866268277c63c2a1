"""The rows that a classifier learned, in short: its columns, and what it scored held out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.typing import Floats, Integers
from posterior.estimators.pool.dealt_rows import DealtRows
from posterior.evaluation.held_out import SCORES, HeldOut
from posterior.evaluation.reliability import claims
from posterior.evaluation.scores import confusion
from posterior.preprocessing.column_summary import TENTHS, ColumnSummary
from posterior.preprocessing.measured_columns import measured
from posterior.preprocessing.roles import ColumnRole


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutSummary:
    """Scores on rows held out, and how the probabilities lay."""

    rows: int
    scores: dict[str, tuple[float, float]]  # mean and standard error
    confusion: Integers  # (k, k) rows of true class i that were predicted as j
    mean_proba: Floats  # (k,)
    cuts: Floats  # tenths of the score: P(second class) of two, that of the most probable of more
    counts: Floats  # of rows between them

    @classmethod
    def of(cls, held_out: HeldOut) -> HeldOutSummary:
        score, _ = claims(held_out)
        cuts = np.unique(np.quantile(score, TENTHS, method="inverted_cdf"))
        cuts = cuts[cuts < score.max()]
        return cls(
            rows=len(score),
            scores={n: (held_out.mean(n), error_of(held_out, n)) for n in SCORES},
            confusion=confusion(held_out),
            mean_proba=held_out.proba.mean(axis=0),
            cuts=cuts,
            counts=binned(score, cuts),
        )


@dataclass(frozen=True, slots=True, eq=False)
class LearnedRows:
    """What other rows are compared with."""

    rows: float
    columns: tuple[ColumnSummary, ...]
    class_counts: Floats  # (k,)
    held_out: HeldOutSummary | None

    @classmethod
    def of(
        cls, frame: Any, rows: DealtRows, columns: Iterable[ColumnRole], held_out: HeldOut
    ) -> LearnedRows:
        weight = rows.weight
        counts = np.bincount(rows.codes, weight, minlength=len(rows.classes)).astype(np.float64)
        found = tuple(ColumnSummary.of(c, weight) for c in measured(frame, columns))
        scored = HeldOutSummary.of(held_out) if len(held_out.codes) else None
        return cls(float(counts.sum()), found, counts, scored)


def error_of(held_out: HeldOut, name: str) -> float:
    """Of a mean over rows: from fold to fold, or from row to row of one fold."""
    error = held_out.standard_error(name)
    if np.isfinite(error):
        return error
    of_rows = SCORES[name].of_rows(held_out)
    return float(np.std(of_rows) / np.sqrt(len(of_rows)))


def binned(score: Floats, cuts: Floats) -> Floats:
    """Rows between cut points; a bin holds its upper end."""
    places = np.searchsorted(cuts, score, side="left")
    return np.bincount(places, minlength=len(cuts) + 1).astype(np.float64)
