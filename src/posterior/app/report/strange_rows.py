"""Rows unlike all others: log p(x) of naive Bayes models that never saw the row."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from posterior.data.frames import take
from posterior.data.typing import Codes, Floats
from posterior.estimators import NaiveBayes, TableClassifier
from posterior.preprocessing.roles import Roles
from posterior.selection.comparison import quiet, sampled
from posterior.selection.labeled_rows import LabeledRows

MOST_ROWS = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Densities:
    """log p(x) of some rows, whatever their class."""

    index: Codes  # (m,)
    log_evidence: Floats  # (m,)

    @classmethod
    def of(cls, rows: LabeledRows, roles: Roles, seed: int) -> Densities:
        """One model of them all, from which each fold is taken back."""
        table = rows.reading(TableClassifier(NaiveBayes(), roles))
        index = sampled(rows, MOST_ROWS, seed)
        found = np.full(len(index), np.nan)
        with quiet():
            of_all = NaiveBayes().fit(take(table, index), rows.y[index])
            for fold in range(rows.n_folds):
                place = np.flatnonzero(rows.folds[index] == fold)
                test = index[place]
                if not len(test) or len(np.unique(rows.codes[np.setdiff1d(index, test)])) < 2:
                    continue
                cells = take(table, test)
                model = copy.copy(of_all).forget(cells, rows.y[test])
                found[place] = model.log_evidence(cells)
        asked = np.isfinite(found)
        return cls(index[asked], found[asked])
