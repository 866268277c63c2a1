"""Effects of very many columns, most of them none: the two-groups model (Efron 2008).

    T_j = -(n - 1 - (K + 1) / 2) log(1 - R²_j) ~ χ²_f               of a column without effect
                                          ~ (1 + κ) χ²_f       with an effect, normal around zero

    f = K - 1,  R²_j the share of a column's variance that lies between the classes

How many have one (π) and how large (κ) is learned from the columns themselves, by maximum
likelihood. A column's coefficient is then expected as far from zero as r_j = P(effect | T_j) times
the size of that effect: where no column has one, nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from posterior.data.typing import Array, Codes, Floats

SIZES = np.geomspace(1, 1000, 25)  # κ that are tried
WITHOUT = 10.0  # columns without effect that are known beforehand, for each to stand against
ROUNDS, CLOSE = 100, 1e-3  # of EM for π


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """Whether each column has an effect, and the deviation of its coefficients around zero."""

    probability: Floats  # (d,)
    deviation: Floats  # (d,) of coefficients of log odds, for columns in their own units

    @classmethod
    def of(cls, X: Array, codes: Codes, n_classes: int, weight: Floats | None = None) -> Effects:
        """One pass over the cells."""
        v = np.ones(len(codes)) if weight is None else weight
        n, shares = v.sum(), np.bincount(codes, v, n_classes) / v.sum()
        mean = v @ X / n
        own = np.zeros((n_classes, len(codes)))
        own[codes, np.arange(len(codes))] = v
        between = (own @ X - np.outer(n * shares, mean)) ** 2
        between = (between / np.maximum(n * shares, 1e-300)[:, None]).sum(axis=0) / n
        total = np.maximum(v @ X**2 / n - mean**2, 0.0)
        varies = total > 1e-12 * (mean**2 + 1e-300)
        share = np.where(varies, between / np.where(varies, total, 1.0), 0.0)
        freedom = max(int((shares > 0).sum()) - 1, 1)
        correction = max(n - 1 - (freedom + 2) / 2, 1.0)  # Bartlett 1937
        T = -correction * np.log1p(-np.clip(share, 0.0, 1 - 1e-12))
        probability, signal = two_groups(T[varies], freedom)
        unit = n * shares.prod() if n_classes == 2 else n / freedom
        found = np.zeros((2, len(T)))
        found[:, varies] = probability, probability * np.sqrt(signal / unit / total[varies])
        return cls(*found)


def two_groups(T: Floats, freedom: int) -> tuple[Floats, Floats]:
    """P(effect | T) of each, and the mean square of the effect, if there is one."""
    T = np.maximum(T, 1e-9)
    nothing = _log_chi2(T, freedom)
    best, found = float(nothing.sum()), (np.zeros(len(T)), np.zeros(len(T)))
    for size in SIZES if len(T) else ():
        something = _log_chi2(T / (1 + size), freedom) - np.log1p(size)
        share = min(0.5, WITHOUT / len(T))
        for _ in range(ROUNDS):
            r = expit(something - nothing + np.log(share / (1 - share)))
            before, share = share, max(float(r.sum()) / (len(T) + WITHOUT), 1e-12)
            if abs(share - before) < CLOSE * before:
                break
        both = np.logaddexp(nothing + np.log1p(-share), something + np.log(share))
        likelihood = float(both.sum()) + WITHOUT * np.log1p(-share)
        if likelihood > best:
            certain = size / (1 + size)
            best, found = likelihood, (r, certain * (certain * T / freedom + 1))
    return found


def _log_chi2(T: Floats, freedom: int) -> Floats:
    """The log density of χ², up to what does not depend on T."""
    return (freedom / 2 - 1) * np.log(T) - T / 2
