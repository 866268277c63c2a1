"""Questions and answers of the API, but those of /predict."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from posterior.app.server.cells import Cell
from posterior.app.server.questions import COSTS, SHARES, THRESHOLDS, Costs, Shares


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Why(Request):
    """A row to be explained."""

    row: dict[str, Cell]
    priors: Shares | None = Field(None, description=SHARES)
    costs: Costs | None = Field(None, description=COSTS)
    thresholds: Shares | None = Field(None, description=THRESHOLDS)
    of: str | None = Field(None, description="A class; by default the most probable one.")
    against: str | None = Field(None, description="Another; by default the runner-up.")


class Identity(BaseModel):
    """The model that answered: its classes are in their order."""

    name: str
    version: str | None
    hash: str | None
    classes: list[str]


class TermFacts(BaseModel):
    """A column or a word: what it adds to the log score of each class, and to the log odds."""

    name: str
    value: str | None
    scores: dict[str, float]
    weight: float


class Explanation(BaseModel):
    """log odds = start + Σ weights + correction, of one class against another."""

    model: Identity
    prediction: str
    answer: str = Field(description="The prediction under its old name, until 0.3.")
    posterior: Shares
    expected_costs: Shares | None
    missing: list[str] = Field(description="Columns without a value in this row.")
    unseen: list[str] = Field(description="Columns with a category new to the model.")
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
    hash: str | None


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
    """Whether the process lives; with the token, more."""

    status: Literal["ok"] = "ok"
    version: str | None = None
    model: str | None = None
    worker: int | None = None


class Readiness(Identity):
    """A model that is served, and what is wrong with its file since."""

    problem: str | None


class Ready(BaseModel):
    """Whether questions can be answered; with the token, by which models."""

    status: Literal["ready"] = "ready"
    models: list[Readiness] | None = None
