"""What each column is, inferred from its name and its values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.data.table import text as number_text
from posterior.data.typing import Floats
from posterior.preprocessing.bands import Asked, bands_of
from posterior.preprocessing.belonging import check_asked
from posterior.preprocessing.roles import MANY_VALUED, ColumnRole, Roles, frame_of
from posterior.preprocessing.suspicions import with_suspicions
from posterior.preprocessing.targets import check_classes
from posterior.sources.files import column_named

FEW_ROWS = 20  # below, all values may differ by chance
MANY = 50  # values of a category
ROWS_EACH = 10  # of a category's values on average; with fewer, they are many
WORDS_EACH = 1.5  # of names
ID_NAME = re.compile(r"(^|[^a-z])(id|ids|uuid|guid|key|index|rownames?)($|[^a-z])|[a-z](Id|ID)$")
WEIGHT_NAME = re.compile(r"^(freq|frequency|count|counts|weight|weights|n|cases)$", re.IGNORECASE)


def infer(
    frame: Any,
    target: str,
    *,
    kinds: Mapping[str, str] | None = None,
    keep: Collection[str] = (),
    leave_out: Collection[str] = (),
    group: str | None = None,
    time: str | None = None,
    bands: Asked | None = None,
) -> Roles:
    """What each column is, from its values and, for leaks, from the target.

    Parameters
    ----------
    frame : of pandas, polars, pyarrow, ...
    target : name of the column to predict
    kinds : columns by name, and what each is to be read as, such as {"zip": "category"}
    keep, leave_out : names of columns that models should see, or should not, whatever they look
        like
    group : name of the column whose rows of one value belong together, as those of a customer
    time : name of the column that rows follow each other by
    bands : classes of a target that is a number: how many, of equal shares of the rows, or the
        cut points between them
    """
    table = frame_of(frame)
    names = table.columns
    column_named(names, target, "target column")
    kinds = kinds or {}
    check_asked(target, group, time)
    for name in (*kinds, *keep, *leave_out, *filter(None, (group, time))):
        column_named(names, name)
    roles = []
    for name in names:
        role = role_of(table.get_column(name))
        if name == target:
            labels = role
            reason = "the column to predict"
            role = replace(role, role="target", used=False, reason=reason, flags=())
        elif name == group:
            reason = "rows of one value belong together, as asked"
            role = replace(role, role="group", used=False, reason=reason, flags=())
        elif name in leave_out:
            role = replace(role, used=False, reason="left out as asked", flags=())
        elif name in keep and not role.used:
            role = _kept(role, table.get_column(name))
        roles.append(role)
    roles = _with_weight(roles, table, target, keep)
    column = table.get_column(target)
    if bands is None:
        check_classes(column, labels, _n_rows(table, roles, target))
    cut = None if bands is None else bands_of(column, bands)
    found = Roles(target, tuple(_with_something_to_read(roles)), cut, time)
    return with_suspicions(found, table, keep)


def _n_rows(table: nw.DataFrame[Any], roles: list[ColumnRole], target: str) -> int:
    """Rows whose class is known; those of a table of counts stand for several."""
    known = ~table.get_column(target).is_null().to_numpy()
    weight = next((c.name for c in roles if c.role == "weight"), None)
    if weight is None:
        return int(known.sum())
    return int(frames.numbers(table.get_column(weight))[known].sum())


def role_of(column: nw.Series[Any]) -> ColumnRole:
    """What a column is, whatever is predicted."""
    try:
        kind = frames.kind(column)
    except TypeError:
        reason = "cells that are lists or tables, which no model reads"
        missing = int(column.null_count())
        return ColumnRole(str(column.name), "nested", False, reason, 0, missing, ())
    return _number(column) if kind == "number" else _category(column)


def _number(column: nw.Series[Any]) -> ColumnRole:
    cells = frames.numbers(column)
    values = cells[~np.isnan(cells)]
    missing = len(cells) - len(values)
    distinct = np.unique(values)
    known = column.drop_nulls()
    date = column.dtype.is_temporal() or (len(known) and isinstance(known[0], frames.TIMES))
    if date:
        examples = tuple(str(end)[:19] for end in (known.min(), known.max()))
    else:
        shown = distinct[:: max(1, len(distinct) // 5)][:5]
        examples = tuple(map(number_text, shown))
    name = str(column.name)

    def role(role: str, used: bool, reason: str) -> ColumnRole:
        extent = (values.min(), values.mean(), values.max()) if len(values) else (None,) * 3
        low, mean, high = (None if v is None else float(v) for v in extent)
        return ColumnRole(
            name, role, used, reason, len(distinct), missing, examples, low, mean, high
        )

    if len(distinct) < 2:
        return _one_value(role, len(distinct), examples)
    if date:
        return role("date", True, "dates, counted in days since 1970")
    whole = bool((values == np.round(values)).all())
    if whole and len(distinct) == 2 and distinct[0] == 0 and distinct[1] == 1:
        return role("boolean", True, "zeros and ones")
    if whole and len(values) >= FEW_ROWS and _numbers_rows(values, name):
        return role("identifier", False, "whole numbers that tell the rows apart").flagged(
            "identifier", "note", f"{name} numbers the rows and is left out."
        )
    return role("number", True, "whole numbers" if whole else "numbers")


def _numbers_rows(values: Floats, name: str) -> bool:
    """Whether whole numbers count the rows, or are called an identifier and mostly differ."""
    distinct = len(np.unique(values)) / len(values)
    counted = distinct == 1 and np.mean(np.diff(np.sort(values)) == 1) > 0.95
    return bool(counted or (ID_NAME.search(name) and distinct > 0.5))


def _category(column: nw.Series[Any]) -> ColumnRole:
    cells = frames.items(column.to_list(), column.name)
    counts = Counter(cell for cell in cells if cell is not None)
    n = sum(counts.values())
    name, distinct = str(column.name), len(counts)
    examples = tuple(_short(value) for value, _ in counts.most_common(5))

    def role(role: str, used: bool, reason: str) -> ColumnRole:
        return ColumnRole(name, role, used, reason, distinct, len(cells) - n, examples)

    if distinct < 2:
        return _one_value(role, distinct, examples)
    if column.dtype == nw.Boolean:
        return role("boolean", True, "true and false")
    if frames.are_texts([cell for cell in cells if cell is not None]):
        return role("text", True, "sentences: each is read as the words in it")
    if n >= FEW_ROWS and distinct > 0.9 * n and _are_names(counts):
        reason = "names that hardly repeat: each is read as the words and letters in it"
        return role("text", True, reason)
    if n >= FEW_ROWS and distinct > 0.9 * n:
        share = "all" if distinct == n else f"{distinct:,} of {n:,}"
        return role("identifier", False, f"{share} values differ").flagged(
            "identifier", "note", f"{name} tells the rows apart ({share} differ) and is left out."
        )
    if distinct > MANY or (distinct > FEW_ROWS and distinct > n / ROWS_EACH):
        reason = f"{distinct:,} different values in {n:,} cells: read by what each tells, together"
        return role(MANY_VALUED, True, reason + " with its words and letters")
    return role("category", True, "two words" if distinct == 2 else "words that repeat")


def _are_names(values: Collection[str]) -> bool:
    """Whether values have words, as names of people and of places do, and are no codes."""
    words = [word for value in values for word in value.split()]
    letters = sum(word.strip(".,()'\"").isalpha() for word in words)
    return len(words) >= WORDS_EACH * len(values) and letters > len(words) / 2


def _one_value(role: Any, distinct: int, examples: tuple[str, ...]) -> ColumnRole:
    if distinct == 0:
        empty: ColumnRole = role("empty", False, "all cells are missing")
        return empty.flagged("constant", "note", f"{empty.name} is empty and is left out.")
    found: ColumnRole = role("constant", False, f"every cell is {examples[0]}")
    text = f"{found.name} is {examples[0]} wherever it is known, and is left out."
    return found.flagged("constant", "note", text)


def _kept(role: ColumnRole, column: nw.Series[Any]) -> ColumnRole:
    """A column that a person wants in the model."""
    if role.distinct < 2:
        raise ValueError(f"Expected values that differ in {role.name!r}: {role.reason}.")
    kind = "number" if frames.kind(column) == "number" else "category"
    return replace(role, role=kind, used=True, reason="kept as asked", flags=())


def _with_weight(
    roles: list[ColumnRole], table: nw.DataFrame[Any], target: str, keep: Collection[str]
) -> list[ColumnRole]:
    """A column of counts beside cells of a cross table says how many rows each stands for."""
    others = [c for c in roles if not WEIGHT_NAME.match(c.name)]
    named = [c for c in roles if WEIGHT_NAME.match(c.name) and c.name not in (target, *keep)]
    if len(named) != 1 or len(others) < 2:
        return roles
    (column,) = named
    words = all(c.role in ("category", "boolean", "target") for c in others)
    if not words or column.role not in ("number", "identifier") or column.missing:
        return roles
    counts = frames.numbers(table.get_column(column.name))
    cells = list(zip(*(table.get_column(c.name).to_list() for c in others), strict=True))
    if (counts < 0).any() or (counts != np.round(counts)).any() or len(set(cells)) < len(cells):
        return roles
    reason = f"a table of counts: its {len(cells)} rows stand for {counts.sum():,.0f}"
    text = f"{column.name} looks like a count: each row is taken for as many rows as it says."
    weight = replace(column, role="weight", used=False, reason=reason, flags=())
    return [weight.flagged("weight", "warning", text) if c is column else c for c in roles]


def _with_something_to_read(roles: list[ColumnRole]) -> list[ColumnRole]:
    """Where nothing is left but words that hardly repeat, they are read by their letters."""
    if any(column.used for column in roles):
        return roles
    left = [
        column
        for column in roles
        if column.role == "identifier" and column.low is None and column.distinct > 1
    ]
    if not left:
        raise ValueError(
            "Expected a column to learn from, got none: "
            f"{reasons([c for c in roles if c.role != 'target'])}."
        )
    reason = "words that hardly repeat, and nothing else: they are read by their letters"
    return [
        replace(c, role="word", used=True, reason=reason, flags=()) if c in left else c
        for c in roles
    ]


def reasons(columns: Sequence[ColumnRole], most: int = 5) -> str:
    """Why columns are what they are, of some of them."""
    told = "; ".join(f"{column.name}: {column.reason}" for column in columns[:most])
    if not columns:
        return "there is no other column"
    return told if len(columns) <= most else f"{told}; and {len(columns) - most:,} more"


def _short(value: str) -> str:
    return value if len(value) <= 60 else value[:57] + "..."
