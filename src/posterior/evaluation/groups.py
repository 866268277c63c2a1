"""Scores by group: whether a model is as good for some rows as for others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from posterior.data import frames, validate
from posterior.data.names import plain
from posterior.data.table import Table
from posterior.data.typing import Array
from posterior.evaluation.held_out import SCORES, HeldOut
from posterior.evaluation.reliability import calibration_error, wilson
from posterior.evaluation.scores import Measure, confusion


@dataclass(frozen=True, slots=True)
class Subgroup:
    """Rows that share a value."""

    column: str
    value: str
    rows: int
    accuracy: Measure
    log_loss: float
    target: list[float]  # shares of the classes among them
    predicted: list[float]  # mean probabilities
    confusion: list[list[int]] = field(default_factory=list)  # rows of class i, predicted as j


def subgroup(column: str, value: str, held_out: HeldOut, inside: Array) -> Subgroup:
    """Scores of rows that share a value."""
    part = rows_of(held_out, inside)
    n, share = len(part.codes), part.accuracy
    careful = (n * share + 2) / (n + 4)  # all right so far is not right for sure
    error = float(np.sqrt(careful * (1 - careful) / (n + 4)))
    return Subgroup(
        column=column,
        value=value,
        rows=n,
        accuracy=Measure(share, error),
        log_loss=part.log_loss,
        target=(np.bincount(part.codes, minlength=len(part.classes)) / n).tolist(),
        predicted=part.proba.mean(axis=0).tolist(),
        confusion=confusion(part).tolist(),
    )


def rows_of(held_out: HeldOut, inside: Array) -> HeldOut:
    """Some of the rows, each of which counts once."""
    return replace(
        held_out,
        log_proba=held_out.log_proba[inside],
        codes=held_out.codes[inside],
        folds=None,
        weight=None,
    )


def parted(groups: Sequence[Any]) -> list[tuple[Any, Array]]:
    """The values of groups in order, each with its rows as a mask; what is missing is in none."""
    cells = [None if frames.missing(value) else plain(value) for value in groups]
    distinct = {cell for cell in cells if cell is not None}
    try:
        values = sorted(distinct)
    except TypeError:  # of several kinds
        values = sorted(distinct, key=str)
    place = {value: code for code, value in enumerate(values)}
    codes = np.array([-1 if cell is None else place[cell] for cell in cells], np.int64)
    return [(value, codes == code) for value, code in place.items()]


class Line(NamedTuple):
    """A score of one group."""

    score: str
    rows: int  # that it is the mean of
    value: float
    low: float = np.nan
    high: float = np.nan


def by_group(
    truth: Any,
    answers: Any,
    groups: Any,
    *,
    classes: Any = None,
    positive: Any = None,
    level: float = 0.95,
) -> Table:
    """Scores of the rows of each group: is the model as good for everyone?

    Accuracy, and of a positive class its base rate, how often it is predicted, true and false
    positive rates and precision, with Wilson's intervals; of probabilities the mean to compare with
    the base rate, calibration error, log loss and Brier score.

    Parameters
    ----------
    truth : array of shape (n_samples,)
        The classes of rows that the model has not seen.
    answers : array of shape (n_samples, n_classes) or (n_samples,)
        Their probabilities, or predicted classes.
    groups : array of shape (n_samples,)
        A value of each row, such as a column of the table. Rows without one are left out.
    classes : array of shape (n_classes,), optional
        Of the columns of probabilities, such as `model.classes_`; by default those of `truth`,
        in order.
    positive : label, optional
        Which class the rates are of; by default the second of two. Without one, and with more
        classes, there are no rates.
    level : float, default=0.95
        Of the intervals.

    Examples
    --------
    >>> from posterior.evaluation import by_group
    >>> truth = ["no", "yes", "yes", "no", "yes", "no", "yes", "no"]
    >>> answer = ["no", "yes", "no", "no", "yes", "yes", "yes", "yes"]
    >>> print(by_group(truth, answer, ["a", "a", "a", "a", "b", "b", "b", "b"]))
    score                group  rows  value      low    high
    accuracy             a         4   0.75   0.3006  0.9544
    accuracy             b         4    0.5     0.15    0.85
    base rate            a         4    0.5     0.15    0.85
    base rate            b         4    0.5     0.15    0.85
    predicted positive   a         4   0.25  0.04559  0.6994
    predicted positive   b         4      1   0.5101       1
    true positive rate   a         2    0.5  0.09453  0.9055
    true positive rate   b         2      1   0.3424       1
    false positive rate  a         2      0        0  0.6576
    false positive rate  b         2      1   0.3424       1
    precision            a         1      1   0.2065       1
    precision            b         4    0.5     0.15    0.85
    """
    held_out, certain = _answered(truth, answers, classes)
    labels = _column(groups, len(held_out.codes))
    names = held_out.classes.tolist()
    if positive is None and len(names) == 2:
        positive = names[1]
    if positive is not None and positive not in names:
        raise ValueError(f"Expected one of the classes {names} as positive, got {positive!r}.")
    place = None if positive is None else names.index(positive)
    z = float(special.ndtri(0.5 + validate.level(level) / 2))
    parts = parted(labels)
    if not parts:
        raise ValueError("Expected a group of some rows, got none: all are missing.")
    found = [
        (order, value, line)
        for value, inside in parts
        for order, line in enumerate(_lines(rows_of(held_out, inside), place, certain, z))
    ]
    found.sort(key=lambda each: each[0])  # one score after the other, groups side by side
    lines = [line for _, _, line in found]
    return Table(
        {
            "score": np.array([line.score for line in lines]),
            "group": np.array([value for _, value, _ in found]),
            "rows": np.array([line.rows for line in lines]),
            "value": np.array([line.value for line in lines]),
            "low": np.array([line.low for line in lines]),
            "high": np.array([line.high for line in lines]),
        }
    )


def _answered(truth: Any, answers: Any, classes: Any) -> tuple[HeldOut, bool]:
    """Rows and their answers; whether these are classes, which are certain."""
    given = np.asarray(answers)
    certain = given.ndim == 1
    if certain and given.dtype.kind == "f" and (given % 1 != 0).any():
        raise ValueError(
            "Expected predicted classes, or probabilities of all classes, got fractions in one "
            "column. Pass all columns of model.predict_proba(X)."
        )
    known, codes = validate.labels(truth, len(given))
    if classes is not None or certain:
        more = given if classes is None else classes
        known = validate.union(known, np.unique(np.asarray(more)))
        if classes is not None and not np.array_equal(known, np.asarray(classes)):
            raise ValueError(
                f"Expected classes in order, with all labels of truth, {known.tolist()}, got "
                f"{np.asarray(classes).tolist()}."
            )
        codes, _ = validate.codes_of(truth, known, len(given))
    if certain:
        predicted, _ = validate.codes_of(given, known, len(given))
        given = np.eye(len(known))[predicted]
    if given.ndim != 2 or given.shape[1] != len(known):
        raise ValueError(
            f"Expected probabilities of {len(known)} classes, {known.tolist()}, got answers of "
            f"shape {given.shape}. Pass classes=model.classes_."
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        log_proba = np.log(np.asarray(given, np.float64))
    if np.isnan(log_proba).any():
        raise ValueError("Expected probabilities, got some below zero or missing.")
    return HeldOut(log_proba, codes, known), certain


def _column(groups: Any, n: int) -> list[Any]:
    labels = list(np.asarray(groups, object)) if not isinstance(groups, list) else groups
    if len(labels) != n:
        raise ValueError(f"Expected a group for each of {n} rows, got {len(labels)}.")
    return labels


def _lines(part: HeldOut, positive: int | None, certain: bool, z: float) -> Iterable[Line]:
    """All scores of a group."""
    told = subgroup("", "", part, np.ones(len(part.codes), bool))
    yield _share("accuracy", np.trace(told.confusion), told.rows, z)
    if positive is not None:
        counts = np.array(told.confusion)
        true, said = counts[positive].sum(), counts[:, positive].sum()
        hits = counts[positive, positive]
        yield _share("base rate", true, told.rows, z)
        yield _share("predicted positive", said, told.rows, z)
        yield _share("true positive rate", hits, true, z)
        yield _share("false positive rate", said - hits, told.rows - true, z)
        yield _share("precision", hits, said, z)
    if certain:
        return
    if positive is not None:
        p = part.proba[:, positive]
        yield Line("mean probability", told.rows, told.predicted[positive])
        yield Line("calibration error", told.rows, calibration_error(p, part.codes == positive))
    for name in ("log_loss", "brier"):
        with np.errstate(invalid="ignore"):  # a loss may be infinite
            mean, half = part.mean(name), z * part.standard_error(name)
        yield Line(SCORES[name].title, told.rows, mean, mean - half, mean + half)


def _share(score: str, hits: Any, rows: Any, z: float) -> Line:
    if rows == 0:
        return Line(score, 0, np.nan)
    share = float(hits / rows)
    return Line(score, int(rows), share, *wilson(share, int(rows), z))
