"""P(y | x) from the rows that are most like x."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from posterior.data import validate
from posterior.data.frames import split_target
from posterior.data.table import Table
from posterior.data.typing import Integers
from posterior.estimators.neighbors.metric_names import NAMES, Metric
from posterior.estimators.neighbors.neighbor_input import targets
from posterior.estimators.neighbors.neighbor_stream import Streaming
from posterior.estimators.summed import all_or_nothing
from posterior.neighbors.examples import Examples
from posterior.neighbors.select_k import SMOOTHINGS, candidates, choose


class KNeighborsClassifier(Streaming):
    """The nearest rows vote.

    p(y = c | x) = (Σ_j s_j [y_j = c] + a π_c) / (Σ_j s_j + a), over the k training rows j nearest
    to x; their say s is one each or falls with the distance, and a rows of the class shares π may
    stand beside them.

    Parameters
    ----------
    n_neighbors : int, "auto" or array of int, default=5
        How many vote. "auto", or one of several, is the number of least log loss when each row is
        answered by the others.
    weights : "uniform", "distance" or callable, default="uniform"
        What a vote is worth: the same for all, in proportion to one over the distance, or as a
        function of the distances (n_queries, n_neighbors) says.
    algorithm : "auto", "brute", "kd_tree" or "ball_tree"
        How to search; the neighbors are the same. "auto" goes by rows, columns and metric, and
        tries where they leave it open; "ball_tree" is a k-d tree, or, where that is not possible,
        brute force. `search_` says what was taken and why.
    leaf_size : int
        Accepted for scikit-learn's sake.
    p : float, default=2
        Of the distance L_p, 1 to infinity; below 1, by brute force.
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

    Attributes
    ----------
    classes_ : array of shape (n_classes,), or a list of them if y has several columns
    effective_metric_, effective_metric_params_ : the metric under its plainest name
    n_samples_fit_ : int
    outputs_2d_ : bool
    n_neighbors_, smoothing_ : k and a, as given or chosen
    selection_ : table
        Where they were chosen: error and log loss by k, left one out, with standard errors.
    search_ : which way to search was taken, and why

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

    selection_: Table

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto"}),
            "array-like",
        ],
        "weights": [StrOptions({"uniform", "distance"}), callable, None],
        "algorithm": [StrOptions({"auto", "ball_tree", "kd_tree", "brute"})],
        "leaf_size": [Interval(Integral, 1, None, closed="left")],
        "p": [Interval(Real, 0, None, closed="right"), None],
        "metric": [StrOptions(NAMES), callable],
        "metric_params": [dict, None],
        "n_jobs": [Integral, None],
        "smoothing": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"}), None],
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

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Remember the rows and their classes, and get ready to search them.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Or a column of strings, or distances (n_samples, n_samples), as the metric says.
            Euclidean distances leave missing cells out, and are scaled to all columns.
        y : array of shape (n_samples,) or (n_samples, n_outputs), or a column of the frame X
        sample_weight : array of shape (n_samples,), optional
            A row's say. A weight of two is two rows: neighbors vote until their weights add up to
            `n_neighbors`.
        """
        self._validate_params()
        metric = Metric.of(self.metric, self.p, self.metric_params)
        metric.check_settings()
        metric.check_algorithm(self.algorithm)
        if isinstance(y, str):
            X, y = split_target(X, y)
        rows = self._rows(X, metric, reset=True)
        classes, codes, self.outputs_2d_ = targets(y, rows.shape[0])
        self.classes_ = classes if self.outputs_2d_ else classes[0]
        weight = validate.weights(sample_weight, rows.shape[0])
        rows = (
            rows.copy() if isinstance(rows, np.ndarray) and np.may_share_memory(rows, X) else rows
        )
        examples = Examples(rows, codes, tuple(map(len, classes)), weight)
        self._closed = False
        self.__dict__.pop("selection_", None)
        self._decide(examples, metric)
        return self

    def _decide(self, examples: Examples, metric: Metric) -> None:
        """k and the smoothing, as asked, and an index for them."""
        given = isinstance(self.n_neighbors, Integral)
        free = self.smoothing == "auto" or (self.smoothing is None and not given)
        numbers = self._numbers(examples)
        self._accept(examples, metric, int(numbers.max()))
        self._search.prepare()
        if given and not free:
            self.smoothing_ = float(self.smoothing or 0)
            return
        smoothings = SMOOTHINGS if free else (float(self.smoothing or 0),)
        choice = choose(self._search, examples, numbers, smoothings, self.weights)
        self._chosen, self.smoothing_ = choice.n_neighbors, choice.smoothing
        self.selection_ = choice.table

    def _numbers(self, examples: Examples) -> Integers:
        """Numbers of neighbors to choose from."""
        if isinstance(self.n_neighbors, Integral):
            return np.array([self.n_neighbors], np.int64)
        n = int(examples.total)
        if n < 2:
            raise ValueError(
                f"Expected two rows or more to choose n_neighbors, got n_samples = {n}. Give a "
                "number."
            )
        if isinstance(self.n_neighbors, str):
            return candidates(n)
        numbers = np.unique(np.asarray(self.n_neighbors))
        if numbers.dtype.kind not in "iu" or not len(numbers) or numbers[0] < 1 or numbers[-1] >= n:
            raise ValueError(
                f"Expected numbers of neighbors from 1 to {n - 1} to choose from, got "
                f"{self.n_neighbors!r}."
            )
        return numbers.astype(np.int64)
