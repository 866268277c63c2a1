"""Facts of a report: plain values that become JSON as they stand.

Every score of a model is out of sample, and can be computed again from `predictions`,
which holds the out-of-fold probabilities of every row. Lists over classes follow `Facts.classes`.
Rows are numbered as in the file: the first row below the header is row 1.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, is_dataclass
from typing import Any, Literal

from posterior.app.report.learned_schema import Dependence as Dependence
from posterior.app.report.learned_schema import FeatureEvidence as FeatureEvidence
from posterior.app.report.learned_schema import Importance as Importance
from posterior.app.report.learned_schema import LearnedMember as LearnedMember
from posterior.app.report.learned_schema import ParameterFacts as ParameterFacts
from posterior.app.report.learned_schema import Parameters as Parameters
from posterior.app.report.section_schema import (
    Alert,
    Associations,
    ColumnShares,
    ModelCard,
    SampleRow,
    WholeRow,
)
from posterior.data.shapes import fields_of
from posterior.evaluation.gains import Gains as Gains
from posterior.evaluation.groups import Subgroup as Subgroup
from posterior.evaluation.learning import LearningPoint as LearningPoint
from posterior.evaluation.ranking import RankCurve as RankCurve
from posterior.evaluation.reliability import Reliability as Reliability
from posterior.evaluation.reliability import ReliabilityBin as ReliabilityBin
from posterior.evaluation.scores import Measure as Measure
from posterior.evaluation.thresholds import ClassRanking as ClassRanking
from posterior.evaluation.thresholds import ClassScore as ClassScore
from posterior.evaluation.thresholds import Threshold as Threshold
from posterior.evaluation.worst_subgroups import WorstSubgroups as WorstSubgroups
from posterior.plots.effects import ColumnEffect as ColumnEffect
from posterior.plots.effects import EffectStep as EffectStep
from posterior.plots.effects import PairEffect as PairEffect
from posterior.preprocessing.roles import ColumnRole as ColumnRole
from posterior.preprocessing.roles import Flag as Flag


@dataclass(frozen=True, slots=True)
class ClassCount:
    name: str
    rows: int
    share: float


@dataclass(frozen=True, slots=True)
class Data:
    """What the file holds."""

    source: str  # name of the file
    file_rows: int  # of the whole file, as is all that follows but `rows` and `target`
    rows: int  # that models learn from: those set aside are left out, counts are multiplied
    rows_without_target: int  # set aside
    columns: list[ColumnRole]  # in the file's order, the target among them
    missing_cells: int  # in all columns
    incomplete_rows: int  # with a missing cell in any column
    duplicate_rows: int  # equal to an earlier row, target included
    target: list[ClassCount]
    notes: list[str]  # sentences: encoding, sampling, weights, classes too small, ...


@dataclass(frozen=True, slots=True)
class FoldScore:
    fold: int
    rows: int
    log_loss: float
    accuracy: float
    brier: float
    calibration_error: float


@dataclass(frozen=True, slots=True)
class CandidateFacts:
    """One model in the comparison; the majority class ("baseline") is one of them."""

    key: str  # majority, naive-bayes, discriminant, logistic, neighbors, text-multinomial, ...
    name: str  # for people: "Naive Bayes"
    kind: str  # baseline, generative, discriminative, by example, pool
    settings: str  # what was fitted, one sentence
    simplicity: int  # 0 is the simplest
    rows: int  # scored out of fold; fewer than all where the step was sampled
    calibration: str | None  # how its probabilities are corrected, if they are
    log_loss: Measure
    accuracy: Measure
    brier: Measure
    calibration_error: Measure
    folds: list[FoldScore]
    log_loss_uncalibrated: float | None  # where it was calibrated: before
    seconds: float
    note: str | None  # sampled, and why

    def scores(self) -> dict[str, Measure]:
        return {name: part for name, part in fields_of(self).items() if isinstance(part, Measure)}


@dataclass(frozen=True, slots=True)
class Failure:
    """A model that could not be compared."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The model that was picked, and why."""

    key: str
    name: str
    best_key: str  # of least log loss
    threshold: float  # the least log loss
    sentence: str  # why this one
    calibration: str | None
    calibration_sentence: str
    summary: str  # the answer on top: "Naive Bayes predicts species ... 98.9 % ± 0.5 ..."
    suspects: Suspects | None  # columns left out, or all that there are, that look like leaks


Headline = Literal["accuracy", "ranking", "recall"]


@dataclass(frozen=True, slots=True)
class Decisions:
    """How well each class is found by the chosen model, out of fold."""

    headline: Headline  # what matters: to be right, to rank the rare class, to find every class
    classes: list[ClassScore]
    balanced_accuracy: Measure  # the mean recall of the classes
    ranking: ClassRanking | None  # of the smaller class of two


@dataclass(frozen=True, slots=True)
class Suspects:
    """Columns that may be known only once the target is."""

    columns: list[str]
    used: bool  # where there are no others
    model: str | None  # what was fitted with them, to compare, and its scores
    log_loss: Measure | None
    accuracy: Measure | None
    sentence: str


@dataclass(frozen=True, slots=True)
class LearningCurve:
    key: str
    name: str
    kind: Literal["chosen", "generative", "discriminative"]
    points: list[LearningPoint]


