"""Gaussians of rows with missing cells, by EM (Ghahramani and Jordan 1994).

E: what is missing is expected from what is observed, x̂_m = μ_m + Σ_mo Σ_oo⁻¹ (x_o - μ_o), and
   still varies by Σ_mm - Σ_mo Σ_oo⁻¹ Σ_om.
M: mean and covariance of the rows so completed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from posterior.data.errors import DegenerateError
from posterior.data.typing import Array, Floats
from posterior.families.covariance import Scatter
from posterior.statistics.cross_products import CrossSums
from posterior.statistics.incomplete_rows import IncompleteRows

LOG_2PI = float(np.log(2 * np.pi))
TOLERANCE = 1e-9  # of means and covariances, in deviations
MOST_STEPS = 2000

Estimate: TypeAlias = tuple[Floats, Floats]
"""Means (k, d) and covariances (k or 1, d, d)."""


def completed(
    sums: CrossSums, maximize: Callable[[Scatter], Estimate]
) -> tuple[Scatter, list[float]]:
    """The scatter of all rows as the fitted model completes them, and the log likelihoods."""
    complete = Scatter.of(sums.complete)
    if len(sums.incomplete) == 0:
        return complete, []
    patterns = sums.incomplete.patterns()
    estimate = maximize(_start(complete, sums.incomplete))
    trace: list[float] = []
    for _ in range(MOST_STEPS):
        expected, value = _expect(complete, patterns, estimate)
        trace.append(value)
        before, estimate = estimate, maximize(expected)
        change = _change(before, estimate)
        if not np.isfinite(change):
            raise DegenerateError(
                "Expected means and covariances that are numbers, but filling in missing cells "
                "gave others. Scale columns of very large numbers down."
            )
        if change <= TOLERANCE:
            return expected, trace
    warnings.warn(
        f"EM stopped after {MOST_STEPS} steps while parameters still moved by {change:.1e} of a "
        f"deviation, more than {TOLERANCE:g}.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return expected, trace


def _change(before: Estimate, after: Estimate) -> float:
    """The largest move of a mean or covariance, in deviations of its columns."""
    deviation = np.sqrt(np.einsum("kii->ki", after[1]))
    deviation = np.where(deviation > 0, deviation, 1.0)
    means = np.abs(after[0] - before[0]) / deviation
    covariances = np.abs(after[1] - before[1]) / (deviation[:, :, None] * deviation[:, None, :])
    return float(np.maximum(means.max(initial=0.0), covariances.max(initial=0.0)))  # NaN stays


def check_observed(sums: CrossSums) -> None:
    """Refuse a column of which a group has no cell: nothing would say how it varies there."""
    observed = ~np.isnan(sums.incomplete.X)
    rows = sums.complete.weight.rounded()[:, 0] + sums.incomplete.R.sum(axis=0)
    cells = sums.complete.weight.rounded() + sums.incomplete.R.T @ observed
    never = np.argwhere((rows > 0)[:, None] & ~(cells > 0))
    if len(never):
        raise DegenerateError(
            "Expected some cells of {feature} in class {group}, but all are missing there. Drop "
            'the column, share the covariance (covariance="shared"), or ask for pseudo_rows.',
            feature=int(never[0, 1]),
            group=int(never[0, 0]),
        )


def _start(complete: Scatter, incomplete: IncompleteRows) -> Scatter:
    """Means and variances of the cells that are there, columns as if independent."""
    observed = ~np.isnan(incomplete.X)
    x = np.where(observed, incomplete.X, 0.0)
    weight = complete.weight[:, None] + incomplete.R.T @ observed
    total = complete.weight[:, None] * complete.mean + incomplete.R.T @ x
    everyone = total.sum(axis=0) / np.maximum(weight.sum(axis=0), 1e-300)
    mean = np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), everyone)
    d = x.shape[1]
    squares = (
        np.einsum("kii->ki", complete.scatter)
        + complete.weight[:, None] * (complete.mean - mean) ** 2
    )
    for k in range(len(mean)):
        squares[k] += incomplete.R[:, k] @ np.where(observed, (x - mean[k]) ** 2, 0.0)
    variance = squares / np.where(weight > 0, weight, 1.0)
    rows = complete.weight + incomplete.R.sum(axis=0)
    return Scatter(rows, mean, rows[:, None, None] * variance[:, :, None] * np.eye(d))


def expected_scatter(sums: CrossSums, estimate: Estimate) -> Scatter:
    """The scatter of all rows, missing cells as a model expects them."""
    return _expect(Scatter.of(sums.complete), sums.incomplete.patterns(), estimate)[0]


def whole(sums: CrossSums) -> Scatter:
    """The scatter of all rows; where cells are missing, of columns as if independent."""
    complete = Scatter.of(sums.complete)
    return _start(complete, sums.incomplete) if len(sums.incomplete) else complete


def _expect(
    complete: Scatter, patterns: list[tuple[Array, IncompleteRows]], estimate: Estimate
) -> tuple[Scatter, float]:
    mean, covariance = estimate
    total, value = complete, log_likelihood(complete, estimate)
    for observed, rows in patterns:
        part, more = _expect_pattern(observed, rows, mean, covariance)
        total, value = total + part, value + more
    return total, value


def _expect_pattern(
    observed: Array, rows: IncompleteRows, mean: Floats, covariance: Floats
) -> tuple[Scatter, float]:
    """Rows that miss the same cells: what they add to each group, and their log likelihood."""
    k, d = mean.shape
    seen, gone = np.flatnonzero(observed), np.flatnonzero(~observed)
    weight, means, scatter = np.zeros(k), mean.copy(), np.zeros((k, d, d))
    log_likelihood = 0.0
    for g in np.flatnonzero(rows.R.any(axis=0)):
        mine = rows.R[:, g] != 0
        r, x = rows.R[mine, g], rows.X[mine]
        sigma = covariance[g if len(covariance) > 1 else 0]
        apart = x[:, seen] - mean[g, seen]
        factor = _factor(sigma[np.ix_(seen, seen)], int(g))
        white = np.linalg.solve(factor, apart.T)
        slope = np.linalg.solve(factor.T, np.linalg.solve(factor, sigma[np.ix_(seen, gone)]))
        x[:, gone] = mean[g, gone] + apart @ slope
        weight[g] = r.sum()
        means[g] = r @ x / weight[g]
        from_mean = x - means[g]
        scatter[g] = from_mean.T @ (r[:, None] * from_mean)
        rest = sigma[np.ix_(gone, gone)] - sigma[np.ix_(gone, seen)] @ slope
        scatter[g][np.ix_(gone, gone)] += weight[g] * rest
        log_det = 2 * np.log(factor.diagonal()).sum()
        log_likelihood -= 0.5 * float(r @ ((white**2).sum(axis=0) + log_det + len(seen) * LOG_2PI))
    return Scatter(weight, means, scatter), log_likelihood


def log_likelihood(complete: Scatter, estimate: Estimate) -> float:
    """-½ Σ_k w_k [ d log 2π + log |Σ| + tr Σ⁻¹ (S_k / w_k + (x̄_k - μ_k)(x̄_k - μ_k)ᵀ) ]"""
    mean, covariance = estimate
    total = 0.0
    for g in np.flatnonzero(complete.weight):
        factor = _factor(covariance[g if len(covariance) > 1 else 0], int(g))
        apart, weight = complete.mean[g] - mean[g], complete.weight[g]
        about = complete.scatter[g] + weight * np.outer(apart, apart)
        trace = np.trace(np.linalg.solve(factor.T, np.linalg.solve(factor, about)))
        log_det = 2 * np.log(factor.diagonal()).sum()
        total -= 0.5 * float(trace + weight * (log_det + len(apart) * LOG_2PI))
    return total


def _factor(covariance: Floats, group: int) -> Floats:
    constant = np.diag(np.where(covariance.diagonal() > 0, 0.0, 1.0))  # never varies, never errs
    try:
        return np.asarray(np.linalg.cholesky(covariance + constant))
    except np.linalg.LinAlgError:
        raise DegenerateError(
            "Expected columns that vary and are no combinations of each other, but with cells "
            "missing the covariance of class {group} lost its inverse. Drop columns, or ask for "
            "pseudo_rows, shrinkage or another kind of covariance.",
            group=group,
        ) from None
