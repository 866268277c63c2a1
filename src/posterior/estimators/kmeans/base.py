"""Base class of k-means: rows by their nearest center, and where centers begin."""

from __future__ import annotations

import copy
import warnings
from abc import abstractmethod
from dataclasses import replace
from numbers import Integral, Real
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags, check_array
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from posterior.data.rows import SparseRows
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Codes, Floats
from posterior.engines.local import Local
from posterior.estimators import answer_files, remote
from posterior.estimators.estimator import Estimator, learned
from posterior.generative.kmeans.fitted_clusters import FittedClusters
from posterior.generative.kmeans.lloyd import Log, silent
from posterior.generative.kmeans.points import Points, Spread
from posterior.generative.kmeans.remote_points import RemotePoints
from posterior.generative.kmeans.seeding import at_random, plus_plus
from posterior.readers.batch import InOneGroup
from posterior.readers.numeric import Numeric
from posterior.readers.reader import Reader
from posterior.statistics.moments import floats

SETTINGS: dict[str, Any] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
    "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "verbose": ["verbose"],
    "random_state": ["random_state"],
}


def stored(field: str) -> learned[Any]:
    """An attribute that is a field of what was learned, and may be set by hand."""
    return learned(attrgetter(field), lambda fitted, value: replace(fitted, **{field: value}))


def _has_spheres(model: Clusters) -> bool:
    fitted: FittedClusters | None = vars(model).get("fitted_")
    if fitted is not None and fitted.sparse:
        raise AttributeError(
            f"Expected a {type(model).__name__} fitted to dense rows for probabilities, got one "
            "fitted to sparse rows. Fit it to X.toarray()."
        )
    if fitted is not None and (fitted.weights is None or fitted.variance is None):
        raise AttributeError("Expected clusters of rows for probabilities, got centers alone.")
    return True


class Clusters(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """Rows by their nearest center.

    All that was learned is one value, `fitted_`, made anew by every call and put in place at its
    end: a call that fails has changed nothing.
    """

    n_clusters: int
    init: Any
    n_init: Any
    verbose: Any
    random_state: Any
    fitted_: FittedClusters
    engine_: ClassVar[Local] = Local()
    default_n_init: ClassVar[int]
    predict_file = answer_files.predict_file

    cluster_centers_ = learned[Array](
        lambda fitted: fitted.centers,
        lambda fitted, centers: replace(fitted, centers=floats(np.asarray(centers))),
    )
    labels_: learned[Codes] = stored("labels")
    inertia_: learned[float] = stored("inertia")
    n_iter_: learned[int] = stored("n_iter")
    weights_: learned[Floats] = stored("weights")
    variance_: learned[float] = stored("variance")
    n_features_in_ = learned[int](
        lambda fitted: fitted.reader.columns.n,
        lambda fitted, n: replace(
            fitted, reader=fitted.reader.of(replace(fitted.reader.columns, n=n))
        ),
    )
    feature_names_in_ = learned[Array](
        lambda fitted: (
            None if fitted.reader.columns.names is None else fitted.reader.columns.array()
        )
    )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        self.reader().describe(tags.input_tags)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def reader(self) -> Numeric:
        """How input is read, before any has come."""
        return Numeric(Columns(type(self).__name__))

    def state(self, name: str, value: Any) -> None:
        """Note an attribute that is set by hand; with centers, they make a model of no rows."""
        values = {**self.__dict__.pop("_by_hand", {}), name: value}
        if "cluster_centers_" not in values:
            self.__dict__["_by_hand"] = values
            return
        centers = floats(np.asarray(values.pop("cluster_centers_")))
        columns = replace(self.reader().columns, n=centers.shape[1])
        self.fitted_ = FittedClusters(self.reader().of(columns), centers)
        for other, known in values.items():
            setattr(self, other, known)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    @abstractmethod
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the centers."""

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Codes:
        """Learn the clusters, and give the cluster of each row."""
        remote.refuse_elsewhere(X, "fit_predict")
        return self.fit(X, sample_weight=sample_weight).labels_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Learn the clusters, and give the distance of each row from each of them."""
        remote.refuse_elsewhere(X, "fit_transform")
        fitted = copy.copy(self).fit(X, sample_weight=sample_weight).fitted_
        distances = fitted.distances(X, self.engine_)
        self.fitted_ = fitted
        return distances

    def predict(self, X: Any) -> Codes:
        """The nearest center of each row, by the cells that are known; of equals the first."""
        check_is_fitted(self)
        return self.fitted_.nearest(X, self.engine_)

    def transform(self, X: Any) -> Array:
        """The distance of each row from each center, (n_samples, n_clusters).

        A row with missing cells is as far as its observed ones say: |x - c|² n_features / observed.
        A row without any known cell is at no known distance, and refused.
        """
        check_is_fitted(self)
        return self.fitted_.distances(X, self.engine_)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the inertia of these rows."""
        check_is_fitted(self)
        return -self.fitted_.inertia_of(X, self.engine_, sample_weight)

    @available_if(_has_spheres)
    def predict_proba(self, X: Any) -> Floats:
        """p(k | x) in the mixture of the clusters as spheres of one size.

        p(k | x) ∝ π_k exp(-|x - c_k|² / 2σ²), with π = `weights_` and σ² = `variance_`; missing
        cells are integrated out. Clusters of sparse rows, flat in most columns, have no such size.
        """
        check_is_fitted(self)
        return self.fitted_.posterior(X, self.engine_)

    # ---- rows to learn from, and where centers begin ----

    def _read(self, X: Any, sample_weight: Any) -> tuple[Reader, Points]:
        """A reader that knows the table, and the rows."""
        reader, table = self.reader().learn(X)
        engine = self.engine_
        return reader, Points.read(reader, table, sample_weight, engine.fill, engine.sum)

    def _read_elsewhere(self, there: remote.There, weight: Any) -> tuple[Reader, RemotePoints]:
        """The same of rows that are not in memory."""
        group, engine = InOneGroup(), self.engine_
        reader, rows, look = remote.unlabeled_rows(
            there, self.reader(), weight, group, encoded=True
        )
        assert look.columns is not None
        complete = look.columns.complete
        return reader, RemotePoints.among(rows, there[1], complete, engine.fill, engine.sum)

    def _check(self, points: Points, spread: Spread, names: Array) -> None:
        """Refuse rows that are too few, and columns that have no place."""
        n = np.count_nonzero(points.weights)
        if n < self.n_clusters:
            counted = "" if n == len(points) else ", of those with a weight,"
            raise ValueError(
                f"n_samples={n}{counted} should be >= n_clusters={self.n_clusters}. Ask for fewer."
            )
        spread.check(names, points.dtype)

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

    def _log(self) -> Log:
        return print if self.verbose else silent
