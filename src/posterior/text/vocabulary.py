"""Vocabularies: terms and their columns, their counts, and which terms are kept."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.typing import Array, Codes, Integers
from posterior.kernels.terms import PRUNED, Bag, Lookup, Terms


@dataclass(frozen=True, slots=True, eq=False)
class TermCounts:
    """In how many documents each term occurs, and how often in all.

    d_t = Σᵢ [c_it > 0]      c_t = Σᵢ c_it      n = Σᵢ 1
    """

    terms: Terms  # m of them, sorted
    documents: Integers  # (m,)
    total: Integers  # (m,)
    n_documents: int
    pruned: int = 0  # terms of fewer documents were dropped once: from then on sums are not exact

    @classmethod
    def zero(cls) -> TermCounts:
        """Of no documents."""
        none = np.zeros(0, np.int64)
        return cls(Terms.of([]), none, none, 0)

    @classmethod
    def of(cls, bag: Bag) -> TermCounts:
        """Of counted documents."""
        return cls(bag.terms, bag.documents, bag.total, bag.n_rows)

    def __len__(self) -> int:
        return len(self.terms)

    def __add__(self, other: TermCounts, /) -> TermCounts:
        n, pruned = self.n_documents + other.n_documents, max(self.pruned, other.pruned)
        for one, more in ((self, other), (other, self)):
            if len(more) == 0:
                return TermCounts(one.terms, one.documents, one.total, n, pruned)
        if self.terms is other.terms:
            documents, total = self.documents + other.documents, self.total + other.total
            return TermCounts(self.terms, documents, total, n, pruned)
        terms, mine, theirs = kernels.union(self.terms, other.terms)
        documents, total = (np.zeros(len(terms), np.int64) for _ in range(2))
        for part, place in ((self, mine), (other, theirs)):  # the places of a part are distinct
            documents[place] += part.documents
            total[place] += part.total
        return TermCounts(terms, documents, total, n, pruned)

    def __neg__(self) -> TermCounts:
        return TermCounts(self.terms, -self.documents, -self.total, -self.n_documents, self.pruned)

    def __sub__(self, other: TermCounts, /) -> TermCounts:
        return self + -other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TermCounts):
            return NotImplemented
        a, b = self.seen().arrays(), other.seen().arrays()
        return all(np.array_equal(a[name], b[name]) for name in a)

    __hash__ = None  # type: ignore[assignment]

    def take(self, chosen: Array) -> TermCounts:
        """Some of the terms, by a mask."""
        if chosen.all():
            return self
        return TermCounts(
            self.terms[chosen],
            self.documents[chosen],
            self.total[chosen],
            self.n_documents,
            self.pruned,
        )

    def seen(self) -> TermCounts:
        """Without the terms that no document holds any more."""
        return self.take((self.documents != 0) | (self.total != 0))

    def impossible(self) -> Array:
        """Terms whose counts no documents leave: 0 ≤ d_t ≤ c_t and d_t ≤ n, c_t = 0 if d_t = 0."""
        d, c = self.documents, self.total
        return (d < 0) | (d > c) | (d > self.n_documents) | ((d == 0) & (c != 0))

    def prune(self, min_df: int) -> TermCounts:
        """Without the terms of fewer than min_df documents."""
        kept = self.take(self.documents >= min_df)
        pruned = max(self.pruned, min_df)
        return TermCounts(kept.terms, kept.documents, kept.total, kept.n_documents, pruned)

    def arrays(self) -> dict[str, Array]:
        """As plain arrays, for a file; `from_arrays` reads them back."""
        return {
            "terms": self.terms.data,
            "starts": self.terms.starts,
            "documents": self.documents,
            "total": self.total,
            "n": np.array([self.n_documents, self.pruned]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> TermCounts:
        terms = Terms(arrays["terms"], arrays["starts"])
        n, pruned = (int(value) for value in arrays["n"])
        return cls(terms, arrays["documents"], arrays["total"], n, pruned)


def places(terms: Terms, among: Terms) -> Codes:
    """Where some terms are among others, or PRUNED."""
    if terms is among:
        return np.arange(len(terms), dtype=np.int32)
    both, mine, theirs = kernels.union(terms, among)
    number = np.full(len(both), PRUNED, np.int32)
    number[theirs] = np.arange(len(among), dtype=np.int32)
    return number[mine]


def most_frequent(
    counts: TermCounts, least: float, most: float, limit: int | None, weight: Array
) -> Array:
    """Which terms so many documents hold; if they are limited, those of the largest weight."""
    kept = (counts.documents <= most) & (counts.documents >= least)
    if limit is not None and kept.sum() > limit:
        # NumPy's own order of equals is scikit-learn's: the same call on the same numbers.
        first = np.flatnonzero(kept)[(-weight[kept]).argsort()[:limit]]
        kept = np.zeros(len(counts), bool)
        kept[first] = True
    return kept


class Vocabulary:
    """Terms, and the column of each; the dictionary of them is made when it is asked for."""

    def __init__(self, terms: Terms, columns: Codes, n_columns: int) -> None:
        self.terms, self.columns, self.n_columns = terms, columns, n_columns

    @classmethod
    def of_terms(cls, terms: Terms) -> Vocabulary:
        """Columns in the order of the terms."""
        return cls(terms, np.arange(len(terms), dtype=np.int32), len(terms))

    @classmethod
    def of_mapping(cls, mapping: Mapping[Any, Any]) -> Vocabulary:
        """Columns as they are given; a key that is no string never occurs."""
        texts = {
            str(term): int(column) for term, column in mapping.items() if isinstance(term, str)
        }
        terms = Terms.of(texts)
        columns = np.array([texts[term] for term in terms.strings()], np.int32)
        vocabulary = cls(terms, columns, len(mapping))
        vocabulary.mapping = dict(mapping)
        return vocabulary

    @cached_property
    def mapping(self) -> dict[Any, int]:
        """The column of each term."""
        return dict(zip(self.terms.strings(), self.columns.tolist(), strict=True))

    @cached_property
    def lookup(self) -> Lookup:
        """What finds the terms in documents."""
        return kernels.lookup(self.terms)

    def current(self) -> Vocabulary:
        """This vocabulary, or that of the dictionary if somebody put terms into it."""
        handed_out = self.__dict__.get("mapping")
        if handed_out is None or len(handed_out) == self.n_columns:
            return self
        return Vocabulary.of_mapping(handed_out)

    def names(self) -> list[Any]:
        """The terms in the order of their columns."""
        mapping = self.__dict__.get("mapping")
        if mapping is not None:
            return sorted(mapping, key=mapping.__getitem__)
        terms = self.terms.strings()
        return [terms[t] for t in np.argsort(self.columns).tolist()]

    def __len__(self) -> int:
        return self.n_columns

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "lookup"}


def given_vocabulary(vocabulary: Mapping[Any, Any] | Iterable[Any]) -> Vocabulary:
    """The columns of terms that the user names."""
    if isinstance(vocabulary, Mapping):
        columns = set(vocabulary.values())
        if len(columns) != len(vocabulary):
            raise ValueError("Vocabulary contains repeated indices. Give every term its own.")
        for i in range(len(vocabulary)):
            if i not in columns:
                raise ValueError(
                    f"Vocabulary of size {len(vocabulary)} doesn't contain index {i}. Number its "
                    "columns from 0 without a gap."
                )
        mapping = dict(vocabulary)
    else:
        terms = sorted(vocabulary) if isinstance(vocabulary, set) else list(vocabulary)
        mapping = {}
        for i, term in enumerate(terms):
            if mapping.setdefault(term, i) != i:
                raise ValueError(f"Duplicate term in vocabulary: {term!r}. Name it once.")
    if not mapping:
        raise ValueError("empty vocabulary passed to fit. Name some terms, or None.")
    return Vocabulary.of_mapping(mapping)


def warn_of_capitals(vocabulary: Vocabulary) -> None:
    """Lower case finds no term that is not."""
    if any(isinstance(t, str) and any(map(str.isupper, t)) for t in vocabulary.mapping):
        warnings.warn(
            "Upper case characters found in vocabulary while 'lowercase' is True. These entries "
            "will not be matched with any documents",
            stacklevel=3,
        )


def chosen_columns(
    counts: TermCounts,
    min_df: Any,
    max_df: Any,
    max_features: int | None,
    weight_dtype: Any,
    binary: bool,
    streaming: bool,
) -> tuple[Vocabulary, Codes]:
    """The terms that are neither too rare nor too common, and the column of each term or PRUNED.

    A stream may hold none of them yet.
    """
    if not len(counts) and not streaming:
        raise ValueError("empty vocabulary; perhaps the documents only contain stop words")
    n = counts.n_documents
    most, least = (float(df if isinstance(df, Integral) else df * n) for df in (max_df, min_df))
    if most < least and not streaming:
        raise ValueError("max_df corresponds to < documents than min_df")
    heavy = counts.documents if binary else counts.total
    weight = heavy.astype(np.zeros(0, weight_dtype).sum().dtype)
    kept = most_frequent(counts, least, most, max_features, weight)
    if not kept.any() and not streaming:
        raise ValueError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")
    column = np.where(kept, np.cumsum(kept) - 1, PRUNED).astype(np.int32)
    return Vocabulary.of_terms(counts.take(kept).terms), column
