"""k-means of small batches."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from posterior.data.typing import Array, Floats
from posterior.engines.locate import locate
from posterior.estimators.elsewhere import weights_of
from posterior.estimators.kmeans.clusters_base import Clusters
from posterior.estimators.kmeans.remote_clusters import distant_points
from posterior.estimators.summed import all_or_nothing
from posterior.generative.kmeans.mini_batch_steps import Patience, Received, drawn_batches
from posterior.generative.kmeans.points import Points
from posterior.generative.kmeans.remote_points import DistantPoints


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
    n_steps_: int
    _weight: Floats  # (k, d): of the cells that each center has received

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Clusters._parameter_constraints,
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

    @all_or_nothing
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
        where = locate(X)
        if where is None:
            points = self._points(X, sample_weight, reset=True)
        else:
            points = distant_points(self, *where, weights_of(where[1], sample_weight))
        self._check_many(points)
        spread, say = self._spread(points), self._say()
        self._random = random = check_random_state(self.random_state)
        centers = self._best_start(points, spread.mean, random)
        n, weight = len(points), float(points.weights.sum())
        if isinstance(points, DistantPoints):
            n, weight = points.away.n_rows, points.away.weight
        size = min(self.batch_size, n)
        batches = drawn_batches(points, size, random)
        if where is not None and isinstance(points, DistantPoints):
            batches = points.in_turn(where[1], size)
        patience = Patience(
            self.tol * spread.variance, min(2 * size / (n + 1), 1.0), self.max_no_improvement
        )
        received, self._since = Received(centers, np.zeros_like(centers)), 0
        n_steps = self.max_iter * n // size
        for step in range(1, n_steps + 1):
            batch, before = next(batches), received
            received, inertia = self._step(received, batch, size)
            inertia /= float(batch.weights.sum()) or 1.0  # of a row
            say(f"Minibatch step {step}/{n_steps}: mean batch inertia: {inertia}")
            if step == 1:  # its inertia is that of the start
                continue
            shift = float(((received.centers - before.centers) ** 2).sum())
            if reason := patience.reason_to_stop(inertia, shift):
                say(f"Converged ({reason}) at step {step}/{n_steps}")
                break
        self.n_steps_, self.n_iter_ = step, int(np.ceil(step * size / n))
        self._accept(received, points.dtype)
        self.inertia_ = weight * (inertia if patience.average is None else patience.average)
        if self.compute_labels:
            self._label(points)
        self.variance_ = spread.around_centers(self.inertia_)
        return self

    @all_or_nothing
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
        first = not hasattr(self, "cluster_centers_")
        points = self._points(X, sample_weight, reset=first)
        spread = self._spread(points) if first else points.spread()
        if first:
            self._check_many(points)
            self._random = check_random_state(self.random_state)
            self._n_starts()  # says that given centers are one start
            sample = self._sample(points, self._check_init_size(len(points)), self._random)
            centers = self._start(sample, spread.mean, self._random)
            self._weight, self._since = np.zeros_like(centers), 0
        else:
            centers = self._centers()
        received = Received(centers, self._weight)
        received, inertia = self._step(received, points, min(self.batch_size, len(points)))
        self._accept(received, self.cluster_centers_.dtype if not first else points.dtype)
        self.n_steps_ = getattr(self, "n_steps_", 0) + 1
        if self.compute_labels:
            self._label(points)
            inertia = self.inertia_
        self.variance_ = spread.around_centers(inertia)
        return self

    def _best_start(self, points: Points, mean: Floats, random: np.random.RandomState) -> Floats:
        """The start of the least inertia on rows drawn for it."""
        size, n_starts, say = self._check_init_size(len(points)), self._n_starts(), self._say()
        judges = points.take(drawn_rows(points, size, random))
        starts = []
        for i in range(1, n_starts + 1):
            centers = self._start(self._sample(points, size, random), mean, random)
            starts.append((judges.inertia(centers), centers))
            say(f"Inertia for init {i}/{n_starts}: {starts[-1][0]}")
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
                    stacklevel=5,
                )
            size = 3 * k
        return min(size, n)

    def _step(self, received: Received, batch: Points, size: int) -> tuple[Received, float]:
        """One batch; now and then, or if a center has nothing, light centers move to its rows."""
        self._since += size
        due = self._since >= 10 * self.n_clusters or not received.row_weight.all()
        received, inertia = received.step(batch)
        if due:
            self._since = 0
            received = received.relocated(batch, self.reassignment_ratio, self._random, self._say())
        return received, inertia

    def _accept(self, received: Received, dtype: Any) -> None:
        self.cluster_centers_ = received.centers.astype(dtype)
        self._weight = received.weight
        self.weights_ = received.row_weight / received.row_weight.sum()
        for name in ("labels_", "inertia_"):  # of other rows
            self.__dict__.pop(name, None)

    def _label(self, points: Points) -> None:
        space = points.space(len(self.cluster_centers_))
        space.assign(self._centers())
        self.inertia_ = space.assigned().inertia
        if not isinstance(points, DistantPoints):
            self.labels_ = space.labels

    def _sample(self, points: Points, size: int, random: np.random.RandomState) -> Points:
        """Rows drawn to find a start in."""
        return points if size >= len(points) else points.take(drawn_rows(points, size, random))


def drawn_rows(points: Points, n: int, random: np.random.RandomState) -> Array:
    """Rows that have a weight, each as probable as the others."""
    counted = np.flatnonzero(points.weights)
    return counted[random.randint(0, len(counted), n)]
