"""What the naive Bayes classes with pseudo-counts have in common."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval

from posterior.data.typing import Floats
from posterior.estimators.numeric import CALIBRATED, NumericClassifier, log_prior

ALPHA_MIN = 1e-10
ALPHAS = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


class DiscreteNB(NumericClassifier):
    """What the classes with pseudo-counts have in common."""

    needs_classes = True
    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {"alpha": ALPHAS}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", Mapping, None],
        "force_alpha": ["boolean"],
        "calibrated": CALIBRATED,
    }
    alpha: Any
    force_alpha: bool = True
    fit_prior: bool
    class_prior: Any

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _check_alpha(self) -> float | tuple[float, ...]:
        """Pseudo-counts, raised to a tiny one unless zero was meant."""
        alpha = np.asarray(self.alpha, np.float64)
        if alpha.ndim:
            if alpha.shape != (self.n_features_in_,):
                raise ValueError(
                    "When alpha is an array, it should contains `n_features`. Got "
                    f"{alpha.size} elements instead of {self.n_features_in_}."
                )
            if (alpha < 0).any():
                raise ValueError("All values in alpha must be greater than 0.")
        if alpha.min() < ALPHA_MIN and not self.force_alpha:
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {ALPHA_MIN:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=2,
            )
            alpha = np.maximum(alpha, ALPHA_MIN)
        return float(alpha) if alpha.ndim == 0 else tuple(alpha.tolist())

    def _log_prior(self, weight: Floats) -> Floats:
        if self.class_prior is None and not self.fit_prior:
            return np.broadcast_to(-np.log(weight.shape[-1]), weight.shape).astype(np.float64)
        return log_prior(weight, self.class_prior, self.classes_)
