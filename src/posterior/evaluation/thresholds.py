"""Precision, recall and F1 of each class, and of one class at every threshold.

Of a class that few rows have, always saying the other is right nearly always; what matters is
which share of its rows are found, and at the price of how many others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from posterior.data.typing import Array, Floats, Integers
from posterior.evaluation.held_out import HeldOut
from posterior.evaluation.ranking import one_against_rest
from posterior.evaluation.reliability import wilson
from posterior.evaluation.scores import Measure, confusion

LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
COMMON = 0.8  # of the rows: where a class has more, always saying it is right nearly always
TOP = 0.1  # of the rows, whose lift is told
Interval: TypeAlias = tuple[float, float] | None  # None where there are no rows


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Rows of a class, rows predicted as it, and how far both are the same."""

    name: str
    rows: int
    predicted: int
    precision: float  # of those predicted, NaN where there are none
    recall: float  # of its rows, NaN where there are none
    f1: float  # 2 / (1 / precision + 1 / recall)
    precision_interval: Interval = None  # Wilson's, 95 %
    recall_interval: Interval = None
    f1_interval: Interval = None  # of J = hits / (rows + predicted - hits), as F1 = 2J / (1 + J)


@dataclass(frozen=True, slots=True)
class Threshold:
    """A class is predicted where its probability is at least this."""

    threshold: float
    predicted: int  # rows
    share: float  # of all rows
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class ClassRanking:
    """How well the probability of one class ranks the rows, and what each threshold gives."""

    name: str
    share: float  # of all rows
    auc: Measure
    average_precision: Measure
    top: float  # of the rows, those of the largest probabilities, have
    top_recall: float  # so much of the class, which is
    lift: float  # times its share
    best: Threshold  # of the largest F1
    thresholds: list[Threshold]


def class_scores(held_out: HeldOut) -> list[ClassScore]:
    """Precision, recall and F1 of every class, where the most probable one is predicted."""
    counts = confusion(held_out)
    of, predicted, hits = counts.sum(axis=1), counts.sum(axis=0), np.diag(counts)
    return [
        ClassScore(
            name, int(n), int(m), *_rates(int(tp), int(m), int(n)), *_intervals(int(tp), m, n)
        )
        for name, n, m, tp in zip(held_out.names, of, predicted, hits, strict=True)
    ]


def balanced_accuracy(held_out: HeldOut) -> Measure:
    """The mean recall of the classes, with its standard error from fold to fold."""

    def of(rows: HeldOut) -> float:
        return float(np.nanmean([score.recall for score in class_scores(rows)]))

    return _by_fold(held_out, of)


def smaller_class(held_out: HeldOut) -> int | None:
    """The code of the smaller of two classes, the second of equal ones; None of several."""
    counts = np.bincount(held_out.codes, minlength=len(held_out.classes))
    return (1 if counts[1] <= counts[0] else 0) if len(counts) == 2 and counts.all() else None


def class_ranking(held_out: HeldOut, code: int) -> ClassRanking:
    """AUC, average precision, lift and thresholds of one class against the rest."""
    p, own = held_out.proba[:, code], held_out.codes == code
    order = np.argsort(-p, kind="stable")
    n_top = max(1, round(TOP * len(p)))
    top_recall = float(own[order[:n_top]].sum() / own.sum())

    def area(place: int) -> Measure:
        return _by_fold(
            held_out, lambda h: one_against_rest(h.proba[:, code], h.codes == code)[place][2]
        )

    return ClassRanking(
        name=held_out.names[code],
        share=float(own.mean()),
        auc=area(0),
        average_precision=area(1),
        top=n_top / len(p),
        top_recall=top_recall,
        lift=top_recall * len(p) / n_top,
        best=best_f1(p, own),
        thresholds=at_thresholds(p, own, LEVELS),
    )


def at_thresholds(p: Floats, own: Array, levels: Sequence[float] | Floats) -> list[Threshold]:
    """What predicting a class from each probability on gives."""
    falling = np.sort(p)[::-1]
    hits = np.append(0, np.cumsum(own[np.argsort(-p, kind="stable")]))
    n, positives = len(p), int(own.sum())
    taken: Integers = np.searchsorted(-falling, -np.asarray(levels), side="right")
    return [
        Threshold(float(t), int(m), m / n, *_rates(int(hits[m]), int(m), positives))
        for t, m in zip(levels, taken, strict=True)
    ]


def best_f1(p: Floats, own: Array) -> Threshold:
    """The threshold of the largest F1, the highest of several."""
    order = np.argsort(-p, kind="stable")
    hits, taken = np.cumsum(own[order]), np.arange(1, len(p) + 1)
    last = np.append(np.diff(p[order]) != 0, True)  # equal probabilities are taken together
    f1 = np.where(last, 2 * hits / (taken + own.sum()), -1.0)
    return at_thresholds(p, own, [p[order[int(f1.argmax())]]])[0]


def _rates(hits: int, predicted: int, rows: int) -> tuple[float, float, float]:
    precision = hits / predicted if predicted else np.nan
    recall = hits / rows if rows else np.nan
    both = predicted + rows
    return precision, recall, 2 * hits / both if both else np.nan


def _intervals(hits: int, predicted: int, rows: int) -> tuple[Interval, Interval, Interval]:
    """Wilson's of precision, recall and F1.

    F1 = 2J / (1 + J) rises with J, the share of hits among rows that are of the class or predicted
    as it. Given how many these are, hits are binomial, so J has Wilson's interval, and F1 its ends.
    """

    def of(n: int) -> Interval:
        return wilson(hits / n, n) if n else None

    either = of(predicted + rows - hits)
    f1 = (
        None
        if either is None
        else (2 * either[0] / (1 + either[0]), 2 * either[1] / (1 + either[1]))
    )
    return of(int(predicted)), of(int(rows)), f1


def _by_fold(held_out: HeldOut, of: Callable[[HeldOut], float]) -> Measure:
    """A figure of all rows; its standard error is from fold to fold, where each has one."""
    value = float(of(held_out))
    if held_out.folds is None:
        return Measure(value, None)
    parts = [
        of(held_out.take(np.flatnonzero(held_out.folds == f))) for f in np.unique(held_out.folds)
    ]
    known = len(parts) > 1 and np.isfinite(parts).all()
    return Measure(value, float(np.std(parts, ddof=1) / np.sqrt(len(parts))) if known else None)
