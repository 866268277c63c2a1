"""Bands: ranges of a number, which are classes that have an order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.data.cells import DAY, EPOCH
from posterior.data.typing import Floats

Asked: TypeAlias = int | Sequence[float | str]  # how many bands, or where to cut

MOST_BANDS = 50
SLACK = 0.1  # of a band's share of rows may be given for a rounder edge
GROUPED = 10_000  # from here on thousands are set apart; 2007 may be a year
UNITS = ("Y", "M", "D", "h", "m", "s", "us")
MICROSECONDS = 86_400_000_000  # of a day


@dataclass(frozen=True, slots=True)
class Bands:
    """Ranges between edges; an edge belongs to the range above it.

    under e₁,   e₁ to e₂,   ...,   e_m and more
    """

    edges: tuple[float, ...]  # rising
    dates: bool = False  # whether the numbers are days since 1970

    @property
    def names(self) -> list[str]:
        """The classes, in their order."""
        told = [_date(edge) for edge in self.edges] if self.dates else _numbers(self.edges)
        first, last = ("before", "and later") if self.dates else ("under", "and more")
        between = [f"{low} to {high}" for low, high in pairwise(told)]
        return [f"{first} {told[0]}", *between, f"{told[-1]} {last}"]

    @property
    def cuts(self) -> str:
        """The edges as the command line takes them: 10000,20000, and a single one as 10000,"""
        told = ",".join(map(_date if self.dates else _digits, self.edges))
        return told if len(self.edges) > 1 else f"{told},"

    def labels(self, column: nw.Series[Any]) -> list[str | None]:
        """The band of each cell, None where it is missing."""
        values, names = frames.numbers(column), self.names
        places = np.searchsorted(self.edges, values, side="right")
        return [
            None if np.isnan(value) else names[place]
            for value, place in zip(values, places, strict=True)
        ]


def asked_in(text: str) -> Asked:
    """How many bands, or where to cut, as people write it: 4, or 10000,20000, or 10000,"""
    cuts = [cut.strip() for cut in text.split(",")]
    if len(cuts) > 1:
        return [cut for cut in cuts if cut]
    if not cuts[0].isdecimal():
        raise ValueError(
            "Expected a number of bands such as 4, or cut points such as 10000,20000, where a "
            f"single one ends in a comma, got {text!r}."
        )
    return int(cuts[0])


def bands_of(column: nw.Series[Any], asked: Asked) -> Bands:
    """Bands of equal shares of the rows, or with edges that are given."""
    if frames.kind(column) != "number":
        raise ValueError(
            f"Expected numbers or dates in the target column {str(column.name)!r} to make bands "
            "of, got words. Leave the bands away: words are classes as they are."
        )
    known = column.drop_nulls()
    dates = column.dtype.is_temporal() or (len(known) > 0 and isinstance(known[0], frames.TIMES))
    values = frames.numbers(column)
    values = values[np.isfinite(values)]
    if isinstance(asked, int):
        return Bands(_equal_shares(values, asked, dates), dates)
    edges = tuple(_edge(edge, dates) for edge in asked)
    rising = len(edges) > 0 and all(low < high for low, high in pairwise(edges))
    bands = Bands(edges, dates)
    empty = sorted(set(bands.names) - set(bands.labels(known))) if rising else []
    if not rising or empty:
        what = f"no {str(column.name)!r} is {empty[0]}" if empty else "they do not"
        raise ValueError(
            "Expected cut points that rise, with rows in every band, but "
            f"{what}: {', '.join(map(str, asked))}."
        )
    return bands


def _edge(edge: float | str, dates: bool) -> float:
    try:
        return _days(np.datetime64(str(edge))) if dates else float(edge)
    except ValueError:
        wanted = "a date such as 2024-01-31" if dates else "a number"
        raise ValueError(f"Expected {wanted} as a cut point of bands, got {edge!r}.") from None


def _equal_shares(values: Floats, n: int, dates: bool) -> tuple[float, ...]:
    """Edges near the quantiles, as round as an equal share of the rows allows.

    Of two neighboring values, any number between them cuts the rows alike.
    """
    if not 2 <= n <= MOST_BANDS:
        raise ValueError(f"Expected 2 to {MOST_BANDS} bands, got {n}.")
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < 2:
        raise ValueError("Expected two different values or more to make bands of, got fewer.")
    below = np.cumsum(counts)[:-1] / len(values)  # below distinct[1:]
    edges = set()
    for level in np.arange(1, n) / n:
        best = int(np.abs(below - level).argmin())
        near = np.append(np.flatnonzero(np.abs(below - level) <= SLACK / n), best)
        low, high = distinct[near.min()], distinct[near.max() + 1]
        roundest = (r for r in _rounder(distinct[best + 1], dates) if low < r <= high)
        edges.add(float(next(roundest, distinct[best + 1])))
    return tuple(sorted(edges))


def _rounder(value: float, dates: bool) -> Iterator[float]:
    """The roundest form of a value first, then with more and more digits."""
    if dates:
        yield from (_days(_moment(value).astype(f"datetime64[{unit}]")) for unit in UNITS)
    else:
        yield from (float(f"{value:.{digits}g}") for digits in range(1, 18))


def _days(moment: np.datetime64) -> float:
    return float((moment.astype("datetime64[us]") - EPOCH) / DAY)


def _moment(days: float) -> Any:
    return EPOCH + np.timedelta64(round(days * MICROSECONDS), "us")


def _date(days: float) -> str:
    """A day, with its time unless that is midnight."""
    return str(_moment(days)).removesuffix("T00:00:00.000000").removesuffix(".000000")


def _numbers(edges: Sequence[float]) -> list[str]:
    """All digits of the edges, thousands set apart where numbers are large."""
    grouped = max(map(abs, edges)) >= GROUPED
    return [_digits(edge, "," if grouped else "") for edge in edges]


def _digits(edge: float, style: str = "") -> str:
    whole = edge.is_integer() and abs(edge) < 1e15
    return format(int(edge) if whole else edge, style)
