"""FittedPool: models that have learned, and what each counts for."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from posterior.data import validate
from posterior.data.table import Table
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats
from posterior.discriminative.pooling import PoolWeights, bounded
from posterior.estimators.estimator import Estimator
from posterior.estimators.refits import log_answers
from posterior.evaluation.held_out import HeldOut, aligned
from posterior.generative.evidence_terms import Evidence
from posterior.preprocessing.roles import Roles

EXACT = 1e-10  # nats by which a member's terms may miss its log probabilities


@dataclass(frozen=True, slots=True, eq=False)
class FittedPool:
    """s_c = b_c + Σ_m w_m log p_m(c | x)."""

    columns: Columns
    classes: Array
    names: tuple[str, ...]
    members: tuple[Any, ...]
    pool: PoolWeights
    held_out: HeldOut | None = None  # of rows that no member had learned from; never stored
    losses: Table | None = None  # of the members alone and of the pool, on the same rows
    roles: Roles | None = None  # what the columns of a table were taken for

    def forgetful(self) -> FittedPool:
        """Without what rows were given."""
        return replace(self, held_out=None)

    @property
    def weighed(self) -> list[tuple[str, Any, float]]:
        """The members that count."""
        every = zip(self.names, self.members, self.pool.weights.tolist(), strict=True)
        return [each for each in every if each[2] > 0]

    def scores(self, X: Any) -> Floats:
        """b + Σ w log p, (n, k)."""
        total: Any = self.pool.intercept
        for _, member, weight in self.weighed:
            total = total + weight * self.said(member, X)
        return np.asarray(total)

    def said(self, member: Any, X: Any) -> Floats:
        """What a member says of all classes, next to the likeliest."""
        found = log_answers(member, X)
        return bounded(aligned(found, np.asarray(member.classes_), self.classes))

    def evidence(self, X: Any, columns: Array) -> Evidence:
        """Terms of all members, by name; what a member says beyond its columns has its own."""
        terms: dict[str, Floats] = {str(name): np.zeros(()) for name in columns}
        prior = self.pool.intercept
        for name, member, weight in self.weighed:
            rest = self.said(member, X)
            if hasattr(member, "evidence"):
                found = member.evidence(X)
                rest = rest - found.log_joint()
                prior = prior + weight * found.log_prior
                for i, term in enumerate(map(str, found.feature_names)):
                    terms[term] = terms.get(term, 0.0) + weight * found.terms[:, :, i]
            rest = rest - rest.mean(axis=1, keepdims=True)
            if np.abs(rest).max(initial=0.0) > EXACT:
                terms[name] = terms.get(name, 0.0) + weight * rest
        n, k = len(rest), len(self.classes)
        each = [np.broadcast_to(term, (n, k)) for term in terms.values()]
        names = np.array([*terms], dtype=object)
        return Evidence(np.stack(each, axis=2), np.asarray(prior), names, self.classes)

    def changed(self, verb: Callable[[Any, str], Any]) -> FittedPool:
        """After members were changed, each a copy; weights stay, and a new class begins at zero."""
        pairs = zip(self.members, self.names, strict=True)
        members = tuple(verb(_copied(member), name) for member, name in pairs)
        classes = _classes(members)
        known = dict(zip(self.classes.tolist(), self.pool.intercept.tolist(), strict=True))
        intercept = np.array([known.get(label, 0.0) for label in classes.tolist()])
        pool = PoolWeights(self.pool.weights, intercept)
        return replace(self, members=members, classes=classes, pool=pool, held_out=None)


def _classes(members: tuple[Any, ...]) -> Array:
    """Those that some member knows."""
    return reduce(validate.union, (np.asarray(member.classes_) for member in members))


def _copied(member: Any) -> Any:
    """Ours make what they learn anew; others may change their arrays."""
    return copy.copy(member) if isinstance(member, Estimator) else copy.deepcopy(member)
