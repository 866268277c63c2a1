"""Rows that belong together or follow each other: what was asked, and what columns suggest."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.data.typing import Codes
from posterior.preprocessing.roles import MANY_VALUED, ColumnRole, Roles

GROUPED_BY = ("category", MANY_VALUED, "identifier", "number")  # roles
LEAST_ROWS = 50
LEAST_VALUES = 10  # of a column that is called like people or things are
SEVERAL_VALUES = 20  # of one that is not: below, it may be one of kinds
MOST_ROWS = 100  # of one value, on average, of one that is not, and of numbers that may be counts
ALIKE = 0.5  # from where, between chance and always, rows of one value are of one class
WHO = (
    "account|animal|client|customer|device|driver|employee|family|household|member|participant|"
    "patient|person|player|respondent|session|student|subject|user|visitor"
)
WHOSE = re.compile(rf"^({WHO}|name)([\W_]*(id|key|code|name|no|nr|num|number))?$", re.IGNORECASE)
ID = re.compile(r"([^a-z]|^)id$", re.IGNORECASE)
BIRTH = re.compile("birth|born|dob", re.IGNORECASE)


def check_asked(target: str, group: str | None, time: str | None) -> None:
    """Refuse the target, and one column for both."""
    for what, name in (("group", group), ("time", time)):
        if name == target:
            raise ValueError(f"Expected another {what} column than the target, got {name!r}.")
    if group is not None and group == time:
        raise ValueError(f"Expected one column to group by and another of times, got {group!r}.")


def how_held_out(roles: Roles) -> list[str]:
    """Sentences that say which rows models are judged on, if it is not all by chance."""
    said = []
    if roles.group is not None:
        group = roles[roles.group]
        said.append(
            f"Folds keep the {group.distinct:,} values of {group.name} together: models are tested "
            "on unseen values."
        )
    if roles.time is not None:
        whose = f", each value of {roles.group} by its latest row" if roles.group else ""
        said.append(
            f"Models are tested on the latest fifth of the rows by {roles.time}{whose}, and "
            "trained on all before it; the model that is kept is fitted to all rows."
        )
    return said


def with_belonging(roles: Roles, table: nw.DataFrame[Any], codes: Codes) -> Roles:
    """The same roles, with flags where folds by chance would flatter a model."""
    flagged: list[ColumnRole | None] = []
    if roles.group is None:
        flagged.append(_likely_group(roles, table, codes))
    if roles.time is None:
        flagged += [_in_order(column, table) for column in roles.columns if _is_time(column)][:1]
    elif roles[roles.time].used:
        flagged.append(_beyond(roles[roles.time]))
    found = {column.name: column for column in flagged if column is not None}
    return replace(roles, columns=tuple(found.get(c.name, c) for c in roles.columns))


def _likely_group(roles: Roles, table: nw.DataFrame[Any], codes: Codes) -> ColumnRole | None:
    """Of the columns whose rows of one value may be alike, the likeliest."""
    found = []
    for column in roles.columns:
        named = bool(WHOSE.match(column.name) or ID.search(column.name))
        if not _repeats(column, named, len(codes) - column.missing):
            continue
        values = frames.coded(table.get_column(column.name), column.name)[0]
        known = (values >= 0) & (codes >= 0)
        alike = agreement(values[known], codes[known])
        if named or alike >= ALIKE:
            found.append((named, alike, column))
    if not found:
        return None
    named, alike, column = max(found, key=lambda each: each[:2])
    name, n = column.name, column.distinct
    if alike >= ALIKE:
        text = (
            f"Rows with the same {name} mostly have the same {roles.target}, and models may "
            f"memorize its {n:,} values: to hold them out together, --group {name}."
        )
    else:
        text = (
            f"The {n:,} values of {name} repeat, and rows with the same value may be alike: to "
            f"test models on unseen values, --group {name}."
        )
    return column.flagged("group", "warning" if named and alike >= ALIKE else "note", text)


def _repeats(column: ColumnRole, named: bool, n_rows: int) -> bool:
    """Whether so many values, of so many rows each, may be people or things."""
    if column.role not in GROUPED_BY or n_rows < LEAST_ROWS:
        return False
    if not named and column.role == "number":
        return False
    sure = named and (column.role != "number" or ID.search(column.name))
    least = LEAST_VALUES if sure else max(SEVERAL_VALUES, n_rows / MOST_ROWS)
    return least <= column.distinct <= n_rows / 2


def agreement(values: Codes, codes: Codes) -> float:
    """How often two rows of one value are of one class: 0 as by chance, 1 always."""
    both = np.zeros((int(values.max(initial=0)) + 1, int(codes.max(initial=0)) + 1))
    np.add.at(both, (values, codes), 1)
    size, shares = both.sum(axis=1), both.sum(axis=0) / max(len(codes), 1)
    pairs = (size * (size - 1)).sum()
    chance = (shares**2).sum()
    if pairs == 0 or chance == 1:
        return 0.0
    same = (both * (both - 1)).sum() / pairs
    return float((same - chance) / (1 - chance))


def _is_time(column: ColumnRole) -> bool:
    """Whether a column may say when a row was."""
    several = column.distinct >= LEAST_VALUES
    return column.role == "date" and column.used and several and not BIRTH.search(column.name)


def _in_order(column: ColumnRole, table: nw.DataFrame[Any]) -> ColumnRole:
    """A date that rows may follow each other by."""
    cells = table.get_column(column.name)
    rising = False
    if frames.kind(cells) == "number":
        days = frames.numbers(cells)
        rising = bool((np.diff(days[~np.isnan(days)]) >= 0).all())
    text = f"Rows are in the order of {column.name}" if rising else f"{column.name} is a date"
    text += ": if the model is for future rows, test it on the latest ones with "
    return column.flagged("time", "note", f"{text}--time {column.name}.")


def _beyond(column: ColumnRole) -> ColumnRole:
    """What orders the rows is unlike what was learned, in any row to come."""
    text = (
        f"{column.name} is also used as a feature, and in future rows it lies beyond all values "
        f"seen in training: to use it for the split alone, --leave-out {column.name}."
    )
    return column.flagged("time", "note", text)
