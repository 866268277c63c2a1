"""Many pairs of short strings aligned at once, each in the bits of one word."""

from __future__ import annotations

import numpy as np

from posterior.data.typing import Integers
from posterior.neighbors.letters import Spelling

LONGEST = 64  # characters: the bits of a word


class ShortStrings:
    """Strings of up to 64 characters, ready to be aligned with queries of as many."""

    def __init__(self, strings: Spelling, n_letters: int) -> None:
        self.n_letters, self.lengths = n_letters, strings.lengths.astype(np.uint8)
        within = np.arange(self.lengths.max(initial=0)) < self.lengths[:, None]
        letters = np.zeros(within.shape, np.intp)
        letters[within] = strings.letters
        self.columns = np.ascontiguousarray(letters.T)  # by place, then by string


class Alignment:
    """Edits between queries and strings.

    From cell to cell, a column of Wagner and Fischer's table goes up or down by one or stays. Two
    words of bits, P and N, hold a column, and ten operations make the next one of it (Myers 1999;
    Hyyrö 2003 for swaps). They run over all pairs side by side.
    """

    def __init__(self, strings: ShortStrings, queries: Spelling, swaps: bool) -> None:
        self._strings, self._swaps = strings, swaps
        self._lengths, owner = queries.lengths, queries.owner
        bits = next(b for b in (16, 32, 64) if b >= self._lengths.max(initial=0))
        self._word = np.dtype(f"u{bits // 8}").type
        # Where each query has each letter, as bits.
        self._masks = np.zeros((len(self._lengths), strings.n_letters), self._word)
        place = np.arange(len(owner)) - (np.cumsum(self._lengths) - self._lengths)[owner]
        bit = self._word(1) << place.astype(self._word)
        np.add.at(self._masks, (owner, queries.letters), bit)
        self._masks[:, -1] = 0  # unknown letters equal none

    def edits(self, query: Integers, string: Integers) -> Integers:
        """Edits of each pair."""
        length = self._strings.lengths[string]
        order = np.argsort(length, kind="stable")  # the longest go on to the end
        query, string, length = query[order], string[order], length[order]
        start = np.searchsorted(length, np.arange(len(self._strings.columns)), side="right")
        row = query * self._masks.shape[1]
        one = self._word(1)
        P, N = np.full(len(query), ~self._word(0)), np.zeros(len(query), self._word)
        matched, reached = np.zeros_like(N), np.zeros_like(N)
        for letters, first in zip(self._strings.columns, start.tolist(), strict=True):
            if first == len(query):
                break
            p, n = P[first:], N[first:]
            equal = self._masks.take(row[first:] + letters.take(string[first:]))
            D = equal | n
            D |= (p + (D & p)) ^ p
            if self._swaps:
                D |= ((equal & ~reached[first:]) << one) & matched[first:]
                matched[first:], reached[first:] = equal, D
            up = (n | ~(p | D)) << one
            up |= one
            np.bitwise_and(up, D, out=n)
            np.bitwise_or((p & D) << one, ~(up | D), out=p)
        inside = np.array([(1 << n) - 1 for n in self._lengths.tolist()], self._word)[query]
        found = np.empty(len(query), np.int64)
        found[order] = length + (
            np.bitwise_count(P & inside).astype(np.int64) - np.bitwise_count(N & inside)
        )
        return found
