"""Numbers given by the names of the classes, in the order of the classes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from posterior.data.names import plain

SHOWN = 20  # names in an error message


def in_order(given: Any, classes: Any, what: str) -> Any:
    """{class: number} as a list; what does not come by names, as it is."""
    if not isinstance(given, Mapping):
        return given
    names = _names(classes)
    _check(given, names, names, what)
    return [given[name] for name in names]


def table_in_order(given: Any, classes: Any, what: str) -> Any:
    """{truth: {answer: number}} as a list of lists; a right answer that is not named has zero."""
    if not isinstance(given, Mapping):
        return given
    names, rows = _names(classes), []
    _check(given, names, names, what)
    for truth in names:
        row = given[truth]
        if not isinstance(row, Mapping):
            raise ValueError(
                f"Expected {what} of each answer by its class, such as "
                f"{{{truth!r}: {{...: 1}}}}, got {row!r} for {truth!r}."
            )
        _check(row, names, [name for name in names if name != truth], f"{what} for {truth!r}")
        rows.append([row.get(name, 0.0) for name in names])
    return rows


def _names(classes: Any) -> list[Any]:
    """Each once: components of one class share its name."""
    return list(dict.fromkeys(plain(c) for c in classes))


def _check(given: Mapping[Any, Any], known: Collection[Any], needed: list[Any], what: str) -> None:
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ValueError(
            f"Expected {what} by the classes {list(known)[:SHOWN]}, got {unknown[0]!r}, which is "
            "none of them."
        )
    lacking = [name for name in needed if name not in given]
    if lacking:
        raise ValueError(
            f"Expected {what} by each of the classes {list(known)[:SHOWN]}, but {lacking[0]!r} is "
            "missing."
        )
