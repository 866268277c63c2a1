"""What is asked of clusters once they are found, and where they begin."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags, check_array
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from posterior import kernels
from posterior.data import validate
from posterior.data.names import quoted
from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Codes, Floats
from posterior.engines.local import Local
from posterior.estimators.elsewhere import refuse_elsewhere
from posterior.estimators.numeric import NumericInput
from posterior.estimators.predicting_files import PredictingFiles
from posterior.generative.kmeans.lloyd import Say
from posterior.generative.kmeans.points import Points, Spread, all_finite
from posterior.generative.kmeans.seeding import at_random, plus_plus
from posterior.statistics.moments import floats


def _has_spheres(model: Clusters) -> bool:
    if model._sparse:
        raise AttributeError(
            f"Expected a {type(model).__name__} fitted to dense rows for probabilities, got one "
            "fitted to sparse rows. Fit it to X.toarray()."
        )
    return True


class Clusters(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    NumericInput,
    PredictingFiles,
):
    """Rows by their nearest center."""

    cluster_centers_: Array
    labels_: Codes
    inertia_: float
    n_iter_: int
    weights_: Floats
    variance_: float
    n_clusters: int
    init: Any
    n_init: Any
    verbose: Any
    random_state: Any
    engine_ = Local()
    _sparse = False  # whether it was fitted to sparse rows
    default_n_init: ClassVar[int]

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        raise NotImplementedError

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Codes:
        """Learn the clusters, and give the cluster of each row."""
        refuse_elsewhere(X, "fit_predict")
        return self.fit(X, sample_weight=sample_weight).labels_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Learn the clusters, and give the distance of each row from each of them."""
        refuse_elsewhere(X, "fit_transform")
        return self.fit(X, sample_weight=sample_weight)._distances(self._points(X))

    def predict(self, X: Any) -> Codes:
        """The nearest center of each row; of equals the first."""
        check_is_fitted(self)
        space = self._points(X).space(len(self.cluster_centers_))
        space.assign(self._centers())
        return space.labels

    def transform(self, X: Any) -> Array:
        """The distance of each row from each center, (n_samples, n_clusters).

        A row with missing cells is as far as its observed ones say: |x - c|² n_features / observed.
        """
        check_is_fitted(self)
        return self._distances(self._points(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the inertia of these rows."""
        check_is_fitted(self)
        return -self._points(X, sample_weight).inertia(self._centers())

    @available_if(_has_spheres)
    def predict_proba(self, X: Any) -> Floats:
        """p(k | x) in the mixture of the clusters as spheres of one size.

        p(k | x) ∝ π_k exp(-|x - c_k|² / 2σ²), with π = `weights_` and σ² = `variance_`; missing
        cells are integrated out. Clusters of sparse rows, flat in most columns, have no such size.
        """
        check_is_fitted(self)
        D = self._points(X).squared(self._centers())
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            D -= D.min(axis=1, keepdims=True)  # so that clusters of no width have probabilities too
            log_joint = np.log(self.weights_) - np.where(D > 0, D / (2.0 * self.variance_), 0.0)
        kernels.normalize(log_joint, "posterior")
        return log_joint

    def _centers(self) -> Floats:
        return np.array(self.cluster_centers_, np.float64, order="C")

    def _distances(self, points: Points) -> Array:
        D = points.squared(self._centers())
        if not points.complete:
            with np.errstate(divide="ignore", invalid="ignore"):
                D *= points.X.shape[1] / (~np.isnan(points.X)).sum(axis=1, keepdims=True)
        return np.sqrt(D, out=D).astype(points.dtype, copy=False)

    def _points(self, X: Any, sample_weight: Any = None, reset: bool = False) -> Points:
        table: Any = self._features(X, fitting=reset, reset=reset)
        sparse_rows = isinstance(table, SparseRows)
        self._sparse = sparse_rows if reset else self._sparse
        if not sparse_rows:
            table = np.ascontiguousarray(floats(table))
        elif not table.scipy(copy=False).has_canonical_format:
            table = table.canonical()
        complete = not sparse_rows and all_finite(table)
        if not complete:
            self._check_cells(table, 0, fitting=reset)
            complete = sparse_rows or not np.isnan(table).any()
        weight = validate.weights(sample_weight, table.shape[0])
        return Points.of(table, weight, complete, self.engine_.fill, self.engine_.sum)

    def _check_many(self, points: Points) -> None:
        n = np.count_nonzero(points.weights)
        if n < self.n_clusters:
            counted = "" if n == len(points) else ", of those with a weight,"
            raise ValueError(
                f"n_samples={n}{counted} should be >= n_clusters={self.n_clusters}. Ask for fewer."
            )

    def _spread(self, points: Points) -> Spread:
        """Where the rows lie, if all columns have a place."""
        spread, largest = points.spread(), np.finfo(points.dtype).max
        for lost, expected, got in (
            (spread.weight == 0, "a value in every column", "none at all"),
            (~(spread.scatter <= largest), "numbers whose squares can be added", "larger ones"),
        ):
            if lost.any():
                names = getattr(self, "feature_names_in_", np.arange(len(lost)))
                raise ValueError(
                    f"Expected {expected}, got {got} in column {quoted(names[lost][0])}. "
                    "Leave it out, or rescale it."
                )
        return spread

    def _n_starts(self) -> int:
        given = not isinstance(self.init, str) and not callable(self.init)
        if self.n_init == "auto":
            return self.default_n_init if not given and self.init != "k-means++" else 1
        if given and self.n_init != 1:
            warnings.warn(
                "Explicit initial center position passed: performing only one init in "
                f"{type(self).__name__} instead of n_init={self.n_init}.",
                RuntimeWarning,
                stacklevel=4,
            )
            return 1
        return int(self.n_init)

    def _start(self, points: Points, mean: Floats, random: np.random.RandomState) -> Floats:
        """Centers to begin at."""
        k, init, X = self.n_clusters, self.init, points.X
        if isinstance(init, str):
            seed = plus_plus if init == "k-means++" else at_random
            return seed(points.in_order(), k, mean, random)
        if callable(init):
            table = X.scipy() if isinstance(X, SparseRows) else X
            init = init(table, k, random_state=random)
            init = init.toarray() if sparse.issparse(init) else init
        centers = check_array(init, dtype=points.dtype, order="C", input_name="init")
        for axis, wanted in ((0, f"clusters {k}"), (1, f"features of the data {X.shape[1]}")):
            if centers.shape[axis] != (k, X.shape[1])[axis]:
                raise ValueError(
                    f"The shape of the initial centers {centers.shape} does not match the number "
                    f"of {wanted}."
                )
        return centers.astype(np.float64)

    def _say(self) -> Say:
        return print if self.verbose else _nothing


def _nothing(message: str) -> None:
    """Nobody listens."""
