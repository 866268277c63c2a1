"""Naive Bayes, discriminant analysis and mixtures: log p(x, k), column by column."""

from __future__ import annotations

from collections.abc import Sequence

from posterior.estimators import KNeighborsClassifier
from posterior.estimators.mixture.base import MixtureBase
from posterior.estimators.summed_classifier import SummedClassifier
from posterior.generative.fitted import Fitted
from posterior.sql.densities import terms
from posterior.sql.sql_calibration import calibrated
from posterior.sql.sql_columns import Column
from posterior.sql.sql_scores import Scores, scores


@scores.register(SummedClassifier)
@scores.register(MixtureBase)
def _(model: SummedClassifier | MixtureBase, columns: Sequence[Column]) -> Scores:
    return density_scores(model.settled(), columns)


def density_scores(fitted: Fitted, columns: Sequence[Column]) -> Scores:
    """s_k = log π_k + log p(x | k)"""
    joint = fitted.model
    with fitted.named():
        joint.scorer()  # refuses parameters that the data left open
    found = terms(joint.family, joint.parameters, columns)
    return calibrated(Scores(fitted.classes, joint.log_prior, found), fitted.calibrator)


@scores.register
def _(model: KNeighborsClassifier, columns: Sequence[Column]) -> Scores:
    raise TypeError(
        f"Expected a model that one query can hold, got {type(model).__name__}: it compares a row "
        "with all the rows it has learned from. Use model.predict_proba, or another model."
    )
