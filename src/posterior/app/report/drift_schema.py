"""Facts of a comparison of a table with a model: plain values, which become `drift.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from posterior.app.report.report_schema import Predictions, plain
from posterior.app.report.section_schema import Alert
from posterior.evaluation.scores import Measure
from posterior.evaluation.thresholds import ClassScore

Verdict = Literal["stable", "some drift", "large drift"]


@dataclass(frozen=True, slots=True)
class ColumnDrift:
    """A column of the new table beside the rows that the model learned."""

    name: str
    role: str
    unit: str  # of texts, whose length is compared: words or letters
    verdict: Verdict
    stability_index: float  # missing cells are a bin, here and in the test
    statistic: float  # χ² of homogeneity
    freedom: int
    p_value: float
    p_adjusted: float  # after Holm, of all columns
    missing_then: float  # share of the rows
    missing_now: float
    unseen: float | None  # share of known cells whose value was never learned; None: not known
    unseen_values: list[str]  # some of them
    outside: float | None  # share of numbers outside the range that was learned
    edges: list[float]  # of bins of numbers, about tenths of then; dates in days since 1970
    values: list[str]  # of categories; the last count is of all others
    then: list[float]  # counts of known cells
    now: list[float]
    absent: bool = False  # the new table has no such column: all cells count as missing


@dataclass(frozen=True, slots=True)
class ClassDrift:
    """A class among the rows held out when the model was learned, and among the new ones."""

    name: str
    predicted_then: float  # share of rows for which it was the most probable
    predicted_now: float
    mean_then: float  # mean probability
    mean_now: float
    share_then: float  # of rows that are of it
    share_now: float | None  # None without labels


@dataclass(frozen=True, slots=True)
class ScoreDrift:
    """How the probabilities lay, in tenths of those of then."""

    of: str | None  # the class; None: the most probable one
    stability_index: float
    p_value: float
    verdict: Verdict
    cuts: list[float]
    then: list[float]
    now: list[float]
    classes: list[ClassDrift]


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A score of rows held out when the model was learned, and of the new rows."""

    name: str
    title: str
    then: Measure
    now: Measure
    low: float  # 95 % interval of now: Wilson's of accuracy
    high: float
    z: float  # (now - then) / error, below zero where it is worse
    p_value: float  # of both sides


@dataclass(frozen=True, slots=True)
class Performance:
    """What the model scores on the new rows that have a label which it knows."""

    rows: int
    unlabeled: int
    unknown_classes: dict[str, int]  # labels that the model has never seen, and rows of them
    scores: list[ScoreChange]
    classes: list[ClassScore]
    confusion: list[list[int]]
    calibration_error: float


@dataclass(frozen=True, slots=True)
class DriftFacts:
    """All that the page says."""

    schema: int
    version: str
    title: str
    model: str
    source: str
    target: str
    classes: list[str]
    rows_then: int
    rows_now: int
    summary: str
    alerts: list[Alert]
    columns: list[ColumnDrift]  # the largest stability index first
    score: ScoreDrift | None
    performance: Performance | None
    predictions: Predictions
    how: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        found: dict[str, Any] = plain(self)
        return json.dumps(found, ensure_ascii=False, allow_nan=False)
