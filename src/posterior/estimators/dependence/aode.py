"""Averaged one-dependence estimators."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from posterior.data.rows import Rows
from posterior.data.typing import Array
from posterior.estimators.dependence.base import (
    CONSTRAINTS,
    DependenceClassifier,
    DependenceRule,
)
from posterior.families.dependence import AveragedOneDependence, BackOff
from posterior.generative.joint import JointStatistics
from posterior.generative.rule import Rule
from posterior.readers.binned import BinnedColumns
from posterior.readers.labels import Labels


class AODE(DependenceClassifier):
    """Every column in turn the parent of all others, and the average of these models.

    p(y, x) ∝ Σᵢ wᵢ p(y) p(xᵢ | y) ∏_{j ≠ i} p(xⱼ | y, xᵢ)

    (Webb, Boughton and Wang 2005.) No structure is chosen: all is in the counts of pairs of values,
    so rows are added, merged and taken back exactly. Numbers are cut into bins where classes change
    (by description length); missing cells are left out.

    Parameters
    ----------
    smoothing : BackOff, Laplace or MEstimate, optional
        How p(xⱼ | y, xᵢ) is estimated where rows are few: `BackOff(m)` leans on p(xⱼ | y);
        `Laplace(1.0)` is Weka's rule. By default `fit` chooses m for each column, with a parent and
        without, by the log loss of each row under the model of the others (`smoothing_`). Rows that
        are added, taken back or merged keep what the last `fit` chose. A stream that begins without
        one, and a table that is elsewhere (files, a database, a cluster), have `BackOff(10)`.
    limit : float, default=1.0
        Rows that must have a value before it is a parent.
    weighted : bool, default=False
        Weigh parents by what they tell of the class, I(Xᵢ; Y), rather than alike.
    categories : bool or list of columns, optional
        Numbers that are categories: all of them, or those named. Strings, categories and booleans
        always are.
    bins : mapping of columns to cut points, optional
        For columns of numbers; others are cut by the first rows that come.
    class_prior : array of shape (n_classes,) or dict by class, optional
        Class probabilities; learned if not given.
    calibrated : str, optional
        Correct the probabilities by rows held out, in refits of folds: "temperature", "beta",
        "quadratic", "vector", "matrix", "isotonic", or "auto": whichever helps, if one does.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    smoothing_ : BackOff, Laplace or MEstimate
        As given, or as chosen; `m[j][l]` is that of column j with l parents.
    cut_points_ : dict of columns of numbers to arrays
    joint_ : the fitted model

    Examples
    --------
    Naive Bayes cannot learn exclusive or:

    >>> from posterior import AODE
    >>> X, y = [["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 5, ["no", "yes", "yes", "no"] * 5
    >>> AODE().fit(X, y).predict([["b", "a"]])
    array(['yes'], dtype='<U3')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "limit": [Interval(Real, 0, None, closed="neither")],
        "weighted": ["boolean"],
    }

    def __init__(
        self,
        *,
        smoothing: Any = None,
        limit: float = 1.0,
        weighted: bool = False,
        categories: Any = None,
        bins: Any = None,
        class_prior: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.limit = limit
        self.weighted = weighted
        self.categories = categories
        self.bins = bins
        self.class_prior = class_prior
        self.calibrated = calibrated

    def _family(self, reader: BinnedColumns) -> AveragedOneDependence:
        smoothing, limit = self._smoothing(reader), float(self.limit)
        return AveragedOneDependence(reader.coding(), smoothing, limit, bool(self.weighted))

    def _least_rows(self) -> float:
        return max(float(self.limit), 1e-9)

    def rule(self, reader: Any, labels: Labels | None) -> Rule:
        """Counts of pairs, whose shares may change with every row."""
        plain = super().rule(reader, labels)
        if isinstance(self._smoothing(reader), BackOff):
            return plain
        return EveryRowDecides(plain.family, plain.prior, reader.coding(), self._least_rows())


@dataclass(frozen=True, slots=True, eq=False)
class EveryRowDecides(DependenceRule):
    """Shares of all rows change with every row."""

    def decisive(self, rows: Rows, statistics: JointStatistics[Any]) -> Array:
        return np.ones(len(rows), bool)
