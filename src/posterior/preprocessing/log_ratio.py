"""Features that naive Bayes has weighed, for a logistic regression to weigh again."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from posterior.data import validate
from posterior.data.typing import Array, Floats


class LogCountRatio(TransformerMixin, BaseEstimator):
    """Every column times its weight of evidence in naive Bayes (Wang and Manning 2012).

    rⱼ = log (p_1j / p_0j), with p_kj the share of column j in the counts of class k, smoothed.
    A logistic regression on x ∘ r learns corrections to naive Bayes, and few rows suffice.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-counts of every column.

    Attributes
    ----------
    ratio_ : array of shape (n_features,)
    classes_ : array of shape (2,)

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from posterior import LogisticRegression
    >>> from posterior.preprocessing import LogCountRatio
    >>> model = make_pipeline(LogCountRatio(), LogisticRegression())
    >>> model.fit([[3, 0, 1], [0, 2, 1]], ["spam", "ham"]).predict([[1, 0, 0]])
    array(['spam'], dtype='<U4')
    """

    classes_: Array
    ratio_: Floats

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the ratios from counts and their two classes."""
        if not self.alpha > 0:
            raise ValueError(f"Expected alpha above zero, got {self.alpha!r}.")
        table = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        smallest = table.min() if table.shape[0] else 0.0
        if smallest < 0:
            raise ValueError(
                f"Negative values in data passed to LogCountRatio, such as {smallest}."
            )
        classes, codes = validate.labels(y, table.shape[0])
        if len(classes) != 2:
            raise ValueError(
                f"Expected two classes, got {len(classes)}. Make one such model for each class "
                "against the others."
            )
        counts = np.stack(
            [np.asarray(table[codes == k].sum(axis=0)).ravel() + self.alpha for k in range(2)]
        )
        log_share = np.log(counts) - np.log(counts.sum(axis=1, keepdims=True))
        self.classes_, self.ratio_ = classes, log_share[1] - log_share[0]
        return self

    def transform(self, X: Any) -> Any:
        """Columns times their ratios; sparse rows stay sparse."""
        check_is_fitted(self)
        table = validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        if sparse.issparse(table):
            return table.multiply(self.ratio_).tocsr()
        return table * self.ratio_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = True
        return tags
