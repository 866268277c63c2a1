"""Hashes the terms of documents to columns, so that nothing is learned."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Tags, _align_api_if_sparse
from sklearn.utils._param_validation import Interval, StrOptions

from posterior.estimators.text.base import CONSTRAINTS, DocumentEstimator, given_terms, terms_of
from posterior.text.analysis import WORDS
from posterior.text.weighting import normalized


class HashingVectorizer(  # type: ignore[call-arg]
    TransformerMixin, DocumentEstimator, auto_wrap_output_keys=None
):
    """Documents become rows of hashed terms: no vocabulary, and nothing to learn.

    x_ij = Σ_t c_it sign h(t) [|h(t)| mod n = j]

    h is MurmurHash3 of 32 bits; equal columns of different terms are rare if n is large
    (Weinberger et al. 2009).

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words
    token_pattern, ngram_range, analyzer, n_features, binary, norm, alternate_sign, dtype
        As in scikit-learn.
    missing : {"error", "empty"}, default="error"
        What None, NaN and the like are: a mistake, or documents without a term.
    verbose : int or bool, default=False
        Show progress on a terminal from the start; otherwise only of calls that take long.

    Examples
    --------
    >>> from posterior import HashingVectorizer
    >>> HashingVectorizer(n_features=2**4).transform(["fish and chips", "peas"]).shape
    (2, 16)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "n_features": [Interval(Integral, 1, np.iinfo(np.int32).max, closed="left")],
        "binary": ["boolean"],
        "norm": [StrOptions({"l1", "l2"}), None],
        "alternate_sign": ["boolean"],
    }

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
        n_features: int = 2**20,
        binary: bool = False,
        norm: str | None = "l2",
        alternate_sign: bool = True,
        dtype: Any = np.float64,
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
        self.n_features = n_features
        self.binary = binary
        self.norm = norm
        self.alternate_sign = alternate_sign
        self.dtype = dtype
        self.missing = missing
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; there is nothing to learn."""
        self._validate_params()
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; there is nothing to learn."""
        self._validate_params()
        terms = given_terms(self)
        terms.check(X)
        terms.warn_of_unused()
        return self

    def transform(self, X: Any) -> Any:
        """Hash the terms of documents.

        Returns
        -------
        X : sparse matrix of shape (n_samples, n_features), by rows, columns ascending
        """
        self._validate_params()  # which `fit` may never have seen
        terms = terms_of(self)
        terms.check(X)
        with self._progress("Hashed") as progress:
            counting = self._counting(progress, terms)
            rows = counting.hashed(X, self.n_features, self.alternate_sign, self.dtype)
        if rows.shape[0] == 0:
            raise ValueError("Cannot vectorize empty sequence. Give at least one document.")
        if self.binary:
            rows.data.fill(1)
        if self.norm is not None and rows.dtype.kind != "f":
            rows = rows.astype(np.float64)
        return _align_api_if_sparse(normalized(rows, self.norm))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """As `transform`, with the parameters checked."""
        return self.fit(X, y).transform(X)
