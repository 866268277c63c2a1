"""Gaussian naive Bayes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from posterior.data.by_class import in_order
from posterior.data.typing import Floats
from posterior.estimators.numeric import CALIBRATED, NumericClassifier, log_prior
from posterior.families import Gaussian, GaussianParameters, VarianceFloor
from posterior.generative.joint import Joint, JointStatistics


class GaussianNB(NumericClassifier):
    """Columns of numbers, normal and independent given the class.

    Parameters
    ----------
    priors : array of shape (n_classes,) or dict by class, optional
        Class probabilities; learned if not given.
    var_smoothing : float, default=1e-9
        Portion of the largest variance of all columns that is added to every variance.
    calibrated : {"temperature", "isotonic"}, optional
        Correct the probabilities by out-of-fold scores, which cost no refit.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : arrays of shape (n_classes,)
    theta_, var_ : arrays of shape (n_classes, n_features)
        Means and variances.
    epsilon_ : float
        What was added to the variances.

    Examples
    --------
    >>> from posterior import GaussianNB
    >>> X = [[-2, -1], [-1, -1], [-1, -2], [1, 1], [1, 2], [2, None]]
    >>> model = GaussianNB().fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> model.predict([[-0.8, -1]])
    array(['low'], dtype='<U4')
    """

    accepts_sparse = False
    needs_classes = True
    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {
        "var_smoothing": tuple(10.0**e for e in range(-12, 1))
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "priors": ["array-like", Mapping, None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "calibrated": CALIBRATED,
    }

    def __init__(
        self,
        *,
        priors: Any = None,
        var_smoothing: float = 1e-9,
        calibrated: str | None = None,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.calibrated = calibrated

    def _family(self) -> Gaussian:
        return Gaussian(VarianceFloor(self.var_smoothing))

    def _check_chunk(self, X: Any, first_row: int, fitting: bool) -> None:
        """Sums and scores notice an infinite cell themselves."""

    def _check_scores(self, scores: Floats, X: Any, first_row: int) -> None:
        if not np.isfinite(scores.sum()):
            self._check_cells(X, first_row, fitting=False)

    def _log_prior(self, weight: Floats) -> Floats:
        return log_prior(weight, self.priors, self.classes_)

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        count = statistics.weight.rounded()
        given = in_order(self.priors, self.classes_, "priors")
        prior = count / count.sum() if given is None else np.asarray(given, float)
        return {
            "class_count_": count,
            "class_prior_": prior,
            "theta_": joint.parameters.mean,
            "var_": joint.parameters.variance,
            "epsilon_": joint.parameters.floor,
        }

    def _joint(self) -> Joint[Any, Any]:
        with np.errstate(divide="ignore"):
            prior = np.log(np.asarray(self.class_prior_, np.float64))
        parameters = GaussianParameters(np.asarray(self.theta_), np.asarray(self.var_))
        return Joint(self._family(), prior, parameters)

    def quadratics(self, origin: Floats | None = None) -> tuple[Floats, Floats, Floats]:
        """log p(x, k) = uᵀ A_k u + b_kᵀ u + c_k where u = x - origin: (k, d, d), (k, d), (k,)."""
        joint = self._joint()
        mean, variance = joint.parameters.mean, joint.parameters.variance
        mean = mean if origin is None else mean - origin
        A = -0.5 * np.eye(mean.shape[1]) / variance[:, None, :]
        c = joint.log_prior - 0.5 * (mean**2 / variance + np.log(2 * np.pi * variance)).sum(axis=1)
        return A, mean / variance, c
