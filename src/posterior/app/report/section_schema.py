"""Facts of the table itself, of what a reader should be warned of, and of the model's card."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Scale = Literal["linear", "log", "date", "category"]


@dataclass(frozen=True, slots=True)
class ColumnShares:
    """A column by class; shares within a class are its counts over their sum, missing left out."""

    name: str
    role: str
    scale: Scale
    unit: str  # of texts, whose length is counted: words or letters
    edges: list[float]  # of bins, one more than counts; dates in days since 1970
    values: list[str]  # of categories, the most frequent first; "(others)" is all the rest
    counts: list[list[int]]  # by class, then by bin or value
    missing: list[int]  # by class
    typical: list[str]  # by class: the median, or the most frequent value; "" of no rows


@dataclass(frozen=True, slots=True)
class Association:
    """How far two columns say the same, from 0 to 1."""

    first: str
    second: str
    value: float
    measure: str  # Spearman, Cramér's V, or correlation ratio
    falls: bool  # whether one falls as the other rises


@dataclass(frozen=True, slots=True)
class Associations:
    """Pairs of columns."""

    rows: int  # that were looked at
    pairs: int  # that were looked at
    strongest: list[Association]  # at most 15
    columns: list[str]  # of the matrix, at most 30
    matrix: list[list[float | None]]  # of these columns; None where it cannot be known


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A row of the file; its prediction is of a model that never saw it, if there is one."""

    row: int  # 1 is the first below the header
    drawn: bool  # by chance; the others are the first of the file
    label: str
    predicted: str | None
    proba_label: float | None
    proba_predicted: float | None
    values: dict[str, str]


@dataclass(frozen=True, slots=True)
class WholeRow:
    """A row that the page shows, with every cell that the model reads."""

    row: int  # 1 is the first below the header
    label: str
    cells: dict[str, Any]  # None where missing


@dataclass(frozen=True, slots=True)
class Alert:
    """Something to know before a number of the page is believed."""

    kind: str  # leak, few rows, rare class, group, time, labels, failure, weak, ...
    text: str


@dataclass(frozen=True, slots=True)
class CardColumn:
    name: str
    role: str
    reason: str


@dataclass(frozen=True, slots=True)
class CardMember:
    name: str
    weight: float


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What somebody should know who uses the model (after Mitchell et al. 2019)."""

    target: str
    classes: dict[str, int]  # rows of each
    source: str
    rows: int
    used: list[CardColumn]
    left_out: list[CardColumn]
    model: str
    members: list[CardMember]  # the heaviest first
    held_out: str  # how rows were held out
    scores: dict[str, Any]  # by name: value and standard error
    baseline: dict[str, Any]
    calibration: str
    limits: list[str]
    made: str  # date and time, UTC
    version: str  # of the library
    python: str
    use: str  # Python that predicts
    card: int = field(default=1)  # version of this layout
