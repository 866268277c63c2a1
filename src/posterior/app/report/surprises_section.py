"""Rows that a model did not expect, and labels that are probably wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.app.report.held_out_evidence import HeldOutEvidence
from posterior.app.report.report_schema import RowFacts, StrangeRow, Surprises
from posterior.app.report.telling_words import TellingWords
from posterior.data import frames
from posterior.data.table import text
from posterior.evaluation.scores import doubtful_labels, least_expected, own_probability
from posterior.preprocessing.roles import Roles
from posterior.selection.comparison import Judged
from posterior.selection.labeled_rows import LabeledRows

MOST = 20
STRANGE = 10
MOST_CELLS = 12
REASONS = 3
LETTERS = 200
RULE = (
    "A label is doubted if its probability is below 10 %, while another class has at least the "
    "probability that rows of that class have on average (after Northcutt et al. 2021)."
)


def surprises(
    judged: Judged,
    rows: LabeledRows,
    roles: Roles,
    by_column: HeldOutEvidence | None,
    words: TellingWords | None,
) -> Surprises:
    """By probabilities from models that never saw the row."""
    held_out, index = judged.held_out, judged.index
    proba, codes = held_out.proba, held_out.codes
    own, answer = own_probability(held_out), proba.argmax(axis=1)
    top = proba[np.arange(len(codes)), answer]
    doubted = doubtful_labels(held_out)
    order = distinct_places(least_expected(held_out), rows, index)
    table = rows.frame
    ranked = [] if by_column is None else [f.name for f in by_column.features()]
    shown = shown_columns(roles, ranked)

    unexpected, errors = order[:MOST], [i for i in order if doubted[i]][:MOST]
    if words is not None:  # nor may the words of a row be predicted by a model that saw it
        words = words.without({int(index[i]) for i in (*unexpected, *errors)})
    sources = [w for w in (words, by_column) if w is not None]

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
            reasons=[r for w in sources for r in w.reasons(row, against, code)][:REASONS],
        )

    return Surprises(
        least_expected=[facts(i) for i in unexpected],
        likely_errors=[facts(i) for i in errors],
        n_likely_errors=int(doubted.sum()),
        rule=RULE,
        strange=[] if by_column is None else _strange(rows, by_column, shown),
    )


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


def _strange(rows: LabeledRows, by_column: HeldOutEvidence, shown: list[str]) -> list[StrangeRow]:
    evidence = by_column.log_evidence()
    order = distinct_places(np.argsort(evidence, kind="stable"), rows, by_column.index)
    found = []
    for i in order[:STRANGE]:
        row = int(by_column.index[i])
        found.append(
            StrangeRow(
                row=int(rows.places[row]) + 1,
                label=rows.names[int(rows.codes[row])],
                log_evidence=float(evidence[i]),
                values=row_values(rows.frame, row, shown),
            )
        )
    return found
