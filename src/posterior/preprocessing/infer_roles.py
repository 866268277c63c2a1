"""What each column is, inferred from its name and its values."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.preprocessing.bands import Asked, bands_of
from posterior.preprocessing.belonging import check_asked
from posterior.preprocessing.column_roles import roles_of
from posterior.preprocessing.overrides import checked
from posterior.preprocessing.roles import ColumnRole, Roles, frame_of
from posterior.preprocessing.suspicions import with_suspicions
from posterior.preprocessing.targets import check_classes
from posterior.sources.files import column_named

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
    kinds = checked(kinds or {})
    check_asked(target, group, time)
    for name in (*kinds, *keep, *leave_out, *filter(None, (group, time))):
        column_named(names, name)
    roles = []
    for name, role in zip(names, roles_of(table, kinds), strict=True):
        if name == target:
            labels = role
            reason = "the column to predict"
            role = replace(role, role="target", used=False, reason=reason, flags=(), parts=())
        elif name == group:
            reason = "group of rows that belong together, as asked"
            role = replace(role, role="group", used=False, reason=reason, flags=())
        elif name in leave_out:
            role = replace(role, used=False, reason="left out as asked", flags=())
        elif name in keep and not role.used:
            role = _kept(role)
        roles.append(role)
    roles = _with_weight(roles, table, target, keep)
    roles = [_with_own_parts(role, names) for role in roles]
    column = labels.read(table.get_column(target))
    if bands is None:
        check_classes(column, labels, _n_rows(table, roles, target))
    cut = None if bands is None else bands_of(column, bands)
    found = Roles(target, tuple(_with_something_to_read(roles)), cut, time)
    return with_suspicions(found, frame_of(found.read(table.to_native())), keep)


def _with_own_parts(role: ColumnRole, names: Collection[str]) -> ColumnRole:
    """The same without parts that are called as another column is."""
    free = tuple(p for p in role.parts if f"{role.name} {p}" not in names)
    return role if free == role.parts else replace(role, parts=free)


def _n_rows(table: nw.DataFrame[Any], roles: list[ColumnRole], target: str) -> int:
    """Rows whose class is known; those of a table of counts stand for several."""
    known = ~table.get_column(target).is_null().to_numpy()
    weight = next((c.name for c in roles if c.role == "weight"), None)
    if weight is None:
        return int(known.sum())
    return int(frames.numbers(table.get_column(weight))[known].sum())


def _kept(role: ColumnRole) -> ColumnRole:
    """A column that a person wants in the model."""
    if role.distinct < 2:
        raise ValueError(f"Expected values that differ in {role.name!r}: {role.reason}.")
    kind = "number" if role.low is not None else "category"
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
    text = f"{column.name} looks like a count: it is used as the weight of each row."
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
