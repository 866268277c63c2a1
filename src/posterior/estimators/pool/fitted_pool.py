"""FittedPool: models that have learned, and what each counts for."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from itertools import zip_longest
from typing import Any

import numpy as np

from posterior.data import validate
from posterior.data.table import Table
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats, Integers
from posterior.discriminative.pooling import PoolWeights, bounded
from posterior.estimators.estimator import Estimator
from posterior.estimators.pool.column_models import ColumnModels
from posterior.estimators.pool.learned_rows import LearnedRows
from posterior.estimators.pool.reasons import as_said, by_column, shortened
from posterior.estimators.refits import log_answers
from posterior.evaluation.held_out import HeldOut, aligned
from posterior.generative.evidence_terms import Evidence
from posterior.preprocessing.roles import Roles

TermsOf = Callable[[Any, Any], Evidence | None]  # of a member and rows
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
    read_by: ColumnModels | None = None  # models of single columns, which make numbers of them
    order: Integers | None = None  # where the rows stood that nearest neighbors keep, if alone
    learned_from: LearnedRows | None = None  # the rows of fit in short; none once they change

    def forgetful(self) -> FittedPool:
        """Without what rows were given."""
        return replace(self, held_out=None)

    def without_idle(self) -> FittedPool:
        """Members that count for something, and no others; the first, where none does."""
        kept = np.flatnonzero(self.pool.weights > 0) if self.pool.weights.any() else [0]
        if len(kept) == len(self.members):
            return self
        pool = PoolWeights(self.pool.weights[kept], self.pool.intercept)
        names, members = zip(*((self.names[m], self.members[m]) for m in kept), strict=True)
        return replace(self, names=names, members=members, pool=pool)

    @property
    def weighed(self) -> list[tuple[str, Any, float]]:
        """The members that count; the first, where the shares of the classes are all there is."""
        every = [*zip(self.names, self.members, self.pool.weights.tolist(), strict=True)]
        return [each for each in every if each[2] > 0] or every[:1]

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

    def evidence(self, X: Any, columns: Array, terms_of: TermsOf = as_said) -> Evidence:
        """Terms of all members, by name; what a member says beyond its columns has its own."""
        terms: dict[str, Floats] = {str(name): np.zeros(()) for name in columns}
        prior = self.pool.intercept
        for name, member, weight in self.weighed:
            rest = self.said(member, X)
            found = terms_of(member, X)
            if found is not None:
                found = shortened(found, rest)
                rest = rest - found.log_joint()
                prior = prior + weight * found.log_prior
                for i, term in enumerate(map(str, found.feature_names)):
                    terms[term] = terms.get(term, 0.0) + weight * found.terms[:, :, i]
            rest = rest - rest.mean(axis=1, keepdims=True)
            if np.abs(rest).max(initial=0.0) > EXACT:
                terms[name] = terms.get(name, 0.0) + weight * rest
        n, k = len(rest), len(self.classes)
        total = np.zeros((n, k, len(terms)))  # a document may have no word that is known
        for i, values in enumerate(terms.values()):
            total[:, :, i] = values
        names = np.array([*terms], dtype=object)
        return Evidence(total, np.asarray(prior), names, self.classes)

    def by_column(self, rows: Any) -> Evidence:
        """Terms of the columns that members are given, as those of the table they come from.

        What models of words say is the term of the text; where there is nothing but text, each
        word has its own.
        """
        if all(member.reads == "documents" for member in self.members):
            return self.evidence(rows, np.array([], object))
        assert self.roles is not None
        columns = self.roles if self.read_by is None else self.read_by.roles
        given = {column.name for member in self.members for column in member.columns_read}
        names = np.array([c.name for c in columns.used if c.name in given], object)
        found = self.evidence(rows, names, by_column)
        return found if self.read_by is None else found.joined(self.read_by.sources)

    def check_read_alike(self, other: FittedPool) -> None:
        """Refuse a pool whose members were given other numbers for the same columns."""
        mine, theirs = (f.read_by.columns if f.read_by else () for f in (self, other))
        if any(a is not b for a, b in zip_longest(mine, theirs)):
            names = ", ".join(sorted({repr(column.name) for column in (*mine, *theirs)}))
            raise ValueError(
                f"Expected pools that read alike to merge, but each has learned what {names} "
                "says from its own rows. Fit both without: leave_out."
            )

    def changed(self, verb: Callable[[Any, str], Any]) -> FittedPool:
        """After members were changed, each a copy; weights stay, and a new class begins at zero."""
        pairs = zip(self.members, self.names, strict=True)
        members = tuple(verb(_copied(member), name) for member, name in pairs)
        classes = _classes(members)
        known = dict(zip(self.classes.tolist(), self.pool.intercept.tolist(), strict=True))
        intercept = np.array([known.get(label, 0.0) for label in classes.tolist()])
        pool = PoolWeights(self.pool.weights, intercept)
        changed = replace(self, members=members, classes=classes, pool=pool)
        return replace(changed, held_out=None, order=None, learned_from=None)


def _classes(members: tuple[Any, ...]) -> Array:
    """Those that some member knows."""
    return reduce(validate.union, (np.asarray(member.classes_) for member in members))


def _copied(member: Any) -> Any:
    """Ours make what they learn anew; others may change their arrays."""
    return copy.copy(member) if isinstance(member, Estimator) else copy.deepcopy(member)
