"""Questions and answers of the API, and rows of JSON as tables."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from posterior.app.server.served_columns import Column
from posterior.preprocessing.text_cells import MARKS
from posterior.sources.files import MISSING, column_named

if TYPE_CHECKING:
    import pyarrow as pa


Cell: TypeAlias = bool | int | float | str | None
Row: TypeAlias = Mapping[str, Cell]
SHARES = Field(None, description="Shares of the classes other than the learned ones.")
COSTS = Field(None, description="costs[truth][answer]: the price of an answer, for each truth.")

THRESHOLDS = Field(None, description="Probabilities from which classes are answered.")


def table_of(rows: Sequence[Row], columns: Sequence[Column], ignored: Collection[str]) -> pa.Table:
    """A table of the columns; cells that a row does not name are missing.

    Columns that the model has seen and does not read are left out; any other name is an error.
    """
    import pyarrow as pa

    names = [column.name for column in columns]
    known = {*names, *ignored}
    for row in rows:
        for name in row.keys() - known:
            column_named(names, name)  # raises, with the nearest name
    return pa.table({c.name: _column(c, [row.get(c.name) for row in rows]) for c in columns})


def _column(column: Column, cells: Sequence[Cell]) -> Any:
    import pyarrow as pa

    if column.kind == "number":
        return pa.array([_number(column, cell) for cell in cells], pa.float64())
    if column.kind == "category":
        spelled = {value.casefold(): value for value in column.values}
        texts = (_text(cell) for cell in cells)
        words = [None if t is None else _spelled(t, column.values, spelled) for t in texts]
        return pa.array(words, pa.string())
    return pa.array([_text(cell) for cell in cells], pa.string())


def _spelled(text: str, values: Sequence[str], spelled: Mapping[str, str]) -> str:
    """A word as the model has it: true is True."""
    return text if text in values else spelled.get(text.casefold(), text)


def _number(column: Column, cell: Cell) -> float | None:
    name, marks = column.name, MISSING if column.written is None else MARKS
    if cell is None or (isinstance(cell, str) and cell.strip() in marks):
        return None
    if isinstance(cell, str) and column.written is not None:
        (written,) = column.written.values([cell])
        if not math.isnan(written):
            return float(written)
    try:
        value = float(cell)
    except (ValueError, OverflowError):
        raise ValueError(
            f"Expected a number in column {name!r}, got {cell!r:.100}. Leave it empty if it is not "
            "known."
        ) from None
    if math.isinf(value):
        raise ValueError(f"Expected a finite number in column {name!r}, got {cell!r:.100}.")
    return None if math.isnan(value) else value


def _text(cell: Cell) -> str | None:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    text = str(cell)
    return None if text in MISSING else text


Shares = dict[str, float]
Costs = dict[str, dict[str, float]]


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Question(Request):
    """Rows to be answered; cells that are left out or null are unknown."""

    rows: list[dict[str, Cell]] = Field(min_length=1)
    priors: Shares | None = SHARES
    costs: Costs | None = COSTS
    thresholds: Shares | None = THRESHOLDS


class Why(Request):
    """A row to be explained."""

    row: dict[str, Cell]
    priors: Shares | None = SHARES
    costs: Costs | None = COSTS
    thresholds: Shares | None = THRESHOLDS
    of: str | None = Field(None, description="A class; by default the most probable one.")
    against: str | None = Field(None, description="Another; by default the runner-up.")


class Prediction(BaseModel):
    """The answer: the most probable class, or as costs or thresholds say."""

    answer: str
    posterior: dict[str, float]
    expected_costs: dict[str, float] | None = None


class Predictions(BaseModel):
    predictions: list[Prediction]


class TermFacts(BaseModel):
    """A column or a word: what it adds to the log score of each class, and to the log odds."""

    name: str
    value: str | None
    scores: dict[str, float]
    weight: float


class Explanation(Prediction):
    """log odds = start + Σ weights + correction, of one class against another."""

    of: str
    against: str | None
    started: str = Field(description="What the start is: the prior, or the scores of a typical row")
    start: dict[str, float] | None
    terms: list[TermFacts]
    pieces: list[tuple[str, float | None]] = Field(description="A text, cut at words with weights")
    neighbors: list[dict[str, Any]]


class ColumnFacts(BaseModel):
    name: str
    kind: Literal["number", "category", "date", "text"]
    low: float | None
    high: float | None
    typical: float | str | None
    whole: bool
    values: list[str]


class ModelFacts(BaseModel):
    """What can be asked."""

    name: str
    model: str
    target: str | None
    classes: list[str]
    priors: dict[str, float] | None
    columns: list[ColumnFacts]
    evidence: bool
    documents: bool
    version: str


class FileFacts(BaseModel):
    """What is in a file: enough to choose the target."""

    columns: list[str]
    guess: str | None
    continuous: list[str]  # numbers and dates that are classes only when cut into bands


class TrainingFacts(BaseModel):
    """Where a training is; a model that is done can be asked by this id."""

    id: str
    state: Literal["waiting", "running", "done", "failed"]
    step: str
    source: str
    target: str
    error: str | None = None
    summary: str | None = None
    seconds: float


class Health(BaseModel):
    status: Literal["ok"] = "ok"
    version: str
    model: str | None
