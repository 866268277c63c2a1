"""Priors: what is believed before the rows are seen, as rows that were never there.

A prior adds pseudo-rows to the sums, so smoothing and shrinkage need no formulas of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from posterior.data.errors import DegenerateError
from posterior.data.typing import Array, Floats


@dataclass(frozen=True, slots=True)
class Laplace:
    """α rows of every value (Laplace for α = 1, Lidstone for less); the Dirichlet(α) prior."""

    alpha: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        _check_rows("alpha", self.alpha)

    def pseudo_counts(self, frequency: Floats, n_values: int) -> Floats:
        """Rows to add to each value."""
        return np.broadcast_to(np.asarray(self.alpha, np.float64), frequency.shape)

    def unseen(self, n_values: Array | int) -> Floats:
        """Rows to add to a value that nobody has seen."""
        return np.broadcast_to(np.min(self.alpha), np.shape(n_values)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class MEstimate:
    """m rows spread as p: over all values alike, as chosen, or (p = None) as in all groups.

    θ = (n + m p) / (N + m)   (Cestnik 1990; Mitchell 1997)
    """

    m: float = 2.0
    p: float | tuple[float, ...] | str | None = "uniform"

    def __post_init__(self) -> None:
        _check_rows("m", self.m)
        if self.p is not None and self.p != "uniform":
            _check_rows("p", self.p)
            if np.max(self.p) > 1:
                raise ValueError(f"Expected p to be shares, none above 1, got {self.p}.")

    def pseudo_counts(self, frequency: Floats, n_values: int) -> Floats:
        """Rows to add to each value."""
        if self.p is None:
            return self.m * frequency
        p = 1 / max(n_values, 1) if self.p == "uniform" else np.asarray(self.p, np.float64)
        if np.ndim(p) and np.shape(p) != frequency.shape[-1:]:
            raise DegenerateError(
                f"Expected shares p for all {frequency.shape[-1]} values, got {np.size(p)} of them."
            )
        return np.broadcast_to(self.m * p, frequency.shape)

    def unseen(self, n_values: Array | int) -> Floats:
        """Rows to add to a value that nobody has seen: its share among one more value."""
        return self.m / (np.asarray(n_values, np.float64) + 1)


DiscretePrior: TypeAlias = Laplace | MEstimate


@dataclass(frozen=True, slots=True)
class PseudoRows:
    """m rows with the mean and variance of all groups together.

    For a Gaussian the normal-inverse-gamma prior, for a Poisson rate the gamma prior.
    """

    m: float = 1.0

    def __post_init__(self) -> None:
        _check_rows("m", self.m)


@dataclass(frozen=True, slots=True)
class VarianceFloor:
    """A portion of the largest variance of all columns, added to every variance.

    The rule of scikit-learn's `var_smoothing`; it depends on the scale of other columns.
    """

    portion: float = 1e-9

    def __post_init__(self) -> None:
        _check_rows("portion", self.portion)


@dataclass(frozen=True, slots=True)
class AddedVariance:
    """A constant, added to every variance: the rule of scikit-learn's `reg_covar`."""

    amount: float = 1e-6

    def __post_init__(self) -> None:
        _check_rows("amount", self.amount)


def pseudo_log_likelihood(rows: Floats, log_prob: Floats) -> float:
    """Σ rows log p over all groups; what no pseudo-row has may be impossible."""
    rows = np.broadcast_to(rows, log_prob.shape)
    return float((rows * np.where(rows > 0, log_prob, 0.0)).sum())


def _check_rows(name: str, value: float | tuple[float, ...] | str) -> None:
    if isinstance(value, str) or not (np.isfinite(value) & (np.asarray(value) >= 0)).all():
        raise ValueError(f"Expected a finite, non-negative {name}, got {value}.")


GaussianPrior: TypeAlias = PseudoRows | VarianceFloor | AddedVariance

LAPLACE = Laplace(1.0)
ONE_ROW = PseudoRows(1.0)
