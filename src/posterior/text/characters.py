"""Characters as Python knows them, listed for those that have tables of their own."""

from __future__ import annotations

import re
import sys
from functools import cache
from itertools import pairwise

SURROGATES = range(0xD800, 0xE000)


@cache
def letters() -> str:
    """All that \\w matches, as ranges inside of brackets."""
    return _ranges(r"\w+")


@cache
def white_space() -> str:
    """All that str.split cuts at, as ranges inside of brackets."""
    return _ranges(r"\s+")


def _ranges(pattern: str) -> str:
    found = re.finditer(pattern, "".join(_characters()))
    runs = [run for match in found for run in _runs(match[0])]
    return "".join(a if a == b else f"{a}-{b}" for a, b in runs)


def _runs(text: str) -> list[tuple[str, str]]:
    """The first and last of characters that follow each other."""
    ends = [i for i, (a, b) in enumerate(pairwise(text), 1) if ord(b) != ord(a) + 1]
    return [(text[a], text[b - 1]) for a, b in pairwise([0, *ends, len(text)])]


@cache
def lower_case(alphabet: frozenset[str]) -> tuple[str, str]:
    """The letters that become others of the alphabet, and what they become."""
    changed = [(a, b) for a, b in _lowered() if b in alphabet]
    return "".join(a for a, _ in changed), "".join(b for _, b in changed)


@cache
def _lowered() -> list[tuple[str, str]]:
    """The letters that lower case changes, and what they become."""
    return [(c, lower) for c in _characters() if (lower := c.lower()) != c]


def _characters() -> list[str]:
    return [chr(i) for i in range(1, sys.maxunicode + 1) if i not in SURROGATES]
