"""Analyzes documents: scikit-learn's settings, and what the kernels or Python make of them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from posterior.kernels.terms import Rule
from posterior.text import ngrams
from posterior.text.decoding import Decoder, check_collection

WORDS = r"(?u)\b\w\w+\b"
# \w\w+ and the like: maximal runs of letters, of some length at least.
RUNS = re.compile(r"(?:\(\?u\))?(?:\\b)?(\()?(?:((?:\\w)+)\+|\\w\{(\d+),\})(?(1)\))(?:\\b)?")
# What must be alike for the counts of two models to mean the same.
SAME = ("strip_accents", "lowercase", "stop_words", "token_pattern", "ngram_range", "analyzer")


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


@dataclass(frozen=True, slots=True)
class TermSettings:
    """What the terms of a document are: decode, preprocess, tokenize, and n in a row."""

    input: Literal["content", "file", "filename"] = "content"
    encoding: str = "utf-8"
    decode_error: str = "strict"
    strip_accents: Any = None
    lowercase: bool = True
    preprocessor: Callable[[Any], Any] | None = None
    tokenizer: Callable[[Any], Iterable[Any]] | None = None
    stop_words: Any = None
    token_pattern: Any = WORDS
    ngram_range: tuple[int, int] = (1, 1)
    analyzer: Any = "word"
    missing: Literal["error", "empty"] = "error"
    own_decode: Callable[[Any], Any] | None = None  # in the place of ours
    own_analyzer: Callable[[Any], Iterable[Any]] | None = None  # in the place of all steps

    def with_steps(self, steps: Mapping[str, Callable[..., Any]]) -> TermSettings:
        """The same with methods of a subclass, by their names in scikit-learn."""
        if not steps:
            return self
        built: dict[str, Any] = {
            STEPS[name]: step if name == "decode" else step() for name, step in steps.items()
        }
        return replace(self, **built)

    # ---- steps, under the names that scikit-learn gives them ----

    def decoder(self) -> Decoder:
        """From a document, as it is given, to its text."""
        encoding, errors = self.encoding, self.decode_error
        return Decoder(self.input, encoding, errors, self.missing, self.own_decode)

    def decode(self, document: Any) -> Any:
        return (self.own_decode or self.decoder().decode)(document)

    def build_preprocessor(self) -> Callable[[Any], Any]:
        if self.preprocessor is not None:
            return self.preprocessor
        strip = self.strip_accents
        if isinstance(strip, str) and strip:
            if strip not in ngrams.STRIPPERS:
                raise ValueError(
                    f'Invalid value for "strip_accents": {strip}. Expected "ascii", "unicode", a '
                    "function or None."
                )
            strip = ngrams.STRIPPERS[strip]
        return ngrams.Preprocessor(bool(self.lowercase), strip or None)

    def build_tokenizer(self) -> Callable[[Any], Iterable[Any]]:
        if self.tokenizer is not None:
            return self.tokenizer
        pattern = re.compile(self.token_pattern)
        if pattern.groups > 1:
            raise ValueError(
                "More than 1 capturing group in token pattern. Only a single group should be "
                "captured."
            )
        return pattern.findall

    def get_stop_words(self) -> frozenset[str] | None:
        if self.stop_words is None:
            return None
        if isinstance(self.stop_words, str):
            if self.stop_words == "english":
                from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

                return frozenset(ENGLISH_STOP_WORDS)
            raise ValueError(
                f"not a built-in stop list: {self.stop_words}. Expected 'english' or a list."
            )
        return frozenset(self.stop_words)

    def build_analyzer(self) -> Callable[[Any], Any]:
        if self.own_analyzer is not None:
            return self.own_analyzer
        return ngrams.Analyzer(self.decode, self._steps())

    def _steps(self) -> tuple[Callable[[Any], Any], ...]:
        """From the text of a document to its terms."""
        if callable(self.analyzer):
            return (self.analyzer,)
        preprocess = self.build_preprocessor()
        if self.analyzer == "char":
            return preprocess, partial(ngrams.characters, ngrams=self.ngram_range)
        if self.analyzer == "char_wb":
            return preprocess, partial(ngrams.characters_in_words, ngrams=self.ngram_range)
        if self.analyzer == "word":
            stop_words = self.get_stop_words() or frozenset()
            in_a_row = partial(ngrams.words, ngrams=self.ngram_range, stop_words=stop_words)
            return preprocess, self.build_tokenizer(), in_a_row
        raise ValueError(
            f"{self.analyzer} is not a valid tokenization scheme/analyzer. Expected 'word', "
            "'char', 'char_wb' or a function."
        )

    def analysis(self) -> Analysis:
        """All steps for many documents, by the kernels if they have a rule for them."""
        if callable(self.analyzer) or self.own_analyzer is not None:
            return Analysis(self.build_analyzer(), raw=True)
        steps, own = self._steps(), self.preprocessor is not None
        prepared = own or bool(self.strip_accents)
        rule = None
        if self.tokenizer is None:
            rule = rule_of(
                self.analyzer,
                self.ngram_range,
                bool(self.lowercase) and not prepared,
                self.token_pattern,
                self.get_stop_words() if self.analyzer == "word" else None,
            )
        if rule is None:
            return Analysis(ngrams.Analyzer(self.decode if own else _as_it_is, steps), raw=own)
        if not prepared:
            return Analysis(rule)
        return Analysis(rule, ngrams.Analyzer(self.decode, steps[:1]) if own else steps[0], raw=own)

    # ---- checks ----

    def check(self, documents: Any) -> None:
        """Refuse what is no collection of documents, and runs of terms that would not end."""
        check_collection(documents)
        least, most = self.ngram_range
        if least > most:
            raise ValueError(
                f"Invalid value for ngram_range={self.ngram_range} lower boundary larger than the "
                "upper boundary."
            )
        if least < 0:  # runs of so many terms would be counted from there
            raise ValueError(
                f"Expected ngram_range (a, b) with 0 <= a <= b, got {self.ngram_range}. (1, 2) "
                "means single terms and pairs."
            )

    def check_same(self, other: TermSettings) -> None:
        """Refuse to merge counts of other terms."""
        for name in SAME:
            mine, theirs = getattr(self, name), getattr(other, name)
            if not (callable(mine) and callable(theirs)) and mine != theirs:
                raise other_terms(name, mine, theirs)

    def warn_of_stop_words(self) -> None:
        """Name stop words that no token can equal."""
        if self.analyzer != "word" or self.own_analyzer or (stops := self.get_stop_words()) is None:
            return
        preprocess, tokenize = self.build_preprocessor(), self.build_tokenizer()
        try:
            tokens = {token for word in stops for token in tokenize(preprocess(word))}
            odd = sorted(tokens - stops)
        except Exception:  # users' functions may take no words
            return
        if odd:
            warnings.warn(
                "Your stop_words may be inconsistent with your preprocessing. Tokenizing the stop "
                f"words generated tokens {odd!r} not in stop_words.",
                stacklevel=2,
            )

    def warn_of_unused(self) -> None:
        """Name settings that others make void."""
        if self.tokenizer is not None and self.token_pattern is not None:
            _unused("token_pattern", "'tokenizer' is not None'")
        if callable(self.analyzer):
            if self.preprocessor is not None:
                _unused("preprocessor", "'analyzer' is callable'")
            if self.ngram_range not in ((1, 1), None):
                _unused("ngram_range", "'analyzer' is callable'")
        if self.analyzer != "word":
            if self.stop_words is not None:
                _unused("stop_words", "'analyzer' != 'word'")
            if self.token_pattern not in (WORDS, None):
                _unused("token_pattern", "'analyzer' != 'word'")
            if self.tokenizer is not None:
                _unused("tokenizer", "'analyzer' != 'word'")


STEPS = {  # methods of scikit-learn's vectorizers that a subclass may replace, and what they set
    "decode": "own_decode",
    "build_preprocessor": "preprocessor",
    "build_tokenizer": "tokenizer",
    "get_stop_words": "stop_words",
    "build_analyzer": "own_analyzer",
}


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


def other_terms(name: str, mine: Any, theirs: Any) -> ValueError:
    """Settings by which the same documents have other terms."""
    return ValueError(f"Expected {name}={mine!r} to merge, got {theirs!r}: the terms would differ.")


def _unused(name: str, why: str) -> None:
    warnings.warn(f"The parameter '{name}' will not be used since {why}", stacklevel=4)


def _as_it_is(document: Any) -> Any:
    return document
