"""Base class of the naive Bayes classes with pseudo-counts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval

from posterior.data.typing import Floats
from posterior.estimators import joint_answers
from posterior.estimators.estimator import learned
from posterior.estimators.naive_bayes import by_hand
from posterior.estimators.summed_classifier import CALIBRATED, SummedClassifier
from posterior.generative.rule import ClassPrior
from posterior.readers.labels import Labels
from posterior.readers.reader import Reader

ALPHA_MIN = 1e-10
ALPHAS = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
CONSTRAINTS: dict[str, list[Any]] = {
    "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
    "fit_prior": ["boolean"],
    "class_prior": ["array-like", Mapping, None],
    "force_alpha": ["boolean"],
    "calibrated": CALIBRATED,
}


def linear(slope: Floats, offset: Floats, origin: Floats | None) -> tuple[None, Floats, Floats]:
    """log p(x, k) = b_k · u + c_k where u = x - origin: no squares, (k, d), (k,)."""
    return None, slope, offset if origin is None else offset + slope @ origin


class DiscreteNB(SummedClassifier):
    """Pseudo-counts, and class probabilities that are learned, alike or given."""

    needs_classes = True
    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {"alpha": ALPHAS}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS
    alpha: Any
    force_alpha: bool = True
    fit_prior: bool
    class_prior: Any

    class_count_ = learned[Floats](lambda fitted: fitted.class_weight())
    feature_log_prob_: Any
    class_log_prior_ = learned[Floats](
        lambda fitted: fitted.model.log_prior,
        lambda fitted, log_prior: fitted.with_prior(np.exp(log_prior)),
    )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _pseudo_counts(self, reader: Reader) -> float | tuple[float, ...]:
        """Pseudo-counts, raised to a tiny one unless zero was meant."""
        alpha = np.asarray(self.alpha, np.float64)
        if alpha.ndim:
            if alpha.shape != (reader.columns.n,):
                raise ValueError(
                    "When alpha is an array, it should contains `n_features`. Got "
                    f"{alpha.size} elements instead of {reader.columns.n}."
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

    estimate_under = joint_answers.estimate_under
    prior_settings: ClassVar[frozenset[str]] = frozenset(
        {"alpha", "force_alpha", "fit_prior", "class_prior"}
    )
    state = by_hand.state

    def stated(self, values: Mapping[str, Any]) -> tuple[Floats, Any]:
        """Class probabilities and parameters, from attributes by name if there are all."""
        prior = np.exp(np.asarray(values["class_log_prior_"], np.float64))
        return prior, self.parameters_of(values["feature_log_prob_"])

    def parameters_of(self, log_prob: Any) -> Any:
        """The parameters of the family, from `feature_log_prob_`."""
        raise KeyError

    def _prior(self, labels: Labels | None) -> ClassPrior:
        if labels is None:
            return ClassPrior()
        return ClassPrior(self.class_prior, labels.classes, alike=not self.fit_prior)
