"""Counts of terms in plain Python."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from posterior.data.fingerprints import of_entries
from posterior.data.typing import Array, Codes, Integers
from posterior.kernels.terms import (
    Cells,
    Documents,
    Rule,
    Terms,
    encode,
    not_a_string,
    rows_not_kept,
)

WORD = re.compile(r"\w+")
SPACES = re.compile(r"\s\s+")
MASK = 2**32 - 1


def analyze(document: str, rule: Rule) -> list[str]:
    """All terms of a document, repeated as often as they occur."""
    text = document.lower() if rule.lowercase else document
    if rule.unit == "word":
        words = (word for word in WORD.findall(text) if len(word) >= rule.min_length)
        kept = [word for word in words if word not in rule.stop_words]
        return [" ".join(window) for window in _windows(kept, rule.ngrams)]
    if rule.unit == "char":
        return ["".join(window) for window in _windows(SPACES.sub(" ", text), rule.ngrams)]
    words = (f" {word} " for word in text.split())
    return ["".join(window) for word in words for window in _windows_or_all(word, rule.ngrams)]


def _windows(units: Sequence[str], ngrams: tuple[int, int]) -> Iterator[Sequence[str]]:
    least, most = ngrams
    for n in range(least, min(most, len(units)) + 1):
        for i in range(len(units) - n + 1):
            yield units[i : i + n]


def _windows_or_all(word: str, ngrams: tuple[int, int]) -> Iterator[Sequence[str]]:
    """The windows of a word; one that is shorter than all windows counts once, as it is."""
    least, most = ngrams
    return iter([word]) if len(word) < least else _windows(word, (least, most))


def _checked(documents: Documents) -> Iterable[str]:
    for i, document in enumerate(documents):
        if not isinstance(document, str):
            raise not_a_string(i, document)
        yield document


@dataclass(frozen=True, slots=True, eq=False)
class PlainBag:
    """A `Bag`: entries (row, term, count) in any order."""

    terms: Terms
    n_rows: int
    documents: Integers
    total: Integers
    entries: Integers | None  # (e, 3)

    @classmethod
    def of(cls, terms: Terms, n_rows: int, entries: Integers, keep_rows: bool = True) -> PlainBag:
        _, term, count = entries.T
        sums = _sums(term, count, len(terms))
        return cls(terms, n_rows, *sums, entries if keep_rows else None)

    @property
    def n_entries(self) -> int:
        return 0 if self.entries is None else len(self.entries)

    def take(self, index: Integers) -> PlainBag:
        row, term, count = self._kept().T
        moved = np.full(self.n_rows, -1)
        moved[index] = np.arange(len(index))
        entries = np.column_stack([moved[row], term, count])[moved[row] >= 0]
        return PlainBag.of(self.terms, len(index), entries)

    def fingerprints(self, place: Codes) -> Array:
        row, term, count = self._kept()[np.argsort(self._kept()[:, 0], kind="stable")].T
        start = np.searchsorted(row, np.arange(self.n_rows + 1))
        return of_entries(place[term], count.astype(np.uint64), start)

    def group_sums(
        self, codes: Codes, n_groups: int, place: Codes, logs: Integers, unit: float
    ) -> Cells:
        row, term, count = self._kept().T
        log = logs[np.minimum(count, len(logs) - 1)] if len(logs) else count
        squares = np.zeros(self.n_rows, np.int64)
        np.add.at(squares, row, log * log)
        length = np.maximum(np.sqrt(squares.astype(np.float64)), 1.0)
        scale = 1 / (unit * length) if unit else np.ones(self.n_rows)
        x = np.rint(log * scale[row]).astype(np.int64)
        group, d = codes.astype(np.int64)[row], int(place.max(initial=0)) + 1
        known = group >= 0
        keys, cell = np.unique((group * d + place[term])[known], return_inverse=True)
        documents, total = _sums(cell, x[known], len(keys))
        start = np.searchsorted(keys, np.arange(n_groups + 1) * d)
        return start, keys % d, documents, total

    def rows(self, place: Codes, first: int, ends: Array, indices: Array, values: Array) -> None:
        row, term, count = self._kept().T
        _write(self.n_rows, row, place[term], count, first, ends, indices, values)

    def _kept(self) -> Integers:
        if self.entries is None:
            raise rows_not_kept()
        return self.entries


@dataclass(frozen=True, slots=True, eq=False)
class PlainHashed:
    """`Hashed` rows: entries (row, column, value) in any order."""

    n_rows: int
    entries: Integers  # (e, 3)

    @property
    def n_entries(self) -> int:
        return len(self.entries)

    def rows(self, first: int, ends: Array, indices: Array, values: Array) -> None:
        row, column, value = self.entries.T
        _write(self.n_rows, row, column, value, first, ends, indices, values)


@dataclass(frozen=True, slots=True, eq=False)
class PlainLookup:
    """A `Lookup` by a dictionary."""

    terms: Terms
    number: dict[str, int]


def _write(
    n_rows: int,
    row: Integers,
    column: Integers,
    value: Integers,
    first: int,
    ends: Array,
    indices: Array,
    values: Array,
) -> None:
    kept = column >= 0
    if (len(ends), len(indices), len(values)) != (n_rows, kept.sum(), kept.sum()):
        raise ValueError("Expected room for all rows and entries, got other sizes.")
    order = np.lexsort((column[kept], row[kept]))
    indices[:], values[:] = column[kept][order], value[kept][order]
    ends[:] = first + np.cumsum(np.bincount(row[kept], minlength=n_rows))


def _table(rows: Iterable[dict[int, int]]) -> Integers:
    entries = [(i, key, value) for i, row in enumerate(rows) for key, value in row.items()]
    return np.array(entries, np.int64).reshape(-1, 3)


def _bag(
    counted: list[Counter[str]], terms: Terms, number: dict[str, int], keep_rows: bool
) -> PlainBag:
    entries = _table({number[t]: c for t, c in row.items() if t in number} for row in counted)
    return PlainBag.of(terms, len(counted), entries, keep_rows)


def _sums(cell: Integers, value: Integers, n: int) -> tuple[Integers, Integers]:
    """How many values there are of each of n cells, and what they add up to."""
    total = np.zeros(n, np.int64)
    np.add.at(total, cell, value)
    return np.bincount(cell, minlength=n), total


def count_terms(documents: Documents, rule: Rule, keep_rows: bool = True) -> PlainBag:
    """Count all terms. Without its rows, a bag is as large as its terms."""
    counted = [Counter(analyze(document, rule)) for document in _checked(documents)]
    terms = Terms.of(term for row in counted for term in row)
    return _bag(counted, terms, lookup(terms).number, keep_rows)


def lookup(terms: Terms) -> PlainLookup:
    """Make given terms ready for `count_known`."""
    return PlainLookup(terms, {term: t for t, term in enumerate(terms.strings())})


def count_known(
    documents: Documents, rule: Rule, known: PlainLookup, keep_rows: bool = True
) -> PlainBag:
    """Count the given terms and leave the others out; the bag has all given terms."""
    counted = [Counter(analyze(document, rule)) for document in _checked(documents)]
    return _bag(counted, known.terms, known.number, keep_rows)


def hash_terms(
    documents: Documents, rule: Rule, n_features: int, alternate_sign: bool
) -> PlainHashed:
    """Sum terms by column |h| mod n, with the sign of h or without, where h is their murmur hash.

    Different terms may cancel: such entries stay, with value 0 (Weinberger et al. 2009).
    """
    rows: list[dict[int, int]] = []
    for document in _checked(documents):
        rows.append({})
        for term, count in Counter(analyze(document, rule)).items():
            hashed = murmur(encode(term))
            column = abs(hashed) % n_features
            signed = -count if alternate_sign and hashed < 0 else count
            rows[-1][column] = rows[-1].get(column, 0) + signed
    return PlainHashed(len(rows), _table(rows))


def murmur(data: bytes) -> int:
    """MurmurHash3 (x86, 32 bit, seed 0; Appleby 2011) as a signed number."""
    whole = len(data) // 4 * 4
    h = 0
    for word in np.frombuffer(data[:whole], "<u4").tolist():
        h = (_rotated(h ^ _scrambled(word), 13) * 5 + 0xE6546B64) & MASK
    h ^= _scrambled(int.from_bytes(data[whole:], "little")) ^ len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        h = ((h ^ h >> shift) * factor) & MASK
    return h - 2**32 if h >= 2**31 else h


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & MASK


def _scrambled(word: int) -> int:
    return _rotated(word * 0xCC9E2D51 & MASK, 15) * 0x1B873593 & MASK


def union(a: Terms, b: Terms) -> tuple[Terms, Codes, Codes]:
    """All terms of both, and where those of a and of b are among them."""
    ours, others = a.strings(), b.strings()
    terms = Terms.of([*ours, *others])
    number = lookup(terms).number
    place_a, place_b = (np.array([number[t] for t in some], np.int32) for some in (ours, others))
    return terms, place_a, place_b


def add_cells(a: Cells, b: Cells) -> Cells:
    """The sums of both together."""
    n_groups = len(a[0]) - 1
    d = 1 + max(int(cells[1].max(initial=0)) for cells in (a, b))
    mine, theirs = (
        np.repeat(np.arange(n_groups), np.diff(start)) * d + column for start, column, *_ in (a, b)
    )
    keys = np.union1d(mine, theirs).astype(np.int64)
    sums = np.zeros((2, len(keys)), np.int64)
    for place, cells in ((mine, a), (theirs, b)):
        sums[:, np.searchsorted(keys, place)] += cells[2:]
    return np.searchsorted(keys, np.arange(n_groups + 1) * d), keys % d, *sums
