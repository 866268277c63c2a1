"""The headline of a report: what a model is good for depends on the shares of the classes.

To be right says much where classes are about equal. Where one has nearly all rows, the other is to
be found: AUC, average precision, recall and precision at a threshold, lift.
"""

from __future__ import annotations

import math

import numpy as np

from posterior.app.report.describing import percent, spoken
from posterior.app.report.phrases import number
from posterior.app.report.phrases import percent as share_of
from posterior.app.report.report_schema import ClassScore, Decisions, Headline
from posterior.evaluation.thresholds import (
    COMMON,
    balanced_accuracy,
    class_ranking,
    class_scores,
    smaller_class,
)
from posterior.selection.comparison import Comparison

POOR = 0.5  # a recall below which a class is named
MOST_CLASSES = 8  # that can be chosen, each against the rest


def decisions(comparison: Comparison) -> Decisions:
    """How well each class is found by the chosen model, and one of two at other thresholds."""
    held_out = comparison.chosen.held_out
    code = smaller_class(held_out)
    kind: Headline = "accuracy"
    if _largest(comparison) > COMMON:
        kind = "recall" if code is None else "ranking"
    return Decisions(
        headline=kind,
        classes=class_scores(held_out),
        balanced_accuracy=balanced_accuracy(held_out),
        ranking=None if code is None else class_ranking(held_out, code),
    )


def summary(comparison: Comparison, found: Decisions) -> str:
    """The answer on top."""
    chosen, target = comparison.chosen, comparison.roles.target
    (base,) = (j for j in comparison.judged if not j.is_model)
    if found.headline == "ranking":
        text = _of_ranking(found)
    elif found.headline == "recall":
        text = (
            f"the mean recall of the {len(found.classes)} classes is "
            f"{percent(found.balanced_accuracy)} on held-out rows; always predicting the largest "
            f"class has {100 / len(found.classes):.1f} %, though it is correct in "
            f"{100 * _largest(comparison):.1f} % of rows."
        )
    else:
        text = (
            f"{target} is predicted correctly in {percent(chosen.accuracy)} of held-out rows; "
            "the baseline, always predicting the largest class, is correct in "
            f"{100 * _largest(comparison):.1f} %."
        )
    poor = _hardest(found)
    if poor is not None:
        text += f" Recall is lowest for {poor.name}, {share_of(poor.recall)} of {poor.rows:,} rows."
    if base.log_loss.value - chosen.log_loss.value <= (chosen.log_loss.standard_error or 0.0):
        text += " Its probabilities are no better than the class shares: "
        text += f"the columns say little about {target}."
    return f"{spoken(chosen)}: {text}"


def classes_of_interest(comparison: Comparison, found: Decisions) -> list[int]:
    """Classes to be found among the rest: the smaller of two; of several the largest ones.

    The one of least recall, which the headline may be about, comes first.
    """
    held_out = comparison.chosen.held_out
    counts = np.bincount(held_out.codes, minlength=len(held_out.classes))
    if len(counts) == 2:
        code = smaller_class(held_out)
        return [] if code is None else [code]
    known = [k for k in np.argsort(-counts, kind="stable").tolist() if counts[k]]
    first = min(known, key=lambda k: found.classes[k].recall)
    return [first, *(k for k in known if k != first)][:MOST_CLASSES]


def _of_ranking(found: Decisions) -> str:
    r = found.ranking
    assert r is not None
    return (
        f"AUC for {r.name} is {r.auc} and average precision {r.average_precision} on held-out "
        f"rows; {share_of(r.share)} of rows are {r.name}. At the threshold of the largest F1, "
        f"{number(r.best.threshold, 2)}, recall is {share_of(r.best.recall)} and precision "
        f"{share_of(r.best.precision)}. The tenth of rows with the largest probabilities has "
        f"{share_of(r.top_recall)} of them, a lift of {number(r.lift, 2)}."
    )


def _hardest(found: Decisions) -> ClassScore | None:
    """Of several classes, the one that is found least, if that is seldom."""
    if len(found.classes) < 3:
        return None
    known = [score for score in found.classes if math.isfinite(score.recall)]
    least = min(known, key=lambda score: score.recall)
    return least if least.recall < POOR else None


def _largest(comparison: Comparison) -> float:
    return float(np.bincount(comparison.rows.codes).max() / len(comparison.rows))
