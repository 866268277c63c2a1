"""What a reader should know before believing a number: above everything else, never folded away."""

from __future__ import annotations

from collections.abc import Sequence

from posterior.app.report.flag_groups import grouped
from posterior.app.report.phrases import count, percent
from posterior.app.report.report_schema import Choice, Data, Failure
from posterior.app.report.section_schema import Alert
from posterior.evaluation.held_out import HeldOut
from posterior.evaluation.scores import doubtful_by_chance, doubtful_labels, measure

FEW_ROWS = 50
RARE = 20  # rows of a class, below which its scores say little
REPEATED = 0.05  # of the rows: so many repetitions flatter scores
DOUBTED = 0.01  # of the rows: so many doubtful labels are worth a word, if chance gives fewer
UNLABELED = 0.2
MOST_NAMED = 6
SUGGESTED = ("group", "time")  # flags that are told here whether or not they are warnings


def alerts(
    data: Data,
    choice: Choice,
    failures: Sequence[Failure],
    held_out: HeldOut,
    baseline: float,
) -> list[Alert]:
    """The most serious first."""
    found: list[Alert] = []

    def add(kind: str, text: str) -> None:
        found.append(Alert(kind, text))

    if choice.suspects is not None:
        add("leak", choice.suspects.sentence)
    log_loss = measure(held_out, "log_loss")
    if baseline - log_loss.value <= (log_loss.standard_error or 0.0):
        add("weak", "The columns say little: probabilities are no better than the class shares.")
    if data.rows < FEW_ROWS:
        add("few rows", f"{data.rows} rows are few: all scores are rough estimates.")
    rare = [c for c in data.target if c.rows < RARE]
    if rare and data.rows >= FEW_ROWS:
        named = ", ".join(f"{c.name} ({c.rows})" for c in rare[:MOST_NAMED])
        more = f" and {len(rare) - MOST_NAMED} more" if len(rare) > MOST_NAMED else ""
        add("rare class", f"Too few rows for a reliable precision and recall: {named}{more}.")
    for name, flag in grouped(data.columns):
        if flag.kind != "leak" and (flag.severity == "warning" or flag.kind in SUGGESTED):
            add(flag.kind, flag.text if name in flag.text else f"{name}: {flag.text}")
    if data.duplicate_rows > REPEATED * data.file_rows:
        add(
            "repeated rows",
            f"{count(data.duplicate_rows)} rows are duplicates of an earlier one: copies of a "
            "training row may be held out, and scores look better than they are.",
        )
    doubted, by_chance = int(doubtful_labels(held_out).sum()), doubtful_by_chance(held_out)
    if doubted > max(5, DOUBTED * data.rows, by_chance + 3 * by_chance**0.5):
        add(
            "labels",
            f"In {count(doubted)} rows ({percent(doubted / data.rows)}) another label is far more "
            f"probable than the one given, where {count(by_chance)} are expected: some labels may "
            "be wrong.",
        )
    if data.rows_without_target > UNLABELED * data.file_rows:
        add("no label", f"{count(data.rows_without_target)} rows have no label and are set aside.")
    for failure in failures:
        add("failure", f"{failure.name} could not be compared: {failure.reason}")
    return found
