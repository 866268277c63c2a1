"""Pairs of strings that may be near, round by round, with most pairs ruled out unseen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz import process

from posterior.data.typing import Floats, Integers
from posterior.kernels.spelling import Dictionary, Spelling
from posterior.neighbors.nearest_first import ranked
from posterior.neighbors.signatures import LEVELS, Bounds, Signatures


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
