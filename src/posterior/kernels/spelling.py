"""Strings letter by letter, as the search by edit distance reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Codes, Floats, Integers

WORDS = 8, 16, 32, 64  # bits of a word, which are the letters of a string
LONGEST = WORDS[-1]


@dataclass(frozen=True, slots=True, eq=False)
class Spelling:
    """Strings letter by letter: all of the first, all of the second, and so on."""

    letters: Codes  # numbers
    start: Integers  # (n + 1,): string s has letters[start[s] : start[s + 1]]

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, some: slice) -> Spelling:
        return Spelling(self.letters, self.start[some.start : some.stop + 1])

    @property
    def text(self) -> Codes:
        """The letters of all strings."""
        return self.letters[self.start[0] : self.start[-1]]

    @property
    def lengths(self) -> Integers:
        return np.diff(self.start)

    @property
    def owner(self) -> Integers:
        """The string that each letter is of."""
        return np.repeat(np.arange(len(self)), self.lengths)


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """Distinct strings: by length, and those of a length by the first rows that they stand in.

    Rows of string s, in order, are row[first[s] : first[s + 1]]; the last rows have no string.
    """

    strings: Spelling
    n_letters: int  # letters are less than this
    row: Integers
    first: Integers  # (strings + 2,)

    @classmethod
    def of(cls, strings: Spelling, n_letters: int, code: Integers) -> Dictionary:
        """From the string of each row, by number; rows without one have the next number."""
        count = np.bincount(code, minlength=len(strings) + 1)
        row = np.argsort(code, kind="stable")
        return cls(strings, n_letters, row, np.append(0, np.cumsum(count)))

    @property
    def copies(self) -> Integers:
        """How many rows each string has, and how many have none."""
        return np.diff(self.first)

    def far(self, lengths: Integers, normalized: bool) -> Floats:
        """From queries of some lengths to a missing string: as far as can be."""
        far = np.maximum(lengths, self.strings.lengths.max(initial=1)).astype(np.float64)
        return np.ones_like(far) if normalized else far
