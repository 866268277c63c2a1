"""Value, gradient and, if wanted, curvature that rows add to a function that is minimized."""

from __future__ import annotations

from dataclasses import dataclass

from posterior.data.typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Quadratic:
    """f(w + s) ≈ value + gradient · s + ½ s · hessian · s."""

    value: float
    gradient: Floats
    hessian: Floats | None = None

    def __add__(self, other: Quadratic, /) -> Quadratic:
        hessian = None
        if self.hessian is not None and other.hessian is not None:
            hessian = self.hessian + other.hessian
        return Quadratic(self.value + other.value, self.gradient + other.gradient, hessian)
