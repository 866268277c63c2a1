"""Flags of columns as a page or a terminal lists them: many of one kind are one sentence."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from posterior.preprocessing.roles import ColumnRole, Flag

MANY = 3  # columns with flags of one kind, from which on they are told together
NAMED = 3
TOGETHER: dict[tuple[str, str | None], str] = {
    ("codes", "number"): "hold few whole numbers and are read as numbers; if they are codes of "
    "categories: --as {as_category}",
    ("codes", "category"): "hold whole numbers that are codes of categories, and are read as "
    "categories; to read one as a number: --as {as_number}",
    ("constant", "constant"): "have only one value and are left out",
    ("constant", "empty"): "are empty and are left out",
    ("identifier", "identifier"): "identify each row and are left out",
    ("missing", None): "are missing in more than half of the rows",
    ("zeros", None): "are exactly 0 in some rows and far above it in all others: 0 may stand for "
    "a missing value",
    ("sentinel", None): "repeat a number far from all others, such as 999, which may stand for a "
    "missing value",
    ("marks", None): "have cells such as '?' or blanks that are read as missing",
}


def grouped(columns: Iterable[ColumnRole]) -> list[tuple[str, Flag]]:
    """Columns and their flags, warnings first; flags of one kind stand where the first one did."""
    groups: dict[tuple[str, str], list[tuple[str, Flag]]] = {}
    for column in columns:
        for flag in column.flags:
            said = TOGETHER.get((flag.kind, column.role)) or TOGETHER.get((flag.kind, None))
            key = (said, flag.severity) if said else (column.name, flag.text)
            groups.setdefault(key, []).append((column.name, flag))
    found = [
        pair
        for (said, _), members in groups.items()
        for pair in (members if len(members) < MANY else [_together(said, members)])
    ]
    return sorted(found, key=lambda pair: pair[1].severity != "warning")


def _together(said: str, members: list[tuple[str, Flag]]) -> tuple[str, Flag]:
    """25 columns (A1, A2, A3 and 22 more) hold few whole numbers ..."""
    names = [name for name, _ in members]
    rest = len(names) - NAMED
    listed = ", ".join(names[:NAMED]) + (f" and {rest:,} more" if rest > 0 else "")
    first, flag = members[0]
    options = {f"as_{role}": shlex.quote(f"{first}={role}") for role in ("category", "number")}
    text = f"{len(names):,} columns ({listed}) {said.format(**options)}."
    return first, Flag(flag.kind, flag.severity, text)
