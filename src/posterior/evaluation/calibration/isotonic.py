"""Isotonic regression of each class's probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Codes, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Isotonic:
    """For each class a rising step function of its probability, normalized (Zadrozny 2002)."""

    steps: tuple[tuple[Floats, Floats], ...]
    least: float  # a step of zero would claim a certainty that no sample gives

    @classmethod
    def fit(cls, log_proba: Floats, codes: Codes, weight: Floats | None) -> Isotonic:
        """The rising functions of least squared error, class against the rest."""
        from sklearn.isotonic import IsotonicRegression

        proba = np.exp(log_proba)
        steps = []
        for k in range(proba.shape[1]):
            line = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
            line.fit(proba[:, k], codes == k, sample_weight=weight)
            steps.append((line.X_thresholds_, line.y_thresholds_))
        n = len(codes) if weight is None else float(weight.sum())
        return cls(tuple(steps), 1 / (n + 2))

    def apply(self, log_proba: Floats) -> Floats:
        """Calibrated log probabilities."""
        proba = np.exp(log_proba)
        columns = [np.interp(proba[:, k], x, y) for k, (x, y) in enumerate(self.steps)]
        raised = np.maximum(np.stack(columns, axis=1), self.least)
        return np.asarray(np.log(raised / raised.sum(axis=1, keepdims=True)))
