"""Questions and answers of the API."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from posterior.app.server.json_rows import Cell

Shares = dict[str, float]
Costs = dict[str, dict[str, float]]
SHARES = Field(None, description="Shares of the classes other than the learned ones.")
COSTS = Field(None, description="costs[truth][answer]: the price of an answer, for each truth.")


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Question(Request):
    """Rows to be answered; cells that are left out or null are unknown."""

    rows: list[dict[str, Cell]] = Field(min_length=1)
    priors: Shares | None = SHARES
    costs: Costs | None = COSTS


class Why(Request):
    """A row to be explained."""

    row: dict[str, Cell]
    priors: Shares | None = SHARES
    costs: Costs | None = COSTS
    of: str | None = Field(None, description="A class; by default the most probable one.")
    against: str | None = Field(None, description="Another; by default the runner-up.")


class Prediction(BaseModel):
    """The answer: the most probable class, or the one of least expected cost."""

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
