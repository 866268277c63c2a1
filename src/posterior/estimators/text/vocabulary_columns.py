"""Which terms have a column: a vocabulary that is given, or chosen from the counts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from posterior.data.typing import Codes
from posterior.kernels.terms import PRUNED
from posterior.text.vocabulary import TermCounts, Vocabulary, most_frequent


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
