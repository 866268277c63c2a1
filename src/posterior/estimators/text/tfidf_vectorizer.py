"""Counts the terms of documents, weighted by how rare they are: tf-idf."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import _align_api_if_sparse
from sklearn.utils.validation import FLOAT_DTYPES, check_is_fitted

from posterior.data.typing import Array, Codes
from posterior.estimators.estimator import learned
from posterior.estimators.text.count_vectorizer import COUNTED, CountVectorizer, LearnedTerms
from posterior.estimators.text.tfidf_transformer import WEIGHTING, weighting_of
from posterior.text.analysis import WORDS
from posterior.text.vocabulary import TermCounts, Vocabulary, given_vocabulary
from posterior.text.weighting import DocumentFrequencies, Weighting


class TfidfVectorizer(CountVectorizer):
    """Documents become rows of tf-idf: `CountVectorizer`, then `TfidfTransformer`, in one.

    x_it = c_it idf_t / ‖c_i idf‖      idf_t = 1 + log (1 + n) / (1 + d_t)

    c_it is how often document i holds term t, which d_t of the n learned documents hold. The
    vocabulary and d_t are sums over documents: they stream, merge and forget.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, analyzer
    stop_words, token_pattern, ngram_range, max_df, min_df, max_features, vocabulary, binary, dtype
    norm, use_idf, smooth_idf, sublinear_tf
        As in scikit-learn.
    missing : {"error", "empty"}, default="error"
        What None, NaN and the like are: a mistake, or documents without a term.
    verbose : int or bool, default=False
        Show progress on a terminal from the start; otherwise only of calls that take long.

    Attributes
    ----------
    vocabulary_, fixed_vocabulary_, statistics_ : as in `CountVectorizer`
    idf_ : array of shape (n_features,)
        It can be set.

    Examples
    --------
    >>> from posterior import TfidfVectorizer
    >>> vectorizer = TfidfVectorizer()
    >>> vectorizer.fit_transform(["fish and fish", "fish and chips"]).toarray().round(2)
    array([[0.45, 0.  , 0.89],
           [0.5 , 0.7 , 0.5 ]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = COUNTED | WEIGHTING
    _tfidf = learned[Weighting](lambda fitted: fitted.weighting)  # scikit-learn's name for it

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
        analyzer: Any = "word",
        stop_words: Any = None,
        token_pattern: Any = WORDS,
        ngram_range: tuple[int, int] = (1, 1),
        max_df: Any = 1.0,
        min_df: Any = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.float64,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        missing: str = "error",
        verbose: Any = False,
    ) -> None:
        super().__init__(
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            analyzer=analyzer,
            max_df=max_df,
            min_df=min_df,
            max_features=max_features,
            vocabulary=vocabulary,
            binary=binary,
            dtype=dtype,
            missing=missing,
            verbose=verbose,
        )
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    @property
    def idf_(self) -> Array:
        """The weight of each column, if use_idf=True."""
        kind, weighting = type(self).__name__, self._known().weighting
        if weighting is None:
            raise NotFittedError(
                f"{kind} is not fitted yet. Call 'fit' with appropriate arguments before using "
                "this attribute."
            )
        if weighting.idf_ is None:
            raise AttributeError(f"{kind} has no idf_ with use_idf=False.")
        return weighting.idf_

    @idf_.setter
    def idf_(self, value: Any) -> None:
        if not self.use_idf:
            raise ValueError("`idf_` cannot be set when `user_idf=False`.")
        known = self._known()
        if self.vocabulary is not None:
            known = replace(known, vocabulary=given_vocabulary(self.vocabulary), fixed=True)
        if known.vocabulary is not None and len(known.vocabulary) != len(value):
            raise ValueError(
                f"idf length = {len(value)} must be equal to vocabulary size = "
                f"{len(known.vocabulary)}"
            )
        weighting = known.weighting or weighting_of(self)
        self.fitted_ = replace(known, weighting=replace(weighting, idf_=np.asarray(value)))

    def transform(self, raw_documents: Any) -> Any:
        """Count the terms of the vocabulary, and weight them by what was learned."""
        check_is_fitted(self, msg="The TF-IDF vectorizer is not fitted")
        return super().transform(raw_documents)

    def __sklearn_is_fitted__(self) -> bool:
        return self._known().weighting is not None and super().__sklearn_is_fitted__()

    def _begin(self, documents: Any, before: LearnedTerms | None = None) -> Vocabulary | None:
        if self.dtype not in FLOAT_DTYPES:
            warnings.warn(
                f"Only {FLOAT_DTYPES} 'dtype' should be used. {self.dtype} 'dtype' will be "
                "converted to np.float64.",
                UserWarning,
                stacklevel=3,
            )
        return super()._begin(documents, before)

    def _learned(
        self, counts: TermCounts, given: Vocabulary | None, streaming: bool = False
    ) -> tuple[LearnedTerms, Codes]:
        fitted, columns = super()._learned(counts, given, streaming)
        assert fitted.vocabulary is not None
        frequency = np.zeros(len(fitted.vocabulary), np.int64)
        if counts.n_documents == 0 and not streaming:
            raise ValueError(
                f"Found array with 0 sample(s) (shape=(0, {len(frequency)})) while a minimum of 1 "
                "is required by TfidfTransformer. Give at least one document."
            )
        if len(counts):
            frequency[columns[columns >= 0]] = counts.documents[columns >= 0]
        frequencies = DocumentFrequencies(frequency, counts.n_documents)
        weighting = weighting_of(self).learned(frequencies, self.dtype)
        return replace(fitted, weighting=weighting), columns

    def _finished(self, X: Any, fitted: LearnedTerms) -> Any:
        if self.binary:
            X.data.fill(1)
        if X.dtype not in (np.float64, np.float32):
            X = X.astype(np.float64)
        assert fitted.weighting is not None
        return _align_api_if_sparse(fitted.weighting.of(X))
