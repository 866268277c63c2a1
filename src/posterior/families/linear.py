"""Scores that are affine in each feature: Bernoulli, multinomial, Poisson."""

from __future__ import annotations

import numpy as np

from posterior import kernels
from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Floats
from posterior.families.family import Scorer
from posterior.statistics.moments import floats, indicators


def affine_scorer(
    at_zero: Floats, at_one: Floats, bias: Floats, above: float | None = None
) -> Scorer:
    """Σⱼ at_zero + xⱼ (at_one - at_zero) + bias; with `above`, of the indicators x > above.

    A value of probability zero makes a row impossible only if it occurs: -inf times 0 is 0.
    """
    never_zero, never_one = np.isneginf(at_zero), np.isneginf(at_one)
    if not (never_zero.any() or never_one.any()):
        return _affine(at_zero, at_one - at_zero, bias, above)
    zero, one = np.where(never_zero, 0.0, at_zero), np.where(never_one, 0.0, at_one)
    possible = _affine(zero, one - zero, bias, above)
    no, yes = never_zero.astype(np.float64), never_one.astype(np.float64)
    impossible = _affine(no, yes - no, np.zeros(len(bias)), above)

    def score(X: Array | SparseRows, out: Floats) -> None:
        faults = np.empty_like(out)
        impossible(X, faults)
        possible(X, out)
        out[faults > 0.5 if above is not None else faults > 0] = -np.inf

    return score


def _affine(at_zero: Floats, slope: Floats, bias: Floats, above: float | None) -> Scorer:
    constant = bias + at_zero.sum(axis=1)
    slope, at_zero = np.ascontiguousarray(slope), np.ascontiguousarray(at_zero)
    tables: list[Floats] = []  # made when the first sparse chunk comes

    def score(X: Array | SparseRows, out: Floats) -> None:
        if isinstance(X, SparseRows):
            if not tables:
                tables.append(kernels.side_by_side(slope))
            kernels.sparse_log_joint(X, tables[0], constant, above, out)
        else:
            x = floats(X) if above is None else indicators(X, above)
            kernels.linear_log_joint(x, slope, at_zero, constant, out)

    return score


def dense(X: Array | SparseRows) -> Floats:
    """Rows as a dense array of doubles."""
    return X.scipy().toarray() if isinstance(X, SparseRows) else np.asarray(X, np.float64)


def affine_evidence(at_zero: Floats, at_one: Floats, x: Floats) -> Floats:
    """The terms of an affine score, (n, k, d); 0 where a cell is missing."""
    x = x[:, None, :]
    with np.errstate(invalid="ignore"):
        slope = np.where(x == 0, 0.0, x * np.where(np.isneginf(at_one), -np.inf, at_one))
        rest = np.where(x == 1, 0.0, (1 - x) * at_zero)
        return np.where(np.isnan(x), 0.0, slope + rest)
