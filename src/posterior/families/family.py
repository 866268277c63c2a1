"""The protocol of a family, and what its methods return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from posterior.data.rows import Features, Groups, Hard
from posterior.data.typing import Array, Floats, Integers

S = TypeVar("S")
P = TypeVar("P")

Scorer: TypeAlias = Callable[[Any, Floats], None]
"""Fills out (n, k) with bias_k + log p(x | k) for a chunk of rows."""


@dataclass(frozen=True, slots=True)
class Intervals:
    """Parameters one a line: which feature, which parameter, which group, and its interval."""

    feature: Integers
    parameter: Array
    group: Integers
    value: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, name: str, value: Floats, low: Floats, high: Floats) -> Intervals:
        """Lines of (k, d) arrays, feature by feature."""
        k, d = value.shape
        feature, group = np.divmod(np.arange(k * d), k)
        lines = (np.ascontiguousarray(a.T).reshape(-1) for a in (value, low, high))
        return cls(feature, np.full(k * d, name), group, *lines)

    def __add__(self, other: Intervals) -> Intervals:
        names = self.__dataclass_fields__
        return Intervals(*(np.concatenate([getattr(self, n), getattr(other, n)]) for n in names))


class Family(Protocol[S, P]):
    """log p(x | k) for every group, from sums over rows. Stateless; fields are its settings."""

    @property
    def exact(self) -> bool:
        """Whether statistics of whole rows add without rounding, however the rows are cut."""
        return False

    def statistics(self, X: Any, groups: Groups) -> S:
        """What rows add to the sums of their groups."""
        ...

    def estimate(self, statistics: S, pooled: S | None = None) -> P:
        """Parameters of all groups; `pooled`, where the prior looks, defaults to all of them."""
        ...

    def improve(self, statistics: S, pooled: S, parameters: P | None) -> P:
        """Parameters more probable than those given (None: any), where the best need many steps."""
        return self.estimate(statistics, pooled)

    def log_prior(self, parameters: P, pooled: S) -> float:
        """Log density of the parameters before rows are seen, up to a constant: the log
        likelihood of the prior's pseudo-rows."""
        return 0.0

    def scorer(self, parameters: P, bias: Floats) -> Scorer:
        """log p(x | k) + bias_k of chunks of rows, prepared once."""
        ...

    def discriminant(self, parameters: P, bias: Floats) -> Scorer:
        """The same up to a term that all groups share, where that is less work."""
        return self.scorer(parameters, bias)

    def evidence(self, X: Any, parameters: P) -> Floats:
        """The terms that log p(x | k) is the sum of, one a feature: (n, k, d)."""
        ...

    def term_names(self, features: Array) -> Array:
        """What the terms of `evidence` are about."""
        return features

    def leave_one_out(self, X: Any, groups: Hard, statistics: S) -> Floats:
        """log p(xᵢ | k) (n, k), estimated from all rows but the i-th."""
        ...

    def sample(self, codes: Array, parameters: P, random: np.random.Generator) -> Any:
        """One row for each group code."""
        ...

    def n_parameters(self, parameters: P) -> int:
        """How many numbers the data had to determine, over all groups."""
        ...

    def impossible(self, statistics: S) -> Array:
        """Which sums (k, d) no rows can have: what is left when strangers are taken back."""
        ...

    def intervals(self, statistics: S, parameters: P, level: float) -> Intervals:
        """Each parameter with its credible interval, as wide as the statistics leave it."""
        ...


AnyFamily: TypeAlias = Family[Any, Any]


def fill(scorer: Scorer, X: Features, n_groups: int) -> Floats:
    """Scores of a chunk in a new array."""
    out = np.empty((X.shape[0], n_groups))
    scorer(X, out)
    return out
