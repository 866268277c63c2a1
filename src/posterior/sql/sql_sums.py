"""Sums by class that a database takes, and how they become exact again.

Whole numbers add without rounding, in any order. So do doubles, if all are multiples of a unit u
and their sum stays within 2^53 u: every partial sum is then a double too. Squares are never
negative, so their total shows that none of their partial sums went beyond; nor did those of the
cells, since |x| / u ≤ (x / u)². Cells of more digits are cut into whole numbers of 31 bits, whose
products fit into 64. The query itself looks whether cells are multiples of the unit: for most of
them that is all it does beyond a query that rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any, Literal, NamedTuple

import numpy as np
from sqlglot import exp

from posterior.data import validate
from posterior.data.frames import missing
from posterior.data.typing import Array, Floats
from posterior.kernels import limbs
from posterior.sql.countable import SOURCE, Cells, NotInsideError
from posterior.sql.expressions import DEEPEST, SQL, column, named, number, times
from posterior.statistics.exact import Exact

NAMES = ["place", "class", "value", "n", "whole", "real"]  # columns of the answer
WHOLE = "decimal(38, 0)"
HELD = 2.0**53  # units that a double holds
Sort = Literal["whole", "real"]


class Place(NamedTuple):
    """Where a sum stands in the answer: Σ line 2^exponent over some lines."""

    sort: Sort
    terms: tuple[tuple[int, int], ...]


@dataclass
class Ledger:
    """What one query shall count and add up, for each class."""

    sums: dict[Sort, list[SQL]] = field(default_factory=lambda: {"whole": [], "real": []})
    conditions: list[SQL] = field(default_factory=list)  # a row that fails one spoils the sums
    limits: list[tuple[int, float]] = field(default_factory=list)  # of sums of doubles
    histograms: list[Cells] = field(default_factory=list)
    cut: bool = False  # whether cells are taken in parts

    def add(self, sort: Sort, value: SQL) -> Place:
        return Place(sort, ((self._line(sort, value), 0),))

    def _line(self, sort: Sort, value: SQL) -> int:
        self.sums[sort].append(value)
        return len(self.sums[sort]) - 1

    def count(self, cells: Cells) -> Place:
        """Cells that are there."""
        return self.add("whole", exp.Count(this=cells.raw))

    def above(self, cells: Cells, threshold: float) -> Place:
        """Cells beyond a threshold, which rows of 32 bits would round."""
        if cells.single and float(np.float32(threshold)) != threshold:
            raise NotInsideError(f"Expected a threshold of 32 bits for {cells.name!r}.")
        if cells.kind == "real":
            self.conditions.append(cells.is_finite())
        beyond = exp.GT(this=cells.number, expression=number(threshold))
        return self.add("whole", exp.Sum(this=exp.cast(beyond, "int")))

    def total(self, cells: Cells) -> Place:
        """Cells that are not negative, and that doubles hold."""
        self.conditions.append(exp.GTE(this=cells.number, expression=exp.Literal.number(0)))
        if cells.kind == "long":
            self.conditions.append(exp.LTE(this=cells.number, expression=number(HELD)))
        if cells.kind != "real":
            return self.add("whole", exp.Sum(this=cells.number))
        self.conditions.append(cells.is_multiple())
        if cells.parts:
            return self._parts(cells)
        return self._within(HELD * cells.unit, exp.Sum(this=cells.number))

    def total_and_squares(self, cells: Cells) -> tuple[Place, Place]:
        """Cells of any sign. Whole numbers whose squares overflow are an error of the database."""
        if cells.kind != "real":
            wide = exp.cast(cells.number, "int" if cells.small else "bigint")
            square = times(wide, cells.number)
            total = self.add("whole", exp.Sum(this=cells.number))
            return total, self.add("whole", exp.Sum(this=square))
        self.conditions.append(cells.is_multiple())
        if cells.parts:
            return self._parts(cells), self._products(cells)
        squares = self._within(
            HELD * cells.unit**2, exp.Sum(this=times(cells.number, cells.number))
        )
        return self.add("real", exp.Sum(this=cells.number)), squares

    def _within(self, limit: float, value: SQL) -> Place:
        place = self.add("real", value)
        self.limits.append((place.terms[0][0], limit))
        return place

    def _parts(self, cells: Cells) -> Place:
        """Σ x = Σᵢ 2^eᵢ Σ aᵢ"""
        self.cut = True
        found = [(self._line("whole", exp.Sum(this=a)), e) for a, e in cells.words()]
        return Place("whole", tuple(found))

    def _products(self, cells: Cells) -> Place:
        """Σ x² = Σᵢⱼ 2^(eᵢ + eⱼ) Σ aᵢ aⱼ"""
        found = []
        for (i, (a, e)), (j, (b, f)) in combinations_with_replacement(enumerate(cells.cut()), 2):
            line = self._line("whole", exp.Sum(this=times(a.copy(), b.copy())))
            found.append((line, e + f + (i < j)))
        return Place("whole", tuple(found))

    def query(self, rows: str, target: str, dialect: str) -> str:
        """The sums of each class of the rows, and below them how often values occur in it."""
        parts = [self._sums(target)] if self.needs_sums else []
        parts += [_histogram(target, i, cells) for i, cells in enumerate(self.histograms)]
        text = "\nUNION ALL\n".join(part.sql(dialect=dialect, copy=False) for part in parts)
        return f"WITH {SOURCE} AS NOT MATERIALIZED (\n{rows}\n)\n{text}"

    @property
    def needs_sums(self) -> bool:
        """Whether there is more to do than to count values."""
        return bool(self.sums["whole"] or self.sums["real"] or not self.histograms)

    def _sums(self, target: str) -> SQL:
        whole = _array([_spoiled(self.conditions), *self.sums["whole"]], WHOLE)
        real = _array(self.sums["real"], "double")
        values = [
            exp.Literal.number(-1),
            column(target, SOURCE),
            _null("text"),
            _rows(),
            whole,
            real,
        ]
        query = exp.select(*map(named, values, NAMES), copy=False)
        return query.from_(SOURCE, copy=False).group_by(column(target, SOURCE), copy=False)


def _histogram(target: str, place: int, cells: Cells) -> SQL:
    text = exp.cast(cells.number if cells.kind == "real" else cells.raw, "text")
    value = [exp.Literal.number(place), column(target, SOURCE), text, _rows()]
    nothing = [_null(f"{WHOLE}[]"), _null("double[]")]
    query = exp.select(*map(named, [*value, *nothing], NAMES), copy=False)
    return query.from_(SOURCE, copy=False).group_by(column(target, SOURCE), cells.raw, copy=False)


def _rows() -> SQL:
    return exp.Count(this=exp.Star())


def _array(values: Sequence[SQL], kind: str) -> SQL:
    return exp.cast(exp.Array(expressions=list(values)), f"{kind}[]", copy=False)


def _null(kind: str) -> SQL:
    return exp.cast(exp.null(), kind)


def _spoiled(conditions: Sequence[SQL]) -> SQL:
    """Rows that fail a condition; a missing cell fails none.

    NOT (a AND b) takes DuckDB two thirds of the time of NOT a OR NOT b.
    """
    if not conditions:
        return exp.cast(exp.Literal.number(0), "bigint")
    case = exp.Case()
    for i in range(0, len(conditions), DEEPEST):
        all_hold = exp.and_(*conditions[i : i + DEEPEST], copy=False)
        case = case.when(exp.Not(this=exp.Paren(this=all_hold)), number(1.0), copy=False)
    return exp.Count(this=case)


@dataclass(frozen=True)
class Answer:
    """What the database said: k classes in order, their rows, sums and histograms."""

    classes: Array
    rows: Array  # (k,)
    whole: Array  # (k, a), Python's integers
    real: Floats  # (k, b)
    histograms: Sequence[Sequence[tuple[int, Any, int]]]  # class, value, rows, for each column

    def exact(self, places: Sequence[Place]) -> Exact:
        """Sums of some columns, (k, d)."""
        shape = len(self.classes), len(places)
        whole, real = np.zeros(shape, object), np.zeros(shape)
        lowest = min((e for place in places for _, e in place.terms), default=0)
        exponent = lowest // limbs.BITS * limbs.BITS
        for j, (sort, terms) in enumerate(places):
            if sort == "real":
                real[:, j] = self.real[:, terms[0][0]]
            else:
                whole[:, j] = sum(self.whole[:, line] * 2 ** (e - exponent) for line, e in terms)
        return Exact(limbs.of_whole(whole), exponent) + Exact.of(real)

    def rounded(self, places: Sequence[Place]) -> Floats:
        """Sums of doubles, as the database rounded them."""
        return self.real[:, [terms[0][0] for _, terms in places]]


def answered(lines: Sequence[tuple[Any, ...]], ledger: Ledger) -> Answer:
    """The lines of an answer, put in order and looked at."""
    first = -1 if ledger.needs_sums else 0  # the values of a column count all rows
    n_rows: dict[Any, int] = {}
    for place, label, _, n, *_ in lines:
        if place == first:
            n_rows[label] = n_rows.get(label, 0) + n
    classes, code = _classes(list(n_rows))
    k = len(classes)
    whole, real = (
        np.zeros((k, 1 + len(ledger.sums["whole"])), object),
        np.zeros((k, len(ledger.sums["real"]))),
    )
    histograms: list[list[tuple[int, Any, int]]] = [[] for _ in ledger.histograms]
    for place, label, value, n, *sums in lines:
        if place >= 0:
            histograms[place].append((code[label], value, n))
        else:
            whole[code[label]] = [int(v or 0) for v in sums[0]]
            real[code[label]] = [v or 0.0 for v in sums[1]]
    if whole[:, 0].any():
        raise NotInsideError("Cells have no meaning here, or are no multiples of a unit.")
    if not np.isfinite(real).all():
        raise NotInsideError("Cells are no numbers.")
    for line, limit in ledger.limits:
        if not (real[:, line] < limit).all():
            raise NotInsideError("Sums of doubles have more digits than a double.")
    rows = np.zeros(k, np.int64)
    for label, n in n_rows.items():
        rows[code[label]] = n
    return Answer(classes, rows, whole[:, 1:], real, histograms)


def _classes(labels: list[Any]) -> tuple[Array, dict[Any, int]]:
    """Sorted classes, and the place of each label among them."""
    if not labels or any(map(missing, labels)):
        raise NotInsideError("There are rows without a class, or no rows.")
    try:
        classes, codes = validate.labels(np.array(labels), len(labels))
    except (TypeError, ValueError) as error:  # reading the rows will say where
        raise NotInsideError(str(error)) from error
    if len(classes) != len(labels):
        raise NotInsideError("Classes of the database are the same to Python.")
    return classes, dict(zip(labels, codes.tolist(), strict=True))
