"""Categorical naive Bayes."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval

from posterior.data.names import quoted
from posterior.data.rows import CodedRows, Hard, Rows
from posterior.data.typing import Array
from posterior.estimators.naive_bayes.discrete_nb import DiscreteNB
from posterior.families import Categorical, Laplace
from posterior.families.categorical import CategoricalParameters
from posterior.generative.joint import Joint, JointStatistics
from posterior.statistics.algebra import Exactly
from posterior.statistics.counts import Counts
from posterior.statistics.extent import Extent, as_codes

MOST_CATEGORIES = 10_000_000  # of a column; beyond, someone passed identifiers or measurements


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

    accepts_sparse = False
    accepts_negative = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DiscreteNB._parameter_constraints,
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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

    def _features(self, X: Any, fitting: bool, reset: bool) -> CodedRows:
        table = super()._features(X, fitting, reset)
        assert isinstance(table, np.ndarray)
        if not fitting:
            return CodedRows(table, self._categories())
        anyone = Hard(np.zeros(len(table), np.int32), 1)
        try:
            extent = self.engine_.sum(Exactly(self._extent), Rows(table, anyone))
        except ValueError:
            self._check_cells(CodedRows(table, ()), 0, fitting)  # says where in the whole table
            raise
        if extent.largest.max(initial=0) >= MOST_CATEGORIES:
            column = quoted(self._feature_names()[int(extent.largest.argmax())])
            raise ValueError(
                f"Expected categories 0, 1, 2, ... below {MOST_CATEGORIES:,}, got a number beyond "
                f"it in column {column}. Use NaiveBayes, which takes categories as they are."
            )
        return CodedRows(table, whole_numbers(self._least(extent.largest + 1)))

    def _categories(self) -> tuple[Array, ...]:
        """As learned, or as many as feature_log_prob_ was given by hand."""
        if not hasattr(self, "categories_"):
            self.categories_ = whole_numbers(
                np.array([np.shape(p)[1] for p in self.feature_log_prob_])
            )
        return self.categories_

    def _extent(self, rows: Rows) -> Extent:
        assert isinstance(rows.X, np.ndarray)
        self._check_cells(CodedRows(rows.X, ()), 0, fitting=True)
        return Extent.of(rows.X)

    def _least(self, sizes: Array) -> Array:
        """Numbers of categories, at least those that must exist."""
        if self.min_categories is None:
            return sizes
        least = np.asarray(self.min_categories)
        if least.dtype.kind not in "iu":
            raise ValueError(
                f"'min_categories' should have integral type. Got {least.dtype} instead."
            )
        if least.ndim and least.shape != sizes.shape:
            raise ValueError(
                f"'min_categories' should have shape ({len(sizes)},) when an array-like is "
                f"provided. Got {least.shape} instead."
            )
        return np.maximum(sizes, least)

    def _check_cells(self, X: Any, first_row: int, fitting: bool) -> None:
        super()._check_cells(X.codes, first_row, fitting=True)

    def _check_chunk(self, X: Any, first_row: int, fitting: bool) -> None:
        if not fitting:  # while fitting, the categories were looked up first
            self._check_cells(X, first_row, fitting)

    def _decisive(self, rows: Rows, statistics: JointStatistics[Any]) -> Array:
        """Rows that alone hold the highest category of a column."""
        assert isinstance(rows.X, CodedRows)
        counts = statistics.features.pooled()
        assert isinstance(rows.groups, Hard)
        codes, weight = as_codes(rows.X.codes), rows.groups.weight
        decisive = np.zeros(len(rows), bool)
        for j, held in enumerate(counts.columns(counts.table.rounded())):
            top = codes[:, j] == len(held[0]) - 1
            if top.sum() == 1 or (weight is not None and (weight[top] > 0).sum() == 1):
                decisive |= top
        return decisive

    def _forgotten(self, features: Counts) -> Counts:
        """Without the highest categories, if nobody has them any more."""
        held = features.columns(np.asarray(features.table.limbs.any(axis=(0, 2))))
        sizes = np.array([h.size - int(np.argmax(h[::-1])) if h.any() else 0 for h in held])
        sizes = self._least(sizes)
        masks = [np.arange(h.size) < n for h, n in zip(held, sizes, strict=True)]
        limbs = np.ascontiguousarray(features.table.limbs[:, np.concatenate(masks)])
        return Counts(whole_numbers(sizes), replace(features.table, limbs=limbs))

    def _family(self) -> Categorical:
        return Categorical(Laplace(self._check_alpha()))

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        counts = statistics.features
        log_prob = joint.parameters.log_prob
        return {
            "class_count_": statistics.weight.rounded(),
            "class_log_prior_": joint.log_prior,
            "category_count_": counts.columns(counts.table.rounded()),
            "categories_": counts.values,
            "n_categories_": counts.sizes,
            "feature_log_prob_": [p[:, :-1] for p in log_prob],
            "unseen_log_prob_": np.stack([p[:, -1] for p in log_prob], axis=1),
        }

    def _joint(self) -> Joint[Any, Any]:
        by_hand = [np.full((len(p), 1), -np.inf) for p in self.feature_log_prob_]
        unseen = getattr(self, "unseen_log_prob_", np.hstack(by_hand))
        pairs = zip(self.feature_log_prob_, unseen.T, strict=True)
        log_prob = tuple(np.column_stack([p, u]) for p, u in pairs)
        parameters = CategoricalParameters(self._categories(), log_prob)
        return Joint(Categorical(), np.asarray(self.class_log_prior_), parameters)

    def _as_input(self, features: Any) -> Array:
        return np.asarray(features.codes)

    def _n_cells(self) -> int:
        return int(np.prod([int(n) for n in self.n_categories_], dtype=object))


def whole_numbers(sizes: Array) -> tuple[Array, ...]:
    """The categories 0 .. n - 1 of each column."""
    return tuple(np.arange(n) for n in sizes)
