"""Names that are asked for, in words: the one that is meant, the nearest one, or some of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

MOST = 10  # names that are listed


def did_you_mean(wanted: str, names: Iterable[str]) -> str:
    """A hint at the nearest name, if one is near."""
    folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(wanted.casefold(), folded, n=1)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""


def listed(names: Sequence[str]) -> str:
    """Some names."""
    shown = ", ".join(map(repr, names[:MOST]))
    return f"{shown} and {len(names) - MOST} more" if len(names) > MOST else shown or "none"


def part_named(part: str, names: Sequence[str], what: str, place: str) -> str:
    """The sheet or table of a file that is meant, or an error that offers the nearest one."""
    meant = [n for n in names if n == part] or [n for n in names if n.casefold() == part.casefold()]
    if not meant:
        hint = did_you_mean(part, names)
        raise ValueError(f"Expected a {what} {part!r} in {place!r}, got {listed(names)}.{hint}")
    return meant[0]
