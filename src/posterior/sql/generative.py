"""Naive Bayes, discriminant analysis and mixtures: log p(x, k), column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from posterior.estimators import JointBayes, KNeighborsClassifier, MixtureClassifier
from posterior.estimators.mixture.base import MixtureBase
from posterior.estimators.summed_classifier import SummedClassifier
from posterior.sql.densities import terms
from posterior.sql.sql_calibration import calibrated
from posterior.sql.sql_columns import Column
from posterior.sql.sql_scores import Scores, scores


@scores.register(SummedClassifier)
@scores.register(MixtureBase)
def _(model: SummedClassifier | MixtureBase, columns: Sequence[Column]) -> Scores:
    fitted = model.settled()
    joint = fitted.model
    with fitted.named():
        joint.scorer()  # refuses parameters that the data left open
    found = terms(joint.family, joint.parameters, columns)
    return calibrated(Scores(fitted.classes, joint.log_prior, found), fitted.calibrator)


REASONS: dict[type[Any], str] = {
    JointBayes: "it looks whole rows up in a table",
    KNeighborsClassifier: "it compares a row with all the rows it has learned from",
    MixtureClassifier: "its classes are mixtures of components",
}


def _refuse(model: Any, columns: Sequence[Column]) -> Scores:
    kind = type(model)
    reason = next(REASONS[base] for base in kind.__mro__ if base in REASONS)
    raise TypeError(
        f"Expected a model that one query can hold, got {kind.__name__}: {reason}. "
        "Use model.predict_proba, or another model."
    )


for refused in REASONS:
    scores.register(refused, _refuse)
