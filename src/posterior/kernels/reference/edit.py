"""The strings nearest to queries by the edits between them, many aligned side by side."""

from __future__ import annotations

import numpy as np

from posterior.data.typing import Floats, Integers
from posterior.kernels.spelling import WORDS, Dictionary, Spelling


def nearest_strings(
    queries: Spelling,
    dictionary: Dictionary,
    swaps: bool,
    normalized: bool,
    distance: Floats,
    row: Integers,
) -> None:
    """Fill in distances and rows (m, k) of the strings nearest to each query.

    Strings have up to 64 letters. An edit inserts, deletes or replaces a letter, or swaps two
    neighbors that then stay as they are; normalized, edits over the length of the longer string.
    """
    k, lengths = distance.shape[1], dictionary.strings.lengths
    known, letters = np.unique(queries.text, return_inverse=True)
    number = np.full(dictionary.n_letters, len(known))  # that no query has
    number[known] = np.arange(len(known))
    strings = Spelling(number[dictionary.strings.letters], dictionary.strings.start)
    ends = [0, *np.searchsorted(lengths, WORDS, side="right").tolist()]
    parts = [
        Columns(strings[first:end], len(known), bits)
        for bits, first, end in zip(WORDS, ends, ends[1:], strict=False)
    ]
    start, far = queries.start - queries.start[0], dictionary.far(queries.lengths, normalized)
    D, copies = np.empty(len(dictionary.row)), dictionary.copies
    for q, length in enumerate(queries.lengths):
        text = letters[start[q] : start[q + 1]]
        edits = np.concatenate([part.edits(text, swaps) for part in parts])
        if normalized:
            edits = edits / np.maximum(np.maximum(lengths, length), 1)
        D[dictionary.row] = np.repeat(np.append(edits, far[q]), copies)
        near = np.flatnonzero(np.partition(D, k - 1)[k - 1] >= D)
        row[q] = near[np.argsort(D[near], kind="stable")[:k]]
        distance[q] = D[row[q]]


class Columns:
    """Columns of Wagner and Fischer's table, one for each string, in the bits of words.

    From cell to cell, a column goes up or down by one or stays. Two words of bits, P and N, hold
    it, and a letter of the query makes the next one of it (Myers 1999; Hyyrö 2003 for swaps).
    """

    def __init__(self, strings: Spelling, n_letters: int, bits: int) -> None:
        self._one = one = np.dtype(f"u{bits // 8}").type(1)
        self._inside = ~(one - one) >> (bits - strings.lengths).astype(one.dtype)
        # Where each string has each letter, as bits; what is not a letter of a query comes last.
        self._masks = np.zeros((n_letters + 1, len(strings)), one.dtype)
        owner = strings.owner
        place = np.arange(strings.start[0], strings.start[-1]) - strings.start[owner]
        np.bitwise_or.at(self._masks, (strings.text, owner), one << place.astype(one.dtype))

    def edits(self, text: Integers, swaps: bool) -> Integers:
        """Edits between a text and each string."""
        one = self._one
        P = np.full(len(self._inside), ~(one - one))
        N, matched, reached = np.zeros_like(P), np.zeros_like(P), np.zeros_like(P)
        for equal in self._masks[text]:
            D = equal | N
            D |= (P + (D & P)) ^ P
            if swaps:
                D |= ((equal & ~reached) << one) & matched
                matched, reached = equal, D
            up = (N | ~(P | D)) << one | one
            P, N = (P & D) << one | ~(up | D), up & D
        ones = np.bitwise_count(P & self._inside).astype(np.int64)
        return len(text) + ones - np.bitwise_count(N & self._inside)
