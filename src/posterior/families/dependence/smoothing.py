"""Probabilities from counts of contexts that may be rare, and their intervals by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Real
from typing import TypeAlias

import numpy as np

from posterior.data.typing import Array, Floats
from posterior.families.categorical import share_intervals
from posterior.families.dependence.coding import Coding
from posterior.families.family import Intervals
from posterior.families.priors import Laplace, MEstimate
from posterior.statistics.class_cuts import ranges
from posterior.statistics.counts import Counts


def _is_positive(m: object) -> bool:
    return isinstance(m, Real) and 0 < float(m) < np.inf


@dataclass(frozen=True, slots=True)
class BackOff:
    """m rows that are spread as the context without its last parent says.

    p(x | k, a, b) = (n_kabx + m p(x | k, a)) / (n_kab + m), and so on down to p(x | k), whose m
    rows have all values alike. A rare context says little, and what it says is what its
    shorter one does. m is one number, or one for each column and number of parents:
    `m[j][l]` is that of column j in the context of its first l parents, and the last one goes on.
    `AODE`, `TAN` and `KDB` choose these by leave-one-out where no smoothing is given. Of single
    numbers m = 10 is best for most tables (`examples/dependence_smoothing.py`).
    """

    m: float | tuple[tuple[float, ...], ...] = 10.0

    def __post_init__(self) -> None:
        columns = self.m if isinstance(self.m, tuple) else ((self.m,),)
        some = columns and all(isinstance(levels, tuple) and levels for levels in columns)
        if not some or not all(map(_is_positive, chain.from_iterable(columns))):
            raise ValueError(
                "Expected m, rows of the prior, to be positive: one number, or a tuple for each "
                f"column, of one for each number of parents from 0 on, got {self.m!r}."
            )

    def rows(self, column: Array | int, level: int) -> Array:
        """m of some columns, at a number of parents."""
        if not isinstance(self.m, tuple):
            return np.full(np.shape(column), float(self.m))
        return np.array([levels[min(level, len(levels) - 1)] for levels in self.m])[column]

    def check_columns(self, n_columns: int) -> None:
        """Refuse numbers of other columns."""
        if isinstance(self.m, tuple) and len(self.m) != n_columns:
            raise ValueError(
                f"Expected m of BackOff for each of {n_columns} columns, got {len(self.m)} of them."
            )


Smoothing: TypeAlias = BackOff | Laplace | MEstimate

BACK_OFF = BackOff()


def check_smoothing(smoothing: object, n_columns: int) -> Smoothing:
    """A rule that needs one number, or has one for each column and level."""
    if isinstance(smoothing, BackOff):
        smoothing.check_columns(n_columns)
        return smoothing
    if isinstance(smoothing, Laplace) and np.ndim(smoothing.alpha) == 0:
        return smoothing
    if isinstance(smoothing, MEstimate) and smoothing.p == "uniform":
        return smoothing
    raise ValueError(
        "Expected smoothing to be BackOff(m), or Laplace(alpha) or MEstimate(m) of all values "
        f"alike, got {smoothing!r}."
    )


def prior_rows(smoothing: Smoothing, size: Array, column: Array | int = 0, level: int = 0) -> Array:
    """How many rows the prior counts for, where there are so many values."""
    if isinstance(smoothing, Laplace):
        return np.asarray(smoothing.alpha * size)
    if isinstance(smoothing, BackOff):
        return np.broadcast_to(smoothing.rows(column, level), np.shape(size))
    return np.full(np.shape(size), float(smoothing.m))


def smoothed(
    count: Array,
    total: Array,
    size: Array,
    smoothing: Smoothing,
    shorter: Array | None = None,
    *,
    column: Array | int,
    level: int = 0,
) -> Floats:
    """(count + rows · share) / (total + rows), where prior rows are shared out by the rule.

    `size` is how many values there are, with this one among them; `shorter` the probability in
    the context without its last parent, if there is one; `level` the number of parents.
    """
    rows = prior_rows(smoothing, size, column, level)
    uniform = 1.0 / size
    share = shorter if isinstance(smoothing, BackOff) and shorter is not None else uniform
    with np.errstate(invalid="ignore"):
        found = (count + rows * share) / (total + rows)
    # nothing seen and nothing believed: all values alike
    return np.where(np.isnan(found), uniform, found)


def lone_intervals(
    coding: Coding, counts: Counts, alone: Sequence[Floats], smoothing: Smoothing, level: float
) -> Intervals:
    """Lines of p(x | k) (k, K) of each column that is not left out; bins go by their ranges."""
    cuts = dict(zip(coding.numbers, coding.cuts, strict=True))
    names = tuple(
        np.array(ranges(np.array(cuts[j])))[values] if j in cuts else values
        for j, values in enumerate(counts.values)
    )
    rows = [
        n.sum(axis=1, keepdims=True) + float(prior_rows(smoothing, np.array(n.shape[1]), j))
        for j, n in enumerate(counts.columns(counts.table.rounded()))
    ]
    kept = (name[: p.shape[1]] for name, p in zip(names, alone, strict=True))
    return share_intervals(tuple(kept), alone, rows, level)
