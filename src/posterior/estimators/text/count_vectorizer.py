"""Counts the terms of documents: rows of a sparse matrix, one column a term."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import _align_api_if_sparse, check_array, metadata_routing
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt

from posterior.data.typing import Array, Codes
from posterior.estimators.estimator import learned
from posterior.estimators.text.base import CONSTRAINTS, DocumentEstimator, given_terms, terms_of
from posterior.text.analysis import WORDS
from posterior.text.vocabulary import (
    TermCounts,
    Vocabulary,
    chosen_columns,
    given_vocabulary,
    warn_of_capitals,
)
from posterior.text.weighting import Weighting


@dataclass(frozen=True, slots=True, eq=False)
class LearnedTerms:
    """A vocabulary, the sums that it was chosen from, and the weights of its columns."""

    vocabulary: Vocabulary | None = None  # None: weights were set before
    fixed: bool | None = None  # whether the vocabulary was given; None: it was set by hand
    statistics: TermCounts | None = None  # None: no document was learned
    weighting: Weighting | None = None  # None: counts are not weighted


DOCUMENTS = [Interval(RealNotInt, 0, 1, closed="both"), Interval(Integral, 1, None, closed="left")]
COUNTED: dict[str, Any] = {
    **CONSTRAINTS,
    "max_df": DOCUMENTS,
    "min_df": DOCUMENTS,
    "max_features": [Interval(Integral, 1, None, closed="left"), None],
    "vocabulary": [Mapping, HasMethods("__iter__"), None],
    "binary": ["boolean"],
}


class CountVectorizer(DocumentEstimator):
    """Counts of terms: documents become the rows, terms the columns of a sparse matrix.

    x_it = how often document i holds term t

    Words and letters are counted by compiled code on all threads; other patterns, tokenizers and
    functions run in Python with the same answer. The vocabulary is a sum over documents, so it
    streams (`partial_fit`), merges (`merge`, `+`) and forgets (`forget`).

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words
    token_pattern, ngram_range, analyzer, max_df, min_df, max_features, vocabulary, binary, dtype
        As in scikit-learn.
    missing : {"error", "empty"}, default="error"
        What None, NaN and the like are: a mistake, or documents without a term.
    verbose : int or bool, default=False
        Show progress on a terminal from the start; otherwise only of calls that take long.

    Attributes
    ----------
    vocabulary_ : dict
        The column of each term.
    fixed_vocabulary_ : bool
        Whether the vocabulary was given.
    statistics_ : TermCounts
        In how many documents each term occurs, chosen or not, and how often.

    Examples
    --------
    >>> from posterior import CountVectorizer
    >>> vectorizer = CountVectorizer()
    >>> vectorizer.fit_transform(["a fish, a fish", "fish and chips"]).toarray()
    array([[0, 0, 2],
           [1, 1, 1]])
    >>> vectorizer.partial_fit(["peas and chips"]).get_feature_names_out()
    array(['and', 'chips', 'fish', 'peas'], dtype=object)
    """

    # Documents are no table that metadata could belong to.
    __metadata_request__fit: ClassVar = {"raw_documents": metadata_routing.UNUSED}
    __metadata_request__partial_fit: ClassVar = {"raw_documents": metadata_routing.UNUSED}
    __metadata_request__transform: ClassVar = {"raw_documents": metadata_routing.UNUSED}

    _parameter_constraints: ClassVar[dict[str, Any]] = COUNTED
    fitted_: LearnedTerms
    statistics_ = learned[TermCounts](lambda fitted: fitted.statistics)
    fixed_vocabulary_ = learned[bool](lambda fitted: fitted.fixed)

    def __init__(
        self,
        *,
        input: Any = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Any = None,
        tokenizer: Any = None,
        stop_words: Any = None,
        token_pattern: Any = WORDS,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Any = "word",
        max_df: Any = 1.0,
        min_df: Any = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.int64,
        missing: str = "error",
        verbose: Any = False,
    ) -> None:
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype
        self.missing = missing
        self.verbose = verbose

    @property
    def vocabulary_(self) -> dict[Any, int]:
        """The column of each term."""
        vocabulary = self._known().vocabulary
        if vocabulary is None:
            raise AttributeError(f"{type(self).__name__} has no vocabulary_ before it is fitted.")
        return vocabulary.mapping

    @vocabulary_.setter
    def vocabulary_(self, mapping: Mapping[Any, Any]) -> None:
        self.fitted_ = replace(self._known(), vocabulary=Vocabulary.of_mapping(mapping))

    @vocabulary_.deleter
    def vocabulary_(self) -> None:
        self.fitted_ = replace(self._known(), vocabulary=None)

    def __sklearn_is_fitted__(self) -> bool:
        return self._known().vocabulary is not None

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the vocabulary; what was learned before is dropped. No row is kept.

        Parameters
        ----------
        raw_documents : iterable of documents, or the path of a folder or of a file of lines
        y : ignored
        """
        given = self._begin(raw_documents)
        self.fitted_, _ = self._learned(self._sums(raw_documents, given), given)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the vocabulary and count, reading the documents once.

        Returns
        -------
        X : sparse matrix of shape (n_samples, n_features), by rows, columns ascending
        """
        given = self._begin(raw_documents)
        with self._progress() as progress:
            counting = self._counting(progress)
            counted = counting.count(raw_documents, None if given is None else given.lookup)
            fitted, columns = self._learned(counted.sums(), given)
            assert fitted.vocabulary is not None
            X = counting.matrix(counted, self.dtype, columns, len(fitted.vocabulary))
        X = self._finished(X, fitted)
        self.fitted_ = fitted
        return X

    def partial_fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Add documents: exactly the vocabulary that `fit` on all documents so far would give.

        Terms are sorted, so that columns move when terms come in between.
        """
        before = self._known()
        given = self._begin(raw_documents, before)
        counts = self._sums(raw_documents, given)
        if before.statistics is not None:
            counts = before.statistics + counts
        self.fitted_, _ = self._learned(counts, given, streaming=True)
        return self

    def forget(self, raw_documents: Any) -> Self:
        """Take documents back: exactly the vocabulary that never saw them."""
        before, counts = summed(self)
        given = self._begin(raw_documents, before)
        left = counts - self._sums(raw_documents, given)
        never = left.impossible()
        if left.pruned and left.n_documents >= 0:
            left = left.take(~never)  # terms that were dropped before
        elif never.any() or left.n_documents < 0:
            what = f"term {left.terms[never].strings()[0]!r}" if never.any() else "documents"
            raise ValueError(
                f"Expected documents that were learned, got more of {what} than were seen."
            )
        if left.n_documents == 0:
            raise ValueError("Expected some documents to remain; to start anew, call fit().")
        left = left.seen() if given is None else left
        self.fitted_, _ = self._learned(left, given, streaming=True)
        return self

    def merge(self, other: Self) -> Self:
        """Add what another vectorizer with the same settings has learned from other documents."""
        if type(other) is not type(self):
            raise TypeError(
                f"Expected another {type(self).__name__} to merge, got {type(other).__name__}."
            )
        before, counts = summed(self)
        _, more = summed(other)
        given_terms(self).check_same(given_terms(other))
        given = before.vocabulary if before.fixed else None
        if given is not None and self.vocabulary_ != other.vocabulary_:
            raise ValueError("Expected the same given vocabulary to merge, got another.")
        self.fitted_, _ = self._learned(counts + more, given, streaming=True)
        return self

    def __add__(self, other: Self) -> Self:
        return copy.copy(self).merge(other)

    def prune(self, min_df: int) -> Self:
        """Drop the terms that fewer than min_df documents hold, to bound the memory of a stream.

        Counts of a dropped term begin anew if it comes again: from here on the vocabulary is no
        longer exactly that of `fit`. To hide rare terms and stay exact, use the parameter min_df.
        """
        before, counts = summed(self)
        if not isinstance(min_df, Integral) or min_df < 1:
            raise ValueError(f"Expected a number of documents, at least one, got {min_df!r}.")
        if before.fixed:
            raise ValueError("Expected a vocabulary that was learned: one that is given stays.")
        self.fitted_, _ = self._learned(counts.prune(int(min_df)), None, streaming=True)
        return self

    def transform(self, raw_documents: Any) -> Any:
        """Count the terms of the vocabulary; others are left out.

        Returns
        -------
        X : sparse matrix of shape (n_samples, n_features), by rows, columns ascending
        """
        terms = terms_of(self)
        terms.check(raw_documents)
        vocabulary = self._current()
        with self._progress() as progress:
            lookup, columns = vocabulary.lookup, vocabulary.columns
            counting = self._counting(progress, terms)
            X = counting.known(raw_documents, lookup, columns, len(vocabulary), self.dtype)
        return self._finished(X, self.fitted_)

    def inverse_transform(self, X: Any) -> list[Array]:
        """The terms of each row that are not zero.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        """
        names = self.get_feature_names_out()
        if not any(str(name).endswith("\0") for name in names):  # NumPy's strings lose such ends
            names = np.array(names.tolist())
        X = sparse.csr_array(check_array(X, accept_sparse="csr"))
        some = X.data != 0
        return [names[X.indices[a:b][some[a:b]]] for a, b in pairwise(X.indptr.tolist())]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The terms in the order of their columns."""
        return np.asarray(self._current().names(), dtype=object)

    def _begin(self, documents: Any, before: LearnedTerms | None = None) -> Vocabulary | None:
        """The vocabulary that is given, if there is one, after a look at settings and input."""
        self._validate_params()
        terms = given_terms(self)
        terms.check(documents)
        terms.warn_of_unused()
        if before is not None and before.statistics is not None:
            return before.vocabulary if before.fixed else None
        if self.vocabulary is None:
            return None
        given = given_vocabulary(self.vocabulary)
        if self.lowercase:
            warn_of_capitals(given)
        return given

    def _sums(self, documents: Any, given: Vocabulary | None) -> TermCounts:
        with self._progress() as progress:
            return self._counting(progress).sums(documents, None if given is None else given.lookup)

    def _learned(
        self, counts: TermCounts, given: Vocabulary | None, streaming: bool = False
    ) -> tuple[LearnedTerms, Codes]:
        """What sums say, and the column of each of their terms."""
        if given is not None:
            return LearnedTerms(given, True, counts), given.columns
        vocabulary, columns = chosen_columns(
            counts, self.min_df, self.max_df, self.max_features, self.dtype, self.binary, streaming
        )
        return LearnedTerms(vocabulary, False, counts), columns

    def _finished(self, X: Any, fitted: LearnedTerms) -> Any:
        if self.binary:
            X.data.fill(1)
        return _align_api_if_sparse(X)

    def _known(self) -> LearnedTerms:
        """What was learned or set so far, which may be nothing."""
        return vars(self).get("fitted_", LearnedTerms())

    def _current(self) -> Vocabulary:
        """The vocabulary, with terms that somebody put into its dictionary."""
        known = self._known()
        if known.vocabulary is None:
            if self.vocabulary is None:
                self.fitted_ = replace(known, fixed=False)  # which scikit-learn tells as well
                raise NotFittedError("Vocabulary not fitted or provided. Call fit() first.")
            known = replace(known, vocabulary=given_vocabulary(self.vocabulary), fixed=True)
        assert known.vocabulary is not None
        vocabulary = known.vocabulary.current()
        if vocabulary is not self._known().vocabulary:
            self.fitted_ = replace(known, vocabulary=vocabulary)
        if len(vocabulary) == 0:
            raise ValueError("Vocabulary is empty. Fit it to more documents.")
        return vocabulary


def summed(vectorizer: CountVectorizer) -> tuple[LearnedTerms, TermCounts]:
    """What a vectorizer has learned from documents, and their sums."""
    known: LearnedTerms | None = vars(vectorizer).get("fitted_")
    if known is None or known.statistics is None:
        raise NotFittedError(
            f"This {type(vectorizer).__name__} has learned no documents yet. Call fit() first."
        )
    return known, known.statistics
