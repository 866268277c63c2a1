"""CountVectorizer: documents become rows of counts, one column a term."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.estimators.text.analyzing import WORDS
from posterior.estimators.text.term_counts import Counts


class CountVectorizer(Counts):
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
