"""ROC and precision-recall curves, and AUC: how well probabilities rank the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.table import round_digits
from posterior.data.typing import Array, Floats
from posterior.evaluation.held_out import HeldOut

POINTS = 200  # of a curve
CURVES = 10  # classes that have one


@dataclass(frozen=True, slots=True)
class RankCurve:
    """One class against the rest, at most 200 points."""

    name: str  # the class
    x: list[float]  # ROC: false positive rate; PR: recall
    y: list[float]  # ROC: true positive rate; PR: precision
    area: float  # ROC: area under the curve; PR: average precision
    chance: float  # ROC: 0.5; PR: share of the class


def roc(held_out: HeldOut, code: int = 1) -> list[RankCurve]:
    """ROC curves with their AUC, each class against the rest; of two classes one, the second."""
    classes = drawn(held_out, code)
    return [RankCurve(name, *one_against_rest(p, own)[0], 0.5) for name, p, own in classes]


def precision_recall(held_out: HeldOut, code: int = 1) -> list[RankCurve]:
    """Precision-recall curves with their average precision, of the same classes."""
    return [
        RankCurve(name, *one_against_rest(p, own)[1], float(own.mean()))
        for name, p, own in drawn(held_out, code)
    ]


def drawn(held_out: HeldOut, code: int = 1) -> list[tuple[str, Floats, Array]]:
    """Classes that have a curve, one of two or the ten largest: name, probability, truth."""
    counts = np.bincount(held_out.codes, minlength=len(held_out.classes))
    largest = np.sort(np.argsort(-counts, kind="stable")[:CURVES])
    chosen = [code] if len(counts) == 2 else [int(k) for k in largest if counts[k]]
    return [(held_out.names[k], held_out.proba[:, k], held_out.codes == k) for k in chosen]


def one_against_rest(
    p: Floats, own: Array
) -> tuple[tuple[list[float], list[float], float], tuple[list[float], list[float], float]]:
    """ROC curve and area, precision-recall curve and average precision."""
    order = np.argsort(-p, kind="stable")
    hits = np.cumsum(own[order])
    taken = np.arange(1, len(p) + 1)
    last = np.append(np.diff(p[order]) != 0, True)  # equal scores are taken together
    hits, taken = hits[last], taken[last]
    positives, negatives = int(own.sum()), int((~own).sum())
    x = np.concatenate([[0.0], (taken - hits) / max(negatives, 1)])
    y = np.concatenate([[0.0], hits / max(positives, 1)])
    area = float(np.trapezoid(y, x)) if negatives and positives else np.nan
    precision = hits / taken
    gained = np.diff(y)
    average = float((gained * precision).sum()) if positives else np.nan
    keep, kept = thinned(x, y), thinned(y[1:], precision)
    return (
        (round_digits(x[keep]), round_digits(y[keep]), area),
        (round_digits(y[1:][kept]), round_digits(precision[kept]), average),
    )


def thinned(x: Floats, y: Floats) -> Array:
    """At most some points of a curve, at even steps along it."""
    if len(x) <= POINTS:
        return np.arange(len(x))
    length = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    steps = np.linspace(0, length[-1], POINTS)
    return np.unique(np.clip(np.searchsorted(length, steps), 0, len(x) - 1))
