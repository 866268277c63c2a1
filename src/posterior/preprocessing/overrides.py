"""What a person says about the columns, whatever they look like."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypedDict

from posterior.preprocessing.bands import Asked

KINDS = ("number", "category", "date", "text", "boolean")  # that a column can be read as


class Overrides(TypedDict, total=False):
    """Options of `infer`, and of all that hand them on."""

    kinds: Mapping[str, str]  # columns, and what each is to be read as
    keep: Collection[str]  # columns that models should see, whatever they look like
    leave_out: Collection[str]  # columns that they should not
    group: str | None  # the column whose rows of one value belong together
    time: str | None  # the column that rows follow each other by
    bands: Asked | None  # of a target that is a number: how many classes, or where to cut


def asked_as(options: Collection[str]) -> dict[str, str]:
    """Columns and their kinds, as people write them: income=number."""
    found = {}
    for option in options:
        name, sign, kind = option.rpartition("=")
        if not sign or kind not in KINDS:
            raise ValueError(
                f"Expected a column and its kind, one of {', '.join(KINDS)}, as in income=number, "
                f"got {option!r}."
            )
        found[name] = kind
    return found


def checked(kinds: Mapping[str, str]) -> Mapping[str, str]:
    """The same if all are kinds that there are."""
    for name, kind in kinds.items():
        if kind not in KINDS:
            raise ValueError(
                f"Expected {name!r} to be read as one of {', '.join(KINDS)}, got {kind!r}."
            )
    return kinds
