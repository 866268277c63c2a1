"""What counting learns, a vocabulary and its sums: fit, stream, merge, forget, transform."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from itertools import pairwise
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import _align_api_if_sparse, check_array, metadata_routing
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt

from posterior.data.typing import Array, Codes
from posterior.estimators.summed import all_or_nothing
from posterior.estimators.text.analyzing import Analyzing
from posterior.estimators.text.reading_progress import Progress
from posterior.estimators.text.vocabulary_columns import (
    chosen_columns,
    given_vocabulary,
    warn_of_capitals,
)
from posterior.text.vocabulary import TermCounts, Vocabulary

# What must be alike for the counts of two vectorizers to mean the same.
TERMS = (
    "strip_accents", "lowercase", "stop_words", "token_pattern", "ngram_range", "analyzer"
)  # fmt: skip


class Counts(Analyzing):
    """A vocabulary and its sums, which add and subtract."""

    vocabulary: Any
    min_df: Any
    max_df: Any
    max_features: Any
    binary: bool
    dtype: Any
    statistics_: TermCounts
    fixed_vocabulary_: bool
    _vocabulary: Vocabulary

    # Documents are no table that metadata could belong to.
    __metadata_request__fit: ClassVar = {"raw_documents": metadata_routing.UNUSED}
    __metadata_request__partial_fit: ClassVar = {"raw_documents": metadata_routing.UNUSED}
    __metadata_request__transform: ClassVar = {"raw_documents": metadata_routing.UNUSED}

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Analyzing._parameter_constraints,
        "max_df": [
            Interval(RealNotInt, 0, 1, closed="both"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "min_df": [
            Interval(RealNotInt, 0, 1, closed="both"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "vocabulary": [Mapping, HasMethods("__iter__"), None],
        "binary": ["boolean"],
    }

    @property
    def vocabulary_(self) -> dict[Any, int]:
        """The column of each term."""
        if "_vocabulary" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no vocabulary_ before it is fitted.")
        return self._vocabulary.mapping

    @vocabulary_.setter
    def vocabulary_(self, mapping: Mapping[Any, Any]) -> None:
        self._vocabulary = Vocabulary.of_mapping(mapping)

    @vocabulary_.deleter
    def vocabulary_(self) -> None:
        del self._vocabulary

    def __sklearn_is_fitted__(self) -> bool:
        return "_vocabulary" in self.__dict__

    @all_or_nothing
    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the vocabulary; what was learned before is dropped. No row is kept.

        Parameters
        ----------
        raw_documents : iterable of documents, or the path of a folder or of a file of lines
        y : ignored
        """
        self._begin(raw_documents)
        self._accept(self._sums(raw_documents))
        return self

    @all_or_nothing
    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the vocabulary and count, reading the documents once.

        Returns
        -------
        X : sparse matrix of shape (n_samples, n_features), by rows, columns ascending
        """
        self._begin(raw_documents)
        with Progress(self.verbose) as progress:
            counting = self._counting(progress)
            counted = counting.count(raw_documents, self._known())
            columns = self._accept(counted.sums())
            X = counting.matrix(counted, self.dtype, columns, len(self._vocabulary))
        return self._finished(X)

    @all_or_nothing
    def partial_fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Add documents: exactly the vocabulary that `fit` on all documents so far would give.

        Terms are sorted, so that columns move when terms come in between.
        """
        first = not hasattr(self, "statistics_")
        self._begin(raw_documents, reset=first)
        more = self._sums(raw_documents)
        self._accept(more if first else self.statistics_ + more, streaming=True)
        return self

    @all_or_nothing
    def forget(self, raw_documents: Any) -> Self:
        """Take documents back: exactly the vocabulary that never saw them."""
        self._check_statistics()
        self._begin(raw_documents, reset=False)
        left = self.statistics_ - self._sums(raw_documents)
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
        self._accept(left if self.fixed_vocabulary_ else left.seen(), streaming=True)
        return self

    @all_or_nothing
    def merge(self, other: Self) -> Self:
        """Add what another vectorizer with the same settings has learned from other documents."""
        if type(other) is not type(self):
            raise TypeError(
                f"Expected another {type(self).__name__} to merge, got {type(other).__name__}."
            )
        self._check_statistics()
        other._check_statistics()
        self._check_mergeable(other)
        self._accept(self.statistics_ + other.statistics_, streaming=True)
        return self

    def __add__(self, other: Self) -> Self:
        return copy.deepcopy(self).merge(other)

    @all_or_nothing
    def prune(self, min_df: int) -> Self:
        """Drop the terms that fewer than min_df documents hold, to bound the memory of a stream.

        Counts of a dropped term begin anew if it comes again: from here on the vocabulary is no
        longer exactly that of `fit`. To hide rare terms and stay exact, use the parameter min_df.
        """
        self._check_statistics()
        if not isinstance(min_df, Integral) or min_df < 1:
            raise ValueError(f"Expected a number of documents, at least one, got {min_df!r}.")
        if self.fixed_vocabulary_:
            raise ValueError("Expected a vocabulary that was learned: one that is given stays.")
        self._accept(self.statistics_.prune(int(min_df)), streaming=True)
        return self

    def transform(self, raw_documents: Any) -> Any:
        """Count the terms of the vocabulary; others are left out.

        Returns
        -------
        X : sparse matrix of shape (n_samples, n_features), by rows, columns ascending
        """
        self._check_input(raw_documents)
        vocabulary = self._check_vocabulary()
        with Progress(self.verbose) as progress:
            lookup, columns = vocabulary.lookup, vocabulary.columns
            counting = self._counting(progress)
            X = counting.known(raw_documents, lookup, columns, len(vocabulary), self.dtype)
        return self._finished(X)

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
        return np.asarray(self._check_vocabulary().names(), dtype=object)

    def _begin(self, documents: Any, reset: bool = True) -> None:
        self._validate_params()
        self._check_input(documents)
        self._warn_of_unused()
        if reset:
            self._take_given()
            if self.fixed_vocabulary_ and self.lowercase:
                warn_of_capitals(self._vocabulary)

    def _take_given(self) -> None:
        """The vocabulary that is given as a parameter, if there is one."""
        self.fixed_vocabulary_ = self.vocabulary is not None
        if self.fixed_vocabulary_:
            self._vocabulary = given_vocabulary(self.vocabulary)

    def _known(self) -> Any:
        return self._vocabulary.lookup if self.fixed_vocabulary_ else None

    def _sums(self, documents: Any) -> TermCounts:
        with Progress(self.verbose) as progress:
            return self._counting(progress).sums(documents, self._known())

    def _accept(self, counts: TermCounts, streaming: bool = False) -> Codes:
        """Keep the sums, and give the column of each of their terms."""
        self.statistics_ = counts
        if self.fixed_vocabulary_:
            return self._vocabulary.columns
        self._vocabulary, columns = chosen_columns(
            counts, self.min_df, self.max_df, self.max_features, self.dtype, self.binary, streaming
        )
        return columns

    def _finished(self, X: Any) -> Any:
        if self.binary:
            X.data.fill(1)
        return _align_api_if_sparse(X)

    def _check_vocabulary(self) -> Vocabulary:
        if "_vocabulary" not in self.__dict__:
            self._take_given()
            if not self.fixed_vocabulary_:
                raise NotFittedError("Vocabulary not fitted or provided. Call fit() first.")
        self._vocabulary = self._vocabulary.current()
        if len(self._vocabulary) == 0:
            raise ValueError("Vocabulary is empty. Fit it to more documents.")
        return self._vocabulary

    def _check_statistics(self) -> None:
        if not hasattr(self, "statistics_"):
            raise NotFittedError(
                f"This {type(self).__name__} has learned no documents yet. Call fit() first."
            )

    def _check_mergeable(self, other: Self) -> None:
        for name in TERMS:
            mine, theirs = getattr(self, name), getattr(other, name)
            if not (callable(mine) and callable(theirs)) and mine != theirs:
                raise ValueError(
                    f"Expected {name}={mine!r} to merge, got {theirs!r}: the terms would differ."
                )
        if self.fixed_vocabulary_ and self.vocabulary_ != other.vocabulary_:
            raise ValueError("Expected the same given vocabulary to merge, got another.")
