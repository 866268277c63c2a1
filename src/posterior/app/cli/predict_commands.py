"""posterior predict, explain, sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from posterior.app import explanations, models, tables
from posterior.app.cli.command import (
    DATA,
    JSON,
    MODEL,
    RAW,
    ROWS_OUT,
    SEED,
    SHEET,
    TABLE,
    Answer,
    counted,
    counting,
    part_of,
)
from posterior.app.lean_imports import take_one_blas_thread
from posterior.sources import outputs
from posterior.sources.answers import answered, answers, told
from posterior.sources.places import check_there

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa


def predict(
    model: MODEL,
    data: DATA,
    out: ROWS_OUT = outputs.STDOUT,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Add the three columns with the most evidence for each prediction."
        ),
    ] = False,
    only: Annotated[
        bool, typer.Option("--only", help="Write the predictions alone, without the input columns.")
    ] = False,
    cost: Annotated[
        list[str] | None,
        typer.Option(
            "--cost",
            metavar="CLASS=PRICE",
            help="Cost of missing a row of this class; other errors cost 1.",
        ),
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            "--prior", metavar="CLASS=SHARE", help="Share of this class where the model is used."
        ),
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            "--threshold", metavar="CLASS=P", help="Predict this class from probability P on."
        ),
    ] = None,
    raw: RAW = False,
    sheet: SHEET = None,
    table: TABLE = None,
    json: JSON = False,
) -> Answer:
    """Write the most probable class of each row, and all probabilities.

    With --cost, the class of least expected cost; with --threshold, a class wherever it has that
    probability; --prior adjusts the probabilities to other class shares.

    The rows are read and written some at a time, so that files may be larger than memory.
    """
    part = part_of(sheet, table)
    outputs.format_of(out)
    check_there(data)
    take_one_blas_thread()
    known = models.load(model)
    decision, answer = _decision(known, cost or (), prior or (), threshold or ())

    def reasons(X: pa.Table) -> dict[str, Any]:
        return {"because": explanations.reasons(known, X)} if explain else {}

    def pieces() -> Iterator[pa.Table]:
        with counting("predicting") as count:
            for written, read in tables.pieces(data, models.types_learned(known), part):
                yield answered(known, written, read, out, only, reasons, answer)
                count(read.num_rows)

    facts = {"model": model, "data": data, "out": out, "decision": decision}
    if json and out == outputs.STDOUT:
        rows = [row for piece in pieces() for row in piece.to_pylist()]
        return Answer({**facts, "rows": len(rows), "predictions": rows})
    n_rows = outputs.write(out, pieces(), raw=raw)
    said = [] if out == outputs.STDOUT else [f"{counted(n_rows, 'row')} predicted, in {out}"]
    if said and (cost or prior or threshold):
        said.append(f"decision: {decision}")
    return Answer({**facts, "rows": n_rows}, said)


def _decision(
    known: Any, cost: Sequence[str], prior: Sequence[str], threshold: Sequence[str]
) -> tuple[str, Callable[[Any, Any], dict[str, Any]]]:
    """What is predicted, in words, and how."""
    from sklearn.base import is_classifier

    if not (cost or prior or threshold):
        return "the most probable class" if is_classifier(known) else "the cluster", answers
    if not is_classifier(known) or not hasattr(known, "predict_proba"):
        raise ValueError(
            "Expected a classifier with probabilities for --cost, --prior and --threshold, got "
            f"{type(known).__name__}."
        )
    from posterior.app.cli.decision_options import asked
    from posterior.app.decisions import posterior

    decision = asked(known, cost, prior, threshold)

    def decided(model: Any, X: Any) -> dict[str, Any]:
        p = posterior(model, X, decision.shares)
        return told(model, p, decision.codes(p))

    return decision.sentence, decided


def explain(
    model: MODEL,
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="The table of the row, with --row.")
    ] = None,
    row: Annotated[
        int | None,
        typer.Option("--row", "-r", min=1, help="Row number; 1 is the first below the header."),
    ] = None,
    cells: Annotated[
        list[str] | None,
        typer.Option(
            "--set", "-s", metavar="COLUMN=VALUE", help="Value of a column; may be repeated."
        ),
    ] = None,
    sheet: SHEET = None,
    table: TABLE = None,
) -> Answer:
    """Explain a prediction: what each column adds to the log odds.

    The row comes from a table, or from --set alone, with all other cells missing; together they
    ask what would change if a cell were another.
    """
    if (data is None) != (row is None) or (data is None and not cells):
        raise typer.BadParameter("Expected DATA with --row, or --set, or both.")
    part = part_of(sheet, table)
    if data is not None:
        check_there(data)
    take_one_blas_thread()
    known = models.load(model)
    given = None if data is None or row is None else tables.row_of(data, row, part)
    types = models.types_learned(known)
    asked = tables.with_cells(given, models.columns(known), cells or [], types)
    reasons = explanations.of_row(known, models.features(known, asked))
    facts = {"model": model, "data": data, "row": row, **reasons.to_dict()}
    return Answer(facts, [str(reasons)])


def sample(
    model: MODEL,
    n: Annotated[int, typer.Option("-n", min=1, help="How many rows.")] = 10,
    out: ROWS_OUT = outputs.STDOUT,
    seed: SEED = 0,
    json: JSON = False,
) -> Answer:
    """Draw synthetic rows from a generative model."""
    known = models.load(model)
    if not hasattr(known, "sample"):
        raise ValueError(
            f"Expected a generative model, which can draw rows, got {type(known).__name__}, which "
            "only models classes given rows. Fit --model naive-bayes or discriminant."
        )
    table = outputs.as_table(models.sampled(known, n, seed))
    facts = {"model": model, "rows": n, "out": out}
    if json and out == outputs.STDOUT:
        return Answer({**facts, "sample": table.to_pylist()})
    outputs.write(out, iter([table]))
    return Answer(facts, [] if out == outputs.STDOUT else [f"{counted(n, 'row')} drawn, in {out}"])