@dataclass(frozen=True, slots=True)
class LearningCurves:
    """The chosen model, and beside it Ng and Jordan's two: one learns faster, one may end lower."""

    curves: list[LearningCurve]  # that of the chosen model first
    test_rows: int
    repeats: int
    sentence: str  # what it shows here
    half: Measure | None = None  # the rise of the chosen model's log loss with half of the rows


@dataclass(frozen=True, slots=True)
class TextTerms:
    """The words that speak most for each class, by class."""

    column: str
    terms: list[list[str]]
    weights: list[list[float]]  # log p(word | class) - log p(word | the other classes)


@dataclass(frozen=True, slots=True)
class BoundaryPoint:
    x: float
    y: float
    code: int  # of its class


@dataclass(frozen=True, slots=True)
class Boundary:
    """Posteriors of the chosen kind of model, fitted to the two most informative numbers alone."""

    model: str
    x_name: str
    y_name: str
    x: list[float]  # (a,) places of the grid
    y: list[float]  # (b,)
    codes: list[list[int]]  # (b, a) most probable class at y, x
    proba: list[list[float]]  # (b, a) its probability
    points: list[BoundaryPoint]  # at most 500 rows
    accuracy: Measure  # of this two-column model, out of fold


@dataclass(frozen=True, slots=True)
class RowFacts:
    """One row of the file, seen by a model that never saw it."""

    row: int  # 1 is the first below the header
    label: str
    predicted: str
    proba_label: float
    proba_predicted: float
    values: dict[str, str]  # cells of the columns used, long ones cut
    reasons: list[str]  # up to three: "bill_length_mm = 59.6 favors Gentoo (+4.1)"


@dataclass(frozen=True, slots=True)
class StrangeRow:
    """A row unlike all others: log p(x) is among the smallest."""

    row: int
    label: str
    log_evidence: float
    values: dict[str, str]


@dataclass(frozen=True, slots=True)
class Surprises:
    least_expected: list[RowFacts]  # least probable own label, at most 20
    likely_errors: list[RowFacts]  # those whose label is probably wrong (see rule), at most 20
    n_likely_errors: int
    rule: str  # when a surprising label is flagged as an error, and whether that can be told here
    strange: list[StrangeRow]  # at most 10
    n_surprising: int = 0  # rows whose label was given less than `bound`
    expected: float = 0.0  # as many as there are by chance, if the probabilities are right
    bound: float = 0.1


@dataclass(frozen=True, slots=True)
class MissingFacts:
    """Rows with missing cells against complete rows, by the columns that the models see."""

    complete: Subgroup | None
    incomplete: Subgroup | None
    by_column: list[Subgroup]  # rows in which this column is missing, at least 10


@dataclass(frozen=True, slots=True)
class Snippet:
    """How to use the model."""

    title: str  # "Python", "Command line", "SQL"
    language: str  # python, shell, sql
    text: str


@dataclass(frozen=True, slots=True)
class Predictions:
    """Out-of-fold probabilities of the chosen model: what every score is computed from."""

    rows: list[int]  # numbers in the file
    folds: list[int]
    codes: list[int]  # own class
    proba: list[list[float]] | None  # (rows, classes), six digits; None if too large to store
    proba_label: list[float]
    predicted: list[int]  # code of the most probable class


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a report says. A section that does not apply is None or empty."""

    schema: int
    version: str  # of the library
    title: str
    target: str
    classes: list[str]
    seed: int
    folds: int
    seconds: float
    steps: list[Step]
    data: Data
    candidates: list[CandidateFacts]  # best log loss first
    failures: list[Failure]
    choice: Choice
    reliability: list[Reliability]  # the chosen model; also before calibration, if it was
    decisions: Decisions
    confusion: list[list[int]]  # rows of class i that were predicted as class j
    roc: list[RankCurve]  # two classes: one curve (the smaller class); several: the 10 largest
    precision_recall: list[RankCurve]
    learning: LearningCurves | None
    evidence: list[FeatureEvidence]  # the columns that the chosen model reads, most important first
    terms: list[TextTerms]
    boundary: Boundary | None
    surprises: Surprises
    subgroups: list[Subgroup]
    missing: MissingFacts | None
    parameters: list[Parameters]  # naive Bayes and logistic regression, where they are no members
    snippets: list[Snippet]
    predictions: Predictions
    how: list[str] = field(default_factory=list)  # how the numbers were made, sentences
    importance: Importance | None = None  # behind `evidence`
    learned: list[LearnedMember] = field(default_factory=list)  # members, the heaviest first
    alerts: list[Alert] = field(default_factory=list)  # above all else, the most serious first
    column_shares: list[ColumnShares] = field(default_factory=list)  # most informative first
    associations: Associations | None = None
    sample: list[SampleRow] = field(default_factory=list)
    gains: Gains | None = None  # of the smaller of two classes, of several that of least recall
    worst: WorstSubgroups | None = None
    yardstick: CandidateFacts | None = None  # of another library, never kept
    card: ModelCard | None = None
    class_gains: list[Gains] = field(default_factory=list)  # the same, and of other large classes
    whole_rows: list[WholeRow] = field(default_factory=list)  # those shown, to start a what-if from

    def to_dict(self) -> dict[str, Any]:
        """Plain values: what is not finite becomes None."""
        return plain(self)

    def to_json(self, indent: int | None = None) -> str:
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """Dataclasses as dictionaries, and numbers that JSON knows."""
    if type(value) in (str, int):  # most are, or are floats
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value):
        return {name: plain(part) for name, part in fields_of(value).items()}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value
