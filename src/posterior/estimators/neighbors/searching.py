"""Which training rows are nearest: kneighbors, and the graph that they make."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors._base import KNeighborsMixin
from sklearn.utils import _align_api_if_sparse
from sklearn.utils.validation import check_is_fitted

from posterior.data.typing import Integers
from posterior.engines.local import Local
from posterior.estimators.neighbors.metric_names import Metric
from posterior.estimators.neighbors.neighbor_input import Reading
from posterior.estimators.neighbors.search_method import Search, Way
from posterior.neighbors.examples import Examples
from posterior.neighbors.voters import Neighbors, neighbors


class Searching(KNeighborsMixin, Reading):  # the mixin lets scikit-learn's functions take it
    """kneighbors and kneighbors_graph."""

    n_neighbors: Any
    algorithm: str
    n_jobs: int | None
    n_samples_fit_: int
    effective_metric_: Any
    effective_metric_params_: dict[str, Any]
    _examples: Examples
    _search: Search
    _chosen: int

    @property
    def n_neighbors_(self) -> int:
        """How many vote: as asked, or as chosen in `fit`."""
        check_is_fitted(self)
        return int(self.n_neighbors) if isinstance(self.n_neighbors, Integral) else self._chosen

    @property
    def search_(self) -> Way:
        """The way to search that was taken, and why."""
        check_is_fitted(self)
        return self._search.way

    @property
    def _fit_X(self) -> Any:  # noqa: N802 - its name there
        """The training rows, where scikit-learn's functions look for them."""
        X = self._examples.X
        return X.scipy() if hasattr(X, "scipy") else X

    @property
    def engine_(self) -> Local:
        """As many threads as n_jobs says, or as the engine would use."""
        return Local(self.n_jobs if self.n_jobs is not None and self.n_jobs > 0 else None)

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """The nearest training rows of each query; equals in the order of their numbers.

        Parameters
        ----------
        X : array, sparse matrix or frame, or None
            None asks for the neighbors of each training row, itself left out.
        n_neighbors : int, optional
        return_distance : bool, default=True

        Returns
        -------
        distances : array of shape (n_queries, n_neighbors), unless return_distance=False
        numbers : array of shape (n_queries, n_neighbors)
        """
        check_is_fitted(self)
        k = self._k(n_neighbors)
        Q, skip = self._queries(X)
        counted = len(self._examples.counted)
        if k > counted - (skip is not None):
            sign = "<=" if skip is None else "<"
            raise ValueError(
                f"Expected n_neighbors {sign} n_samples_fit, but n_neighbors = {k}, n_samples_fit "
                f"= {counted}, n_samples = {Q.shape[0]}. Ask for fewer."
            )
        distances, numbers = self._search.nearest(Q, k, skip)
        return (distances, numbers) if return_distance else numbers

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
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

    def _k(self, n_neighbors: Any) -> int:
        if n_neighbors is None:
            return self.n_neighbors_
        if not isinstance(n_neighbors, Integral):
            raise TypeError(
                f"n_neighbors does not take {type(n_neighbors)} value, enter integer value"
            )
        if n_neighbors <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {n_neighbors:d}")
        return int(n_neighbors)

    def _queries(self, X: Any) -> tuple[Any, Integers | None]:
        """Rows to ask for, and the training row that each may not meet."""
        if X is None:
            return self._examples.X, np.arange(len(self._examples))
        return self._rows(X, self._metric(), reset=False), None

    def _metric(self) -> Metric:
        return Metric(self.effective_metric_, self.effective_metric_params_)

    def _neighbors(self, X: Any) -> Neighbors:
        """The rows that vote on each query."""
        check_is_fitted(self)
        Q, skip = self._queries(X)
        weight, total = self._examples.weight, self._examples.total
        if self.n_neighbors_ > total - (skip is not None and weight is None):
            counted = "" if weight is None else " by their weights, of which two are two rows,"
            sign = "<=" if skip is None else "<"
            raise ValueError(
                f"Expected n_neighbors {sign} n_samples_fit,{counted} but n_neighbors = "
                f"{self.n_neighbors_}, n_samples_fit = {total:g}, n_samples = {Q.shape[0]}. Ask "
                "for fewer."
            )
        return neighbors(self._search, Q, self.n_neighbors_, weight, skip)

    def _accept(self, examples: Examples, metric: Metric, k: int) -> None:
        """Remember the rows; the index is built when it is needed."""
        self._examples = examples
        self.n_samples_fit_ = len(examples)
        self.effective_metric_, self.effective_metric_params_ = metric.name, metric.settings
        self._search = Search(examples, metric, self.algorithm, k, self.engine_.fill)
