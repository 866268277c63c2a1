"""Weights counts by how rare their terms are."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags, _align_api_if_sparse, check_array
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from posterior.data import containers
from posterior.data.rows import readable
from posterior.data.table_columns import Columns
from posterior.data.typing import Array
from posterior.estimators.estimator import Estimator, learned
from posterior.text.weighting import DocumentFrequencies, Weighting

WEIGHTING: dict[str, Any] = {
    "norm": [StrOptions({"l1", "l2"}), None],
    "use_idf": ["boolean"],
    "smooth_idf": ["boolean"],
    "sublinear_tf": ["boolean"],
}


@dataclass(frozen=True, slots=True, eq=False)
class LearnedFrequencies:
    """How many documents hold each term, and the weight that follows."""

    columns: Columns
    statistics: DocumentFrequencies | None  # None: weights were set by hand
    idf: Array | None  # None: columns are not weighted


class TfidfTransformer(  # type: ignore[call-arg]
    OneToOneFeatureMixin, TransformerMixin, Estimator, auto_wrap_output_keys=None
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

    fitted_: LearnedFrequencies
    statistics_ = learned[DocumentFrequencies](lambda fitted: fitted.statistics)
    idf_ = learned[Array](
        lambda fitted: fitted.idf, lambda fitted, idf: replace(fitted, idf=np.asarray(idf))
    )
    n_features_in_ = learned[int](lambda fitted: fitted.columns.n)
    feature_names_in_ = learned[Array](
        lambda fitted: None if fitted.columns.names is None else fitted.columns.array()
    )
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

    def state(self, name: str, value: Any) -> None:
        """Weights that are set by hand need no documents."""
        if name != "idf_":
            super().state(name, value)
        columns = Columns(type(self).__name__, len(value))
        self.fitted_ = LearnedFrequencies(columns, None, np.asarray(value))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how many documents hold each term; what was learned before is dropped.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Counts of terms.
        y : ignored
        """
        self._validate_params()
        self.fitted_ = self._learned(*self._frequencies(X, None))
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add rows: exactly the weights that `fit` on all rows so far would give."""
        self._validate_params()
        before: LearnedFrequencies | None = vars(self).get("fitted_")
        if before is None or before.statistics is None:
            self.fitted_ = self._learned(*self._frequencies(X, None))
        else:
            columns, more, dtype = self._frequencies(X, before)
            self.fitted_ = self._learned(columns, before.statistics + more, dtype)
        return self

    def forget(self, X: Any) -> Self:
        """Take rows back: exactly the weights that never saw them."""
        check_is_fitted(self, "statistics_")
        columns, less, dtype = self._frequencies(X, self.fitted_)
        left = self.statistics_ - less
        if left.n_documents < 1 or (left.documents < 0).any():
            raise ValueError(
                "Expected rows that were learned, and others to remain, got too many. To start "
                "anew, call fit()."
            )
        self.fitted_ = self._learned(columns, left, dtype)
        return self

    def merge(self, other: Self) -> Self:
        """Add what another transformer has learned from other rows."""
        if type(other) is not type(self):
            raise TypeError(
                f"Expected another {type(self).__name__} to merge, got {type(other).__name__}."
            )
        check_is_fitted(self, "statistics_")
        check_is_fitted(other, "statistics_")
        columns, idf = self.fitted_.columns, self.fitted_.idf
        columns.check_same(other.fitted_.columns)
        dtype = np.float64 if idf is None else idf.dtype
        self.fitted_ = self._learned(columns, self.statistics_ + other.statistics_, dtype)
        return self

    def __add__(self, other: Self) -> Self:
        return copy.copy(self).merge(other)

    def transform(self, X: Any, copy: bool = True) -> Any:
        """Weight the counts.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        copy : bool, default=True
            False: a matrix of floats by rows is changed in place.
        """
        check_is_fitted(self)
        table = self._table(X, "csr", dtype=[np.float64, np.float32], copy=copy)
        self.fitted_.columns.check(X)
        if not sparse.issparse(table):
            table = sparse.csr_array(readable(table), dtype=table.dtype.newbyteorder("="))
        weighting = replace(weighting_of(self), idf_=self.fitted_.idf)
        return _align_api_if_sparse(weighting.of(table))

    def _table(self, X: Any, formats: Any, **options: Any) -> Any:
        containers.refuse_words(X, containers.CONVERT)
        return check_array(X, accept_sparse=formats, estimator=self, input_name="X", **options)

    def _frequencies(
        self, X: Any, before: LearnedFrequencies | None
    ) -> tuple[Columns, DocumentFrequencies, Any]:
        """The columns of a table, what its rows add, and the type of its cells."""
        table = self._table(X, ("csr", "csc"))
        if before is None:
            columns = Columns(type(self).__name__).of(X)
        else:
            columns = before.columns
            columns.check(X)
        if not sparse.issparse(table):
            table = sparse.csr_array(readable(table))
        return columns, DocumentFrequencies.of(table), table.dtype

    def _learned(
        self, columns: Columns, frequencies: DocumentFrequencies, dtype: Any
    ) -> LearnedFrequencies:
        idf = weighting_of(self).learned(frequencies, dtype).idf_
        return LearnedFrequencies(columns, frequencies, idf)


def weighting_of(estimator: Any) -> Weighting:
    """The settings of an estimator."""
    return Weighting(
        estimator.norm, estimator.use_idf, estimator.smooth_idf, estimator.sublinear_tf
    )
