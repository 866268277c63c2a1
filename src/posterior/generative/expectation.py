"""Rows whose groups are hidden, known, or known to be among some: sums in expectation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from posterior import kernels
from posterior.data.rows import HIDDEN, Rows, Soft
from posterior.data.typing import Array
from posterior.families.family import fill
from posterior.generative.joint import Joint, JointStatistics, labeled
from posterior.statistics.algebra import Statistics

S = TypeVar("S", bound=Statistics)
P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Expected(Generic[S]):
    """Statistics of all rows, the hidden ones in expectation, and how probable the rows are."""

    statistics: JointStatistics[S]
    log_likelihood: float

    def __add__(self, other: Expected[S], /) -> Expected[S]:
        log_likelihood = self.log_likelihood + other.log_likelihood
        return Expected(self.statistics + other.statistics, log_likelihood)


def expectation(joint: Joint[S, P], allowed: Array | None = None) -> Callable[[Rows], Expected[S]]:
    """Sums rows as a model expects their groups: r_ik = wᵢ p(k | xᵢ, yᵢ).

    A label is evidence: it rules groups out. `allowed` (n_labels, k) says which groups a label
    leaves; by default labels are groups.
    """
    scorer, k = joint.scorer(), len(joint.log_prior)
    leaves = np.eye(k, dtype=bool) if allowed is None else allowed

    def expect(rows: Rows) -> Expected[S]:
        groups = rows.hard
        R, log_evidence = fill(scorer, rows.X, k), np.empty(len(rows))
        known = np.flatnonzero(groups.codes != HIDDEN)
        left = leaves[groups.codes[known]]
        if len(known):
            R[known] = np.where(left, R[known], -np.inf)
        kernels.normalize(R, "posterior", log_evidence)
        impossible = np.isneginf(log_evidence[known])
        if impossible.any():  # a label counts even where the joint calls its row impossible
            alike = left[impossible]
            R[known[impossible]] = alike / alike.sum(axis=1, keepdims=True)
        weight = groups.weight
        if weight is not None:
            R *= weight[:, None]
            log_evidence[weight == 0] = 0.0  # even of rows that are impossible
            log_evidence *= weight
        statistics = labeled(Rows(rows.X, Soft(R)), joint.family)
        return Expected(statistics, float(log_evidence.sum()))

    return expect
