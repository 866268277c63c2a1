"""What is known of coefficients before any row: a normal or a Laplace prior for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Penalty:
    """½ Σ ridge (β - center)² + Σ lasso |β|, coefficient by coefficient, (outputs, p) each."""

    ridge: Floats
    lasso: Floats
    center: Floats

    @classmethod
    def none(cls, shape: tuple[int, int]) -> Penalty:
        return cls(np.zeros(shape), np.zeros(shape), np.zeros(shape))

    @property
    def smooth(self) -> bool:
        return not self.lasso.any()

    @property
    def is_flat(self) -> bool:
        """Whether it says nothing: maximum likelihood."""
        return not (self.ridge.any() or self.lasso.any())

    def value(self, coef: Floats) -> float:
        apart = coef - self.center
        return float(0.5 * (self.ridge * apart**2).sum() + (self.lasso * np.abs(coef)).sum())

    def smooth_value(self, coef: Floats) -> float:
        return float(0.5 * (self.ridge * (coef - self.center) ** 2).sum())

    def gradient(self, coef: Floats) -> Floats:
        """Of the part that has one."""
        return self.ridge * (coef - self.center)
