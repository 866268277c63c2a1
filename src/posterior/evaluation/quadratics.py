"""Quadratic functions of the classes, and the points on a line where the best of them changes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from posterior.data.table import text
from posterior.data.typing import Array, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Quadratics:
    """log p(x, k) = xᵀ A_k x + b_kᵀ x + c_k, perhaps less a term common to all classes."""

    A: Floats | None  # (k, d, d); None where all are linear
    b: Floats  # (k, d)
    c: Floats  # (k,)
    classes: Array  # (k,)

    def log_joint(self, X: Floats) -> Floats:
        """The value of every class at rows X, (n, k)."""
        linear = X @ self.b.T + self.c
        return linear if self.A is None else ((X @ self.A) * X).sum(axis=2).T + linear

    def matrix(self, i: int, j: int) -> Floats | None:
        """A_i - A_j; None where the difference of the two classes is linear."""
        matrix = None if self.A is None else self.A[i] - self.A[j]
        return None if matrix is None or not matrix.any() else matrix

    def size(self, X: Floats) -> Floats:
        """The largest Σ |terms| of any class, (n,): rounding errs by about ε times this."""
        A = None if self.A is None else abs(self.A)
        terms = Quadratics(A, abs(self.b), abs(self.c), self.classes)
        return terms.log_joint(abs(X)).max(axis=1)

    def moments(self) -> tuple[Floats, Floats] | None:
        """Means (k, d) and covariances (k, d, d), if every class is a normal density, else None.

        μ_k = -½ A_k⁻¹ b_k      Σ_k = -½ A_k⁻¹
        """
        if self.A is None:
            return None
        try:
            factors = [cho_factor(-2 * A) for A in self.A]
        except np.linalg.LinAlgError:
            return None
        mean = [cho_solve(factor, b) for factor, b in zip(factors, self.b, strict=True)]
        covariance = [cho_solve(factor, np.eye(self.b.shape[1])) for factor in factors]
        return np.array(mean), np.array(covariance)

    def normals(self) -> tuple[Floats, Floats] | None:
        """Means and deviations, both (k, d), if every class is a normal density, else None."""
        if (moments := self.moments()) is None:
            return None
        mean, covariance = moments
        return mean, np.sqrt([np.diag(sigma) for sigma in covariance])


@runtime_checkable
class HasQuadratics(Protocol):
    """A model whose log p(x, k) is quadratic in x, or linear, where A is None."""

    def quadratics(self, origin: Floats | None = None) -> tuple[Any, Any, Any]: ...


def middle(model: Any) -> Floats | None:
    """The mean of the class means, near which coefficients lose no digits; None if not known."""
    means = getattr(model, "means_", getattr(model, "theta_", None))
    return None if means is None else np.asarray(means, np.float64).mean(axis=0)


def quadratics(model: Any, origin: Floats | None = None) -> Quadratics:
    """The quadratics of a fitted model, in x - origin; classes of probability zero are left out.

    A linear model of scikit-learn's shape gives log p(k | x) = coef_k · x + intercept_k, up to a
    term common to all classes; one row of coefficients is the log odds of the second class.
    """
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    if isinstance(model, HasQuadratics):
        A, b, c = model.quadratics(origin)
        A = None if A is None else np.asarray(A, np.float64)
        b, c = np.asarray(b, np.float64), np.asarray(c, np.float64)
    else:
        if not all(hasattr(model, name) for name in ("coef_", "intercept_", "classes_")):
            raise TypeError(
                "Expected a model whose log p(x, k) is quadratic or linear in x, got "
                f"{type(model).__name__}. It would need a method quadratics(), as Gaussian naive "
                "Bayes and discriminant analysis have, or coef_, intercept_ and classes_, as "
                "logistic regression has."
            )
        coef = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
        b = np.asarray(coef, dtype=np.float64)
        c = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), len(b))
        if len(b) == 1:
            b, c = np.vstack([np.zeros_like(b), b]), np.append(0.0, c)
        A, c = None, c if origin is None else c + b @ origin
    possible = c != -np.inf
    A, b, c = None if A is None else A[possible], b[possible], c[possible]
    if not all(np.isfinite(part).all() for part in (A, b, c) if part is not None):
        raise ValueError(
            f"Expected finite coefficients of log p(x, k), got some from {type(model).__name__} "
            "that are not. Is the variance of some feature zero, or a probability?"
        )
    return Quadratics(A, b, c, np.asarray(model.classes_)[possible])


def rising(a: Any, b: Any, c: Any) -> Floats:
    """Where a x² + b x + c turns from negative to positive.

    x = (-b + √(b² - 4ac)) / 2a = -2c / (b + √(b² - 4ac)),   the form that does not cancel

    A straight line that falls rises at -∞. Where there is no root, as if the root in b² - 4ac
    were zero; a function that is constant gives NaN.
    """
    a, b, c = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (a, b, c)))
    largest = np.maximum(np.maximum(abs(a), abs(b)), abs(c))
    unit = np.where(largest > 0, largest, 1.0)  # so that no square overflows
    a, b, c = a / unit, b / unit, c / unit
    root = np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))
    a = np.where(a == 0, -0.0, a)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(b > 0, -2 * c / (b + root), (root - b) / (2 * a))


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The most probable class of a number x: classes[i] between at[i - 1] and at[i]."""

    at: Floats  # (m,), rising
    classes: Array  # (m + 1,)
    feature_name: str = "x"

    def __str__(self) -> str:
        name, cuts = self.feature_name, [text(x) for x in self.at]
        if not cuts:
            return f"any {name}: {self.classes[0]}"
        between = [f"{low} < {name} < {high}" for low, high in pairwise(cuts)]
        spans = [f"{name} < {cuts[0]}", *between, f"{name} > {cuts[-1]}"]
        width = max(len(span) for span in spans)
        return "\n".join(
            f"{span:{width}}: {label}" for span, label in zip(spans, self.classes, strict=True)
        )

    __repr__ = __str__


