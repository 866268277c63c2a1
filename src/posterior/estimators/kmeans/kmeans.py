"""k-means of all rows at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from posterior.data.pictured import Run
from posterior.data.typing import Floats
from posterior.estimators import remote
from posterior.estimators.estimator import learned
from posterior.estimators.kmeans.base import SETTINGS, Clusters, stored
from posterior.generative.kmeans.fitted_clusters import FittedClusters
from posterior.generative.kmeans.lloyd import TIRED, Clustering, Stop, lloyd
from posterior.generative.kmeans.points import Points
from posterior.generative.kmeans.steps import ClusterStep, followed
from posterior.readers.reader import Reader


class KMeans(Clusters):
    """Centers that lie nearest to their rows.

    Σᵢ wᵢ minₖ |xᵢ - cₖ|² is lowered in turns: every row goes to its nearest center, every center
    to the mean of its rows, until nothing moves. It is the mixture of spheres of one size with
    each row counted for its most probable sphere alone; `predict_proba` has the others too.

    Parameters
    ----------
    n_clusters : int, default=8
    init : "k-means++", "random", array of shape (n_clusters, n_features) or callable
        Where centers begin: at rows drawn far from each other, at rows drawn by weight, as given,
        or as `init(X, n_clusters, random_state=...)` says.
    n_init : "auto" or int
        How many starts; the one of least inertia is kept. "auto" is 1 for "k-means++" and for
        given centers, 10 otherwise.
    max_iter : int, default=300
    tol : float, default=1e-4
        Stop when the squared shift of all centers is below tol times the variance of a column.
    verbose : int, default=0
    random_state : int, RandomState instance or None
    copy_x : bool, default=True
        Accepted for scikit-learn's sake: X is never changed.
    algorithm : "lloyd" or "elkan"
        Names of scikit-learn; one exact method with bounds, which skip distances, serves both.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    labels_ : array of shape (n_samples,)
    inertia_ : float
        Σᵢ wᵢ |xᵢ - c|² from the nearest centers; of rows with missing cells, over those observed.
    n_iter_ : int
    inertias_ : array of shape (n_iter_,)
        The inertia after each iteration; it never rises.
    reason_ : str
        Why the iterations ended.
    converged_ : bool
    weights_ : array of shape (n_clusters,)
        π: the share of each cluster in the weight of the rows.
    variance_ : float
        σ²: the variance of a cell around its center.

    Examples
    --------
    >>> from posterior import KMeans
    >>> X = [[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]]
    >>> model = KMeans(n_clusters=2, init=[[0, 0], [9, 9]]).fit(X)
    >>> model.labels_.tolist(), model.inertia_
    ([0, 0, 0, 1, 1, 1], 16.0)
    >>> model.predict([[0, 0], [12, 3]]).tolist()
    [0, 1]
    """

    default_n_init: ClassVar[int] = 10
    inertias_: learned[Floats] = stored("inertias")
    reason_: learned[str] = stored("reason")
    converged_ = learned[bool](
        lambda fitted: None if fitted.reason is None else fitted.reason != TIRED
    )

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SETTINGS,
        "copy_x": ["boolean"],
        "algorithm": [StrOptions({"lloyd", "elkan"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: remote.FilePath | None = None,
    ) -> Self:
        """Find the centers.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or a table elsewhere
            Missing cells of an array or frame are left out of distances and means. Files (a path,
            a pattern, a list of paths), a query, or a frame of Dask or Spark are read in batches,
            once for each iteration; centers begin in a sample of 100,000 rows, and there is no
            `labels_`: predict has them.
        y : ignored
        sample_weight : array of shape (n_samples,), or of a table elsewhere the name of a column
        checkpoint : path, optional
            Where the fit of a table elsewhere writes down what it has summed. Killed and started
            again, it goes on from there to the same model.
        """
        self._validate_params()
        if self.algorithm == "elkan" and self.n_clusters == 1:
            warnings.warn(
                "algorithm='elkan' doesn't make sense for a single cluster. Using 'lloyd' instead.",
                RuntimeWarning,
                stacklevel=2,
            )
        there = remote.located(X, checkpoint)
        if there is None:
            reader, points = self._read(X, sample_weight)
            self.fitted_ = self._found(reader, points, check_random_state(self.random_state))
            return self
        engine, source = there
        weight = remote.weights_of(source, sample_weight)
        with remote.checkpointed(self, engine, source, checkpoint, sample_weight=weight) as engine:
            reader, away = self._read_elsewhere((engine, source), weight)
            fitted = self._found(reader, away, remote.random_of(self.random_state, engine))
        self.fitted_ = fitted
        return self

    def steps(self, X: Any, y: Any = None, sample_weight: Any = None) -> tuple[ClusterStep, ...]:
        """Every step of the way to `fit`: rows are assigned, centers move, and so on.

        Each has `number`, `kind` ("assign" or "move"), `centers`, `labels` and `inertia`, and
        prints as a line. The last is what `fit` finds with the same settings; of several starts
        these are the steps of the best. `step.model` is the estimator with the centers of a step,
        and `step.plot()` draws cells, rows and the path of the centers so far, of one column or
        two. The model itself learns nothing.

        Examples
        --------
        >>> from posterior import KMeans
        >>> X = [[1], [2], [9], [11]]
        >>> for step in KMeans(2, init=[[1], [2]]).steps(X):
        ...     print(step)
        1 assign  inertia 130  centers (1) (2)  rows 1 3
        2 move    inertia 44.67  centers (1) (7.333)  rows 1 3
        3 assign  inertia 17.22  centers (1) (7.333)  rows 2 2
        4 move    inertia 2.5  centers (1.5) (10)  rows 2 2
        5 assign  inertia 2.5  centers (1.5) (10)  rows 2 2
        """
        self._validate_params()
        remote.refuse_elsewhere(X, "steps")
        reader, points = self._read(X, sample_weight)
        runs: list[Run] = []
        follow = partial(followed, runs, Run(X, None, partial(_left_by, clone(self), reader)))
        self._found(reader, points, check_random_state(self.random_state), follow)
        return tuple(min(runs, key=lambda run: run.steps[-1].inertia).steps)

    def _found(
        self,
        reader: Reader,
        points: Points,
        random: np.random.RandomState,
        loop: Callable[..., Clustering] = lloyd,
    ) -> FittedClusters:
        """The best of all starts."""
        spread, log, dtype = points.spread(), self._log(), points.dtype
        self._check(points, spread, reader.names)
        stop = Stop(self.tol * spread.variance, self.max_iter)
        best: Clustering | None = None
        for _ in range(self._n_starts()):
            start = self._start(points, spread.mean, random)
            log("Initialization complete")
            clustering = loop(points, start, spread, stop, log, dtype)
            if best is None or clustering.inertia < best.inertia:
                best = clustering
        assert best is not None
        n_found = len(np.union1d(best.labels, np.flatnonzero(best.weight)))
        if n_found < self.n_clusters:
            warnings.warn(
                f"Number of distinct clusters ({n_found}) found smaller than n_clusters "
                f"({self.n_clusters}). Possibly due to duplicate points in X.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return FittedClusters(
            reader,
            best.centers.astype(dtype),
            weights=best.weight / best.weight.sum(),
            variance=spread.around_centers(best.inertia),
            sparse=points.sparse,
            labels=best.labels if points.in_memory else None,
            inertia=best.inertia,
            n_iter=best.n_iter,
            inertias=best.inertias,
            reason=best.reason,
        )


def _left_by(model: KMeans, reader: Reader, step: ClusterStep) -> KMeans:
    """The estimator with the centers of a step."""
    found = clone(model)
    found.fitted_ = FittedClusters(reader, step.centers)
    return found
