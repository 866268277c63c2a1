"""Checks of terms and of what vectorizers learned of them, when a model is read."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from posterior.estimators.text.count_vectorizer import LearnedTerms
from posterior.estimators.text.tfidf_transformer import LearnedFrequencies
from posterior.kernels.terms import Terms
from posterior.storage.checks import looks
from posterior.storage.extents import shape_of
from posterior.storage.model_file_error import expect
from posterior.text.damping import WEIGHTINGS
from posterior.text.term_weights import WeighedTerms
from posterior.text.vocabulary import TermCounts, Vocabulary
from posterior.text.weighting import DocumentFrequencies, Weighting


@looks.register
def _(value: Terms) -> None:
    data, starts = value.data, value.starts
    plain = isinstance(data, np.ndarray) and isinstance(starts, np.ndarray)
    expect(plain and data.dtype == np.uint8 and starts.dtype == np.int64, "bytes of terms")
    expect(data.ndim == starts.ndim == 1 and len(starts) > 0 and starts[0] == 0, "bytes of terms")
    expect(starts[-1] == len(data) and (np.diff(starts) >= 0).all(), "terms one by one")
    content = data.tobytes()
    terms = [content[i:j] for i, j in pairwise(starts.tolist())]
    expect(all(a < b for a, b in pairwise(terms)), "terms in order")
    for term in terms:
        term.decode("utf-8", "surrogatepass")


@looks.register
def _(value: TermCounts) -> None:
    for each in (value.documents, value.total):
        expect(shape_of(each) == (len(value.terms),) and each.dtype == np.int64, "a count a term")


@looks.register
def _(value: Vocabulary) -> None:
    columns, n = value.columns, value.n_columns
    expect(isinstance(value.terms, Terms) and type(n) is int, "a vocabulary")
    expect(shape_of(columns) == (len(value.terms),) and columns.dtype == np.int32, "columns")
    expect(columns.min(initial=0) >= 0 and columns.max(initial=-1) < n, "columns that there are")


@looks.register
def _(value: LearnedTerms) -> None:
    vocabulary, statistics, weighting = value.vocabulary, value.statistics, value.weighting
    expect(vocabulary is None or isinstance(vocabulary, Vocabulary), "a vocabulary")
    expect(statistics is None or isinstance(statistics, TermCounts), "counts of terms")
    expect(weighting is None or isinstance(weighting, Weighting), "weights of terms")
    if vocabulary is not None and weighting is not None and weighting.idf_ is not None:
        expect(shape_of(weighting.idf_) == (len(vocabulary),), "a weight of each term")


@looks.register
def _(value: LearnedFrequencies) -> None:
    shape, frequencies = (value.columns.n,), value.statistics
    if frequencies is not None:
        expect(isinstance(frequencies, DocumentFrequencies), "documents of each term")
        expect(shape_of(frequencies.documents) == shape, "documents of each term")
    expect(value.idf is None or shape_of(value.idf) == shape, "a weight of each term")


@looks.register
def _(value: WeighedTerms) -> None:
    known = isinstance(value.weighting, str) and value.weighting in WEIGHTINGS
    expect(known, "a weighting of terms")
