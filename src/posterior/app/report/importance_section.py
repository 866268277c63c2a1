"""Importance of each column: what the chosen model loses on held-out rows without it.

    rise_j = mean of  log p(y | x) - log p(y | x without column j)

over rows that the model never saw, each by the copy without its fold. The weight of evidence of a
column in a row is what it does to the log odds of the row's own class against the strongest other.
"""

from __future__ import annotations

import numpy as np

from posterior.app.report.report_schema import FeatureEvidence, Importance
from posterior.data.table import round_digits
from posterior.estimators import KNeighborsClassifier
from posterior.estimators.pool.fold_models import FoldModels
from posterior.evaluation.scores import mean_of
from posterior.selection.comparison import quiet
from posterior.selection.labeled_rows import LabeledRows

MOST_QUESTIONS = 100_000  # rows × columns
NEIGHBOR_CELLS = {"mixed": 4e8}  # rows asked × rows × columns² that neighbors are searched in
PLAIN_CELLS = 4e9  # by distances of numbers
DIGITS = 4  # of what a single row loses


def importance(
    models: FoldModels, rows: LabeledRows
) -> tuple[list[FeatureEvidence], Importance | None]:
    """Of all columns that the chosen model reads, the one that it can least do without first."""
    columns = [*models.columns]
    if not models.copies or not columns:
        return [], None
    index = models.some(_most_rows(models))
    codes = models.rows.codes[index]
    own = np.arange(len(index)), codes
    with quiet():
        known, without = models.log_proba(index), models.log_proba_without(index)
    rises = known[own] - without[:, own[0], codes]  # (d, m)
    rival = np.array(known)
    rival[own] = -np.inf
    other = own[0], rival.argmax(axis=1)
    odds = known[own] - known[other]
    weights = odds - (without[:, own[0], codes] - without[:, other[0], other[1]])
    features = [
        FeatureEvidence(name, float(np.abs(w).mean()), rise.value, rise.standard_error)
        for name, rise, w in zip(columns, map(mean_of, rises), weights, strict=True)
    ]
    order = sorted(range(len(columns)), key=lambda j: -features[j].log_loss_rise)
    return [features[j] for j in order], Importance(
        rows=(rows.places[models.rows.order[index]] + 1).tolist(),
        log_loss=round_digits(-known[own], DIGITS),
        log_loss_rises=round_digits(rises[order], DIGITS),
        weights=round_digits(weights[order], DIGITS),
    )


def _most_rows(models: FoldModels) -> int:
    """As many rows as are asked about in reasonable time."""
    d, n = len(models.columns), len(models.rows.codes)
    most = MOST_QUESTIONS / d
    for member in models.fitted.members:
        if isinstance(member.model_, KNeighborsClassifier):
            cells = NEIGHBOR_CELLS.get(str(member.model_.metric), PLAIN_CELLS)
            most = min(most, cells / (n * d * d))
    return max(int(most), 200)
