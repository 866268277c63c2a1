"""Numbers and names as the page writes them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from posterior.app.report.report_schema import ColumnRole, Measure
from posterior.plots.look import digits

UNKNOWN = "-"
DATE = re.compile(r"\d{4}-\d\d-\d\d")


def number(value: float | None, n: int = 3) -> str:
    """Three significant digits, or all before the point."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    text = digits(value, max(n, len(str(int(abs(value))))) if abs(value) < 1e7 else n)
    return text if abs(value) >= 1e4 else text.replace(",", "")  # 2007 may be a year


def score(value: float | None) -> str:
    """Three places behind the point."""
    return UNKNOWN if value is None or not math.isfinite(value) else f"{value:.3f}"


def count(value: float | None) -> str:
    """A number of things, thousands set apart."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def percent(p: float | None) -> str:
    """A share of one; never 0 or 100 % for what is only near it."""
    if p is None or not math.isfinite(p):
        return UNKNOWN
    if 0 < p < 1e-4:
        return "<0.01 %"
    if 0.9995 <= p < 1:
        return ">99.9 %"
    return f"{100 * p:.1f} %" if p >= 0.01 or p == 0 else f"{100 * p:.2g} %"


def extent(column: ColumnRole) -> str:
    """What a column holds: from the least to the largest, or some of its values."""
    if column.low is None or column.high is None:
        return ", ".join(column.examples)
    if any(map(DATE.match, column.examples)):
        return " to ".join(day.removesuffix(" 00:00:00") for day in column.examples)
    return f"{number(column.low, 4)} to {number(column.high, 4)}"


def gaps(columns: Sequence[ColumnRole], most: int = 5) -> str:
    """Where cells are missing, the most first: deck (688, not used), age (177)."""
    some = sorted((c for c in columns if c.missing), key=lambda c: -c.missing)
    listed = [
        f"{short(c.name)} ({count(c.missing)}"
        + (")" if c.used or c.role == "target" else ", not used)")
        for c in some[:most]
    ]
    rest = len(some) - len(listed)
    return ", ".join(listed) + (f" and {rest} more column{'s'[: rest > 1]}" if rest else "")


def measure(found: Measure, n: int = 3) -> str:
    """A score and its standard error, to as many digits as that allows."""
    places = _places(found.standard_error, n)
    return _with_error(found.value, found.standard_error, places)


def percent_measure(found: Measure) -> str:
    """The same for a share, in percent."""
    error = None if found.standard_error is None else 100 * found.standard_error
    return f"{_with_error(100 * found.value, error, _places(error, 1))} %"


def _places(error: float | None, least: int) -> int:
    """Places behind the point, so that the error is not written as zero."""
    if error is None or not math.isfinite(error) or error <= 0:
        return least
    return min(max(least, -math.floor(math.log10(error))), least + 1)


def _with_error(value: float, error: float | None, places: int) -> str:
    if not math.isfinite(value):
        return UNKNOWN
    if error is None or not math.isfinite(error):
        return f"{value:,.{places}f}"
    least = 10.0**-places
    known = f"<{least:.{places}f}" if 0 < error < least / 2 else f"{error:,.{places}f}"
    return f"{value:,.{places}f} ± {known}"


def interval(ends: tuple[float, float] | None, percent: bool = True) -> str:
    """The ends of an interval, behind a share or a score: " (93\u201397 %)"."""
    if ends is None:
        return ""
    low, high = (f"{100 * end:.0f}" if percent else f"{end:.2f}" for end in ends)
    return f" ({low}\u2013{high}{' %' * percent})"


def unbroken(text: str) -> str:
    """A sentence whose numbers stay on one line with what belongs to them."""
    return text.replace(" %", "\u00a0%").replace(" ± ", "\u00a0±\u00a0")


def short(name: Any, most: int = 40) -> str:
    """A name on one line, cut in its middle when it is long."""
    text = " ".join(str(name).split())
    if len(text) <= most:
        return text or UNKNOWN
    tail = most // 4
    return f"{text[: most - tail - 1]}…{text[-tail:]}"


def shortened(names: Sequence[Any], most: int = 28) -> list[str]:
    """Names cut short, and still different."""
    found: list[str] = []
    for name in names:
        text = base = short(name, most)
        again = 2
        while text in found:
            text, again = f"{base} ({again})", again + 1
        found.append(text)
    return found


def seconds(value: float) -> str:
    """A time for people."""
    if value < 60:
        return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"
    return f"{value / 60:.1f} min"
