"""Questions and answers of /predict, as JSON: rows or columns in, the same shape out."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

from posterior.app.server.refusals import RequestError

Cell: TypeAlias = bool | int | float | str | None
Shares: TypeAlias = dict[str, float]
Costs: TypeAlias = dict[str, dict[str, float]]
ROWS = "Rows, each an object of cells by column; what is left out or null is missing."
COLUMNS = "Columns, each an array of cells of one length: quicker than rows where there are many."
SHARES = "Shares of the classes other than the learned ones."
COSTS = "costs[truth][answer]: the price of an answer, for each truth."
THRESHOLDS = "Probabilities from which classes are predicted."


class PredictQuestion(Struct, forbid_unknown_fields=True):
    """Rows to predict, or columns."""

    rows: Annotated[list[dict[str, Cell]] | None, Meta(description=ROWS)] = None
    columns: Annotated[dict[str, list[Cell]] | None, Meta(description=COLUMNS)] = None
    priors: Annotated[Shares | None, Meta(description=SHARES)] = None
    costs: Annotated[Costs | None, Meta(description=COSTS)] = None
    thresholds: Annotated[Shares | None, Meta(description=THRESHOLDS)] = None


class RowPrediction(Struct):
    """The most probable class of a row, or as costs or thresholds say."""

    prediction: str
    answer: Annotated[str, Meta(description="The prediction under its old name, until 0.3.")]
    posterior: Shares
    expected_costs: Shares | None
    missing: Annotated[list[str], Meta(description="Columns without a value in this row.")]
    unseen: Annotated[list[str], Meta(description="Columns with a category new to the model.")]


class ModelIdentity(Struct):
    """The model that answered."""

    name: str
    version: Annotated[str | None, Meta(description="Of posterior, which wrote the file.")]
    hash: Annotated[str | None, Meta(description="SHA-256 of the model; null if in memory.")]
    classes: Annotated[list[str], Meta(description="In their order.")]


class RowAnswer(Struct):
    """The answer to rows."""

    model: ModelIdentity
    predictions: list[RowPrediction]


class ColumnAnswer(Struct):
    """The answer to columns: an array each; of missing and unseen cells, the rows by column."""

    model: ModelIdentity
    prediction: list[str]
    posterior: dict[str, list[float]]
    expected_costs: dict[str, list[float]] | None
    missing: dict[str, list[int]]
    unseen: dict[str, list[int]]


Decoder: TypeAlias = msgspec.json.Decoder[PredictQuestion]
_any: Decoder = msgspec.json.Decoder(PredictQuestion)
encode = msgspec.json.Encoder().encode


@lru_cache(maxsize=64)
def decoder_of(names: tuple[str, ...]) -> Decoder | None:
    """A decoder of rows with cells of these names alone: their cells become c0, c1, ...

    Such a row is made in half the time of a dict; None if JSON has to escape a name.
    """
    places = [f"c{j}" for j in range(len(names))]
    try:
        row = msgspec.defstruct(
            "Row",
            [(place, Cell, None) for place in places],
            rename=dict(zip(places, names, strict=True)),
            forbid_unknown_fields=True,
            gc=False,
        )
    except ValueError:
        return None
    rows: Any = list[row] | None  # type: ignore[valid-type]
    known = msgspec.defstruct("KnownRows", [("rows", rows, None)], bases=(PredictQuestion,))
    return msgspec.json.Decoder(known)


def decode(body: bytes, known: Decoder | None = None) -> PredictQuestion:
    """A question, of known rows if it is, or the sentence on what is wrong with it."""
    try:
        question = _decoded(body, known)
    except msgspec.ValidationError as error:
        raise RequestError(f"{error}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError(f"Expected a question as JSON, but: {error}.", 400) from None
    if (question.rows is None) == (question.columns is None):
        raise RequestError("Expected rows or columns, and one of them.")
    return question


def _decoded(body: bytes, known: Decoder | None) -> PredictQuestion:
    if known is not None:
        try:
            return known.decode(body)
        except msgspec.ValidationError:  # columns of other names, or something worse
            pass
    return _any.decode(body)


def question_schema() -> tuple[dict[str, Any], dict[str, Any]]:
    """JSON schemas of question and answers, and the components that they refer to."""
    (question, *answers), components = msgspec.json.schema_components(
        (PredictQuestion, RowAnswer, ColumnAnswer), ref_template="#/components/schemas/{name}"
    )
    return {"question": question, "answer": {"anyOf": answers}}, components
