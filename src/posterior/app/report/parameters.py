"""What the models learned, with intervals."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from posterior.app.report.report_schema import ParameterFacts, Parameters
from posterior.estimators import NaiveBayes
from posterior.estimators.table_classifier import TableClassifier
from posterior.preprocessing.numbers import ScaledNumber
from posterior.selection.comparison import Comparison, quiet
from posterior.selection.labeled_rows import LabeledRows

LEVEL = 0.95
MOST = 100
MOST_COEFFICIENTS = 200
MOST_ROWS = 60_000


def naive_bayes_parameters(model: NaiveBayes, ranked: list[str]) -> Parameters:
    """Means, deviations and shares of the most telling columns."""
    table = model.parameters(LEVEL)
    place = {name: i for i, name in enumerate(ranked)}
    lines = range(len(table))
    features = [str(name) for name in table["feature"]]
    order = sorted(lines, key=lambda i: (place.get(features[i], len(place)), i))
    rows = [
        ParameterFacts(
            feature=features[i],
            parameter=str(table["parameter"][i]),
            group=str(table["class"][i]),
            value=float(table["value"][i]),
            low=_number(table["low"][i]),
            high=_number(table["high"][i]),
        )
        for i in order[:MOST]
    ]
    return Parameters("Naive Bayes", LEVEL, rows, int(model.n_parameters_))


def logistic_parameters(comparison: Comparison, rows: LabeledRows) -> Parameters | None:
    """Log odds per standard deviation, or of a level against the usual one."""
    judged = next((j for j in comparison.judged if j.key == "logistic"), None)
    if judged is None or judged.candidate is None or len(rows) > MOST_ROWS:
        return None
    classifier: TableClassifier = clone(judged.candidate.classifier)
    with quiet():
        classifier.fit(rows.frame, rows.y)
        if classifier.model_.coef_.size > MOST_COEFFICIENTS:
            return None
        table = classifier.model_.summary(LEVEL).coefficients
    names = [str(name) for name in classifier.numbers_.names()]
    scaled = {c.name for c in classifier.numbers_.columns if isinstance(c, ScaledNumber)}
    first, last = str(classifier.classes_[0]), str(classifier.classes_[-1])
    groups = table.columns.get("class", np.full(len(table), last))
    lines = []
    order = np.argsort(-np.abs(np.asarray(table["z"], float)), kind="stable")
    for i in order:
        feature = str(table["feature"][i])
        if feature == "intercept":
            continue
        name = names[int(feature)]
        per = "log odds per standard deviation" if name in scaled else "log odds"
        lines.append(
            ParameterFacts(
                feature=name,
                parameter=per,
                group=f"{groups[i]} against {first}",
                value=float(table["coefficient"][i]),
                low=_number(table["low"][i]),
                high=_number(table["high"][i]),
            )
        )
    n_parameters = int(classifier.model_.coef_.size + classifier.model_.intercept_.size)
    return Parameters("Logistic regression", LEVEL, lines[:MOST], n_parameters)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
