"""Metrics: distances by scikit-learn's names, and brute force by them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy

from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Floats
from posterior.neighbors.brute_force import BlockedSearch, BruteForce, SparseSearch
from posterior.neighbors.cosine import Correlations, Directions
from posterior.neighbors.index import Fill, Index

POWERS = {
    "euclidean": 2.0,
    "l2": 2.0,
    "manhattan": 1.0,
    "cityblock": 1.0,
    "l1": 1.0,
    "chebyshev": np.inf,
    "infinity": np.inf,
}
BOOLEAN = {"dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}
BY_BLOCKS = BOOLEAN | {
    "braycurtis",
    "canberra",
    "correlation",
    "cosine",
    "hamming",
    "haversine",
    "mahalanobis",
    "seuclidean",
    "sqeuclidean",
}
ALIASES = {"l1": "cityblock", "manhattan": "cityblock", "l2": "euclidean", "infinity": "chebyshev"}
DENSE = {"haversine", "nan_euclidean"}  # of complete or of two columns
OWN = {"edit": {"kind"}, "mixed": {"text", "weights"}}  # and their settings
NAMES = {*POWERS, *BY_BLOCKS, *OWN, "minkowski", "p", "nan_euclidean", "precomputed"}


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """A distance by its name or as a function of two rows, and its settings."""

    name: str | Callable[..., float]
    settings: dict[str, Any]

    @classmethod
    def of(cls, metric: Any, p: float | None, settings: dict[str, Any] | None) -> Metric:
        """As scikit-learn says it: "minkowski" is L_p, under the plain name that it has."""
        settings = dict(settings or {})
        if "p" in settings and p is not None:
            warnings.warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__ "
                "is ignored.",
                SyntaxWarning,
                stacklevel=4,
            )
        if metric not in ("minkowski", "p"):
            return cls(metric, settings)
        p = settings.pop("p", p)
        if p is None:
            p = 2
        w = settings.pop("w", None)
        plain = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}.get(p)
        if plain is not None and w is None:
            return cls(plain, settings)
        return cls("minkowski", {**settings, "p": p, "w": w})

    @property
    def power(self) -> float | None:
        """p of L_p, if it is that."""
        if self.name == "minkowski":
            return float(self.settings["p"]) if self.settings["w"] is None else None
        return POWERS.get(self.name) if isinstance(self.name, str) else None

    @property
    def euclidean(self) -> bool:
        return self.power == 2 or self.name == "nan_euclidean"

    def check_settings(self) -> None:
        """Refuse settings that a metric of our own does not have."""
        known = OWN.get(self.name) if isinstance(self.name, str) else None
        unknown = [] if known is None else sorted(set(self.settings) - known)
        if known is not None and unknown:
            raise ValueError(
                f"Expected metric_params of {sorted(known)} for metric={self.name!r}, got "
                f"{unknown}."
            )

    def check_algorithm(self, algorithm: str) -> None:
        """Refuse what a tree cannot do, in the words of scikit-learn."""
        if self.name == "minkowski" and self.settings["p"] < 1:
            if algorithm in ("kd_tree", "ball_tree"):
                raise ValueError(
                    f'algorithm="{algorithm}" does not support 0 < p < 1 for the Minkowski metric. '
                    'To resolve this problem either set p >= 1 or algorithm="brute".'
                )
            warnings.warn(
                "Mind that for 0 < p < 1, Minkowski metrics are not distance metrics. Continuing "
                "the execution with `algorithm='brute'`.",
                UserWarning,
                stacklevel=4,
            )
        if algorithm == "kd_tree" and self.power is None:
            name = "a function" if callable(self.name) else repr(self.name)
            raise ValueError(
                f"Metric {name} not valid: kd_tree does not support callable metrics, weights of "
                "columns or distances other than L_p. Use algorithm='auto' or 'brute'."
            )
        if algorithm == "ball_tree" and self.name in ("precomputed", "cosine", "correlation"):
            raise ValueError(
                f"Metric '{self.name}' not valid: ball_tree does not support it. Use "
                "algorithm='auto' or 'brute'."
            )

    def brute_force(self, X: Array | SparseRows, fill: Fill) -> Index:
        """An index that looks at every row."""
        return search(X, self.name, fill, **self.settings)


def search(
    X: Array | SparseRows,
    metric: str | Callable[..., float],
    fill: Fill,
    **settings: Any,
) -> Index:
    """Every row is looked at, by a distance of SciPy's names or a function of two rows.

    Euclidean, cosine and correlation distances come from matrix products and are measured again;
    the others are computed in blocks. Functions see sparse rows as they are, names as dense ones.
    """
    if callable(metric):
        return BlockedSearch(X, distance(metric, X, settings), fill)
    name = ALIASES.get(metric, metric)
    if name == "minkowski" and settings.get("p", 2) == 2 and settings.get("w") is None:
        name, settings = "euclidean", {}
    if not settings:
        if name == "euclidean":
            return euclidean(X, fill)
        if name == "cosine":
            return Directions(X, partial(euclidean, fill=fill))
        if name == "correlation" and not isinstance(X, SparseRows):
            return Correlations(X, partial(euclidean, fill=fill))
    return BlockedSearch(X, distance(name, X, settings), fill)


def euclidean(X: Array | SparseRows, fill: Fill) -> Index:
    return SparseSearch(X, fill) if isinstance(X, SparseRows) else BruteForce(X, fill)


def distance(
    name: str | Callable[..., float], X: Array | SparseRows, settings: dict[str, Any]
) -> Callable[[Any, Any], Array]:
    """A function of two blocks. What SciPy would learn from a block, it learns from all rows X."""
    if callable(name):
        if isinstance(X, SparseRows):
            return partial(_pairs, partial(name, **settings))
        return partial(scipy.spatial.distance.cdist, metric=name, **settings)
    if name == "haversine":
        return lambda A, B: haversine(dense(A), dense(B))
    settings = learned(name, X, settings)
    kind = bool if name in BOOLEAN else np.float64

    def blocks(A: Any, B: Any) -> Array:
        return scipy.spatial.distance.cdist(
            dense(A).astype(kind), dense(B).astype(kind), name, **settings
        )

    return blocks


def learned(name: str, X: Array | SparseRows, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of SciPy's distance, with variances or an inverse covariance of all rows."""
    settings = {key: value for key, value in settings.items() if value is not None}
    if name == "seuclidean":
        settings.setdefault("V", dense(X).var(axis=0, ddof=1, dtype=np.float64))
    elif name == "mahalanobis":
        if "V" in settings:
            settings["VI"] = np.linalg.inv(settings.pop("V"))
        elif "VI" not in settings:
            settings["VI"] = np.linalg.inv(np.atleast_2d(np.cov(dense(X), rowvar=False)))
        d = X.shape[1]
        settings["VI"] = np.atleast_2d(np.asarray(settings["VI"], np.float64))
        if np.shape(settings["VI"]) != (d, d):  # SciPy would read beyond it
            raise ValueError(
                f"Expected V or VI of shape {(d, d)} for {d} columns, got "
                f"{np.shape(settings['VI'])}."
            )
    return settings


def dense(X: Any) -> Array:
    return X.scipy(copy=False).toarray() if isinstance(X, SparseRows) else X


def haversine(A: Array, B: Array) -> Floats:
    """The angle between points (latitude, longitude) of a sphere, in radians.

    2 arcsin √( sin²(Δφ/2) + cos φ₁ cos φ₂ sin²(Δλ/2) )
    """
    if A.shape[1] != 2:
        raise ValueError(
            f"Expected latitude and longitude for the haversine distance, got {A.shape[1]} "
            "columns. Choose the two columns, in radians."
        )
    A, B = A[:, None].astype(np.float64), B[None].astype(np.float64)
    latitude, longitude = np.moveaxis(np.sin(0.5 * (A - B)) ** 2, 2, 0)
    both = np.cos(A[..., 0]) * np.cos(B[..., 0])
    return 2 * np.arcsin(np.sqrt(np.minimum(latitude + both * longitude, 1.0)))


def _pairs(function: Callable[[Any, Any], float], A: SparseRows, B: SparseRows) -> Floats:
    a, b = A.scipy(), B.scipy()
    others = [b[[j]] for j in range(b.shape[0])]
    return np.array([[function(a[[i]], other) for other in others] for i in range(a.shape[0])])
