"""Pairs of strings that may be near, round by round, with most pairs ruled out unseen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz import process

from posterior.data.typing import Array, Floats, Integers
from posterior.kernels.spelling import Dictionary, Spelling
from posterior.neighbors.index import ranked

N_FACTS = 64  # bits of a word
LEVELS = 128  # and more than that is the last of them
PARTS = 16  # levels from 0 to 1 of a normalized distance


class Rounds:
    """Strings of any length, by any count of edits that RapidFuzz knows.

    Pairs come in rounds by the least edits that they may need (see Signatures), and a query is
    done as soon as the pairs that are left need more than its k-th neighbor.
    """

    def __init__(
        self,
        strings: Sequence[str],
        dictionary: Dictionary,
        scorer: Callable[..., int],
        normalized: bool,
    ) -> None:
        self._strings = np.array(strings, dtype=object)
        self._dictionary, self._scorer, self._normalized = dictionary, scorer, normalized
        self._signatures = Signatures(dictionary.strings, dictionary.n_letters, normalized)

    def nearest(
        self, queries: Sequence[str], spelling: Spelling, k: int, pairs: int
    ) -> tuple[Floats, Integers]:
        """Distances and rows (m, k); so many pairs are aligned at once."""
        m, n, copies = len(queries), len(self._strings), self._dictionary.copies
        found = Found(m, k, copies)
        if copies[n]:
            far = self._dictionary.far(spelling.lengths, self._normalized)
            found.add(np.arange(m), np.full(m, n), far)
        bounds = Bounds(self._signatures, spelling)
        first, width = self._signatures.first, self._signatures.width
        for level in range(first, LEVELS):
            waiting = np.flatnonzero(found.limit >= level * width)
            if level > first and len(waiting) == 0:
                break
            query, string = bounds.at(waiting, level) if level > first else bounds.up_to(level)
            for i in range(0, len(query), pairs):
                q, s = query[i : i + pairs], string[i : i + pairs]
                asked = [queries[j] for j in q.tolist()]
                found.add(q, s, self._measure(asked, s, found.limit[q]))
        copies = np.minimum(copies[found.string], k)  # strings become their rows: k are enough
        place = np.arange(copies.sum()) - np.repeat(np.cumsum(copies) - copies, copies)
        row = self._dictionary.row[np.repeat(self._dictionary.first[found.string], copies) + place]
        query, distance = np.repeat(found.query, copies), np.repeat(found.distance, copies)
        return ranked(query, distance, row, m, k)

    def _measure(self, queries: list[str], string: Integers, limit: Floats) -> Floats:
        """Distances of pairs; those beyond a limit may be anything beyond it."""
        longer = np.ones(1)
        if self._normalized:
            lengths = np.fromiter(map(len, queries), np.int64, len(queries))
            longer = np.maximum(np.maximum(lengths, self._signatures.lengths[string]), 1)
        most = (limit * longer).max()
        edits = process.cpdist(
            queries,
            self._strings[string].tolist(),
            scorer=self._scorer,
            score_cutoff=int(most) + 1 if np.isfinite(most) else None,  # 1: it was rounded
            dtype=np.int32,
        )
        return np.asarray(edits / longer, np.float64)


class Found:
    """Pairs of a query and a string that may be among its k nearest, as far as is known."""

    def __init__(self, n_queries: int, k: int, count: Integers) -> None:
        self._k, self._count = k, count  # rows of each string
        self.limit = np.full(n_queries, np.inf)  # the distance of the k-th row, so far
        self.query = self.string = np.empty(0, np.int64)
        self.distance = np.empty(0)

    def add(self, query: Integers, string: Integers, distance: Floats) -> None:
        near = distance <= self.limit[query]
        query = np.concatenate([self.query, query[near]])
        string = np.concatenate([self.string, string[near]])
        distance = np.concatenate([self.distance, distance[near]])
        # Both in one number, exactly: edits are whole, and parts of less than 2²⁰ letters differ.
        order = np.argsort(query * (np.floor(distance.max(initial=0)) + 1) + distance)
        query, string, distance = query[order], string[order], distance[order]
        rows = np.cumsum(self._count[string])
        first = np.searchsorted(query, np.arange(len(self.limit)))
        before = np.append(0, rows)[first]
        full = np.flatnonzero(rows - before[query] >= self._k)
        reached, at = np.unique(query[full], return_index=True)
        self.limit[reached] = distance[full[at]]
        near = distance <= self.limit[query]
        self.query, self.string, self.distance = query[near], string[near], distance[near]


class Signatures:
    """For each string, which of 64 facts hold: "it has the letter c more than j times".

    The facts are those that divide the strings most evenly. An edit takes away one letter at most
    and brings one at most, and a swap does neither; so there are as many edits as letters that a
    has more often, and as many as letters that b has more often. With A and B the facts of both,

        d(a, b)  ≥  ½ ( |A Δ B| + ||a| - |b|| )  ≥  level · width

    The width is one edit, or a few where strings are long; or a part of the way from 0 to 1.
    """

    def __init__(self, strings: Spelling, n_letters: int, normalized: bool) -> None:
        self.lengths, self._n_letters, self.normalized = strings.lengths, n_letters, normalized
        self.step = 1 + int(self.lengths.max(initial=0)) // (2 * LEVELS)
        self.width = 1 / PARTS if normalized else float(self.step)
        self.first = PARTS // 4 if normalized else 2  # up to this level there are few pairs
        owner, fact = self._facts(strings)
        count = np.bincount(fact, minlength=N_FACTS * n_letters)
        even = np.argsort(count * (count - len(self.lengths)), kind="stable")[:N_FACTS]
        self._words = np.zeros(len(count), np.uint64)
        self._words[even] = np.uint64(1) << np.arange(N_FACTS, dtype=np.uint64)
        self.bits = self._encoded(len(self.lengths), owner, fact)

    def of(self, strings: Spelling) -> Array:
        """The facts of other strings, as the bits of words."""
        return self._encoded(len(strings), *self._facts(strings))

    def _encoded(self, n: int, owner: Integers, fact: Integers) -> Array:
        bits = np.zeros(n, np.uint64)
        np.add.at(bits, owner, self._words[fact])
        return bits

    def _facts(self, strings: Spelling) -> tuple[Integers, Integers]:
        """String and fact of each letter: that it is the j-th of its kind there, from 0."""
        key = np.sort(strings.owner * self._n_letters + strings.text)
        place = np.arange(len(key))
        first = np.append(True, key[1:] != key[:-1])[: len(key)]
        j = place - np.maximum.accumulate(np.where(first, place, 0))
        owner, letter = np.divmod(key, self._n_letters)
        few = j < N_FACTS
        return owner[few], (j * self._n_letters + letter)[few]


class Bounds:
    """Levels of the pairs of some queries and all strings. Queries come by length, mostly."""

    def __init__(self, strings: Signatures, queries: Spelling) -> None:
        self._strings, self._lengths = strings, queries.lengths
        self._bits = strings.of(queries)
        self._twice = np.empty((len(self._bits), len(strings.bits)), np.uint8)  # levels, doubled

    def up_to(self, level: int) -> tuple[Integers, Integers]:
        """Query and string of the pairs up to a level: the first to be asked for."""
        strings, last, found = self._strings, -1, []
        differ = np.empty_like(strings.bits)
        for twice, bits, length in zip(self._twice, self._bits, self._lengths, strict=True):
            if length != last:
                last, apart = length, self._apart(length)
                longer = np.maximum(strings.lengths, max(length, 1), dtype=np.float32)
            np.bitwise_xor(strings.bits, bits, out=differ)
            np.bitwise_count(differ, out=twice)
            if strings.step > 1:
                twice //= strings.step
            twice += apart
            if strings.normalized:
                twice[:] = (twice >> 1) * np.float32(PARTS * strings.step) / longer
                twice <<= 1
            found.append((twice < 2 * level + 2).nonzero()[0])
        return _pairs(np.arange(len(found)), found)

    def at(self, queries: Integers, level: int) -> tuple[Integers, Integers]:
        """Query and string of the pairs of some queries at a level."""
        rows = (self._twice[i] for i in queries.tolist())
        return _pairs(queries, [(row >> 1 == level).nonzero()[0] for row in rows])

    def _apart(self, length: int) -> Array:
        """Differences of lengths, in steps, and one for rounding up."""
        apart = np.abs(self._strings.lengths - length) + 1
        if self._strings.step > 1:
            apart //= self._strings.step
        return np.minimum(apart, 255 - N_FACTS).astype(np.uint8)  # sums stay below 256


def _pairs(queries: Integers, strings: list[Integers]) -> tuple[Integers, Integers]:
    return np.repeat(queries, [len(found) for found in strings]), np.concatenate(strings)
