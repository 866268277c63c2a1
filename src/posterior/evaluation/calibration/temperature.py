"""Temperature: log odds divided by one number, and mixed with certainty of nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from posterior import kernels
from posterior.data.typing import Codes, Floats

FEW = 200  # rows, below which no number of them says that anything is impossible
WIDEST = (-5.0, 10.0)  # of log T


@dataclass(frozen=True, slots=True)
class Temperature:
    """q_k = (1 - ε) p_k^(1/T) / Σ_j p_j^(1/T) + ε / K (Guo et al. 2017).

    T > 1 takes confidence away. ε = 1 / (n + 1) where n rows are few: one more row, of any class.
    """

    temperature: float
    uniform: float = 0.0  # ε

    @classmethod
    def fit(cls, log_proba: Floats, codes: Codes, weight: Floats | None) -> Temperature:
        """The temperature of least log loss, with a prior log T ~ N(0, 1); of few rows, mixed."""
        n = len(codes) if weight is None else float(weight.sum())
        if n < FEW:
            return cls.mixed(log_proba, codes, weight)
        usable = np.isfinite(log_proba).all(axis=1)
        weight = None if weight is None else weight[usable]
        return cls._least(log_proba[usable], codes[usable], weight, 0.0)

    @classmethod
    def mixed(cls, log_proba: Floats, codes: Codes, weight: Floats | None) -> Temperature:
        """The same mixed with uniform by 1 / (n + 1), however many rows there are."""
        n = len(codes) if weight is None else float(weight.sum())
        return cls._least(log_proba, codes, weight, 1 / (n + 1))

    @classmethod
    def _least(
        cls, log_proba: Floats, codes: Codes, weight: Floats | None, uniform: float
    ) -> Temperature:
        w, own = np.ones(len(codes)) if weight is None else weight, np.arange(len(codes))

        def loss(log_t: float) -> float:
            gone = -float(w @ cls(np.exp(log_t), uniform).apply(log_proba)[own, codes])
            return gone + 0.5 * log_t**2  # rows that are all right cannot make it extreme

        if len(codes) == 0 or log_proba.shape[1] == 1:
            return cls(1.0, uniform)
        found = scipy.optimize.minimize_scalar(loss, bounds=WIDEST, method="bounded")
        return cls(float(np.exp(found.x)), uniform)

    def apply(self, log_proba: Floats) -> Floats:
        """Calibrated log probabilities."""
        scaled = log_proba / self.temperature
        if self.uniform == 0:
            kernels.normalize(scaled, "log_posterior")
            return scaled
        kernels.normalize(scaled, "posterior")
        return np.log((1 - self.uniform) * scaled + self.uniform / scaled.shape[1])
