"""FoundNumbers as people write them: $5,993.00, 1.026,00 €, 10.9%, (120), 1.2k, 63 kg.

Whether a comma or a point stands before the fraction is decided by the column as a whole, once,
and every later cell is read in the same way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from posterior.data.typing import Floats
from posterior.preprocessing.cell_shapes import Shapes, digits_of, shaped
from posterior.preprocessing.text_cells import Texts, chosen, listed

CURRENCIES = {
    "dollars": ("$", "US$", "USD", "A$", "C$", "CA$", "AU$", "NZ$", "HK$", "S$"),
    "euros": ("€", "EUR"),
    "pounds": ("£", "GBP"),
    "yen": ("¥", "JPY", "CNY"),
    "rupees": ("₹", "Rs", "Rs.", "INR"),
    "francs": ("CHF", "Fr."),
    "reais": ("R$", "BRL"),
    "rubles": ("₽",),
    "won": ("₩",),
    "lira": ("₺",),
    "shekels": ("₪",),
}
NAMED = {sign: name for name, signs in CURRENCIES.items() for sign in signs}
CONVENTIONS = ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "Mio": 1e6, "mn": 1e6, "B": 1e9, "bn": 1e9}
_LONGEST_FIRST = sorted(SCALES, key=len, reverse=True)
MINUS, APOSTROPHE = "\u2212", "\u2019"
SPACES = " \u00a0\u2009\u202f\t"  # also thin ones, and those that keep a line together
SOME = 500  # different cells that show whether a closer look pays
SHARE = 0.99  # of the cells are numbers, or the column holds something else
WITH_UNIT = 0.8  # of the cells carry the unit; a zero may stand without
FEW = 5  # different numbers with a unit of letters may be names: 2WD and 4WD
_PREFIX = "|".join(re.escape(sign) for sign in sorted(NAMED, key=len, reverse=True))
_CELL = re.compile(
    rf"\(?\s*[+\-{MINUS}]?\s*(?P<before>{_PREFIX})?\s*[+\-{MINUS}]?"
    rf"(?:\d[\d.,'{APOSTROPHE}{SPACES}]*|[.,]\d+)(?:[eE][+-]?\d+)?\s*"
    rf"(?P<after>[^\d\s()+\-.,'][^\d()]{{0,14}}?)?\s*\)?"
)
_PADDED = re.compile(r"\s*[+-]?0\d+\s*")
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class WrittenNumbers:
    """How the numbers of a column are written."""

    decimal: str = "."
    thousands: str = ","
    units: tuple[str, ...] = ()  # spellings of the one unit: $, or year and years

    @property
    def what(self) -> str:
        """What is counted: dollars, percent, kg; or just numbers."""
        if not self.units:
            return "numbers"
        (unit, *_) = self.units
        return NAMED.get(unit, "percent" if unit == "%" else f"numbers of {unit}")

    def values(self, cells: Texts | Shapes) -> Floats:
        """The number of each cell, NaN where it is none."""
        cells = shaped(cells)
        if isinstance(cells, Shapes):
            return self._by_shape(cells)
        return self._one_by_one(cells)

    @property
    def signs(self) -> str:
        """What sets thousands apart, in all its shapes."""
        return {" ": SPACES, "'": f"'{APOSTROPHE}"}.get(self.thousands, self.thousands)

    def _value(self, cell: str) -> float:
        found = pattern_of(self).fullmatch(cell)
        return np.nan if found is None else float(self._digits(found)) * _factor(found)

    def _digits(self, found: re.Match[str]) -> str:
        """The number of a cell without its unit, as Python writes it."""
        body = found["body"]
        for sign in self.signs:
            body = body.replace(sign, "")
        return body.replace(self.decimal, ".")

    def _one_by_one(self, cells: Texts) -> Floats:
        return np.array([self._value(cell) for cell in listed(cells)], np.float64)

    def _by_shape(self, shapes: Shapes) -> Floats:
        """The same of many cells: those of one shape are read in one way."""
        factors = np.full(len(shapes.texts), np.nan)
        for i, shape in enumerate(shapes.texts):
            if (found := pattern_of(self).fullmatch(shape)) is not None:
                factors[i] = _factor(found)
                if self._digits(found) != digits_of(shape, self.decimal):
                    return self._one_by_one(shapes.cells)  # an exponent, or a unit as Rs.
        values = shapes.numbers(self.decimal, ~np.isnan(factors))
        return values if (factors == 1).all() else values * factors[shapes.codes]


@lru_cache(maxsize=256)
def pattern_of(written: WrittenNumbers) -> re.Pattern[str]:
    """A cell, in words that both Python and Arrow understand."""
    group = f"[{re.escape(written.signs)}]"
    units = "|".join(map(re.escape, sorted(written.units, key=len, reverse=True)))
    unit = f"(?:{units})?" if units else ""
    scale = "|".join(_LONGEST_FIRST)
    space = f"[{SPACES}]*"
    whole = rf"\d{{1,3}}(?:{group}\d{{2,3}})*{group}\d{{3}}|\d+"
    point = re.escape(written.decimal)
    body = rf"(?:{whole})(?:{point}\d*)?(?:[eE][+-]?\d+)?|{point}\d+(?:[eE][+-]?\d+)?"
    return re.compile(
        rf"{space}(?:(?P<open>\(){space})?(?P<sign>[+\-{MINUS}]?){space}{unit}{space}"
        rf"(?P<inner>-?)(?P<body>{body}){space}(?P<scale>{scale})?{space}{unit}{space}\)?{space}"
    )


def _factor(found: re.Match[str]) -> float:
    """By what the digits of a cell are multiplied: its scale, with its sign."""
    negative = found["open"] or found["sign"] in ("-", MINUS) or found["inner"] == "-"
    return SCALES.get(found["scale"], 1.0) * (-1 if negative else 1)


@dataclass(frozen=True, slots=True)
class FoundNumbers:
    """What was found: how numbers are written, and which cells are none."""

    written: WrittenNumbers
    values: Floats  # of the different cells
    odd: tuple[str, ...]  # cells that are no numbers
    plain: bool  # whether a computer would have written them so
    ambiguous: bool  # whether the comma may stand for the other thing


def written_numbers(cells: Texts, counts: Floats, *, sure: bool = False) -> FoundNumbers | None:
    """How the different cells of a column are numbers, if they are.

    `sure` is a column that a person calls numbers: whatever is none is odd.
    """
    first = listed(cells, SOME)
    some = [found for cell in first if (found := _CELL.fullmatch(cell.strip()))]
    least = 0.0 if sure else 0.95 * min(len(cells), SOME)
    if not some or len(some) < least:
        return None
    units = _units(some)
    if units is None:
        return None
    shapes = shaped(cells)
    letters = "\n".join(shapes.texts if isinstance(shapes, Shapes) else listed(cells))
    signs = {sign for _, sign in CONVENTIONS if sign in ",." or sign in letters}
    signs |= {" "} if any(space in letters for space in SPACES) else set()
    signs |= {"'"} if APOSTROPHE in letters else set()
    best: tuple[float, WrittenNumbers, Floats] | None = None
    same: list[WrittenNumbers] = []
    for decimal, thousands in CONVENTIONS:
        if thousands not in signs:
            continue
        written = WrittenNumbers(decimal, thousands, units)
        if best is not None and best[0] > counts.sum() - np.isnan(written.values(first)).sum():
            continue  # it reads fewer than another
        values = written.values(shapes)
        fitting = float(counts[~np.isnan(values)].sum())
        if best is None or fitting > best[0]:
            best, same = (fitting, written, values), []
        elif fitting == best[0] and not np.array_equal(values, best[2], equal_nan=True):
            same.append(written)
        sums_of_money = written.what in CURRENCIES
        if best[0] == counts.sum() and not sums_of_money and "," not in letters:
            break
    assert best is not None
    fitting, written, values = best
    if same and written.what in CURRENCIES:  # of money, three digits are thousands
        apart = (w for w in (written, *same) if w.thousands in letters)
        written = next(apart, written)
        values = written.values(shapes)
    odd = tuple(dict.fromkeys(listed(chosen(cells, np.isnan(values)))))
    if not fitting or (not sure and (fitting < SHARE * counts.sum() or len(odd) > FEW)):
        return None
    if not units and not sure and _are_padded(cells):
        return None  # 007 is a name
    if units and units[0][0].isalpha() and len(np.unique(values)) < FEW and not sure:
        return None
    plain = not odd and all(_PLAIN.fullmatch(cell.strip()) for cell in first)
    plain = plain and all(_PLAIN.fullmatch(cell.strip()) for cell in listed(cells))
    either = bool(same) and all(any(sign in cell for sign in ",.") for cell in listed(cells))
    return FoundNumbers(written, values, odd, plain, either)


def _are_padded(cells: Texts) -> bool:
    """Whether some cell is a whole number that begins with a zero."""
    if isinstance(cells, list):
        return any(map(_PADDED.fullmatch, cells))
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(cells, f"^(?:{_PADDED.pattern})$")).as_py())


def _units(found: Sequence[re.Match[str]]) -> tuple[str, ...] | None:
    """The one unit of all cells, as it is spelled; none is (), and several are None."""
    seen: Counter[str] = Counter()
    for match in found:
        after = (match["after"] or "").strip()
        for scale in _LONGEST_FIRST:
            rest = after.removeprefix(scale).strip()
            if after == scale or (after.startswith(scale) and rest in NAMED):
                after = rest
                break
        before = match["before"] or ""
        if before and after:
            return None
        seen[before or after] += 1
    without = seen.pop("", 0)
    if not seen:
        return ()
    units = tuple(sorted(seen, key=lambda unit: (-seen[unit], unit)))
    if len({NAMED.get(unit, unit.removesuffix("s").casefold()) for unit in units}) > 1:
        return None
    return None if without > (1 - WITH_UNIT) * len(found) else units
