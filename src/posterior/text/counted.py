"""Documents that were counted, in parts: their sums, and a table of them where one is wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from scipy import sparse

from posterior import kernels
from posterior.data.rows import Hard, SparseRows
from posterior.data.typing import Array, Codes, Integers
from posterior.kernels.terms import Bag, Terms
from posterior.text.damping import Damping
from posterior.text.term_rows import TermRows, without
from posterior.text.term_sums import TermSums
from posterior.text.vocabulary import TermCounts

Spread = Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Bags of documents one behind the other, and where the terms of each are among all."""

    terms: Terms
    bags: tuple[Bag, ...]
    place: tuple[Codes, ...]

    @classmethod
    def of(cls, bags: Sequence[Bag]) -> Counted:
        """Terms are joined one bag after the other, and their places followed back."""
        terms, steps = Terms.of([]), []
        for bag in bags:
            terms, before, new = kernels.union(terms, bag.terms) if len(terms) else _first(bag)
            steps.append((before, new))
        place, places = np.arange(len(terms), dtype=np.int32), []
        for before, new in reversed(steps):
            places.append(place[new])
            place = place[before]
        return cls(terms, tuple(bags), tuple(reversed(places)))

    @classmethod
    def of_known(cls, bags: Sequence[Bag], terms: Terms) -> Counted:
        """Of terms that were given to all bags."""
        return cls(terms, tuple(bags), (np.arange(len(terms), dtype=np.int32),) * len(bags))

    @property
    def n_rows(self) -> int:
        return sum(bag.n_rows for bag in self.bags)

    def bounds(self) -> Integers:
        """The first row of each bag, and the end."""
        return np.concatenate([[0], np.cumsum([bag.n_rows for bag in self.bags])]).astype(np.int64)

    def sums(self) -> TermCounts:
        """In how many documents each term occurs, and how often."""
        documents, total = (np.zeros(len(self.terms), np.int64) for _ in range(2))
        for bag, place in zip(self.bags, self.place, strict=True):  # its places are distinct
            documents[place] += bag.documents
            total[place] += bag.total
        return TermCounts(self.terms, documents, total, self.n_rows)

    def take(self, index: Array) -> Counted:
        """The documents at some positions, which ascend; the terms stay."""
        bounds = self.bounds()
        cuts = np.searchsorted(index, bounds)
        some = [
            bag.take(index[a:b].astype(np.int64) - first)
            for bag, first, (a, b) in zip(self.bags, bounds, pairwise(cuts), strict=False)
        ]
        return replace(self, bags=tuple(some))


def _first(bag: Bag) -> tuple[Terms, Codes, Codes]:
    """The union of no terms and those of a bag, without a copy."""
    return bag.terms, np.zeros(0, np.int32), np.arange(len(bag.terms), dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class CountedRows:
    """The counts of documents as they were taken: sums need no table of them."""

    counted: Counted
    written: Callable[[Counted], sparse.csr_array]  # as a table, on the engine's threads
    absent: Array | None = None  # (n,) True where a document is missing; None: nowhere
    spread: Spread = map  # the engine's threads

    @property
    def terms(self) -> Terms:
        return self.counted.terms

    @property
    def shape(self) -> tuple[int, int]:
        return self.counted.n_rows, len(self.terms)

    @property
    def n_entries(self) -> int:
        return sum(bag.n_entries for bag in self.counted.bags)

    def table(self) -> TermRows:
        """The same counts with columns ascending."""
        return TermRows(self.terms, SparseRows.of(self.written(self.counted)), self.absent)

    def cells(self, damping: Damping) -> SparseRows:
        """How much each document has of each term."""
        return self.table().cells(damping)

    def take(self, index: Array) -> CountedRows:
        """Copies of the rows at some positions, which ascend."""
        absent = None if self.absent is None else self.absent[index]
        return replace(self, counted=self.counted.take(index), absent=absent)

    def fingerprints(self) -> Array:
        pairs = zip(self.counted.bags, self.counted.place, strict=True)
        found = [bag.fingerprints(place) for bag, place in pairs]
        return without(np.concatenate([np.empty(0, np.uint64), *found]), self.absent)

    def __getitem__(self, rows: slice) -> CountedRows:
        return self.take(np.arange(self.shape[0])[rows])

    def sums(self, groups: Hard, damping: Damping) -> TermSums:
        """What rows add up to; those of one weight as they were counted, a bag a thread."""
        if groups.weight is not None:
            table = self.table()
            return TermSums.of(table, groups, table.cells(damping))
        codes = groups.codes if self.absent is None else np.where(self.absent, -1, groups.codes)
        bounds = self.counted.bounds()

        def part(b: int) -> TermSums:
            some = Hard(codes[bounds[b] : bounds[b + 1]].astype(np.int32), groups.n_groups)
            bag, place = self.counted.bags[b], self.counted.place[b]
            return TermSums.of_bag(bag, self.terms, place, some, damping)

        return reduce(add, self.spread(part, range(len(self.counted.bags))))
