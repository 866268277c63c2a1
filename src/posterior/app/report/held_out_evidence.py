"""Evidence of each column, by naive Bayes models that never saw the row.

log p(x, k) = log π_k + Σⱼ log p(xⱼ | k): the terms of a column are its evidence, and the model
without the column is the same sum without them. So one set of terms evaluates all columns.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from posterior.app.report.report_schema import FeatureEvidence
from posterior.data import frames
from posterior.data.frames import take
from posterior.data.table import text
from posterior.data.typing import Array, Codes, Floats
from posterior.estimators import NaiveBayes, TableClassifier
from posterior.estimators.pool.column_models import ColumnModels
from posterior.selection.comparison import quiet, sampled
from posterior.selection.labeled_rows import LabeledRows

MOST_ROWS = 10_000
MOST_TERMS = 8_000_000
MOST_NATS = -np.log(1e-12)  # that one row can count for: far out, densities say anything


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutEvidence:
    """Naive Bayes models, one without each fold, and what they say of some rows."""

    models: dict[int, NaiveBayes]  # by the fold that the model never saw
    index: Codes  # (m,) rows that were asked about
    terms: Floats  # (m, k, d)
    log_prior: Floats  # (m, k)
    names: list[str]  # (d,)
    rows: LabeledRows
    table: Any  # all rows, prepared
    columns: ColumnModels

    @classmethod
    def of(cls, rows: LabeledRows, columns: ColumnModels, seed: int) -> HeldOutEvidence:
        roles = columns.roles
        table = rows.reading(TableClassifier(NaiveBayes(), roles))
        cells = len(rows.classes) * len(roles.table)
        index = sampled(rows, min(MOST_ROWS, max(200, MOST_TERMS // cells)), seed)
        models: dict[int, NaiveBayes] = {}
        terms = np.zeros((len(index), len(rows.classes), len(roles.table)))
        log_prior = np.full(terms.shape[:2], -np.inf)
        with quiet():
            of_all = NaiveBayes().fit(take(table, index), rows.y[index])
        for f in range(rows.n_folds):
            place = np.flatnonzero(rows.folds[index] == f)
            test = index[place]
            if not len(test) or len(np.unique(rows.codes[np.setdiff1d(index, test)])) < 2:
                continue
            cells = take(table, test)
            with quiet():
                models[f] = model = copy.deepcopy(of_all).forget(cells, rows.y[test])
            known = rows.codes_of(model.classes_)
            found = model.evidence(cells)
            terms[np.ix_(place, known)] = found.terms
            log_prior[np.ix_(place, known)] = found.log_prior
        sources = columns.sources
        names = [sources.get(column.name, column.name) for column in roles.table]
        terms, names = _by_name(terms, names)
        asked = np.isfinite(log_prior).any(axis=1)  # without some folds there is one class left
        said = index[asked], terms[asked], log_prior[asked]
        return cls(models, *said, names, rows, table, columns)

    def features(self) -> list[FeatureEvidence]:
        """How much each column says, the most informative first."""
        codes = self.rows.codes[self.index]
        folds = self.rows.folds[self.index]
        own = np.arange(len(codes)), codes
        joint = self.log_prior + self.terms.sum(axis=2)
        loss = _loss(joint, own)
        rival = np.array(joint)
        rival[own] = -np.inf
        rival_code = rival.argmax(axis=1)
        weights = self.terms[own] - self.terms[np.arange(len(codes)), rival_code]  # (m, d)
        found = []
        for j, name in enumerate(self.names):
            rise = _loss(joint - self.terms[:, :, j], own) - loss
            found.append(
                FeatureEvidence(
                    name,
                    float(np.minimum(np.abs(weights[:, j]), MOST_NATS).mean()),
                    float(rise.mean()),
                    _error(rise, folds),
                )
            )
        return sorted(found, key=lambda f: -f.weight)

    def reasons(self, row: int, of: int, against: int, most: int = 3) -> list[str]:
        """The columns that speak most for one class against another, in one row."""
        model = self.models.get(int(self.rows.folds[row]))
        if model is None:
            return []
        known = {int(k): i for i, k in enumerate(self.rows.codes_of(model.classes_))}
        if of not in known or against not in known or of == against:
            return []
        cells = take(self.table, [row])
        place = int(np.searchsorted(self.index, row))
        if place < len(self.index) and self.index[place] == row:  # it was asked before
            weights = self.terms[place, of] - self.terms[place, against]
        else:
            told = model.evidence(cells).joined(self.columns.sources)
            weights = told.weights(known[of], known[against])[0]
        ranked = [int(j) for j in np.argsort(-weights, kind="stable") if weights[j] > 0.1][:most]
        given = frames.as_frame(self.rows.take(np.array([row])))
        assert given is not None
        values = [text(given.get_column(self.names[j])[0]) for j in ranked]
        name = self.rows.names[of]
        return [
            f"{self.names[j]} = {value} speaks for {name} ({weights[j]:+.1f})"
            for j, value in zip(ranked, values, strict=True)
        ]

    def log_evidence(self) -> Floats:
        """log p(x) of the rows that were asked about."""
        return np.asarray(logsumexp(self.log_prior + self.terms.sum(axis=2), axis=1))


def _by_name(terms: Floats, names: list[str]) -> tuple[Floats, list[str]]:
    """Terms of one column together."""
    if len(set(names)) == len(names):
        return terms, names
    different = list(dict.fromkeys(names))
    own = [[i for i, name in enumerate(names) if name == each] for each in different]
    return np.stack([terms[:, :, places].sum(axis=2) for places in own], axis=2), different


def _loss(joint: Floats, own: tuple[Array, Array]) -> Floats:
    """-log p(own class | x), not above what a probability of 1e-12 costs."""
    return np.minimum(logsumexp(joint, axis=1) - joint[own], MOST_NATS)


def _error(values: Floats, folds: Array) -> float | None:
    means = [values[folds == f].mean() for f in np.unique(folds)]
    return float(np.std(means, ddof=1) / np.sqrt(len(means))) if len(means) > 1 else None
