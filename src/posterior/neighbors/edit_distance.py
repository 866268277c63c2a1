"""Strings by the edits between them, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rapidfuzz.distance import OSA, DamerauLevenshtein, Levenshtein

from posterior import kernels
from posterior.data.typing import Array, Floats, Integers
from posterior.kernels.spelling import LONGEST, Dictionary
from posterior.neighbors.index import Fill
from posterior.neighbors.letters import Alphabet, numbered, texts
from posterior.neighbors.nearest_first import deal, wanted, without
from posterior.neighbors.rounds import Rounds

QUERIES, ALL_PAIRS = 256, 8_000_000  # of rounds, at most
PAIRS = 32_768  # of a round that are aligned at once


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

    Equal strings are held against a query once. Short ones are all aligned with it, many side by
    side. Where some are longer, or swaps are unrestricted, RapidFuzz aligns those that may be near
    (see Rounds).
    """

    def __init__(self, strings: Any, kind: str, fill: Fill) -> None:
        if kind not in KINDS:
            raise ValueError(f"Expected a kind of edit distance of {sorted(KINDS)}, got {kind!r}.")
        self._kind, self._fill = KINDS[kind], fill
        distinct, code = numbered(texts(strings), by_length=True)
        self._alphabet = Alphabet(distinct)
        spelling = self._alphabet.spell(distinct)
        self._dictionary = Dictionary.of(spelling, len(self._alphabet), code)
        short = self._kind.swaps is not None and spelling.lengths.max(initial=0) <= LONGEST
        how = self._kind.scorer, self._kind.normalized
        self._rounds = None if short else Rounds(distinct, self._dictionary, *how)

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        n, kind = len(self._dictionary.row), self._kind
        most = wanted(k, skip, n)
        queries, code = numbered(texts(Q), by_length=True)  # those of a chunk have much in common
        spelling = self._alphabet.spell(queries)

        def look(chunk: slice) -> tuple[Floats, Integers]:
            shape = chunk.stop - chunk.start, most
            distance, row = np.empty(shape), np.empty(shape, np.int64)
            if self._rounds is None:
                known = self._dictionary, bool(kind.swaps), kind.normalized
                kernels.nearest_strings(spelling[chunk], *known, distance, row)
                return distance, row
            step = max(1, min(QUERIES, ALL_PAIRS // n))
            for i in range(chunk.start, chunk.stop, step):
                part = slice(i, min(i + step, chunk.stop))
                ours = slice(part.start - chunk.start, part.stop - chunk.start)
                found = self._rounds.nearest(queries[part], spelling[part], most, PAIRS)
                distance[ours], row[ours] = found
            return distance, row

        distance, row = deal(look, self._fill, len(queries), n, most)
        far = self._dictionary.far(np.zeros(1, np.int64), kind.normalized)
        distance = np.vstack([distance, np.repeat(far, most)])  # of a missing query
        row = np.vstack([row, np.arange(most)])
        return without(distance[code], row[code], skip, k)
