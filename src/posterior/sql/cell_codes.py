"""Codes of cells, by which tables are looked up: bins of numbers, and categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from sqlglot import exp

from posterior.data.typing import Floats
from posterior.readers.cells import MISSING
from posterior.sql.expressions import (
    SQL,
    among,
    cases,
    column,
    is_finite,
    is_missing,
    number,
    times,
    total,
    whole,
)
from posterior.sql.sql_columns import Sheet, all_spellings, spellings

MOST_NUMBERS = 250_000  # of a statement, some four megabytes
NO_NUMBER = ["nan", "NaN"]  # as databases write it
INFINITE = [sign + word for sign in ("", "-") for word in ("inf", "Inf", "Infinity")]


def bin_code(x: SQL, cuts: Sequence[float], codes: Sequence[int] | None = None) -> SQL:
    """The code of a number's bin; an infinite one, which Python refuses, has none."""
    codes = range(MISSING + 1, MISSING + 2 + len(cuts)) if codes is None else codes
    infinite = exp.Not(this=is_finite(x.copy())), exp.null()
    return cases([(is_missing(x), whole(MISSING)), infinite], _between(x, cuts, codes))


def _between(x: SQL, cuts: Sequence[float], codes: Sequence[int]) -> SQL:
    """codes[how many cuts are at or below x], found by halves."""
    if len(set(codes)) == 1:
        return whole(codes[0])
    half = len(cuts) // 2
    below = exp.LT(this=x.copy(), expression=number(cuts[half]))
    above = _between(x, cuts[half + 1 :], codes[half + 1 :])
    return cases([(below, _between(x, cuts[:half], codes[: half + 1]))], above)


def category_code(words: SQL, values: Sequence[str]) -> SQL:
    """The code of a category; behind all others that of one never seen, or rare.

    Where all are numbers, NaN is missing, and an infinite one, which Python refuses, has none.
    """
    gaps = [(is_missing(words), whole(MISSING))]
    if values and all(map(_is_number, values)):
        gaps.append((among(words.copy(), NO_NUMBER), whole(MISSING)))
        gaps.append((among(words.copy(), INFINITE), exp.null()))
    known = [
        (among(words.copy(), spellings(value, values)), whole(code))
        for code, value in enumerate(values, MISSING + 1)
    ]
    return cases([*gaps, *known], whole(MISSING + 1 + len(values)))


def value_code(words: SQL, values: Sequence[str], numbers: Floats) -> tuple[SQL, Floats]:
    """The place of a value among the different lines of its numbers (values + 1, m), and these.

    The last line is that of a value that was never seen.
    """
    check_size(len(values), "Leave the column out.")
    lines, places = np.unique(numbers, axis=0, return_inverse=True)
    *own, never_seen = places.reshape(-1).tolist()
    spelled, by_place = all_spellings(values), dict[int, list[str]]()
    for value, place in zip(values, own, strict=True):
        if place != never_seen:
            by_place.setdefault(place, []).extend(spelled[value])
    known = [(among(words.copy(), texts), whole(p)) for p, texts in sorted(by_place.items())]
    return (cases(known, whole(never_seen)) if known else whole(never_seen)), lines


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def all_known(sheet: Sheet, codes: Mapping[str, SQL]) -> dict[str, SQL]:
    """A column that is zero, or NULL where a code is: of a row that Python refuses."""
    return {sheet.unused("known"): times(whole(0), total([column(code) for code in codes]))}


def check_size(numbers: int, remedy: str) -> None:
    """Refuse tables that are too many for a statement."""
    if numbers > MOST_NUMBERS:
        raise ValueError(
            f"Expected a model of at most {MOST_NUMBERS:,} numbers to write as SQL, got one of "
            f"{numbers:,}. {remedy}"
        )
