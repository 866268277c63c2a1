"""Names of distances: what scikit-learn calls them, and which of them are L_p."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

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

    def check_sparse(self) -> None:
        if self.name in DENSE:
            raise ValueError(
                f"Metric '{self.name}' not valid for sparse input. Use X.toarray(), or another."
            )
