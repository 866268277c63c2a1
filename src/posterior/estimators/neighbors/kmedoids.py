"""k-medoids: clusters around rows of the table, by any distance."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from posterior.data import validate
from posterior.data.rows import take
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.engines.local import Local
from posterior.estimators.estimator import Estimator, learned
from posterior.neighbors.fitted_medoids import FittedMedoids, among, from_medoids
from posterior.neighbors.input_by_metric import reader_of
from posterior.neighbors.medoids import build, plus_plus, swap
from posterior.neighbors.metrics import NAMES, Metric


class KMedoids(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """Clusters around rows of the table, by any distance.

    Σᵢ wᵢ minₖ d(xᵢ, mₖ) is lowered over medoids m, which are rows: medoids are swapped for other
    rows until no swap is left that helps (FasterPAM, Schubert and Rousseeuw 2021). Distances alone
    are asked for, so rows may be strings, or tables of numbers, words and missing cells.

    Parameters
    ----------
    n_clusters : int, default=8
    metric : str or callable, default="euclidean"
        A distance of `KNeighborsClassifier`: scikit-learn's names and functions of two rows;
        "edit" for a column of strings, "mixed" for frames of numbers, categories and missing cells
        (Gower 1971), "precomputed" for distances (n_samples, n_samples).
    metric_params : dict, optional
        Settings of the metric: {"p": 3} of "minkowski", {"kind": "damerau"} of "edit".
    init : "build" or "k-medoids++", default="build"
        Where medoids begin: one after the other where it lowers the sum most, or at rows drawn far
        from each other, which takes less time where clusters are many.
    max_iter : int, default=300
        Passes over all rows as candidates.
    random_state : int, RandomState instance or None
        Of "k-medoids++"; there is no chance in "build".

    Attributes
    ----------
    medoid_indices_ : array of shape (n_clusters,)
        The rows that are medoids.
    cluster_centers_ : the medoids: array of shape (n_clusters, n_features), or as the rows are
        A sparse matrix, strings, or a table of several kinds; none if distances were given.
    labels_ : array of shape (n_samples,)
    inertia_ : float
        Σᵢ wᵢ d(xᵢ, m) from the nearest medoids.
    n_iter_ : int
    converged_ : bool
        Whether no swap is left that helps.

    Examples
    --------
    >>> from posterior import KMedoids
    >>> names = [["anna"], ["anne"], ["hanna"], ["robert"], ["rupert"], ["rubert"]]
    >>> model = KMedoids(n_clusters=2, metric="edit").fit(names)
    >>> model.labels_.tolist(), model.cluster_centers_.tolist(), model.inertia_
    ([0, 0, 0, 1, 1, 1], ['anna', 'rubert'], 4.0)
    >>> model.predict([["joanna"], ["bert"]]).tolist()
    [0, 1]
    """

    n_clusters: int
    fitted_: FittedMedoids
    engine_: ClassVar[Local] = Local()

    medoid_indices_ = learned[Integers](lambda fitted: fitted.numbers)
    cluster_centers_ = learned[Any](lambda fitted: fitted.centers())
    labels_ = learned[Codes](lambda fitted: fitted.labels)
    inertia_ = learned[float](lambda fitted: fitted.inertia)
    n_iter_ = learned[int](lambda fitted: fitted.n_iter)
    converged_ = learned[bool](lambda fitted: fitted.converged)
    n_features_in_ = learned[int](lambda fitted: fitted.reader.columns.n)
    feature_names_in_ = learned[Array](
        lambda fitted: fitted.reader.columns.names and fitted.reader.names
    )

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions(NAMES), callable],
        "metric_params": [dict, None],
        "init": [StrOptions({"build", "k-medoids++"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        init: str = "build",
        max_iter: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        metric = Metric.of(self.metric, None, self.metric_params)
        reader_of(metric, type(self).__name__).describe(tags.input_tags)
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.medoid_indices_)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the medoids.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Or a column of strings, or distances (n_samples, n_samples), as the metric says. Up to
            16,384 rows, since the distances of all pairs are kept; any number of given distances.
            Euclidean distances leave missing cells out, and are scaled to all columns; rows that
            share no known cell are as far apart as the two rows that are farthest.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            A weight of two is two rows; a row of no weight is no medoid.
        """
        self._validate_params()
        metric, fill = Metric.of(self.metric, None, self.metric_params), self.engine_.fill
        metric.check_settings()
        reader, rows = reader_of(metric, type(self).__name__).learn(X)
        n = rows.shape[0]
        weight = validate.weights(sample_weight, n)
        weight = np.ones(n) if weight is None else weight
        counted = np.flatnonzero(weight)
        if len(counted) < self.n_clusters:
            of_weight = "" if len(counted) == n else ", of those with a weight,"
            raise ValueError(
                f"n_samples={len(counted)}{of_weight} should be >= n_clusters={self.n_clusters}. "
                "Ask for fewer."
            )
        metric, far, D = among(metric, rows, counted, fill)
        given = D, weight[counted], self.n_clusters
        random = check_random_state(self.random_state)
        start = build(*given) if self.init == "build" else plus_plus(*given, random)
        end = swap(D, weight[counted], start, self.max_iter)
        if not end.converged:
            warnings.warn(
                f"Swaps of medoids still helped after max_iter={self.max_iter} passes. Raise it.",
                ConvergenceWarning,
                stacklevel=2,
            )
        numbers = counted[end.medoids]
        medoids = None if metric.name == "precomputed" else take(rows, numbers)
        apart = from_medoids(metric, far, rows, medoids, numbers, fill)
        labels = apart.argmin(axis=1).astype(np.int32)
        inertia = float(weight[counted] @ apart[counted].min(axis=1))
        clusters = medoids, numbers, labels, inertia, end.n_iter, end.converged
        self.fitted_ = FittedMedoids(reader, metric, far, *clusters)
        return self

    def predict(self, X: Any) -> Codes:
        """The nearest medoid of each row; of equals the first."""
        return self.transform(X).argmin(axis=1).astype(np.int32)

    def transform(self, X: Any) -> Floats:
        """The distance of each row from each medoid, (n_samples, n_clusters)."""
        check_is_fitted(self)
        return self.fitted_.distances(X, self.engine_.fill)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of the distances of these rows from their nearest medoids."""
        near = self.transform(X).min(axis=1)
        weight = validate.weights(sample_weight, len(near))
        return -float(near.sum() if weight is None else weight @ near)
