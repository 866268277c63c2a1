"""Month, weekday and hour of dates: what of them can speak beside the time that has passed."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.typing import Floats
from posterior.preprocessing.dates import MONTHS

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
THURSDAY = 3  # 1970-01-01
LEVELS = {"month": 12, "weekday": 7, "hour": 24}
SPANS = {"month": 75, "weekday": 14, "hour": 0}  # days; in fewer, months repeat the time passed
ROWS_EACH = 10  # of a month or a weekday, on average, for it to say something


def parts_of(days: Floats, n_rows: int) -> tuple[str, ...]:
    """Month, weekday and hour, where they vary and repeat; the year is in the time passed.

    `days` are the different dates of so many rows, rising.
    """
    span = days[-1] - days[0]
    found = []
    for name, least in SPANS.items():
        different = np.count_nonzero(np.bincount(_numbered(days, name)))
        enough = name == "hour" or n_rows >= ROWS_EACH * different
        if name == "weekday" and _are_months(days):
            continue
        if different > 1 and span > least and enough:
            found.append(name)
    return tuple(found)


def _are_months(days: Floats) -> bool:
    """Whether all are the first day of a month, which stands for the whole of it."""
    whole = np.floor(days).astype(np.int64).astype("datetime64[D]")
    return bool((whole == whole.astype("datetime64[M]")).all())


def part(days: Floats, name: str) -> Floats | list[str | None]:
    """The month or weekday of each date by its short name, or the hour as a number."""
    gaps = np.isnan(days)
    numbers = _numbered(np.where(gaps, 0.0, days), name)
    if name == "hour":
        return np.where(gaps, np.nan, numbers)
    names = np.array([*(MONTHS if name == "month" else WEEKDAYS), None], object)
    found: list[str | None] = names[np.where(gaps, -1, numbers)].tolist()
    return found


def _numbered(days: Floats, name: str) -> Any:
    """Months and weekdays count from zero."""
    whole = np.floor(days).astype(np.int64)
    if name == "weekday":
        return (whole + THURSDAY) % 7
    if name == "hour":
        return np.floor(np.round((days - whole) * 86_400, 3) / 3600).astype(np.int64) % 24
    return whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