def points(model: Quadratics, feature_name: str = "x") -> Points:
    """Walk from -∞ to ∞ along the largest of k parabolas.

    Class j leads class i where q(x) = log p(x, j) - log p(x, i) > 0: between its two roots if q
    is concave, and outside the roots of -q if not. All leads are known before the walk starts,
    so two parabolas that only touch, or three that meet in a point, need no tolerance.
    """
    A = np.zeros(len(model.c)) if model.A is None else model.A[:, 0, 0]
    a, b, c = (part - part[:, None] for part in (A, model.b[:, 0], model.c))
    convex = a > 0
    low, high = _between(*(np.where(convex, -part, part) for part in (a, b, c)))
    events = np.unique(np.concatenate([low[low < high], high[low < high]]))
    events = events[np.isfinite(events)]
    # roots that differ by rounding alone are one point
    apart = np.diff(events) > 8 * np.finfo(float).eps * abs(events[1:])
    events = events[np.append(apart, np.ones(min(1, len(events)), bool))]

    def largest_after(x: float, leader: int) -> int:
        passed = {leader}
        while True:
            ahead = ((low[leader] <= x) & (x < high[leader])) != convex[leader]
            better = [int(j) for j in np.flatnonzero(ahead) if j not in passed]
            if not better:
                return leader
            leader = better[0]
            passed.add(leader)

    leaders, at = [largest_after(-np.inf, 0)], []
    for x in events:
        if (leader := largest_after(x, leaders[-1])) != leaders[-1]:
            leaders.append(leader)
            at.append(x)
    return Points(np.array(at, dtype=np.float64), model.classes[leaders], feature_name)


def _between(a: Floats, b: Floats, c: Floats) -> tuple[Floats, Floats]:
    """The interval (low, high) where a x² + b x + c > 0, for a ≤ 0; empty if low ≥ high."""
    low, high = rising(a, b, c), -rising(a, -b, c)
    everywhere = (a == 0) & (b == 0) & (c > 0)
    return np.where(everywhere, -np.inf, low), np.where(everywhere, np.inf, high)
