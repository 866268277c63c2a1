"""What the terms of a document are: scikit-learn's settings, and the functions built from them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar

from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions

from posterior.engines.local import Local, n_threads
from posterior.estimators.hooks import Parameters
from posterior.estimators.text.reading_progress import Progress
from posterior.text import ngrams
from posterior.text.analysis import Analysis, rule_of
from posterior.text.counting import Counting
from posterior.text.documents import Reader, check_collection

WORDS = r"(?u)\b\w\w+\b"


class Analyzing(Parameters):
    """decode, preprocess, tokenize, and n in a row: by a rule of the kernels wherever it can be."""

    input: Any
    encoding: str
    decode_error: str
    strip_accents: Any
    lowercase: bool
    preprocessor: Any
    tokenizer: Any
    stop_words: Any
    token_pattern: Any
    ngram_range: Any
    analyzer: Any
    missing: Any
    verbose: Any
    engine_ = Local()

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "input": [StrOptions({"filename", "file", "content"})],
        "encoding": [str],
        "decode_error": [StrOptions({"strict", "ignore", "replace"})],
        "strip_accents": [StrOptions({"ascii", "unicode"}), None, callable],
        "lowercase": ["boolean"],
        "preprocessor": [callable, None],
        "tokenizer": [callable, None],
        "stop_words": [StrOptions({"english"}), list, None],
        "token_pattern": [str, None],
        "ngram_range": [tuple],
        "analyzer": [StrOptions({"word", "char", "char_wb"}), callable],
        "dtype": "no_validation",  # NumPy knows
        "missing": [StrOptions({"error", "empty"})],
        "verbose": ["verbose"],
    }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def decode(self, doc: Any) -> Any:
        """The text of a document: bytes decoded, a file read, by `input` and `encoding`."""
        return Reader(self.input, self.encoding, self.decode_error).decode(doc)

    def build_preprocessor(self) -> Callable[[Any], Any]:
        """The function that is applied to the text of a document first."""
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
        """The function that splits a text into words."""
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
        """The words that are left out, or None."""
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
        """The function from a document, as it is given, to the list of its terms."""
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
            stop_words, tokenize = self.get_stop_words(), self.build_tokenizer()
            self._check_stop_words(stop_words, preprocess, tokenize)
            in_a_row = partial(
                ngrams.words, ngrams=self.ngram_range, stop_words=stop_words or frozenset()
            )
            return preprocess, tokenize, in_a_row
        raise ValueError(
            f"{self.analyzer} is not a valid tokenization scheme/analyzer. Expected 'word', "
            "'char', 'char_wb' or a function."
        )

    def _analysis(self) -> Analysis:
        """The same for many documents, by the kernels if they have a rule for it."""
        if callable(self.analyzer) or self._replaced("build_analyzer"):
            return Analysis(self.build_analyzer(), raw=True)
        steps = self._steps()
        own = self.preprocessor is not None or self._replaced("build_preprocessor")
        prepared = own or bool(self.strip_accents)
        rule = None
        if self.tokenizer is None and not self._replaced("build_tokenizer"):
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

    def _replaced(self, method: str) -> bool:
        """Whether a subclass, or somebody on this object, has a method of their own."""
        return getattr(getattr(self, method), "__func__", None) is not getattr(Analyzing, method)

    def _counting(self, progress: Progress) -> Counting:
        own = self.decode if self._replaced("decode") else None
        reader = Reader(self.input, self.encoding, self.decode_error, self.missing, own)
        return Counting(self._analysis(), reader, self.engine_.map, n_threads(), progress)

    def _check_input(self, documents: Any) -> None:
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

    def _check_stop_words(self, stop_words: Any, preprocess: Any, tokenize: Any) -> None:
        """Warn once of stop words that no token can equal."""
        if stop_words is None or self.__dict__.get("_checked") is self.stop_words:
            return
        self._checked = self.stop_words
        try:
            tokens = {token for word in stop_words for token in tokenize(preprocess(word))}
            odd = sorted(tokens - stop_words)
        except Exception:  # users' functions may take no words
            return
        if odd:
            warnings.warn(
                "Your stop_words may be inconsistent with your preprocessing. Tokenizing the stop "
                f"words generated tokens {odd!r} not in stop_words.",
                stacklevel=2,
            )

    def _warn_of_unused(self) -> None:
        if self.tokenizer is not None and self.token_pattern is not None:
            _unused("token_pattern", "'tokenizer' is not None'")
        if callable(self.analyzer):
            if self.preprocessor is not None:
                _unused("preprocessor", "'analyzer' is callable'")
            if self.ngram_range not in ((1, 1), None):
                _unused("ngram_range", "'analyzer' is callable'")
        if self.analyzer != "word":
            for name, usual in (
                ("stop_words", None),
                ("token_pattern", WORDS),
                ("tokenizer", None),
            ):
                if getattr(self, name) not in (usual, None):
                    _unused(name, "'analyzer' != 'word'")


def _unused(name: str, why: str) -> None:
    warnings.warn(f"The parameter '{name}' will not be used since {why}", stacklevel=4)


def _as_it_is(document: Any) -> Any:
    return document
