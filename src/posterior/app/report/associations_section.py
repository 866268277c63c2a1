"""Associations between columns: the strongest pairs, and all of up to 30 columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posterior.app.report.section_schema import Association, Associations
from posterior.data.table import round_digits
from posterior.data.typing import Codes, Integers
from posterior.evaluation.association import associations as values_of
from posterior.evaluation.association import measure_of
from posterior.preprocessing.measured_columns import MeasuredColumn

MOST_ROWS = 5_000
MOST_COLUMNS = 100  # of which pairs are looked at, the most informative
SHOWN = 30  # columns of the picture
STRONGEST = 15
LEAST = 0.1  # that is worth a line
MOST_VALUES = 20  # of a category; the rest are taken together


def associations(columns: Sequence[MeasuredColumn], order: Integers) -> Associations | None:
    """Of the most informative columns; of many rows, some, evenly spread over their content."""
    some = order[np.linspace(0, len(order) - 1, min(len(order), MOST_ROWS)).astype(int)]
    few = [*columns[:MOST_COLUMNS]]
    if len(few) < 2:
        return None
    cells = [
        c.numbers[some] if c.numbers is not None else _codes(c)[some]  # texts by their length
        for c in few
    ]
    value, sign = values_of(cells)
    first, second = np.triu_indices(len(few), 1)
    found = np.nan_to_num(value[first, second], nan=-1.0)
    strongest = [
        Association(
            first=few[first[i]].name,
            second=few[second[i]].name,
            value=float(found[i]),
            measure=measure_of(cells[first[i]], cells[second[i]]),
            falls=bool(sign[first[i], second[i]] < 0),
        )
        for i in np.argsort(-found, kind="stable")[:STRONGEST]
        if found[i] >= LEAST
    ]
    shown = value[:SHOWN, :SHOWN]
    matrix = [[None if np.isnan(v) else v for v in line] for line in round_digits(shown, 3)]
    names = [c.name for c in few[:SHOWN]]
    return Associations(len(some), len(first), strongest, names, matrix)


def _codes(column: MeasuredColumn) -> Codes:
    return column.grouped(MOST_VALUES)[0]
