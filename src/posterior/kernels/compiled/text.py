"""The compiled counters of terms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

import posterior.kernels._compiled as _compiled
from posterior.data.typing import Array, Codes, Integers
from posterior.kernels.letters import alphabet
from posterior.kernels.terms import (
    Cells,
    Documents,
    Hashed,
    Rule,
    Terms,
    Utf8Column,
    not_a_string,
    rows_not_kept,
)

Counted = TypeVar("Counted", _compiled.Bag, _compiled.HashedRows)
UNITS = {"word": 0, "char": 1, "char_wb": 2}


class CompiledBag:
    """A `Bag` whose table and entries are in C++."""

    def __init__(self, bag: _compiled.Bag, given: Terms | None = None) -> None:
        self.bag = bag
        self.terms = _terms(bag) if given is None else given

    @property
    def n_rows(self) -> int:
        return self.bag.n_rows

    @property
    def n_entries(self) -> int:
        return self.bag.n_entries

    @cached_property
    def sums(self) -> tuple[Integers, Integers]:
        documents, total = np.empty((2, len(self.terms)), np.int64)
        self.bag.sums(documents, total)
        return documents, total

    @property
    def documents(self) -> Integers:
        return self.sums[0]

    @property
    def total(self) -> Integers:
        return self.sums[1]

    def take(self, index: Integers) -> CompiledBag:
        self._check_kept()
        return CompiledBag(self.bag.take(index), self.terms)

    def fingerprints(self, place: Codes) -> Array:
        self._check_kept()
        out = np.empty(self.n_rows, np.uint64)
        self.bag.fingerprints(place, out)
        return out

    def group_sums(
        self, codes: Codes, n_groups: int, place: Codes, logs: Integers, unit: float
    ) -> Cells:
        self._check_kept()
        start = np.empty(n_groups + 1, np.int64)
        room = min(n_groups * len(place), self.n_entries)
        column, documents, total = (np.empty(room, np.int64) for _ in range(3))
        self.bag.group_sums(codes, place, logs, unit, start, column, documents, total)
        n = start[-1]
        return start, column[:n], documents[:n], total[:n]

    def rows(self, place: Codes, first: int, ends: Array, indices: Array, values: Array) -> None:
        self._check_kept()
        if len(place) != len(self.terms):
            raise ValueError(f"Expected a place of each term, {len(self.terms)}, got {len(place)}.")
        self.bag.rows(place, first, ends, indices, values)

    def _check_kept(self) -> None:
        if not self.bag.kept:
            raise rows_not_kept()


@dataclass(frozen=True, slots=True, eq=False)
class CompiledLookup:
    """A `Lookup` by a hash table."""

    terms: Terms
    table: _compiled.Lookup


def _terms(bag: _compiled.Bag) -> Terms:
    data, starts = np.empty(bag.n_bytes, np.uint8), np.empty(bag.n_terms + 1, np.int64)
    bag.terms(data, starts)
    return Terms(data, starts)


def _rule(rule: Rule) -> _compiled.Rule:
    stop = Terms.of(rule.stop_words)
    return _compiled.Rule(
        UNITS[rule.unit],
        *rule.ngrams,
        rule.lowercase,
        rule.min_length,
        alphabet(rule.lowercase),
        stop.data,
        stop.starts,
    )


def _read(documents: Documents) -> _compiled.Documents:
    if isinstance(documents, Utf8Column):
        return _compiled.Documents(documents.data, documents.offsets, documents.valid)
    documents = tuple(documents)  # nobody changes it while the GIL is released
    views = _compiled.Documents(documents)
    if views.bad >= 0:
        raise not_a_string(views.bad, documents[views.bad])
    return views


def _good(counted: Counted, documents: Documents) -> Counted:
    if counted.bad >= 0:
        assert isinstance(documents, Utf8Column)
        raise documents.bad_bytes(counted.bad)
    return counted


def count_terms(documents: Documents, rule: Rule, keep_rows: bool = True) -> CompiledBag:
    """Count all terms. Without its rows, a bag is as large as its terms."""
    bag = _compiled.count_terms(_read(documents), _rule(rule), keep_rows)
    return CompiledBag(_good(bag, documents))


def lookup(terms: Terms) -> CompiledLookup:
    """Make given terms ready for `count_known`."""
    return CompiledLookup(terms, _compiled.Lookup(terms.data, terms.starts))


def count_known(
    documents: Documents, rule: Rule, known: CompiledLookup, keep_rows: bool = True
) -> CompiledBag:
    """Count the given terms and leave the others out; the bag has all given terms."""
    bag = _compiled.count_known(_read(documents), _rule(rule), known.table, keep_rows)
    return CompiledBag(_good(bag, documents), known.terms)


def hash_terms(documents: Documents, rule: Rule, n_features: int, alternate_sign: bool) -> Hashed:
    """Sum terms by column |h| mod n, with the sign of h or without, where h is their murmur hash.

    Different terms may cancel: such entries stay, with value 0.
    """
    hashed = _compiled.hash_terms(_read(documents), _rule(rule), n_features, alternate_sign)
    return _good(hashed, documents)


def union(a: Terms, b: Terms) -> tuple[Terms, Codes, Codes]:
    """All terms of both, and where those of a and of b are among them."""
    data = np.empty(len(a.data) + len(b.data), np.uint8)
    starts = np.empty(len(a) + len(b) + 1, np.int64)
    places = np.empty(len(a), np.int32), np.empty(len(b), np.int32)
    n = _compiled.union(a.data, a.starts, b.data, b.starts, data, starts, *places)
    return Terms(data[: starts[n]], starts[: n + 1]), *places


def add_cells(a: Cells, b: Cells) -> Cells:
    """The sums of both together."""
    start = np.empty(len(a[0]), np.int64)
    column, documents, total = (np.empty(len(a[1]) + len(b[1]), np.int64) for _ in range(3))
    _compiled.add_cells(*_contiguous(a), *_contiguous(b), start, column, documents, total)
    n = start[-1]
    return start, column[:n], documents[:n], total[:n]


def _contiguous(cells: Cells) -> Cells:
    start, column, documents, total = map(np.ascontiguousarray, cells)
    return start, column, documents, total
