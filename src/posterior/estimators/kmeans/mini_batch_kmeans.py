"""k-means of small batches."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from posterior.data.typing import Array, Floats
from posterior.estimators import remote
from posterior.estimators.estimator import learned
from posterior.estimators.kmeans.base import SETTINGS, Clusters
from posterior.generative.kmeans.fitted_clusters import FittedClusters
from posterior.generative.kmeans.mini_batch_steps import Patience, Received
from posterior.generative.kmeans.points import Points, Spread


class MiniBatchKMeans(Clusters):
    """k-means that looks at a small batch of rows at a time.

    Each center is the mean of all rows that it ever received (Sculley 2010): less exact than
    `KMeans`, and done long before it has seen a large table often.

    Parameters
    ----------
    n_clusters, init, max_iter, verbose, random_state : as in KMeans
        `max_iter` counts looks at as many rows as there are.
    batch_size : int, default=1024
    compute_labels : bool, default=True
        Whether to give `labels_` and `inertia_` of all rows in the end.
    tol : float, default=0.0
        Stop when the squared shift of all centers is below tol times the variance of a column;
        0 means never.
    max_no_improvement : int, default=10
        Stop after as many batches without a lower average inertia; None means never.
    init_size : int, optional
        Rows drawn to find a start in; by default three batches.
    n_init : "auto" or int
        How many starts; the best on `init_size` rows is kept. "auto" is 1 for "k-means++" and for
        given centers, 3 otherwise.
    reassignment_ratio : float, default=0.01
        Centers of less than this part of the largest weight move to a row drawn at random.

    Attributes
    ----------
    cluster_centers_, labels_, inertia_, weights_, variance_ : as in KMeans
    n_iter_ : int
        Looks at all rows that were begun.
    n_steps_ : int
        Batches.

    Examples
    --------
    >>> from posterior import MiniBatchKMeans
    >>> X = [[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]]
    >>> model = MiniBatchKMeans(n_clusters=2, batch_size=6, random_state=0)
    >>> model = model.partial_fit(X[:4]).partial_fit(X[4:])
    >>> model.predict([[0, 0]]) == model.predict([[2, 3]])
    array([ True])
    """

    default_n_init: ClassVar[int] = 3
    n_steps_ = learned[int](lambda fitted: None if fitted.stream is None else fitted.stream.n_steps)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SETTINGS,
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "compute_labels": ["boolean"],
        "max_no_improvement": [Interval(Integral, 0, None, closed="left"), None],
        "init_size": [Interval(Integral, 1, None, closed="left"), None],
        "reassignment_ratio": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        max_iter: int = 100,
        batch_size: int = 1024,
        verbose: int = 0,
        compute_labels: bool = True,
        random_state: Any = None,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        init_size: int | None = None,
        n_init: Any = "auto",
        reassignment_ratio: float = 0.01,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the centers from batches drawn by weight; what was learned before is dropped.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or a table elsewhere
            Rows of files, a query, or a frame of Dask or Spark come in their order instead, are
            read by this process alone, and get no `labels_`.
        y : ignored
        sample_weight : array of shape (n_samples,), or of a table elsewhere the name of a column
        """
        self._validate_params()
        there = remote.located(X)
        if there is None:
            reader, points = self._read(X, sample_weight)
        else:
            weight = remote.weights_of(there[1], sample_weight)
            reader, points = self._read_elsewhere(there, weight)
        spread, log, n = points.spread(), self._log(), points.n_rows
        self._check(points, spread, reader.names)
        random = check_random_state(self.random_state)
        centers = self._best_start(points, spread.mean, random)
        size = min(self.batch_size, n)
        rate = min(2 * size / (n + 1), 1.0)
        patience = Patience(self.tol * spread.variance, rate, self.max_no_improvement)
        received = Received.nothing(centers, random)
        batches, n_steps = points.batches(size, random), self.max_iter * n // size
        for step in range(1, n_steps + 1):
            batch, before = next(batches), received
            received, inertia = received.step(batch, size, self.reassignment_ratio, log)
            inertia /= float(batch.weights.sum()) or 1.0  # of a row
            log(f"Minibatch step {step}/{n_steps}: mean batch inertia: {inertia}")
            if step == 1:  # its inertia is that of the start
                continue
            shift = float(((received.centers - before.centers) ** 2).sum())
            if reason := patience.reason_to_stop(inertia, shift):
                log(f"Converged ({reason}) at step {step}/{n_steps}")
                break
        inertia = points.total_weight * (inertia if patience.average is None else patience.average)
        n_iter = int(np.ceil(step * size / n))
        start = FittedClusters(
            reader, centers.astype(points.dtype), sparse=points.sparse, n_iter=n_iter
        )
        self.fitted_ = self._after(start, received, points, spread, inertia, shown=True)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add one batch.

        The first one, of as many rows as clusters or more, says where centers begin; batches should
        be mixed, since of sorted rows the first are cut too finely.

        Parameters
        ----------
        X, sample_weight : as in `fit`
        y : ignored
        """
        self._validate_params()
        before: FittedClusters | None = vars(self).get("fitted_")
        if before is None:
            reader, points = self._read(X, sample_weight)
            spread = points.spread()
            self._check(points, spread, reader.names)
            random = check_random_state(self.random_state)
            centers = self._first_start(points, spread.mean, random)
            before = FittedClusters(reader, centers.astype(points.dtype), sparse=points.sparse)
            received = Received.nothing(centers, random)
        else:
            points = before.points(X, self.engine_, sample_weight)
            spread, centers = points.spread(), before.doubles()
            if before.stream is not None:
                received = Received(centers, before.stream)
            else:  # they were set by hand
                received = Received.nothing(centers, check_random_state(self.random_state))
        size = min(self.batch_size, len(points))
        received, inertia = received.step(points, size, self.reassignment_ratio, self._log())
        self.fitted_ = self._after(
            before, received, points, spread, inertia, shown=self.compute_labels
        )
        return self

    def _after(
        self,
        before: FittedClusters,
        received: Received,
        points: Points,
        spread: Spread,
        inertia: float,
        *,
        shown: bool,
    ) -> FittedClusters:
        """Centers after some batches, with what is known of the rows that they have received."""
        centers, labels = received.centers.astype(before.centers.dtype), None
        if self.compute_labels:
            space = points.space(len(centers))
            space.assign(centers.astype(np.float64))
            labels, inertia = space.labels if points.in_memory else None, space.assigned().inertia
        weight = received.stream.row_weight
        return replace(
            before,
            centers=centers,
            weights=weight / weight.sum(),
            variance=spread.around_centers(inertia),
            labels=labels,
            inertia=inertia if shown else None,
            stream=received.stream,
        )

    def _first_start(self, points: Points, mean: Floats, random: np.random.RandomState) -> Floats:
        """The one start of a stream."""
        self._n_starts()  # warns that given centers are one start
        sample = self._sample(points, self._check_init_size(len(points)), random)
        return self._start(sample, mean, random)

    def _best_start(self, points: Points, mean: Floats, random: np.random.RandomState) -> Floats:
        """The start of the least inertia on rows drawn for it."""
        size, n_starts, log = self._check_init_size(len(points)), self._n_starts(), self._log()
        judges = points.take(drawn_rows(points, size, random))
        starts = []
        for i in range(1, n_starts + 1):
            centers = self._start(self._sample(points, size, random), mean, random)
            starts.append((judges.inertia(centers), centers))
            log(f"Inertia for init {i}/{n_starts}: {starts[-1][0]}")
        return min(starts, key=lambda start: start[0])[1]

    def _check_init_size(self, n: int) -> int:
        k = self.n_clusters
        size = self.init_size or 3 * min(self.batch_size, n)
        if size < k:
            if self.init_size is not None:
                warnings.warn(
                    f"init_size={size} should be larger than n_clusters={k}. Setting it to "
                    "min(3*n_clusters, n_samples)",
                    RuntimeWarning,
                    stacklevel=4,
                )
            size = 3 * k
        return min(size, n)

    def _sample(self, points: Points, size: int, random: np.random.RandomState) -> Points:
        """Rows drawn to find a start in."""
        return points if size >= len(points) else points.take(drawn_rows(points, size, random))


def drawn_rows(points: Points, n: int, random: np.random.RandomState) -> Array:
    """Rows that have a weight, each as probable as the others."""
    counted = np.flatnonzero(points.weights)
    return counted[random.randint(0, len(counted), n)]
