"""The full joint table: Bayes' rule without the naive assumption, for small discrete data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval

from posterior.data.rows import Rows
from posterior.data.typing import Array, Floats
from posterior.estimators.estimator import learned
from posterior.estimators.summed_classifier import CALIBRATED, SummedClassifier
from posterior.families import Categorical, Laplace
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.rule import ClassPrior, Rule
from posterior.readers.labels import Labels
from posterior.readers.reader import Reader
from posterior.readers.whole_rows import WholeRows
from posterior.statistics.counts import Counts


class JointBayes(SummedClassifier):
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
    calibrated : str, optional
        Correct the probabilities by rows held out: "temperature", "beta", "quadratic", "vector",
        "matrix", "isotonic", or "auto", whichever lowers their log loss, if one does.

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

    class_count_ = learned[Floats](lambda fitted: fitted.class_weight())
    class_log_prior_ = learned[Floats](lambda fitted: fitted.model.log_prior)
    joint_ = learned[Joint[Any, Any]](lambda fitted: fitted.model)
    n_cells_ = learned[int](lambda fitted: fitted.model.family.n_values[0])

    def reader(self) -> WholeRows:
        return WholeRows(self.columns())

    def rule(self, reader: Reader, labels: Labels | None) -> Rule:
        prior = ClassPrior() if labels is None else ClassPrior(self.class_prior, labels.classes)
        return CellRule(Categorical(Laplace(float(self.alpha))), prior)

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Rows and classes drawn from the model, rows that were never seen among them."""
        random = check_random_state(random_state)
        rows, y = super().sample(n, random)
        log_prob, counts = self.joint_.parameters.log_prob[0], self.statistics_.features
        seen = set(counts.seen().values[0].tolist())
        columns = values_of_columns(counts)
        unseen = (1 - np.exp(log_prob[:, :-1]).sum(axis=1)) * (self.n_cells_ > len(seen))
        share = unseen[np.searchsorted(self.classes_, y)]
        for i in np.flatnonzero(random.random_sample(len(y)) < share):
            row = json.loads(next(iter(seen)))
            while json.dumps(row) in seen:
                row = [values[random.randint(len(values))] for values in columns]
            rows[i] = row
        return rows, y

    @property
    def n_joint_parameters_(self) -> int:
        """Numbers of a table of the full joint distribution, which this is."""
        return len(self.classes_) * (self.n_cells_ - 1)


@dataclass(frozen=True, slots=True, eq=False)
class CellRule(Rule):
    """Every row that the values of the columns could make is possible."""

    def estimate(self, statistics: JointStatistics[Any]) -> Joint[Any, Any]:
        sizes = [len(values) for values in values_of_columns(statistics.features)]
        n_cells = int(np.prod(sizes, dtype=object))
        family = Categorical(self.family.prior, (n_cells,))  # type: ignore[attr-defined]
        prior = self.prior(statistics.weight.rounded())
        return Joint(family, prior, family.estimate(statistics.features))

    def decisive(self, rows: Rows, statistics: JointStatistics[Any]) -> Array:
        """Any row may hold a value of some column alone."""
        return np.ones(len(rows), bool)


def values_of_columns(counts: Counts) -> list[list[Any]]:
    """The values of each column among the rows that were seen."""
    rows = [json.loads(row) for row in counts.seen().values[0].tolist()]
    return [sorted(set(column), key=str) for column in zip(*rows, strict=True)]
