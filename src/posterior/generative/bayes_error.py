"""Bayes error: how often the best rule is wrong, if a joint model is the truth."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import scipy
from scipy import special

from posterior.data.typing import Array, Floats
from posterior.evaluation.quadratics import Quadratics, points
from posterior.families.bernoulli import BernoulliParameters
from posterior.families.categorical import CategoricalParameters
from posterior.families.gaussian import GaussianParameters
from posterior.families.normal_density import MultivariateGaussianParameters
from posterior.families.poisson import PoissonParameters
from posterior.generative.joint import Joint

CELLS = 2**20  # different rows times classes, above which they are not added up one by one


@dataclass(frozen=True, slots=True)
class BayesError:
    """The probability of error of the best rule; a standard error of zero says that it is exact."""

    probability: float
    standard_error: float = 0.0

    @classmethod
    def of_rows(cls, posterior: Floats) -> BayesError:
        """The mean of 1 - max_k p(k | x) over rows that were drawn, (n, k)."""
        wrong = 1 - posterior.max(axis=1)
        return cls(float(wrong.mean()), float(wrong.std(ddof=1) / np.sqrt(len(wrong))))

    def __float__(self) -> float:
        return self.probability

    def __str__(self) -> str:
        off = f" ± {self.standard_error:.2g}" if self.standard_error else ""
        return f"{self.probability:.4g}{off}"

    __repr__ = __str__


def exact_error(joint: Joint[Any, Any]) -> float | None:
    """The error without a draw, where there is a way."""
    possible = joint.log_prior > -np.inf
    log_prior = joint.log_prior[possible]
    if len(log_prior) == 1:
        return 0.0
    normal = _on_a_line(joint.parameters, possible)
    if normal is not None:
        return _error_on_a_line(log_prior, *normal)
    tables = _tables(joint.parameters, possible)
    return None if tables is None else _error_of_cells(log_prior, tables)


# ---- normal classes, by their boundaries ----


def _on_a_line(parameters: Any, possible: Array) -> tuple[Floats, Floats] | None:
    """Means and deviations (k,) of one column, or of the direction that tells two classes apart."""
    p = parameters
    if not isinstance(p, GaussianParameters | MultivariateGaussianParameters):
        return None
    mean = p.mean[possible]
    if p.freedom is not None:
        return None
    if isinstance(p, GaussianParameters):
        variance = p.variance[possible]
        if mean.shape[1] != 1 or not np.isfinite(variance).all():
            return None
        return mean[:, 0], np.sqrt(variance[:, 0])
    if any(white.matrix.shape[1] != mean.shape[1] for white in p.whitening):
        return None
    if mean.shape[1] == 1:
        deviation = np.sqrt(np.broadcast_to(p.covariance, (len(p.mean), 1, 1)))
        return mean[:, 0], deviation[possible, 0, 0]
    if len(p.whitening) == 1 and len(mean) == 2:
        apart = float(np.linalg.norm((mean[1] - mean[0]) @ p.whitening[0].matrix))
        return np.array([0.0, apart]), np.ones(2)
    return None


def _error_on_a_line(log_prior: Floats, mean: Floats, deviation: Floats) -> float:
    """Σ_k π_k P(x where another class leads | k), between the points where the leader changes."""
    origin = mean.mean()
    u, variance = mean - origin, deviation**2
    c = log_prior - 0.5 * (u**2 / variance + np.log(2 * np.pi * variance))
    A, b = (-0.5 / variance)[:, None, None], (u / variance)[:, None]
    found = points(Quadratics(A, b, c, np.arange(len(u))))
    ends = [-np.inf, *found.at.tolist(), np.inf]
    prior, error = np.exp(log_prior), 0.0
    for leader, (low, high) in zip(found.classes.tolist(), pairwise(ends), strict=True):
        a, z = (low - u) / deviation, (high - u) / deviation
        above = a > 0  # there the upper tail does not cancel
        a, z = np.where(above, -z, a), np.where(above, -a, z)
        mass = special.ndtr(z) - special.ndtr(a)
        mass[leader] = 0.0
        error += float(prior @ mass)
    return error


# ---- columns of few values, by all rows there can be ----


def _tables(parameters: Any, possible: Array) -> list[Floats] | None:
    """log p(value | k) of the values (k, m) of each column, which are all there are."""
    if isinstance(parameters, BernoulliParameters):
        no, yes = parameters.log_no[possible], parameters.log_yes[possible]
        tables = list(np.stack([no, yes], axis=2).swapaxes(0, 1))
    elif isinstance(parameters, CategoricalParameters):
        tables = [log_prob[possible, :-1] for log_prob in parameters.log_prob]
    elif isinstance(parameters, PoissonParameters) and parameters.rows is None:
        rates = parameters.rate[possible].T
        most = rates.max(axis=1)
        last = most + 12 * np.sqrt(most) + 40  # less than e^-70 lies beyond
        if last.max() > CELLS:
            return None
        tables = [
            scipy.stats.poisson.logpmf(np.arange(int(n)), rate[:, None])
            for n, rate in zip(last.tolist(), rates, strict=True)
        ]
    else:
        return None
    size = prod(table.shape[1] for table in tables) * int(np.sum(possible))
    whole = all(np.allclose(np.exp(table).sum(axis=1), 1.0) for table in tables)
    return tables if size <= CELLS and whole else None


def _error_of_cells(log_prior: Floats, tables: list[Floats]) -> float:
    """Σ_x [ Σ_k p(x, k) - max_k p(x, k) ]."""
    joint = log_prior[:, None]
    for table in tables:
        joint = (joint[:, :, None] + table[:, None, :]).reshape(len(log_prior), -1)
    p = np.sort(np.exp(joint), axis=0)
    return float(p[:-1].sum())
