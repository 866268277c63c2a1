"""What is known of coefficients before any row: a normal or a Laplace prior for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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

    @classmethod
    def of(
        cls, shape: tuple[int, int], C: float, l1_ratio: float, intercept: float | None
    ) -> Penalty:
        """1 / C on every slope, so much of it a lasso.

        `intercept` is the scale of a penalized intercept, infinite if it is free; None if there is
        none, and the last column is a slope too.
        """
        weight = np.full(shape, 0.0 if np.isinf(C) else 1.0 / C)
        if intercept is not None:
            weight[:, -1] = 0.0 if intercept == np.inf else weight[:, -1] / intercept
        lasso = l1_ratio * weight
        if intercept is not None and intercept != np.inf:
            weight[:, -1] /= intercept  # ½ (b / s)² and |b| / s
        return cls((1 - l1_ratio) * weight, lasso, np.zeros(shape))

    def with_priors(
        self, priors: Mapping[Any, tuple[float, float]], names: Sequence[Any]
    ) -> Penalty:
        """Normal priors (mean, deviation) of some coefficients by name, in the penalty's place."""
        if len(self.ridge) > 1:
            raise ValueError(
                f"Expected two classes for prior=, got {len(self.ridge)}: of several classes only "
                "differences of coefficients mean something. Use C."
            )
        ridge, lasso, center = (v.copy() for v in (self.ridge, self.lasso, self.center))
        place = {name: j for j, name in enumerate(names)}
        for name, (mean, deviation) in priors.items():
            if name not in place:
                raise ValueError(f"Expected priors for coefficients of {names}, got {name!r}.")
            if not (np.isfinite(mean) and deviation > 0):
                raise ValueError(
                    "Expected a prior as (mean, standard deviation above zero), got "
                    f"{(mean, deviation)} for {name!r}."
                )
            j = place[name]
            ridge[0, j], lasso[0, j], center[0, j] = 1 / deviation**2, 0.0, mean
        return Penalty(ridge, lasso, center)

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
