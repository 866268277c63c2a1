"""TfidfTransformer: counts, weighted by how rare their terms are."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags, _align_api_if_sparse
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from posterior.data import containers
from posterior.data.rows import readable
from posterior.data.typing import Array
from posterior.estimators.hooks import Parameters, check_same_features
from posterior.estimators.summed import all_or_nothing
from posterior.text.weighting import DocumentFrequencies, weighted

WEIGHTING: dict[str, Any] = {
    "norm": [StrOptions({"l1", "l2"}), None],
    "use_idf": ["boolean"],
    "smooth_idf": ["boolean"],
    "sublinear_tf": ["boolean"],
}


class TfidfTransformer(  # type: ignore[call-arg]
    OneToOneFeatureMixin, TransformerMixin, Parameters, auto_wrap_output_keys=None
):
    """Counts of terms, weighted by how few documents hold them, each row to length one.

    x_it ← x_it idf_t / ‖x_i‖      idf_t = 1 + log (1 + n) / (1 + d_t)

    n documents were learned, and d_t of them hold term t. The d_t are sums, so they stream, merge
    and forget.

    Parameters
    ----------
    norm : {"l1", "l2"} or None, default="l2"
        Which length of a row becomes one.
    use_idf : bool, default=True
    smooth_idf : bool, default=True
        Without it, idf_t = 1 + log n / d_t.
    sublinear_tf : bool, default=False
        1 + log x_it in the place of x_it.

    Attributes
    ----------
    idf_ : array of shape (n_features,)
    statistics_ : DocumentFrequencies
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from posterior import TfidfTransformer
    >>> TfidfTransformer(norm=None).fit_transform([[2, 0], [1, 1], [1, 0]]).toarray().round(2)
    array([[2.  , 0.  ],
           [1.  , 1.69],
           [1.  , 0.  ]])
    """

    idf_: Array
    statistics_: DocumentFrequencies
    _parameter_constraints: ClassVar[dict[str, Any]] = WEIGHTING

    def __init__(
        self,
        *,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
    ) -> None:
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how many documents hold each term; what was learned before is dropped.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Counts of terms.
        y : ignored
        """
        self._validate_params()
        self.__dict__.pop("idf_", None)
        self._accept(*self._frequencies(X, reset=True))
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add rows: exactly the weights that `fit` on all rows so far would give."""
        self._validate_params()
        first = not hasattr(self, "statistics_")
        more, dtype = self._frequencies(X, reset=first)
        self._accept(more if first else self.statistics_ + more, dtype)
        return self

    @all_or_nothing
    def forget(self, X: Any) -> Self:
        """Take rows back: exactly the weights that never saw them."""
        check_is_fitted(self, "statistics_")
        less, dtype = self._frequencies(X, reset=False)
        left = self.statistics_ - less
        if left.n_documents < 1 or (left.documents < 0).any():
            raise ValueError(
                "Expected rows that were learned, and others to remain, got too many. To start "
                "anew, call fit()."
            )
        self._accept(left, dtype)
        return self

    @all_or_nothing
    def merge(self, other: Self) -> Self:
        """Add what another transformer has learned from other rows."""
        if type(other) is not type(self):
            raise TypeError(
                f"Expected another {type(self).__name__} to merge, got {type(other).__name__}."
            )
        check_is_fitted(self, "statistics_")
        check_is_fitted(other, "statistics_")
        check_same_features(self, other)
        dtype = getattr(self, "idf_", np.zeros(0)).dtype
        self._accept(self.statistics_ + other.statistics_, dtype)
        return self

    def __add__(self, other: Self) -> Self:
        return copy.deepcopy(self).merge(other)

    def transform(self, X: Any, copy: bool = True) -> Any:
        """Weight the counts.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        copy : bool, default=True
            False: a matrix of floats by rows is changed in place.
        """
        check_is_fitted(self)
        containers.refuse_words(X, containers.CONVERT)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], copy=copy, reset=False
        )
        if not sparse.issparse(X):
            X = sparse.csr_array(readable(X), dtype=X.dtype.newbyteorder("="))
        idf = getattr(self, "idf_", None)
        return _align_api_if_sparse(weighted(X, idf, self.sublinear_tf, self.norm))

    def _frequencies(self, X: Any, reset: bool) -> tuple[DocumentFrequencies, Any]:
        containers.refuse_words(X, containers.CONVERT)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), reset=reset)
        if not sparse.issparse(X):
            X = sparse.csr_array(readable(X))
        return DocumentFrequencies.of(X), X.dtype

    def _accept(self, frequencies: DocumentFrequencies, dtype: Any) -> None:
        self.statistics_ = frequencies
        if self.use_idf:
            kind = np.dtype(dtype) if dtype in (np.float64, np.float32) else np.dtype(np.float64)
            self.idf_ = frequencies.idf(self.smooth_idf, kind)
