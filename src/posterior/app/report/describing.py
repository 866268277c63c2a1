"""Facts of the file, of the models compared, and of the parameters of the chosen one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import clone

from posterior.app.report.report_schema import (
    CandidateFacts,
    Choice,
    ClassCount,
    Data,
    FoldScore,
    ParameterFacts,
    Parameters,
    Suspects,
)
from posterior.data import frames
from posterior.data.typing import Floats
from posterior.estimators import NaiveBayes
from posterior.estimators.pool.choice import POOL
from posterior.estimators.table_classifier import TableClassifier
from posterior.evaluation.held_out import SCORES
from posterior.evaluation.reliability import calibration_measure
from posterior.evaluation.scores import Measure, measure
from posterior.preprocessing.numbers import ScaledNumber
from posterior.preprocessing.roles import ColumnRole, Roles, frame_of
from posterior.selection.comparison import Comparison, Judged, quiet
from posterior.selection.labeled_rows import LabeledRows

CORRECTION = "temperature and class shares"
FEW_ROWS = 50
LEVEL = 0.95
MOST = 100
MOST_COEFFICIENTS = 200
MOST_ROWS = 60_000


def data_facts(
    frame: Any, rows: LabeledRows, roles: Roles, source: str, notes: tuple[str, ...]
) -> Data:
    """Counts of rows, cells and classes: of the whole table, and of the rows that are learned."""
    gaps = missing_cells(frame, roles.columns)
    counts = np.bincount(rows.codes, minlength=len(rows.classes))
    said = [*notes, *rows.notes]
    if roles.bands is not None:
        said.append(
            f"{roles.target} is cut into {len(roles.bands.names)} bands, which are the classes: "
            f"{'; '.join(roles.bands.names)}. What lies on an edge belongs to the band above it."
        )
    if roles.screened:
        n, used = len(roles.screened) + len(roles.table), len(roles.table)
        said.append(
            f"{n:,} columns were screened; {used:,} are used, the most informative "
            f"about {roles.target}."
        )
    if len(rows) < FEW_ROWS:
        said.append(f"{len(rows)} rows are few: all scores are rough estimates.")
    if rows.set_aside:
        said.append(f"{roles.target} is missing in {rows.set_aside:,} rows, which are set aside.")
    return Data(
        source=source,
        file_rows=len(gaps),
        rows=len(rows),
        rows_without_target=rows.set_aside,
        columns=list(roles.columns),
        missing_cells=int(gaps.sum()),
        incomplete_rows=int(gaps.any(axis=1).sum()),
        duplicate_rows=0 if roles.weight else _duplicates(frame),
        target=[
            ClassCount(name, int(n), float(n / len(rows)))
            for name, n in zip(rows.names, counts, strict=True)
        ],
        notes=said,
    )


def missing_cells(
    frame: Any, columns: Sequence[ColumnRole]
) -> np.ndarray[tuple[int, int], np.dtype[np.bool]]:
    """Which cells of some columns are missing, (n, columns)."""
    table = frame_of(frame)
    gaps = np.zeros((len(table), len(columns)), np.bool)
    for j, column in enumerate(columns):
        if column.missing:
            cells = table.get_column(column.name).to_list()
            gaps[:, j] = [frames.missing(cell) for cell in cells]
    return gaps


def _duplicates(frame: Any) -> int:
    """Rows that repeat an earlier one; missing cells are alike."""
    table = frame_of(frame)
    cells = np.column_stack([_comparable(column) for column in table.iter_columns()])
    return len(table) - len({row.tobytes() for row in cells})


def _comparable(column: nw.Series[Any]) -> Floats:
    """Numbers that are equal where cells are: these may be words, or lists, or tables."""
    try:
        number = frames.kind(column) == "number"
    except TypeError:
        cells = [None if frames.missing(cell) else repr(cell) for cell in column.to_list()]
        return frames.encode(cells, frames.distinct(cells)).astype(np.float64)
    if not number:
        return frames.coded(column, column.name)[0].astype(np.float64)
    found = frames.numbers(column) + 0.0  # zero has no sign
    return np.where(np.isnan(found), np.nan, found)  # and there is one NaN


def candidate_facts(judged: Judged, n_rows: int) -> CandidateFacts:
    """One line of the comparison, with the scores of its folds."""
    scores = judged.held_out.scores
    calibration, without = calibration_measure(judged.held_out)
    folds = [
        FoldScore(
            fold=int(fold),
            rows=int(scores["rows"][i]),
            **{name: float(scores[name][i]) for name in SCORES},
            calibration_error=float(without[i]),
        )
        for i, fold in enumerate(scores["fold"])
    ]
    note = None
    if len(judged.index) < n_rows:
        note = f"Compared on {len(judged.index):,} of {n_rows:,} rows, which it did not learn from."
    return CandidateFacts(
        key=judged.key,
        name=judged.name,
        kind=judged.kind,
        settings=judged.settings,
        simplicity=judged.simplicity,
        rows=len(judged.index),
        calibration=CORRECTION if judged.corrected else None,
        **{name: measure(judged.held_out, name) for name in SCORES},
        calibration_error=calibration,
        folds=folds,
        log_loss_uncalibrated=judged.raw.log_loss if judged.corrected else None,
        seconds=judged.seconds,
        note=note,
    )


def choice_facts(comparison: Comparison, summary: str, suspects: Suspects | None) -> Choice:
    """The model that was picked, in words."""
    chosen, best = comparison.chosen, comparison.best
    rest = [j for j in comparison.judged if j.is_model and j is not chosen]
    many = best.candidate is None
    least = f"{spoken(best)} {'have' if many else 'has'} the least log loss, {best.log_loss}"
    if chosen is not best and chosen.key == POOL:
        why = f"{least}, by less than chance: by differences row by row, {spoken(chosen).lower()} "
        why += f"are as good, {chosen.log_loss}, and are kept."
    elif chosen is not best:
        why = f"{least}; {chosen.name} is simpler, and as good by differences row by row."
    elif not rest:
        why = f"{least}."
    elif many:
        weights = ranked(comparison.classifier.weights_)
        listed = ", ".join(f"{name} ({weight:.2f})" for name, weight in weights)
        why = f"{least}: a weighted sum of log probabilities, of {listed}. "
        why += f"The best model alone, {rest[0].name}, has {rest[0].log_loss}."
    else:
        why = f"{least}, and is kept alone"
        why += "".join(f": {spoken(j).lower()} have {j.log_loss}" for j in rest if j.key == POOL)
        why += "."
    if chosen.corrected:
        correction = (
            f"Its probabilities are calibrated by {CORRECTION}, chosen on held-out rows: log loss "
            f"is {chosen.raw.log_loss:.3f} without that, and {chosen.log_loss.value:.3f} with it."
        )
    else:
        correction = "The weights, chosen on held-out rows, calibrate the probabilities."
    return Choice(
        key=chosen.key,
        name=chosen.name,
        best_key=best.key,
        threshold=best.log_loss.value,
        sentence=why,
        calibration=CORRECTION if chosen.corrected else None,
        calibration_sentence=correction,
        summary=summary,
        suspects=suspects,
    )


def spoken(judged: Judged) -> str:
    """The name of a model, in a sentence."""
    return "All models together" if judged.key == POOL else judged.name


def percent(found: Measure) -> str:
    """98.8 % ± 0.5."""
    error = "" if found.standard_error is None else f" ± {100 * found.standard_error:.1f}"
    return f"{100 * found.value:.1f} %{error}"


def ranked(weights: dict[str, float]) -> list[tuple[str, float]]:
    """The heaviest first."""
    return sorted(weights.items(), key=lambda each: -each[1])


def naive_bayes_parameters(model: NaiveBayes, ranked: list[str]) -> Parameters:
    """Means, deviations and shares of the most informative columns."""
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
    """Of logistic regression, which is learned for this where it is not a member."""
    judged = next((j for j in comparison.judged if j.key == "logistic"), None)
    if judged is None or judged.candidate is None or len(rows) > MOST_ROWS:
        return None
    classifier: TableClassifier = clone(judged.candidate.classifier)
    with quiet():
        classifier.fit(rows.readings.frame, rows.y)
        if classifier.model_.coef_.size > MOST_COEFFICIENTS:
            return None
        return coefficients(judged.name, classifier)


def coefficients(model: str, classifier: TableClassifier) -> Parameters:
    """Log odds per standard deviation, or of a level against the usual one."""
    if classifier.model_.l1_ratio or classifier.model_.fitted_.minimum is None:
        return _without_errors(model, classifier)
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
    return Parameters(model, LEVEL, lines[:MOST], n_parameters)


def _without_errors(model: str, classifier: TableClassifier) -> Parameters:
    """Coefficients that a penalty has selected, or that were scaled after the fit."""
    coef, names = classifier.model_.coef_, classifier.numbers_.names()
    labels = [str(label) for label in classifier.classes_[-len(coef) :]]
    rest = str(classifier.classes_[0]) if len(coef) == 1 else "the others"
    places = np.argwhere(coef)
    ranked = places[np.argsort(-np.abs(coef[tuple(places.T)]), kind="stable")]
    rows = [
        ParameterFacts(
            str(names[j]), "log odds", f"{labels[k]} against {rest}", float(coef[k, j]), None, None
        )
        for k, j in ranked[:MOST]
    ]
    return Parameters(model, LEVEL, rows, int(coef.size + classifier.model_.intercept_.size))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
