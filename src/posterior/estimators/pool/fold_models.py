"""FoldModels: a classifier without each fold, to ask about rows that it never saw.

Members, their settings and their weights are those that all rows have chosen; what members have
learned, they have learned from the other folds alone.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_softmax

from posterior.data import frames
from posterior.data.blas_threads import one_blas_thread
from posterior.data.typing import Codes, Floats, Integers
from posterior.discriminative.pooling import bounded
from posterior.estimators.pool.choice import quiet
from posterior.estimators.pool.dealt_rows import DealtRows
from posterior.estimators.pool.fitted_pool import FittedPool
from posterior.estimators.table_classifier import Readings
from posterior.estimators.unknown_columns import log_proba_without
from posterior.evaluation.held_out import aligned, floored
from posterior.generative.evidence_terms import Evidence


@dataclass(frozen=True, slots=True, eq=False)
class FoldModels:
    """One copy of a pool for each fold, and the rows that are asked about."""

    fitted: FittedPool  # of all rows
    rows: DealtRows  # as members were given them
    copies: dict[int, FittedPool]  # by the fold that it never saw

    @classmethod
    def of(cls, fitted: FittedPool, rows: DealtRows) -> FoldModels:
        """Learn every member again without each fold that is held out."""
        copies: dict[int, FittedPool] = {}
        for fold in np.unique(rows.folds[rows.held_out]).tolist():
            with suppress(ValueError, np.linalg.LinAlgError):  # too few rows are left for a model
                copies[fold] = learned_without(fitted, rows, np.flatnonzero(rows.folds == fold))
        return cls(fitted, rows, copies)

    def some(self, most: int) -> Integers:
        """Rows held out, by class and content: as many of each fold, evenly among them."""
        held = self.rows.held_out
        held = held[np.isin(self.rows.folds[held], [*self.copies])]
        if len(held) <= most:
            return held
        folds = self.rows.folds[held]
        parts = []
        for fold in self.copies:
            own = held[folds == fold]
            n = max(1, round(most * len(own) / len(held)))
            parts.append(own[np.arange(n) * len(own) // n])
        return np.sort(np.concatenate(parts))

    @property
    def columns(self) -> dict[str, frozenset[str]]:
        """The columns of the file that members read, and what they are given of each."""
        sources = {} if self.fitted.read_by is None else self.fitted.read_by.sources
        found: dict[str, set[str]] = {}
        for member in self.fitted.members:
            given = member.roles.text if member.reads == "documents" else member.roles.table
            for column in given:
                found.setdefault(sources.get(column.name, column.name), set()).add(column.name)
        return {name: frozenset(names) for name, names in found.items()}

    def log_proba(self, index: Integers) -> Floats:
        """log p(k | x) (m, k) of rows held out, each by the model that never saw it."""
        out = np.empty((len(index), len(self.rows.classes)))
        for place, copy, some in self._asked(index):
            out[place] = floored(log_softmax(copy.scores(self.given(some)), axis=1))
        return out

    def log_proba_without(self, index: Integers) -> Floats:
        """The same without each of the columns, (d, m, k)."""
        blanks = [*self.columns.values()]
        out = np.empty((len(blanks), len(index), len(self.rows.classes)))
        for place, copy, some in self._asked(index):
            total = np.tile(copy.pool.intercept, (len(blanks), len(some), 1))
            frame, others = self.given(some).frame, self.rows.folds != self.rows.folds[some[0]]
            for _, member, weight in copy.weighed:
                table = member.learn(self.rows.X)[1]
                mean = table[others].mean(axis=0) if member.reads == "numbers" else None
                said = log_proba_without(member, frame, frames.take(table, some), blanks, mean)
                known = np.asarray(member.classes_)
                total += weight * bounded(np.stack([aligned(s, known, copy.classes) for s in said]))
            out[:, place] = [floored(each) for each in log_softmax(total, axis=2)]
        return out

    def evidence(self, index: Integers) -> Evidence:
        """What each column says of rows of one fold, by the model that never saw them."""
        return self.copies[int(self.rows.folds[index[0]])].by_column(self.given(index))

    def given(self, index: Integers) -> Readings:
        """Rows as members are given them."""
        return Readings(frames.take(self.rows.X.frame, index))

    def _asked(self, index: Integers) -> list[tuple[Integers, FittedPool, Integers]]:
        """Places among the rows asked about, the model that never saw them, and the rows."""
        folds: Codes = self.rows.folds[index]
        found = []
        for fold, copy in self.copies.items():
            place = np.flatnonzero(folds == fold)
            if len(place):
                found.append((place, copy, index[place]))
        return found


def learned_without(fitted: FittedPool, rows: DealtRows, gone: Integers) -> FittedPool:
    """A pool whose members never saw some rows, at the settings and weights of all."""
    with quiet(), one_blas_thread():
        members = tuple(m.without(rows.X, rows.labels, gone) for m in fitted.members)
    return replace(fitted, members=members, held_out=None, order=None)
