"""The graph of neighbors, and the base class by which scikit-learn knows a model of neighbors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils import _align_api_if_sparse
from sklearn.utils.validation import check_is_fitted

from posterior.data import process

# Its package takes as long to import as all of ours, and a command hands no model to its functions.
if TYPE_CHECKING or not process.is_ours:
    from sklearn.neighbors._base import KNeighborsMixin
else:

    class KNeighborsMixin:
        """Stands in for scikit-learn's."""


__all__ = ["KNeighborsMixin", "kneighbors_graph"]


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
