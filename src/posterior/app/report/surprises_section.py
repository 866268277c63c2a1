"""Rows that surprise the model, and labels that are probably wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.app.report.report_schema import RowFacts, StrangeRow, Surprises
from posterior.app.report.row_reasons import Reasons
from posterior.app.report.strange_rows import Densities
from posterior.data import frames
from posterior.data.table import text
from posterior.data.typing import Array
from posterior.estimators.pool.fold_models import FoldModels
from posterior.evaluation.held_out import HeldOut
from posterior.evaluation.reliability import calibration_measure
from posterior.evaluation.scores import DOUBTFUL, doubtful_labels, least_expected, own_probability
from posterior.preprocessing.roles import Roles
from posterior.selection.comparison import Judged
from posterior.selection.labeled_rows import LabeledRows

MOST = 20
STRANGE = 10
MOST_CELLS = 12
REASONS = 3
LETTERS = 200
SEPARATED = 0.8  # of the probability, on average, rows of a class must be given their own
CALIBRATED = 0.05  # calibration error up to which probabilities are taken at their word
RULE = (
    "A label is flagged as a likely error if its probability is below 10 %, another class has at "
    "least the probability that rows of that class have on average (after Northcutt et al. 2021), "
    "and the model separates the two: rows of either class give it 80 % or more, on average, and "
    "the calibration error is below 0.05."
)
NONE = "The model separates the classes well, and flags none of these labels as a likely error."
NOT_HERE = (
    "The classes overlap too much, or the probabilities are not calibrated well enough, to flag "
    "a surprising label as an error."
)


def surprises(
    judged: Judged,
    rows: LabeledRows,
    roles: Roles,
    models: FoldModels,
    ranked: list[str],
    densities: Densities | None,
) -> Surprises:
    """By probabilities from models that never saw the row."""
    held_out, index = judged.held_out, judged.index
    proba, codes = held_out.proba, held_out.codes
    own, answer = own_probability(held_out), proba.argmax(axis=1)
    top = proba[np.arange(len(codes)), answer]
    doubted, warranted = likely_errors(held_out)
    order = distinct_places(least_expected(held_out), rows, index)
    table = rows.frame
    shown = shown_columns(roles, ranked)
    unexpected, errors = order[:MOST], [i for i in order if doubted[i]][:MOST]
    reasons = Reasons.of(models, rows, {int(index[i]) for i in (*unexpected, *errors)})

    def facts(i: int) -> RowFacts:
        row = int(index[i])
        code, said = int(codes[i]), int(answer[i])
        against = said if said != code else int(np.argsort(-proba[i])[1])
        return RowFacts(
            row=int(rows.places[row]) + 1,
            label=rows.names[code],
            predicted=rows.names[said],
            proba_label=float(own[i]),
            proba_predicted=float(top[i]),
            values=row_values(table, row, shown),
            reasons=reasons(row, against, code, REASONS),
        )

    return Surprises(
        least_expected=[facts(i) for i in unexpected],
        likely_errors=[facts(i) for i in errors],
        n_likely_errors=int(doubted.sum()),
        rule=NOT_HERE if not warranted else RULE if doubted.any() else NONE,
        strange=[] if densities is None else _strange(rows, densities, shown),
        n_surprising=int((own < DOUBTFUL).sum()),
        expected=float(proba[proba < DOUBTFUL].sum()),
        bound=DOUBTFUL,
    )


def likely_errors(held_out: HeldOut) -> tuple[Array, bool]:
    """Rows whose label is probably wrong, as a mask, and whether that can be told at all.

    A label of little probability is to be expected where classes overlap. Where rows of both are
    given their own class with 80 % on average, it is more likely to be a mistake.
    """
    own, codes = own_probability(held_out), held_out.codes
    present = np.unique(codes)
    usual = np.zeros(held_out.proba.shape[1])
    usual[present] = [own[codes == c].mean() for c in present]
    separated = usual >= SEPARATED
    calibrated = calibration_measure(held_out)[0].value < CALIBRATED
    told = separated[codes] & separated[held_out.proba.argmax(axis=1)] & calibrated
    return doubtful_labels(held_out) & told, bool(calibrated and separated.sum() > 1)


def distinct_places(order: Any, rows: LabeledRows, index: Any) -> list[int]:
    """Rows of a table of counts stand for many: each is shown once."""
    seen: set[int] = set()
    kept = []
    for i in order:
        place = int(rows.places[index[i]])
        if place not in seen:
            seen.add(place)
            kept.append(int(i))
    return kept


def shown_columns(roles: Roles, ranked: list[str]) -> list[str]:
    """Identifiers, by which people know a row, then the most informative columns."""
    names = [c.name for c in roles.columns if c.role == "identifier"][:2]
    names += [c.name for c in roles.text]
    named = dict.fromkeys(roles.origins.get(name, name) for name in ranked)  # a date's month
    return [*names, *(named or [c.name for c in roles.table_columns])][:MOST_CELLS]


def row_values(frame: Any, row: int, names: list[str]) -> dict[str, str]:
    """The cells of one row as text."""
    table = frames.as_frame(frame)
    assert table is not None
    found = {}
    for name in names:
        cell = table.get_column(name)[row]
        shown = "" if frames.missing(cell) else text(cell)
        found[name] = shown if len(shown) <= LETTERS else shown[: LETTERS - 3] + "..."
    return found


def _strange(rows: LabeledRows, densities: Densities, shown: list[str]) -> list[StrangeRow]:
    evidence = densities.log_evidence
    order = distinct_places(np.argsort(evidence, kind="stable"), rows, densities.index)
    found = []
    for i in order[:STRANGE]:
        row = int(densities.index[i])
        found.append(
            StrangeRow(
                row=int(rows.places[row]) + 1,
                label=rows.names[int(rows.codes[row])],
                log_evidence=float(evidence[i]),
                values=row_values(rows.frame, row, shown),
            )
        )
    return found
