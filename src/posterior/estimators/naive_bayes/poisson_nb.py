"""Poisson naive Bayes."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from posterior.estimators.naive_bayes.discrete_nb import DiscreteNB
from posterior.estimators.numeric import CALIBRATED
from posterior.families import Poisson, PseudoRows
from posterior.families.poisson import PoissonParameters
from posterior.generative.joint import Joint, JointStatistics


class PoissonNB(DiscreteNB):
    """Counts of events, independent given the class.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-rows with the rate of all classes together.
    fit_prior, class_prior, calibrated : as in `MultinomialNB`

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    rate_ : array of shape (n_classes, n_features)
        Events expected in a row.

    Examples
    --------
    >>> from posterior import PoissonNB
    >>> model = PoissonNB().fit([[0, 1], [1, 0], [7, 9], [9, None]], [0, 0, 1, 1])
    >>> model.predict([[8, 8]])
    array([1])
    """

    accepts_negative = False
    needs_classes = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", Mapping, None],
        "calibrated": CALIBRATED,
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.calibrated = calibrated

    def _family(self) -> Poisson:
        return Poisson(PseudoRows(self.alpha))

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        return {
            "class_count_": statistics.weight.rounded(),
            "class_log_prior_": joint.log_prior,
            "rate_": joint.parameters.rate,
        }

    def _joint(self) -> Joint[Any, Any]:
        parameters = PoissonParameters(np.asarray(self.rate_))
        return Joint(self._family(), np.asarray(self.class_log_prior_), parameters)

    def _check_cells(self, X: Any, first_row: int, fitting: bool) -> None:
        super()._check_cells(X, first_row, fitting=True)  # a rate gives no negative count
