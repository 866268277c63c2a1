"""Bernoulli naive Bayes."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from posterior.estimators.naive_bayes.discrete_nb import DiscreteNB
from posterior.families import Bernoulli, Laplace
from posterior.families.bernoulli import BernoulliParameters
from posterior.generative.joint import Joint, JointStatistics


class BernoulliNB(DiscreteNB):
    """Columns of yes and no, independent given the class.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior, calibrated : as in `MultinomialNB`
    binarize : float or None, default=0.0
        Values above it are a yes. None says that they are 0 and 1 already.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        Counts and log probabilities of yes.

    Examples
    --------
    >>> from posterior import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, None]], ["a", "a", "b"])
    >>> model.predict([[1, 0]])
    array(['a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DiscreteNB._parameter_constraints,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.calibrated = calibrated

    def _family(self) -> Bernoulli:
        return Bernoulli(Laplace(self._check_alpha()), self.binarize)

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        return {
            "class_count_": statistics.weight.rounded(),
            "class_log_prior_": joint.log_prior,
            "feature_count_": statistics.features.total.rounded(),
            "feature_log_prob_": joint.parameters.log_yes,
            "_no": (joint.parameters.log_yes.sum(), joint.parameters.log_no),
        }

    def _joint(self) -> Joint[Any, Any]:
        log_yes = np.asarray(self.feature_log_prob_)
        total, log_no = getattr(self, "_no", (None, None))
        if log_no is None or log_yes.sum() != total:  # set by hand: with fewer digits
            with np.errstate(divide="ignore"):
                log_no = np.log1p(-np.exp(log_yes))
        parameters = BernoulliParameters(log_yes, log_no)
        return Joint(
            Bernoulli(threshold=self.binarize), np.asarray(self.class_log_prior_), parameters
        )

    def _n_cells(self) -> int:
        return 2**self.n_features_in_
