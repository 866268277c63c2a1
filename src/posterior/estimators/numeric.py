"""Classifiers of tables of numbers, dense or sparse, read as they are."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from posterior.data import containers, frames, validate
from posterior.data.rows import Features, SparseRows, readable
from posterior.data.typing import Floats
from posterior.data.validate import in_order
from posterior.estimators.base import GenerativeClassifier
from posterior.estimators.hooks import Parameters

CALIBRATED = [None, str]
CSR = (sparse.csr_array, sparse.csr_matrix)


def log_prior(weight: Floats, given: Any, classes: Any) -> Floats:
    """Log class probabilities as given, or as the weights (..., k) say."""
    with np.errstate(divide="ignore"):
        if given is None:
            return np.log(weight) - np.log(weight.sum(axis=-1, keepdims=True))
        p = validate.priors(in_order(given, classes, "priors"), range(weight.shape[-1]))
        return np.broadcast_to(np.log(p), weight.shape).astype(np.float64)


class NumericInput(Parameters):
    """Tables of numbers, dense or sparse, read as they are."""

    n_features_in_: int
    accepts_sparse: ClassVar[bool] = True
    accepts_missing: ClassVar[bool] = True
    accepts_negative: ClassVar[bool] = True
    where_words: ClassVar[str] = containers.CONVERT  # what to do about words

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.accepts_sparse
        tags.input_tags.allow_nan = self.accepts_missing
        tags.input_tags.positive_only = not self.accepts_negative
        return tags

    def _features(self, X: Any, fitting: bool, reset: bool) -> Features:
        if self._is_plain(X, reset):
            return X if isinstance(X, np.ndarray) else SparseRows.of(X)
        frame = frames.as_frame(X)
        numbers = None if frame is None else containers.number_rows(frame, doubles=True)
        if numbers is not None and 0 not in numbers.shape:
            validate_data(self, X, reset=reset, skip_check_array=True)
            return numbers
        if getattr(X, "shape", (1, 1))[1:] == (0,):  # a frame of no columns has no type either
            raise ValueError(
                f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required."
            )
        containers.refuse_words(X, self.where_words)
        table = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if self.accepts_sparse else False,
            ensure_all_finite=False,  # looked at chunk by chunk, while it is in cache
        )
        if not isinstance(table, np.ndarray):
            return SparseRows.of(table)
        # None is missing
        return table.astype(np.float64) if table.dtype.kind == "O" else readable(table)

    def _is_plain(self, X: Any, reset: bool) -> bool:
        """Whether X is what the kernels read, so that the long way of checking can be spared."""
        if type(X) is not np.ndarray and not (self.accepts_sparse and type(X) in CSR):
            return False
        if X.ndim != 2 or X.dtype.kind not in "fiu" or 0 in X.shape or X.dtype.itemsize > 8:
            return False
        if isinstance(X, np.ndarray) and not (X.flags.aligned and X.dtype.isnative):
            return False
        if reset:
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            return True
        return X.shape[1] == self.n_features_in_ and not hasattr(self, "feature_names_in_")

    def _check_cells(self, X: Any, first_row: int, fitting: bool) -> None:
        validate.check_numbers(
            X,
            first_row=first_row,
            names=getattr(self, "feature_names_in_", None),
            allow_missing=self.accepts_missing and not isinstance(X, SparseRows),
            allow_negative=self.accepts_negative or not fitting,
            estimator=type(self).__name__,
        )


class NumericClassifier(NumericInput, GenerativeClassifier):
    """A generative classifier of numbers."""
