"""The full joint table: Bayes' rule without the naive assumption, for small discrete data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval

from posterior.data import containers, frames
from posterior.data.rows import CodedRows, Rows
from posterior.data.typing import Array
from posterior.estimators.joint_classifier import JointClassifier
from posterior.estimators.numeric import CALIBRATED
from posterior.estimators.table_input import TableInput
from posterior.families import Categorical, Laplace
from posterior.generative.joint import Joint, JointStatistics
from posterior.statistics.counts import Counts


class JointBayes(TableInput, JointClassifier):
    """Bayes' rule with one probability for every different row, and no assumption.

    p(y = k | x) ∝ π_k (n_kx + α) / (n_k + α ∏ⱼ |Vⱼ|)

    Optimal if there were data without end. With d columns of yes and no it has 2 (2^d - 1)
    parameters for two classes, where naive Bayes has 2 d: compare `n_parameters_`. A missing cell
    is a value of its own.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-rows of every row that could be.
    class_prior : array of shape (n_classes,) or dict by class, optional
        Class probabilities; learned if not given.
    calibrated : {"temperature", "isotonic"}, optional
        Correct the probabilities by out-of-fold scores, which cost no refit.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    n_cells_ : int
        How many different rows there can be.

    Examples
    --------
    >>> from posterior import JointBayes
    >>> model = JointBayes().fit([[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"])
    >>> model.predict([[1, 0]])
    array(['odd'], dtype='<U4')
    """

    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {"alpha": (0.001, 0.01, 0.1, 1.0)}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "class_prior": ["array-like", Mapping, None],
        "calibrated": CALIBRATED,
    }

    def __init__(
        self, *, alpha: float = 1.0, class_prior: Any = None, calibrated: str | None = None
    ) -> None:
        self.alpha = alpha
        self.class_prior = class_prior
        self.calibrated = calibrated

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _features(self, X: Any, fitting: bool, reset: bool) -> CodedRows:
        table = self._read(X, reset)
        columns = containers.columns(table) if isinstance(table, np.ndarray) else table
        names = super()._feature_names()
        cells = [frames.texts(c, n) for c, n in zip(columns, names, strict=True)]
        rows = [json.dumps(row) for row in zip(*cells, strict=True)]
        values = frames.distinct(rows)
        return CodedRows(frames.encode(rows, values)[:, None], (values,))

    def _columns(self, counts: Counts) -> list[list[Any]]:
        """The values of each column among the rows that were seen."""
        rows = [json.loads(row) for row in counts.seen().values[0].tolist()]
        return [sorted(set(column), key=str) for column in zip(*rows, strict=True)]

    def _family(self) -> Categorical:
        cells = getattr(self, "_cells", 0)
        return Categorical(Laplace(float(self.alpha)), (cells,) if cells else None)

    def _finish(self, statistics: JointStatistics[Any]) -> Joint[Any, Any]:
        sizes = [len(values) for values in self._columns(statistics.features)]
        self._cells = int(np.prod(sizes, dtype=object))
        return super()._finish(statistics)

    def _decisive(self, rows: Rows, statistics: JointStatistics[Any]) -> Array:
        """Any row may hold a value of some column alone."""
        return np.ones(len(rows), bool)

    def _forgotten(self, features: Counts) -> Counts:
        return features.seen()

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        return {**super()._learned(joint, statistics), "n_cells_": self._cells}

    def _feature_names(self) -> Array:
        """The row is one feature here."""
        return np.array(["row"])

    def _values(self, X: Any) -> tuple[Any, ...]:
        return (", ".join(str(v) for v in super()._values(X)),)

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Rows and classes drawn from the model, rows that were never seen among them."""
        random = check_random_state(random_state)
        rows, y = super().sample(n, random)
        log_prob, counts = self.joint_.parameters.log_prob[0], self.statistics_.features
        seen = set(counts.seen().values[0].tolist())
        columns = self._columns(counts)
        unseen = (1 - np.exp(log_prob[:, :-1]).sum(axis=1)) * (self.n_cells_ > len(seen))
        share = unseen[np.searchsorted(self.classes_, y)]
        for i in np.flatnonzero(random.random_sample(len(y)) < share):
            row = json.loads(next(iter(seen)))
            while json.dumps(row) in seen:
                row = [values[random.randint(len(values))] for values in columns]
            rows[i] = row
        return rows, y

    def _as_input(self, features: Any) -> Array:
        rows = [json.loads(features.values[0][c]) for c in features.codes[:, 0]]
        return np.array(rows, dtype=object)

    def _n_cells(self) -> int:
        return int(self.n_cells_)
