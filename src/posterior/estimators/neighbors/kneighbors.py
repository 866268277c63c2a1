"""KNeighborsClassifier: P(y | x) from the rows that are most like x."""

from __future__ import annotations

import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from posterior.data import validate
from posterior.data.rows import SparseRows
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.engines.local import Local
from posterior.estimators import calibrated
from posterior.estimators.base_classifier import BaseClassifier, decided, with_target
from posterior.estimators.estimator import check_same_kind, learned
from posterior.estimators.neighbors.neighbor_graph import KNeighborsMixin, kneighbors_graph
from posterior.evaluation.calibration import Calibrator
from posterior.neighbors.fitted_neighbors import FittedNeighbors
from posterior.neighbors.input_by_metric import reader_of
from posterior.neighbors.metrics import NAMES, Metric
from posterior.neighbors.neighbor_explanation import Neighborhood
from posterior.neighbors.neighbor_search import SearchMethod
from posterior.neighbors.select_distance import Settings, is_auto, learn
from posterior.neighbors.training_rows import TrainingRows
from posterior.neighbors.votes import Rule


class KNeighborsClassifier(KNeighborsMixin, MultiOutputMixin, BaseClassifier):
    """The nearest rows vote.

    p(y = c | x) = (Σ_j s_j [y_j = c] + a π_c) / (Σ_j s_j + a), over the k training rows j nearest
    to x; the weight s of a vote is one or falls with the distance, and a rows of the class shares π
    may stand beside them.

    Parameters
    ----------
    n_neighbors : int, "auto" or array of int, default=5
        How many vote. "auto", or one of several, is the number of least log loss when each row is
        answered by the others.
    weights : "uniform", "distance", "gaussian", "auto" or callable, default="uniform"
        The weight of a vote: the same for all, one over the distance, exp(-½ (d / h)²) of which h
        is half the distance of the last neighbor, or as a function of the distances (n_queries,
        n_neighbors) says. "auto" is the first or the third, chosen as k is.
    algorithm : "auto", "brute", "kd_tree" or "ball_tree"
        The method of search; the neighbors are the same. "auto" goes by rows, columns and metric,
        and tries where they leave it open; "ball_tree" is a k-d tree, or, where that is not
        possible, brute force. `search_` says what was chosen and why.
    leaf_size : int, accepted for scikit-learn's sake
    p : float, default=2, of the distance L_p, 1 to infinity; below 1, by brute force
    metric : str or callable, default="minkowski"
        scikit-learn's names and functions of two rows; "edit" for a column of strings, "mixed" for
        frames of numbers, categories and missing cells.
    metric_params : dict, optional
        Settings of the metric: {"kind": "damerau"} of "edit", for instance.
    n_jobs : int, optional
        Threads; None for as many as the package uses (`posterior.threads`).
    smoothing : float, "auto" or None
        a: rows of the class shares beside the votes. "auto" chooses it together with k; None is
        "auto" where k is chosen too, and otherwise 0.
    whiten : float between 0 and 1, "auto" or None
        Distances √((a - b)ᵀ Σ⁻¹ (a - b)) by the covariance within classes, of which this share of
        what is between columns is left out (1 where cells are missing). "auto": chosen as k is.
    calibrated : str, optional
        Corrects probabilities, as in `GaussianNB`: each row is answered by the others.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), or a list of them if y has several columns
    effective_metric_, effective_metric_params_, n_samples_fit_, outputs_2d_ : as scikit-learn's
    n_neighbors_, smoothing_, weights_, whiten_ : as given or chosen
    selection_ : table
        Where they were chosen: error and log loss by k, left one out, with standard errors.
    search_ : the method of search that was chosen, and why

    Examples
    --------
    >>> from posterior import KNeighborsClassifier
    >>> X, y = [[0], [1], [2], [3]], ["no", "no", "yes", "yes"]
    >>> model = KNeighborsClassifier(n_neighbors=3).fit(X, y)
    >>> model.predict([[1.1]]).tolist()
    ['no']
    >>> model.predict_proba([[0.9]]).round(3).tolist()
    [[0.667, 0.333]]
    """

    fitted_: FittedNeighbors

    classes_ = learned[Any](lambda fitted: fitted.classes)
    n_samples_fit_ = learned[int](lambda fitted: len(fitted.rows))
    n_features_in_ = learned[int](lambda fitted: fitted.columns.n)
    feature_names_in_ = learned[Array](lambda fitted: fitted.columns.names and fitted.reader.names)
    effective_metric_ = learned[Any](lambda fitted: fitted.metric.name)
    effective_metric_params_ = learned[dict[str, Any]](lambda fitted: fitted.metric.settings)
    outputs_2d_ = learned[bool](lambda fitted: len(fitted.rows.classes) > 1)
    smoothing_ = learned[float](lambda fitted: fitted.smoothing)
    whiten_ = learned[float | None](lambda fitted: fitted.search.whiten, may_be_none=True)
    calibrator_ = learned[Calibrator | None](lambda fitted: fitted.calibrator, may_be_none=True)
    selection_ = learned[Table](lambda fitted: fitted.selection)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto"}),
            "array-like",
        ],
        "weights": [StrOptions({"uniform", "distance", "gaussian", "auto"}), callable, None],
        "algorithm": [StrOptions({"auto", "ball_tree", "kd_tree", "brute"})],
        "leaf_size": [Interval(Integral, 1, None, closed="left")],
        "p": [Interval(Real, 0, None, closed="right"), None],
        "metric": [StrOptions(NAMES), callable],
        "metric_params": [dict, None],
        "n_jobs": [Integral, None],
        "smoothing": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"}), None],
        "whiten": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"}), None],
        "calibrated": calibrated.CALIBRATED,
    }

    def __init__(
        self,
        n_neighbors: Any = 5,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = 2,
        metric: Any = "minkowski",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        smoothing: Any = None,
        whiten: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.smoothing = smoothing
        self.whiten = whiten
        self.calibrated = calibrated

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        p = None if "p" in (self.metric_params or {}) else self.p  # of which `fit` would warn
        metric = Metric.of(self.metric, p, self.metric_params)
        reader_of(metric, type(self).__name__).describe(tags.input_tags)
        tags.input_tags.sparse &= self.whiten is None
        tags.input_tags.allow_nan &= self.whiten in (None, 1, "auto")
        return tags

    @property
    def n_neighbors_(self) -> int:
        """The number of neighbors that vote: as asked, or as chosen in `fit`."""
        return self._current().n_neighbors

    @property
    def weights_(self) -> Rule:
        """How neighbors vote: as asked, or as chosen in `fit`."""
        return self._current().weights if is_auto(self.weights) else self.weights

    @property
    def search_(self) -> SearchMethod:
        """The method of search that was chosen, and why."""
        return self._current().search.chosen()

    @property
    def engine_(self) -> Local:
        """As many threads as n_jobs says, or as the engine would use."""
        return Local(self.n_jobs if self.n_jobs is not None and self.n_jobs > 0 else None)

    @property
    def _fit_X(self) -> Any:  # noqa: N802 - its name there
        """The training rows, where scikit-learn's functions look for them."""
        X = self.fitted_.rows.X
        return X.scipy() if isinstance(X, SparseRows) else X

    def _current(self) -> FittedNeighbors:
        """What was learned, with as many neighbors as are asked for today."""
        check_is_fitted(self)
        fitted, k = self.fitted_, self.n_neighbors
        if not isinstance(k, Integral) or k == fitted.n_neighbors:
            return fitted
        return replace(fitted, n_neighbors=int(k))

    def _growing(self) -> FittedNeighbors:
        """The same, ready for other rows: they are searched as the settings of today say."""
        calibrated.check(self, streaming=True)
        fitted = self._current()
        search = replace(fitted.search, algorithm=self.algorithm, engine=self.engine_)
        return replace(fitted, search=search)

    # ---- rows ----

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Remember the rows and their classes, and get ready to search them.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Or a column of strings, or distances (n_samples, n_samples), as the metric says.
            Euclidean distances leave missing cells out, and are scaled to all columns.
        y : array of shape (n_samples,) or (n_samples, n_outputs), or a column of the frame X
        sample_weight : array of shape (n_samples,), optional
            A weight of two is two rows: neighbors vote until they add up to `n_neighbors`.
        """
        calibrated.check(self)
        fitted = self._learn(X, y, sample_weight)
        if self.calibrated is not None:
            fitted = fitted.corrected(self.calibrated, self.weights)
        self.fitted_ = fitted
        return self

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> FittedNeighbors:
        self._validate_params()
        metric = Metric.of(self.metric, self.p, self.metric_params)
        metric.check_settings()
        metric.check_algorithm(self.algorithm)
        X, y = with_target(X, y)
        reader, table = reader_of(metric, type(self).__name__).learn(X)
        if isinstance(table, np.ndarray) and np.may_share_memory(table, X):
            table = table.copy()  # which the user may change
        rows = TrainingRows.of(table, y, validate.weights(sample_weight, table.shape[0]))
        settings = Settings(self.n_neighbors, self.smoothing, self.weights, self.whiten)
        return learn(reader, rows, metric, settings, self.algorithm, self.engine_)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows: exactly the model that `fit` on all rows so far would give.

        Where k, the votes or the distance were chosen, they are not chosen again: `fit` does that.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array, optional
            All classes that may come. It closes the set: another label is then an error.
        """
        calibrated.check(self, streaming=True)
        if "fitted_" not in vars(self):
            fitted = self._learn(X, y, sample_weight)
            self.fitted_ = fitted if classes is None else fitted.closed_to(classes)
            return self
        self._validate_params()
        fitted = self._growing()
        fitted.check_metric()
        if classes is not None:
            fitted.check_classes(classes)
        X, y = with_target(X, y)
        self.fitted_ = fitted.plus(fitted.read(X, y, sample_weight))
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows back: the model that never saw them.

        Each row must be there with the same cells, label and weight; of equals the last goes.
        """
        fitted = self._growing()
        X, y = with_target(X, y)
        self.fitted_ = fitted.minus(fitted.read(X, y, sample_weight))
        return self

    def merge(self, other: Self) -> Self:
        """Add the rows of another model, below those of this one."""
        check_is_fitted(other)
        check_same_kind(self, other)
        self.fitted_ = self._growing().merged(other.fitted_)
        return self

    def __add__(self, other: Self) -> Self:
        return copy.copy(self).merge(other)

    # ---- neighbors ----

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
        fitted = self._current()
        k = fitted.n_neighbors if n_neighbors is None else n_neighbors
        distances, numbers = fitted.nearest(X, k)
        return (distances, numbers) if return_distance else numbers

    kneighbors_graph = kneighbors_graph

    # ---- answers ----

    def predict_proba(self, X: Any) -> Any:
        """p(k | x): the classes' parts of the vote, with `smoothing_` rows of the class shares.

        Parameters
        ----------
        X : array, sparse matrix or frame, or None
            None asks about the training rows, each answered by the others.

        Returns
        -------
        array of shape (n_queries, n_classes), or a list of them if y had several columns
        """
        fitted = self._current()
        return fitted.by_output(fitted.posteriors(fitted.neighbors(X), self.weights_))

    def predict_log_proba(self, X: Any) -> Any:
        """log p(k | x)."""
        p = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(q) for q in p] if isinstance(p, list) else np.log(p)

    def predict(
        self,
        X: Any,
        *,
        costs: Any = None,
        reject: float | None = None,
        beyond: float | None = None,
    ) -> Array:
        """The class with most votes; of equals the first.

        Parameters
        ----------
        X : array, sparse matrix or frame, or None
            None asks about the training rows, each answered by the others.
        costs : array of shape (n_classes, n_classes) or dict of dicts by class, optional
            costs[i][j] is the price of answering class j when it is class i; the answer is the
            one of least expected cost.
        reject : float, optional
            Leave rows unanswered (masked) whose answer is less probable than this.
        beyond : float, optional
            Leave rows unanswered (masked) that are as strange or stranger: see `strangeness`.
        """
        fitted = self._current()
        found = fitted.neighbors(X)
        posteriors = fitted.posteriors(found, self.weights_)
        answers = [
            decided(p, classes, costs, reject)
            for p, classes in zip(posteriors, fitted.rows.classes, strict=True)
        ]
        stack = np.stack if reject is None else np.ma.stack
        answer = answers[0] if len(answers) == 1 else stack(answers, axis=1)
        if beyond is None:
            return answer
        strange = fitted.strangeness(found) >= beyond
        return np.ma.masked_array(answer, np.broadcast_to(strange, answer.T.shape).T)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are predicted correctly; X=None leaves each training row out."""
        X, y = with_target(X, y)
        return float(ClassifierMixin.score(self, X, y, sample_weight))

    def strangeness(self, X: Any) -> Floats:
        """The distance of each row from its neighbors, next to the training rows: 0 to 1.

        The share of training rows that have the last of their `n_neighbors_` neighbors, left out
        themselves, nearer than this row has: 0.99 is farther out than 99 % of them, 1 than all.
        Of many training rows some thousands are asked.
        """
        fitted = self._current()
        return fitted.strangeness(fitted.neighbors(X))

    def explain(self, X: Any, output: int = 0) -> Neighborhood:
        """The neighbors of one row, their labels, distances and parts of the vote.

        Parameters
        ----------
        X : one row, as (1, n_features) or as a frame of one row
        output : int, default=0
            Which column of y, if there are several.
        """
        fitted = self._current()
        return fitted.neighborhood(fitted.neighbors(X), self.weights_, output)
