"""The graph of neighbors, as a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _align_api_if_sparse
from sklearn.utils.validation import check_is_fitted


def kneighbors_graph(
    self: Any, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
) -> Any:
    """The nearest training rows of each query as a sparse matrix (n_queries, n_samples_fit).

    Parameters
    ----------
    X, n_neighbors : as in `kneighbors`
    mode : "connectivity" or "distance"
        Ones, or the distances.
    """
    check_is_fitted(self)
    if mode not in ("connectivity", "distance"):
        raise ValueError(
            'Unsupported mode, must be one of "connectivity", or "distance" but got '
            f'"{mode}" instead'
        )
    distances, numbers = self.kneighbors(X, n_neighbors)
    values = np.ones(numbers.size) if mode == "connectivity" else distances.ravel()
    start = np.arange(0, numbers.size + 1, numbers.shape[1])
    shape = (len(numbers), self.n_samples_fit_)
    return _align_api_if_sparse(sparse.csr_array((values, numbers.ravel(), start), shape))
