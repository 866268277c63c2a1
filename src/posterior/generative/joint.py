"""log p(x, k): a prior over groups and a family of features given the group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from posterior.data.rows import Features, Rows
from posterior.data.typing import Array, Floats
from posterior.families.family import Family, Scorer, fill
from posterior.statistics.algebra import Exactly, Statistics
from posterior.statistics.exact import Exact
from posterior.statistics.moments import group_weight

S = TypeVar("S", bound=Statistics)
P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class JointStatistics(Generic[S]):
    """The weight of each group, and the statistics of its features."""

    weight: Exact  # (k,)
    features: S

    def __add__(self, other: JointStatistics[S], /) -> JointStatistics[S]:
        return JointStatistics(self.weight + other.weight, self.features + other.features)

    def __sub__(self, other: JointStatistics[S], /) -> JointStatistics[S]:
        return JointStatistics(self.weight - other.weight, self.features - other.features)

    def __mul__(self, factor: float, /) -> JointStatistics[S]:
        return JointStatistics(self.weight * factor, self.features * factor)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JointStatistics):
            return NotImplemented
        return self.weight == other.weight and bool(self.features == other.features)

    __hash__ = None  # type: ignore[assignment]

    def take(self, groups: Any) -> JointStatistics[S]:
        return JointStatistics(self.weight[groups], self.features.take(groups))

    def placed(self, index: Array, n_groups: int) -> JointStatistics[S]:
        weight = self.weight.placed(index, n_groups)
        return JointStatistics(weight, self.features.placed(index, n_groups))

    def pooled(self) -> JointStatistics[S]:
        return JointStatistics(self.weight.sum().reshape(1), self.features.pooled())

    def compact(self) -> JointStatistics[S]:
        return JointStatistics(self.weight.compact(), self.features.compact())

    def numbers(self) -> Floats:
        """All sums, rounded, one line a group."""
        return np.column_stack([self.weight.rounded(), self.features.numbers()])

    def arrays(self) -> dict[str, Array]:
        parts = {f"features.{name}": array for name, array in self.features.arrays().items()}
        return self.weight.arrays("weight") | parts


@dataclass(frozen=True, slots=True)
class Joint(Generic[S, P]):
    """p(x, k) = π_k p(x | θ_k)."""

    family: Family[S, P]
    log_prior: Floats  # (k,)
    parameters: P

    def scorer(self) -> Scorer:
        """log p(x, k) of chunks of rows."""
        return self.family.scorer(self.parameters, np.ascontiguousarray(self.log_prior))

    def discriminant(self) -> Scorer:
        """log p(x, k) of chunks of rows, up to a term that all groups share."""
        return self.family.discriminant(self.parameters, np.ascontiguousarray(self.log_prior))

    def log_joint(self, X: Features) -> Floats:
        """log p(x, k), (n, k)."""
        return fill(self.scorer(), X, len(self.log_prior))

    def evidence(self, X: Features) -> Floats:
        """The terms of log p(x | k), one a feature: (n, k, d)."""
        return self.family.evidence(X, self.parameters)

    def sample(
        self, n: int, random: np.random.Generator, in_order: bool = False
    ) -> tuple[Any, Array]:
        """Rows drawn from the model, and their groups, one after the other if `in_order`."""
        prior = np.exp(self.log_prior - np.logaddexp.reduce(self.log_prior))
        codes = random.choice(len(prior), size=n, p=prior / prior.sum())
        codes = np.sort(codes) if in_order else codes
        return self.family.sample(codes, self.parameters, random), codes


def labeled(rows: Rows, family: Family[S, P]) -> JointStatistics[S]:
    """Sum all rows whose groups are known."""
    return JointStatistics(group_weight(rows.groups), family.statistics(rows.X, rows.groups))


class Checking(Protocol):
    """What looks at the cells of a chunk before it is summed."""

    def check_chunk(self, X: Any, first_row: int = 0, fitting: bool = False) -> None: ...


def labeling(
    family: Family[S, P], reader: Checking | None = None
) -> Callable[[Rows], JointStatistics[S]]:
    """`labeled` of checked rows, for an engine, which may cut them as the family's sums allow."""

    def count(rows: Rows) -> JointStatistics[S]:
        if reader is not None:
            reader.check_chunk(rows.X, 0, fitting=True)
        return JointStatistics(group_weight(rows.groups), family.statistics(rows.X, rows.groups))

    return Exactly(count) if family.exact else count
