"""Tree-augmented naive Bayes."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from posterior.data.table import Table
from posterior.estimators.dependence.base import (
    CONSTRAINTS,
    DependenceClassifier,
    structure_table,
)
from posterior.estimators.estimator import learned
from posterior.families.dependence import DependenceTree
from posterior.readers.binned import BinnedColumns


class TAN(DependenceClassifier):
    """Every column depends on the class and on one other: a tree.

    p(y, x) = p(y) ∏ⱼ p(xⱼ | y, x_parent(j))

    The tree is the one of greatest total I(Xⱼ; X_parent | Y) (Friedman, Geiger and Goldszmidt
    1997), rooted at the column that tells most of the class. It is found from the counts of pairs
    of values, which add: `partial_fit`, `merge` and `forget` find the tree that `fit` on all rows
    would. Numbers are cut into bins where classes change; missing cells are left out, and a column
    whose parent is missing depends on the class alone.

    Parameters
    ----------
    smoothing : BackOff, Laplace or MEstimate, optional
        How p(xⱼ | y, parent) is estimated where rows are few; by default `BackOff`, which leans on
        p(xⱼ | y), with an m for each column that `fit` chooses, as in `AODE`.
    categories, bins, class_prior, calibrated : as in `AODE`

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    structure_ : tuple of n_features tuples
        The parent of each column by number; none for the root.
    smoothing_ : BackOff, Laplace or MEstimate, as in `AODE`
    cut_points_ : dict of columns of numbers to arrays
    joint_ : the fitted model

    Examples
    --------
    >>> from posterior import TAN
    >>> X, y = [["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 5, ["no", "yes", "yes", "no"] * 5
    >>> TAN().fit(X, y).structure_
    ((), (0,))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**CONSTRAINTS}

    def __init__(
        self,
        *,
        smoothing: Any = None,
        categories: Any = None,
        bins: Any = None,
        class_prior: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.categories = categories
        self.bins = bins
        self.class_prior = class_prior
        self.calibrated = calibrated

    structure_ = learned[tuple[Any, ...]](lambda fitted: fitted.model.parameters.parents)

    def _family(self, reader: BinnedColumns) -> DependenceTree:
        return DependenceTree(reader.coding(), self._smoothing(reader))

    def structure_table(self) -> Table:
        """Every column, and its parent by name."""
        check_is_fitted(self)
        return structure_table(self, self.structure_)
