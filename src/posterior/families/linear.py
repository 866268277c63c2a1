"""Scores that are affine in each feature: Bernoulli, multinomial, Poisson."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np

from posterior import kernels
from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Floats
from posterior.families.family import Scorer
from posterior.statistics.moments import floats, indicators


def affine_scorer(
    at_zero: Floats | None, at_one: Floats, bias: Floats, above: float | None = None
) -> Scorer:
    """Σⱼ at_zero + xⱼ (at_one - at_zero) + bias; with `above`, of the indicators x > above.

    A value of probability zero makes a row impossible only if it occurs: -inf times 0 is 0. No
    `at_zero` is one of zeros.
    """
    if all(np.isfinite(a.min(initial=0.0)) for a in (at_zero, at_one) if a is not None):
        return _affine(at_zero, at_one, bias, above)
    at_zero = np.zeros_like(at_one) if at_zero is None else at_zero
    never_zero, never_one = np.isneginf(at_zero), np.isneginf(at_one)
    zero, one = np.where(never_zero, 0.0, at_zero), np.where(never_one, 0.0, at_one)
    possible = _affine(zero, one, bias, above)
    no, yes = never_zero.astype(np.float64), never_one.astype(np.float64)
    impossible = _affine(no, yes, np.zeros(len(bias)), above)

    def score(X: Array | SparseRows, out: Floats) -> None:
        faults = np.empty_like(out)
        impossible(X, faults)
        possible(X, out)
        out[faults > 0.5 if above is not None else faults > 0] = -np.inf

    return score


def _affine(at_zero: Floats | None, at_one: Floats, bias: Floats, above: float | None) -> Scorer:
    constant = np.ascontiguousarray(bias if at_zero is None else bias + at_zero.sum(axis=1))
    slope = np.ascontiguousarray(at_one if at_zero is None else at_one - at_zero)
    absent = None if at_zero is None else np.ascontiguousarray(at_zero)
    prepared = _Once(lambda: kernels.side_by_side(slope))

    def score(X: Array | SparseRows, out: Floats) -> None:
        if isinstance(X, SparseRows):
            kernels.sparse_log_joint(X, prepared(), constant, above, out)
        else:
            x = floats(X) if above is None else indicators(X, above)
            missing = np.zeros_like(slope) if absent is None else absent
            kernels.linear_log_joint(x, slope, missing, constant, out)

    return score


class _Once:
    """A value made when the first thread asks for it, while the others wait."""

    def __init__(self, make: Callable[[], Floats]) -> None:
        self._make, self._lock = make, Lock()
        self._value: Floats | None = None

    def __call__(self) -> Floats:
        with self._lock:
            if self._value is None:
                self._value = self._make()
            return self._value


def dense(X: Array | SparseRows) -> Floats:
    """Rows as a dense array of doubles."""
    if isinstance(X, SparseRows):
        return np.asarray(X.scipy().toarray(), np.float64)
    return np.ascontiguousarray(X, np.float64)


def affine_evidence(at_zero: Floats, at_one: Floats, x: Floats) -> Floats:
    """The terms of an affine score, (n, k, d); 0 where a cell is missing."""
    x = x[:, None, :]
    with np.errstate(invalid="ignore"):
        slope = np.where(x == 0, 0.0, x * np.where(np.isneginf(at_one), -np.inf, at_one))
        rest = np.where(x == 1, 0.0, (1 - x) * at_zero)
        return np.where(np.isnan(x), 0.0, slope + rest)
