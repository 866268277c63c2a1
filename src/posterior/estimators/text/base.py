"""Base class of estimators that read documents: scikit-learn's settings, and its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions

from posterior.engines.local import Local, n_threads
from posterior.engines.progress import Progress
from posterior.estimators.estimator import Estimator
from posterior.text.analysis import STEPS, TermSettings
from posterior.text.counting import Counting

SETTINGS = tuple(name for name in TermSettings.__slots__ if not name.startswith("own_"))

CONSTRAINTS: dict[str, Any] = {
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


def given_terms(estimator: Any) -> TermSettings:
    """The settings of an estimator, as they are given."""
    return TermSettings(**{name: getattr(estimator, name) for name in SETTINGS})


def own_steps(estimator: Any) -> dict[str, Callable[..., Any]]:
    """The steps that a subclass, or somebody on this object, has in the place of ours."""
    ours = (decode, build_preprocessor, build_tokenizer, get_stop_words, build_analyzer)
    steps = {name: getattr(estimator, name) for name in STEPS}
    return {n: step for n, step in steps.items() if getattr(step, "__func__", None) not in ours}


def terms_of(estimator: Any) -> TermSettings:
    """The settings of an estimator, with the steps of a subclass in the place of ours."""
    return given_terms(estimator).with_steps(own_steps(estimator))


def warn_of_stop_words(estimator: Any, terms: TermSettings) -> None:
    """Once for each list of them."""
    if vars(estimator).get("_checked") is not estimator.stop_words:
        vars(estimator)["_checked"] = estimator.stop_words
        terms.warn_of_stop_words()


def decode(self: Any, doc: Any) -> Any:
    """The text of a document: bytes decoded, a file read, by `input` and `encoding`."""
    return given_terms(self).decode(doc)


def build_preprocessor(self: Any) -> Callable[[Any], Any]:
    """The function that is applied to the text of a document first."""
    return given_terms(self).build_preprocessor()


def build_tokenizer(self: Any) -> Callable[[Any], Iterable[Any]]:
    """The function that splits a text into words."""
    return given_terms(self).build_tokenizer()


def get_stop_words(self: Any) -> frozenset[str] | None:
    """The words that are left out, or None."""
    return given_terms(self).get_stop_words()


def build_analyzer(self: Any) -> Callable[[Any], Any]:
    """The function from a document, as it is given, to the list of its terms."""
    own = own_steps(self)
    own.pop("build_analyzer", None)  # which may build on this one
    terms = given_terms(self).with_steps(own)
    warn_of_stop_words(self, terms)
    return terms.build_analyzer()


class DocumentEstimator(Estimator):
    """Counts the terms of documents, by a rule of the kernels wherever it can be."""

    stop_words: Any
    verbose: Any
    engine_: ClassVar[Local] = Local()

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    decode = decode
    build_preprocessor = build_preprocessor
    build_tokenizer = build_tokenizer
    get_stop_words = get_stop_words
    build_analyzer = build_analyzer

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _counting(self, progress: Progress, terms: TermSettings | None = None) -> Counting:
        terms = terms or terms_of(self)
        warn_of_stop_words(self, terms)
        return Counting(terms.analysis(), terms.decoder(), self.engine_.map, n_threads(), progress)

    def _progress(self, verb: str = "Counted") -> Progress:
        return Progress(self.verbose, verb, "documents")
