"""Terms of one document in plain Python, for every setting that the kernels do not cover."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

Range = tuple[int, int]

SPACES = re.compile(r"\s\s+")


def words(tokens: Iterable[Any], ngrams: Range, stop_words: Collection[str] = ()) -> list[Any]:
    """Tokens that are no stop words, and runs of them joined by a space, shortest runs first."""
    tokens = [token for token in tokens if token not in stop_words] if stop_words else tokens
    least, most = ngrams
    if most == 1:
        return list(tokens)
    tokens = list(tokens)
    terms: list[Any] = []
    for n in range(least, min(most, len(tokens)) + 1):
        runs = (" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
        terms.extend(tokens if n == 1 else runs)
    return terms


def characters(text: str, ngrams: Range) -> list[str]:
    """Windows over the letters, after runs of white space became one space."""
    text = SPACES.sub(" ", text)
    least, most = ngrams
    lengths = range(least, min(most, len(text)) + 1)
    return [text[i : i + n] for n in lengths for i in range(len(text) - n + 1)]


def characters_in_words(text: str, ngrams: Range) -> list[str]:
    """Windows inside each word and the spaces around it; a word that is too short counts once."""
    terms: list[str] = []
    for word in text.split():
        padded = f" {word} "
        for n in range(ngrams[0], ngrams[1] + 1):
            terms.extend(padded[i : i + n] for i in range(max(len(padded) - n, 0) + 1))
            if n >= len(padded):
                break
    return terms


def plain_ascii(text: str) -> str:
    """Letters without their accents; what has no ASCII letter is dropped."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def without_accents(text: str) -> str:
    """Letters of any script without their accents."""
    return text if text.isascii() else _marks().sub("", unicodedata.normalize("NFKD", text))


@cache
def _marks() -> re.Pattern[str]:
    """Runs of marks that combine with the letter before them, of all of Unicode."""
    letters = map(chr, range(sys.maxunicode + 1))
    return re.compile(f"[{''.join(c for c in letters if unicodedata.combining(c))}]+")


STRIPPERS: dict[str, Callable[[str], str]] = {"ascii": plain_ascii, "unicode": without_accents}


@dataclass(frozen=True, slots=True)
class Preprocessor:
    """Lower case first, then accents."""

    lowercase: bool
    strip_accents: Callable[[str], str] | None

    def __call__(self, document: Any) -> Any:
        """The document as its terms will be read."""
        if self.lowercase:
            document = document.lower()
        return document if self.strip_accents is None else self.strip_accents(document)


@dataclass(frozen=True, slots=True)
class Analyzer:
    """All steps from a document, as it is given, to its terms."""

    decode: Callable[[Any], Any]
    steps: tuple[Callable[[Any], Any], ...]

    def __call__(self, document: Any) -> Any:
        """The terms, as often as they occur."""
        document = self.decode(document)
        for step in self.steps:
            document = step(document)
        return document
