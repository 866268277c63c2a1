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
from posterior.preprocessing.text_cells import (
    MANY,
    Texts,
    as_arrow,
    chosen,
    letters_of,
    listed,
)

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
_PADDED = re.compile(rb"^\s*[+-]?0\d+\s*$", re.MULTILINE)
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

    def values(self, cells: Texts) -> Floats:
        """The number of each cell, NaN where it is none."""
        if len(cells) > MANY:
            try:
                return self._by_arrow(cells)
            except ModuleNotFoundError:
                pass
        return self._one_by_one(cells)

    @property
    def signs(self) -> str:
        """What sets thousands apart, in all its shapes."""
        return {" ": SPACES, "'": f"'{APOSTROPHE}"}.get(self.thousands, self.thousands)

    def _value(self, cell: str) -> float:
        found = pattern_of(self).fullmatch(cell)
        if found is None:
            return np.nan
        body = found["body"]
        for sign in self.signs:
            body = body.replace(sign, "")
        value = float(body.replace(self.decimal, ".")) * SCALES.get(found["scale"], 1.0)
        negative = found["open"] or found["sign"] in ("-", MINUS) or found["inner"] == "-"
        return -value if negative else value

    def _by_arrow(self, cells: Texts) -> Floats:
        """The same of many cells."""
        import pyarrow as pa
        import pyarrow.compute as pc

        bare, letters = as_arrow(cells), letters_of(cells)
        if b"e-" in letters or b"E-" in letters:
            return self._one_by_one(cells)
        fits = pc.match_substring_regex(bare, f"^(?:{pattern_of(self).pattern})$")
        if not pc.all(fits).as_py():
            bare = pc.if_else(fits, bare, pa.scalar(None, pa.string()))
        for unit in self.units:
            bare = pc.replace_substring(bare, unit, "")
        negative = np.zeros(len(bare), bool)
        for sign in filter(lambda sign: sign.encode() in letters, ("-", MINUS, "(")):
            negative |= pc.equal(pc.match_substring(bare, sign), True).to_numpy(False)
        for sign in ("-", "+", MINUS, "(", ")", *self.signs, *SPACES):
            if sign.encode() in letters:
                bare = pc.replace_substring(bare, sign, "")
        if self.decimal != ".":
            bare = pc.replace_substring(bare, self.decimal, ".")
        try:
            values = pc.cast(bare, pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:  # thousands and millions by their letters
            return self._one_by_one(cells)
        return np.where(negative, -values, values) if negative.any() else np.array(values)

    def _one_by_one(self, cells: Texts) -> Floats:
        return np.array([self._value(cell) for cell in listed(cells)], np.float64)


@lru_cache(maxsize=256)
def pattern_of(written: WrittenNumbers) -> re.Pattern[str]:
    """A cell, in words that both Python and Arrow understand."""
    group = f"[{re.escape(written.signs)}]"
    units = "|".join(map(re.escape, sorted(written.units, key=len, reverse=True)))
    unit = f"(?:{units})?" if units else ""
    scale = "|".join(sorted(SCALES, key=len, reverse=True))
    space = f"[{SPACES}]*"
    whole = rf"\d{{1,3}}(?:{group}\d{{2,3}})*{group}\d{{3}}|\d+"
    point = re.escape(written.decimal)
    body = rf"(?:{whole})(?:{point}\d*)?(?:[eE][+-]?\d+)?|{point}\d+(?:[eE][+-]?\d+)?"
    return re.compile(
        rf"{space}(?:(?P<open>\(){space})?(?P<sign>[+\-{MINUS}]?){space}{unit}{space}"
        rf"(?P<inner>-?)(?P<body>{body}){space}(?P<scale>{scale})?{space}{unit}{space}\)?{space}"
    )


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
    letters = letters_of(cells)
    signs = {sign for _, sign in CONVENTIONS if sign in ",." or sign.encode() in letters}
    signs |= {" "} if any(space.encode() in letters for space in SPACES) else set()
    signs |= {"'"} if APOSTROPHE.encode() in letters else set()
    best: tuple[float, WrittenNumbers, Floats] | None = None
    same: list[WrittenNumbers] = []
    for decimal, thousands in CONVENTIONS:
        if thousands not in signs:
            continue
        written = WrittenNumbers(decimal, thousands, units)
        if best is not None and best[0] > counts.sum() - np.isnan(written.values(first)).sum():
            continue  # it reads fewer than another
        values = written.values(cells)
        fitting = float(counts[~np.isnan(values)].sum())
        if best is None or fitting > best[0]:
            best, same = (fitting, written, values), []
        elif fitting == best[0] and not np.array_equal(values, best[2], equal_nan=True):
            same.append(written)
        sums_of_money = written.what in CURRENCIES
        if best[0] == counts.sum() and not sums_of_money and b"," not in letters:
            break
    assert best is not None
    fitting, written, values = best
    if same and written.what in CURRENCIES:  # of money, three digits are thousands
        apart = (w for w in (written, *same) if w.thousands.encode() in letters)
        written = next(apart, written)
        values = written.values(cells)
    odd = tuple(dict.fromkeys(listed(chosen(cells, np.isnan(values)))))
    if not fitting or (not sure and (fitting < SHARE * counts.sum() or len(odd) > FEW)):
        return None
    if not units and not sure and _PADDED.search(letters):
        return None  # 007 is a name
    if units and units[0][0].isalpha() and len(np.unique(values)) < FEW and not sure:
        return None
    plain = not odd and all(_PLAIN.fullmatch(cell.strip()) for cell in first)
    plain = plain and all(_PLAIN.fullmatch(cell.strip()) for cell in listed(cells))
    either = bool(same) and all(any(sign in cell for sign in ",.") for cell in listed(cells))
    return FoundNumbers(written, values, odd, plain, either)


def _units(found: Sequence[re.Match[str]]) -> tuple[str, ...] | None:
    """The one unit of all cells, as it is spelled; none is (), and several are None."""
    seen: Counter[str] = Counter()
    for match in found:
        after = (match["after"] or "").strip()
        for scale in sorted(SCALES, key=len, reverse=True):
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
