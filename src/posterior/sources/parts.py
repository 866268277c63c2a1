"""Parts of a file that holds several tables: sheets of a workbook, tables of a database."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


def named(part: str, names: Sequence[str], what: str, place: str) -> str:
    """The part that is meant, or an error that offers the nearest one."""
    if part in names:
        return part
    folded = {name.casefold(): name for name in names}
    if part.casefold() in folded:
        return folded[part.casefold()]
    near = difflib.get_close_matches(part.casefold(), folded, n=1)
    hint = f" Did you mean {folded[near[0]]!r}?" if near else ""
    raise ValueError(f"Expected a {what} {part!r} in {place!r}, got {listed(names)}.{hint}")


def listed(names: Sequence[str]) -> str:
    """Some names."""
    shown = ", ".join(map(repr, names[:10]))
    return f"{shown} and {len(names) - 10} more" if len(names) > 10 else shown or "none"
