"""Probabilities that mean what they say, learned from scores of rows held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from posterior.data.typing import Codes, Floats


@dataclass(frozen=True, slots=True)
class Temperature:
    """log p(k | x) / T, normalized again (Guo et al. 2017); T > 1 takes confidence away."""

    temperature: float

    @classmethod
    def fit(cls, log_proba: Floats, codes: Codes, weight: Floats | None) -> Temperature:
        """The temperature of least log loss."""
        usable = np.isfinite(log_proba).all(axis=1)
        log_proba, codes = log_proba[usable], codes[usable]
        w = np.ones(len(codes)) if weight is None else weight[usable]
        own = np.arange(len(codes)), codes

        def loss(log_t: float) -> float:
            scaled = log_proba * np.exp(-log_t)
            return float(w @ (logsumexp(scaled, axis=1) - scaled[own]))

        if len(codes) == 0 or log_proba.shape[1] == 1:
            return cls(1.0)
        return cls(float(np.exp(minimize_scalar(loss, bounds=(-5, 10), method="bounded").x)))

    def apply(self, log_proba: Floats) -> Floats:
        """Calibrated log probabilities."""
        scaled = log_proba / self.temperature
        return np.asarray(scaled - logsumexp(scaled, axis=1, keepdims=True))


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


Calibrator: TypeAlias = Temperature | Isotonic
CALIBRATORS: dict[str, type[Temperature] | type[Isotonic]] = {
    "temperature": Temperature,
    "isotonic": Isotonic,
}


def check_calibrated(kind: str) -> None:
    """Refuse the name of a calibration that there is not."""
    if kind not in CALIBRATORS:
        raise ValueError(
            f"Expected calibrated to be one of {sorted(CALIBRATORS)} or None, got {kind!r}."
        )
