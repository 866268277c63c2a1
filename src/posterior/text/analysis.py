"""How documents are analyzed: by a rule that the kernels know, or by a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from posterior.kernels.terms import Rule

# \w\w+ and the like: maximal runs of letters, of some length at least.
RUNS = re.compile(r"(?:\(\?u\))?(?:\\b)?(\()?(?:((?:\\w)+)\+|\\w\{(\d+),\})(?(1)\))(?:\\b)?")


@dataclass(frozen=True, slots=True)
class Analysis:
    """From documents to terms: by a rule, after Python prepared each document, or by a function."""

    how: Rule | Callable[[Any], Iterable[Any]]
    prepare: Callable[[Any], Any] | None = None
    raw: bool = False  # whether Python takes documents as they are given, not their text

    @property
    def by_python(self) -> bool:
        """Whether users' functions see the documents."""
        return self.raw or not isinstance(self.how, Rule)


def shortest_run(pattern: Any) -> int | None:
    """Letters of the shortest word of a pattern that matches whole words, else None."""
    found = RUNS.fullmatch(pattern) if isinstance(pattern, str) else None
    if found is None:
        return None
    length = int(found[3]) if found[3] else len(found[2]) // 2
    return length if length >= 1 else None


def rule_of(
    unit: Literal["word", "char", "char_wb"],
    ngrams: Any,
    lowercase: bool,
    pattern: Any,
    stop_words: Collection[Any] | None,
) -> Rule | None:
    """The kernels' rule for these settings, or None where they have none."""
    whole = isinstance(ngrams, tuple) and all(type(n) is int for n in ngrams)
    if not whole or not 1 <= ngrams[0] <= ngrams[1]:
        return None
    if unit != "word":
        return Rule(unit, ngrams, lowercase)
    length = shortest_run(pattern)
    if length is None:
        return None
    stops = frozenset(str(w) for w in stop_words or () if isinstance(w, str))
    return Rule("word", ngrams, lowercase, length, stops)
