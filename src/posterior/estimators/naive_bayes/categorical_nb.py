"""Categorical naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from posterior.data.rows import CodedRows, Rows
from posterior.data.typing import Array, Floats
from posterior.estimators.estimator import learned
from posterior.estimators.naive_bayes.discrete_nb import CONSTRAINTS, DiscreteNB, linear
from posterior.families import Categorical, Laplace
from posterior.families.categorical import CategoricalParameters
from posterior.generative.joint import JointStatistics
from posterior.generative.rule import Rule
from posterior.readers.labels import Labels
from posterior.readers.numbered import NumberedCategories, whole_numbers
from posterior.readers.numeric import Numeric
from posterior.readers.reader import Reader
from posterior.statistics.counts import Counts
from posterior.statistics.extent import as_codes


def by_hand(log_prob: Any) -> CategoricalParameters:
    """Log probabilities of categories that were set by hand; others have none."""
    tables = [np.asarray(p, np.float64) for p in log_prob]
    beyond = tuple(np.column_stack([p, np.full(len(p), -np.inf)]) for p in tables)
    return CategoricalParameters(whole_numbers(np.array([p.shape[1] for p in tables])), beyond)


class CategoricalNB(DiscreteNB):
    """Columns of categories 0, 1, 2, ..., independent given the class.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-counts of every category.
    force_alpha, fit_prior, class_prior, calibrated : as in `MultinomialNB`
    min_categories : int or array of shape (n_features,), optional
        Categories that exist at least, seen or not.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    category_count_, feature_log_prob_ : lists of arrays of shape (n_classes, n_categories)
    n_categories_ : array of shape (n_features,)
    categories_ : tuple of arrays
        The categories of each column, 0 to n - 1.
    unseen_log_prob_ : array of shape (n_classes, n_features)
        Log probabilities of a category that was never seen.

    Examples
    --------
    >>> from posterior import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 1], [0, 0], [2, 1]], ["a", "a", "b"])
    >>> model.predict([[0, 7]])
    array(['a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "alpha": [Interval(Real, 0, None, closed="left")],
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.calibrated = calibrated

    category_count_ = learned[list[Floats]](
        lambda fitted: fitted.sums.features.columns(fitted.sums.features.table.rounded())
    )
    categories_ = learned[tuple[Array, ...]](lambda fitted: fitted.model.parameters.values)
    n_categories_ = learned[Array](lambda fitted: fitted.sums.features.sizes)
    feature_log_prob_ = learned[list[Floats]](
        lambda fitted: [p[:, :-1] for p in fitted.model.parameters.log_prob],
        lambda fitted, log_prob: fitted.having(by_hand(log_prob)),
    )
    parameters_of = staticmethod(by_hand)
    unseen_log_prob_ = learned[Floats](
        lambda fitted: np.stack([p[:, -1] for p in fitted.model.parameters.log_prob], axis=1)
    )

    def reader(self) -> NumberedCategories:
        numbers = Numeric(self.columns(), sparse=False, negative="refused")
        return NumberedCategories(numbers, self.min_categories)

    def rule(self, reader: Reader, labels: Labels | None) -> Rule:
        family = Categorical(Laplace(self._pseudo_counts(reader)))
        assert isinstance(reader, NumberedCategories)
        return NumberedRule(family, self._prior(labels), reader)

    def quadratics(self, origin: Floats | None = None) -> tuple[None, Floats, Floats]:
        """log p(x, k) = b_k · u + c_k where u = x - origin, x of 1 at the row's categories."""
        joint = self.settled().model
        seen = [p[:, :-1] for p in joint.parameters.log_prob]
        return linear(np.hstack(seen), joint.log_prior, origin)


@dataclass(frozen=True, slots=True, eq=False)
class NumberedRule(Rule):
    """Categories from zero to the highest that a row has, or that must exist."""

    reader: NumberedCategories

    def kept(self, features: Counts) -> Counts:
        """Without the highest categories, if nobody has them any more."""
        held = features.columns(np.asarray(features.table.limbs.any(axis=(0, 2))))
        sizes = np.array([h.size - int(np.argmax(h[::-1])) if h.any() else 0 for h in held])
        sizes = self.reader.at_least(sizes)
        masks = [np.arange(h.size) < n for h, n in zip(held, sizes, strict=True)]
        limbs = np.ascontiguousarray(features.table.limbs[:, np.concatenate(masks)])
        return Counts(whole_numbers(sizes), replace(features.table, limbs=limbs))

    def decisive(self, rows: Rows, statistics: JointStatistics[Any]) -> Array:
        """Rows that alone hold the highest category of a column."""
        assert isinstance(rows.X, CodedRows)
        counts = statistics.features.pooled()
        codes, weight = as_codes(rows.X.codes), rows.hard.weight
        decisive = np.zeros(len(rows), bool)
        for j, held in enumerate(counts.columns(counts.table.rounded())):
            top = codes[:, j] == len(held[0]) - 1
            if top.sum() == 1 or (weight is not None and (weight[top] > 0).sum() == 1):
                decisive |= top
        return decisive
