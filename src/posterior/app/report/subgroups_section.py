"""Subgroups and predictions that a report shows, of the rows that models were compared on."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from posterior.app.report.report_schema import MissingFacts, Predictions
from posterior.data import frames
from posterior.data.table import round_digits, text
from posterior.data.typing import Array
from posterior.evaluation.groups import Subgroup, parted, subgroup
from posterior.preprocessing.roles import Roles
from posterior.selection.comparison import Judged
from posterior.selection.labeled_rows import LabeledRows

MOST_NUMBERS = 4_000_000  # of probabilities that are written down
SMALLEST_GROUP = 10
MOST_GROUPS = 20  # values of a column
DEFAULT_SUBGROUPS = 3
TELLING_NAMES = ("sex", "gender", "race", "ethnic", "age", "religion", "nation", "country", "demo")


def predictions(judged: Judged, rows: LabeledRows) -> Predictions:
    """The probabilities that all scores are computed from."""
    held_out, index = judged.held_out, judged.index
    proba = held_out.proba
    own = proba[np.arange(len(index)), held_out.codes]
    folds = rows.folds[index]
    return Predictions(
        rows=(rows.places[index] + 1).tolist(),
        folds=folds.tolist(),
        codes=held_out.codes.tolist(),
        proba=round_digits(proba) if proba.size <= MOST_NUMBERS else None,
        proba_label=round_digits(own),
        predicted=proba.argmax(axis=1).tolist(),
    )


def by_subgroup(
    judged: Judged, rows: LabeledRows, roles: Roles, asked: tuple[str, ...]
) -> list[Subgroup]:
    """Accuracy by the values of columns: those asked for, or up to three of few values."""
    found = []
    for name in asked or _default_subgroups(roles):
        groups = parted(_values(rows, name, judged.index))
        sizes = np.array([inside.sum() for _, inside in groups], np.int64)
        for k in np.sort(np.argsort(-sizes, kind="stable")[:MOST_GROUPS]):
            value, inside = groups[k]
            if sizes[k] >= SMALLEST_GROUP:
                found.append(subgroup(name, value, judged.held_out, inside))
    return found


def _default_subgroups(roles: Roles) -> list[str]:
    few = [c.name for c in roles.used if c.role in ("category", "boolean") and c.distinct <= 6]

    def rank(name: str) -> int:
        words = [i for i, word in enumerate(TELLING_NAMES) if word in name.casefold()]
        return words[0] if words else len(TELLING_NAMES)

    return sorted(few, key=rank)[:DEFAULT_SUBGROUPS]


def _values(rows: LabeledRows, name: str, index: Array) -> list[str | None]:
    """The values of a column as words; numbers of many values by quarters."""
    table = frames.as_frame(rows.take(index))
    assert table is not None
    column = table.get_column(name)
    if frames.kind(column) == "number":
        cells = frames.numbers(column)
        known = cells[~np.isnan(cells)]
        if len(np.unique(known)) > 8:
            cuts = np.unique(np.quantile(known, [0, 0.25, 0.5, 0.75, 1]))
            last = len(cuts) - 2
            names = [f"{text(a)} to {text(b)}" for a, b in pairwise(cuts)]
            places = np.clip(np.searchsorted(cuts, cells, side="right") - 1, 0, last)
            return [None if np.isnan(v) else names[i] for v, i in zip(cells, places, strict=True)]
    return frames.items(column.to_list(), name)


def missing_facts(judged: Judged, roles: Roles, gaps: Array) -> MissingFacts | None:
    """Rows with missing cells against complete ones."""
    gaps = gaps[judged.index]
    some: Array = np.asarray(gaps.any(axis=1))
    if not some.any():
        return None
    held_out = judged.held_out

    def group(column: str, value: str, inside: Array) -> Subgroup | None:
        return subgroup(column, value, held_out, inside) if inside.any() else None

    by_column = [
        subgroup(column.name, "missing", held_out, gaps[:, j])
        for j, column in enumerate(roles.used)
        if gaps[:, j].sum() >= SMALLEST_GROUP
    ]
    return MissingFacts(
        complete=group("all columns", "complete", ~some),
        incomplete=group("all columns", "with missing values", some),
        by_column=by_column,
    )
