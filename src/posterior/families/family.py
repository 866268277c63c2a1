"""Base class of families: what each must say, and what follows from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeVar

import numpy as np

from posterior.data.errors import DegenerateError
from posterior.data.rows import Features, Groups, Hard
from posterior.data.shapes import declared, fields_of
from posterior.data.table import Table
from posterior.data.typing import Array, Floats, Integers
from posterior.families.priors import ONE_ROW, PseudoRows
from posterior.families.symbols import Cells, Formula
from posterior.statistics.algebra import Statistics
from posterior.statistics.histograms import Histograms

S = TypeVar("S", bound=Statistics)
P = TypeVar("P")

Scorer: TypeAlias = Callable[[Any, Floats], None]
"""Fills out (n, k) with bias_k + log p(x | k) for a chunk of rows."""

Support: TypeAlias = Literal["real", "positive", "not negative", "count", "category", "text"]
"""Which cells a family gives a probability to: numbers of a kind, categories, or texts."""


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

    def table(self, names: Array, classes: Array) -> Table:
        """With the names of features and groups."""
        return Table(
            {
                "feature": names[self.feature],
                "parameter": self.parameter,
                "class": classes[self.group],
                "value": self.value,
                "low": self.low,
                "high": self.high,
            }
        )

    def __add__(self, other: Intervals) -> Intervals:
        pairs = zip(fields_of(self).values(), fields_of(other).values(), strict=True)
        return Intervals(*map(np.concatenate, pairs))


@dataclass(frozen=True, slots=True)
class Summed:
    """Statistics of plain sums over cells, which a database can take: of x, or of x > above."""

    kind: type
    above: float | None = None


class Family(ABC, Generic[S, P]):
    """log p(x | k) for every group, from sums over rows. Stateless; fields are its settings.

    A family must say what it sums, estimates, and thinks of a cell. The rest works by itself, and
    may be said again where it can be done faster, or better.
    """

    __slots__ = ()

    support: ClassVar[Support] = "real"
    reads_missing: ClassVar[bool] = True  # a missing cell is left out, and is no error
    reads_sparse: ClassVar[bool] = False  # rows of a sparse matrix, too

    @property
    def exact(self) -> bool:
        """Whether statistics of whole rows add without rounding, however the rows are cut."""
        return False

    # ---- what a family must say ----

    @abstractmethod
    def statistics(self, X: Any, groups: Groups) -> S:
        """What rows add to the sums of their groups."""

    @abstractmethod
    def estimate(self, statistics: S, pooled: S | None = None) -> P:
        """Parameters of all groups; `pooled`, where the prior looks, defaults to all of them."""

    @abstractmethod
    def evidence(self, X: Any, parameters: P) -> Floats:
        """The terms that log p(x | k) is the sum of, one a feature: (n, k, d)."""

    @abstractmethod
    def n_parameters(self, parameters: P) -> int:
        """How many numbers the data had to determine, over all groups."""

    # ---- what follows from it ----

    def scorer(self, parameters: P, bias: Floats) -> Scorer:
        """log p(x | k) + bias_k of chunks of rows, prepared once."""

        def score(X: Any, out: Floats) -> None:
            np.add(self.evidence(X, parameters).sum(axis=2), bias, out=out)

        return score

    def discriminant(self, parameters: P, bias: Floats) -> Scorer:
        """The same up to a term that all groups share, where that is less work."""
        return self.scorer(parameters, bias)

    def improve(self, statistics: S, pooled: S, parameters: P | None) -> P:
        """Parameters more probable than those given (None: any), where the best need many steps."""
        return self.estimate(statistics, pooled)

    def log_prior(self, parameters: P, pooled: S) -> float:
        """Log density of the parameters before rows are seen, up to a constant: the log
        likelihood of the prior's pseudo-rows."""
        return 0.0

    def leave_one_out(self, X: Any, groups: Hard, statistics: S) -> Floats:
        """log p(xᵢ | k) (n, k), estimated from all rows but the i-th; NaN asks for the long way.

        Row by row: its statistics are subtracted, and the rest is estimated again.
        """
        k, zero = groups.n_groups, np.zeros(groups.n_groups)
        score = np.full((X.shape[0], k), np.nan)
        for i in range(len(score)):
            row = X[i : i + 1]
            try:
                parameters = self.estimate(statistics - self.statistics(row, groups[i : i + 1]))
                self.scorer(parameters, zero)(row, score[i : i + 1])
            except DegenerateError:  # said again, with names, on the long way
                continue
        return score

    def check_density(self) -> None:
        """Refuse to be asked for log p(x), where scores compare groups and are no densities."""

    def impossible(self, statistics: S) -> Array:
        """Which sums (k, d) no rows can have, as when rows are taken back that never came."""
        return statistics.impossible()

    def intervals(self, statistics: S, parameters: P, level: float) -> Intervals:
        """Each parameter with its credible interval, as wide as the statistics leave it; NaN where
        that is not known."""
        lines, shapes = [], declared(parameters)
        values = fields_of(parameters) if shapes else {}
        for name, axes in shapes.items():
            value = values[name]
            if axes.names == ("k", "d") and value is not None:
                unknown = np.full_like(value, np.nan)
                lines.append(Intervals.of(name, value, unknown, unknown))
        if not lines:
            raise self._without("intervals")
        return sum(lines[1:], start=lines[0])

    def term_names(self, features: Array) -> Array:
        """What the terms of `evidence` are about."""
        return features

    def support_of(self, column: int) -> Support:
        """What one of its columns may hold."""
        return self.support

    def sizes(self, statistics: S) -> Sequence[int] | None:
        """How many values each column can have; None if there is no end to them."""
        return None

    def silent(self, statistics: S) -> Sequence[int]:
        """Columns that never varied, and so say nothing of the groups."""
        return ()

    def summary(self, statistics: S, parameters: P, column: int) -> str:
        """What was found in a column, in a few words."""
        return ""

    def integrated(self) -> Self:
        """The family that integrates over what is not known of its parameters, where it can."""
        return self

    def needs(self) -> Any:
        """What families that need the same sums of the same columns have in common."""
        return type(self)

    def summed(self) -> Summed | None:
        """The sums that a database may take in its place; None if it cannot."""
        return None

    # ---- what not every family has ----

    def sample(self, codes: Array, parameters: P, random: np.random.Generator) -> Any:
        """One row for each group code."""
        raise self._without("sample")

    def formula(self, parameters: P, cells: Cells) -> list[Formula]:
        """log p(x | k) in symbols, one term a feature, up to what all groups share."""
        raise TypeError(
            "Expected a family whose log density is a formula, which SQL can hold, got "
            f"{type(self).__name__}."
        )

    def _without(self, method: str) -> TypeError:
        return TypeError(
            f"Expected a family that defines {method}(), got {type(self).__name__}, which does not."
        )


@dataclass(frozen=True, slots=True)
class OfValues(Family[Histograms, P]):
    """A family that is estimated from the weight of each group at each value of a column."""

    exact: ClassVar[bool] = True
    prior: PseudoRows = ONE_ROW
    max_values: int = 4096

    def __post_init__(self) -> None:
        if self.max_values < 2:
            raise ValueError(f"Expected two values or more, got max_values={self.max_values}.")

    def statistics(self, X: Array, groups: Groups) -> Histograms:
        return Histograms.of(X, groups, self.max_values)


AnyFamily: TypeAlias = Family[Any, Any]


def refuse_open(left_open: Array, bias: Floats, message: str) -> None:
    """Refuse parameters (k, d) that the rows leave open, of groups that have a chance."""
    found = np.argwhere(left_open & (bias > -np.inf)[:, None])
    if len(found):
        group, feature = found[0].tolist()
        raise DegenerateError(message, feature, group)


def fill(scorer: Scorer, X: Features, n_groups: int) -> Floats:
    """Scores of a chunk in a new array."""
    out = np.empty((X.shape[0], n_groups))
    scorer(X, out)
    return out
