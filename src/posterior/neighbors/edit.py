"""Strings by the edits between them, exactly, with most pairs ruled out unseen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA, DamerauLevenshtein, Levenshtein

from posterior.data.typing import Array, Floats, Integers
from posterior.neighbors.alignment import LONGEST, Alignment, ShortStrings
from posterior.neighbors.index import Fill
from posterior.neighbors.letters import Alphabet, Spelling, numbered, texts
from posterior.neighbors.ranking import deal, ranked, wanted, without
from posterior.neighbors.signatures import LEVELS, Bounds, Signatures

QUERIES, ALL_PAIRS = 256, 8_000_000  # of a block, at most
PAIRS = 32_768  # that are aligned at once


@dataclass(frozen=True, slots=True)
class Kind:
    """What counts as an edit, and whether edits are divided by the longer string's length."""

    scorer: Callable[..., int]
    normalized: bool = False
    swaps: bool | None = False  # of neighbors, if they stay as they are; None: more than that


KINDS = {
    "levenshtein": Kind(Levenshtein.distance),
    "damerau": Kind(DamerauLevenshtein.distance, swaps=None),
    "alignment": Kind(OSA.distance, swaps=True),
    "normalized": Kind(Levenshtein.distance, normalized=True),
}


class EditIndex:
    """Strings, near if few edits make one of the other.

    "levenshtein"   insert, delete or replace a character (Levenshtein 1966)
    "damerau"       or swap two neighbors, and edit between them later (Damerau 1964, unrestricted)
    "alignment"     or swap two neighbors, and leave them so (optimal string alignment)
    "normalized"    Levenshtein's edits over the length of the longer string, 0 to 1

    A missing string is as far as can be from every string, missing or not: 1 if normalized,
    otherwise the length of the query or of the longest string, whichever is more.

    Equal strings are held against a query once. Pairs come in rounds by the least edits that they
    may need (see Signatures), and a query is done as soon as the pairs that are left need more
    than its k-th neighbor. Of the pairs that come, short ones are aligned side by side (see
    Alignment), and longer ones, and all of unrestricted swaps, by RapidFuzz.
    """

    def __init__(self, strings: Any, kind: str, fill: Fill) -> None:
        if kind not in KINDS:
            raise ValueError(f"Expected a kind of edit distance of {sorted(KINDS)}, got {kind!r}.")
        self._kind, self._fill = KINDS[kind], fill
        distinct, code = numbered(texts(strings))
        self._strings = np.array(distinct, dtype=object)
        self._alphabet = Alphabet(distinct)
        spelling, n_letters = self._alphabet.spell(distinct), len(self._alphabet)
        self._signatures = Signatures(spelling, n_letters, self._kind.normalized)
        self._longest = int(self._signatures.lengths.max(initial=1))
        short = self._longest <= LONGEST and self._kind.swaps is not None
        self._short = ShortStrings(spelling, n_letters) if short else None
        # Rows of string s, in order: rows[start[s] : start[s] + count[s]]. The last are missing.
        self._rows = np.argsort(code, kind="stable")
        self._count = np.bincount(code, minlength=len(distinct) + 1)
        self._start = np.cumsum(self._count) - self._count

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        n = len(self._rows)
        most = wanted(k, skip, n)
        queries, code = numbered(texts(Q), by_length=True)  # long ones take wider words

        def look(chunk: slice) -> tuple[Floats, Integers]:
            step = max(1, min(QUERIES, ALL_PAIRS // n))
            starts = range(chunk.start, chunk.stop, step)
            found = [self._search(queries[i : min(i + step, chunk.stop)], most) for i in starts]
            distances, numbers = zip(*found, strict=True)
            return np.concatenate(distances), np.concatenate(numbers)

        distance, number = deal(look, self._fill, len(queries), n, most)
        distance = np.vstack([distance, np.full(most, self._far(""))])  # of a missing query
        number = np.vstack([number, np.arange(most)])
        return without(distance[code], number[code], skip, k)

    def _far(self, query: str) -> float:
        return 1.0 if self._kind.normalized else float(max(len(query), self._longest))

    def _search(self, queries: Sequence[str], k: int) -> tuple[Floats, Integers]:
        m, n = len(queries), len(self._strings)
        found = Found(m, k, self._count)
        if self._count[n]:
            far = np.array([self._far(query) for query in queries])
            found.add(np.arange(m), np.full(m, n), far)
        spelling = self._alphabet.spell(queries)
        bounds = Bounds(self._signatures, spelling)
        first, width = self._signatures.first, self._signatures.width
        measure = self._measure(queries, spelling)
        for level in range(first, LEVELS):
            waiting = np.flatnonzero(found.limit >= level * width)
            if level > first and len(waiting) == 0:
                break
            query, string = bounds.at(waiting, level) if level > first else bounds.up_to(level)
            for i in range(0, len(query), PAIRS):
                q, s = query[i : i + PAIRS], string[i : i + PAIRS]
                found.add(q, s, measure(q, s, found.limit[q]))
        return self._ranked(found, k)

    def _measure(self, queries: Sequence[str], spelling: Spelling) -> Callable[..., Floats]:
        """Distances of pairs; those beyond a limit may be anything beyond it."""
        lengths = spelling.lengths
        short = self._short if lengths.max() <= LONGEST else None
        alignment = short and Alignment(short, spelling, bool(self._kind.swaps))

        def measure(query: Integers, string: Integers, limit: Floats) -> Floats:
            longer = np.ones(1)
            if self._kind.normalized:
                longer = np.maximum(np.maximum(lengths[query], self._signatures.lengths[string]), 1)
            if alignment:
                return alignment.edits(query, string) / longer
            most = (limit * longer).max()
            edits = process.cpdist(
                [queries[i] for i in query.tolist()],
                self._strings[string].tolist(),
                scorer=self._kind.scorer,
                score_cutoff=int(most) + 1 if np.isfinite(most) else None,  # 1: it was rounded
                dtype=np.int32,
            )
            return np.asarray(edits / longer, np.float64)

        return measure

    def _ranked(self, found: Found, k: int) -> tuple[Floats, Integers]:
        """Strings become their rows, of which the first k are enough."""
        copies = np.minimum(self._count[found.string], k)
        place = np.arange(copies.sum()) - np.repeat(np.cumsum(copies) - copies, copies)
        row = self._rows[np.repeat(self._start[found.string], copies) + place]
        query, distance = np.repeat(found.query, copies), np.repeat(found.distance, copies)
        return ranked(query, distance, row, len(found.limit), k)


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
