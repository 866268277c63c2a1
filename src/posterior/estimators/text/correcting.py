"""Logistic regression that corrects naive Bayes, where rows are at hand."""

from __future__ import annotations

import numpy as np

from posterior.data.rows import Hard, Rows, SparseRows
from posterior.data.typing import Floats
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.objective import Objective, Summer
from posterior.discriminative.penalty import Penalty
from posterior.discriminative.solvers import QuasiNewton, Stop
from posterior.text.term_rows import UNIT, TermRows
from posterior.text.term_weights import KnownTerms, TermWeights, contrast

LOGISTIC = "logistic"
ALPHA = 0.03  # pseudo-counts of the weights that say how free a coefficient is
LEAST = 1e-2  # of such a weight: a term that is alike in all classes may still matter a little
STOP = Stop(tol=1e-3, max_iter=30)  # documents held out gain nothing from more


def corrected(
    rows: Rows, terms: KnownTerms, C: float, log_prior: Floats, engine: Summer
) -> TermWeights:
    """Coefficients with priors as wide as naive Bayes' weights (after Wang and Manning 2012).

    β_kj ~ N(0, C |r_kj|),  r_kj = log p_kj - log p_k̄j: terms that tell classes apart move freely.
    """
    X, groups = rows.X, rows.hard
    assert isinstance(X, TermRows)
    ratio = contrast(terms, ALPHA).weight / UNIT
    if groups.n_groups == 2:
        ratio = ratio[1:]
    ridge = np.column_stack([1 / (C * np.maximum(np.abs(ratio), LEAST)), np.zeros(len(ratio))])
    codes = groups.codes if X.absent is None else np.where(X.absent, -1, groups.codes)
    cells = X.cells()
    cells = SparseRows(cells.data * np.float32(UNIT), cells.column, cells.start, cells.n_columns)
    rows = Rows(cells, Hard(codes.astype(np.int32), groups.n_groups, groups.weight))
    penalty = Penalty(ridge, np.zeros_like(ridge), np.zeros_like(ridge))
    loss = LogisticLoss(len(ridge))
    objective = Objective(rows, loss, penalty, engine)
    coef = QuasiNewton(STOP).minimize(objective, np.zeros(ridge.shape)).coef
    slope, intercept = loss.parts(coef)
    if groups.n_groups == 2:  # the first class has a score of zero
        slope, intercept = (np.concatenate([np.zeros_like(v), v]) for v in (slope, intercept))
    known = np.isfinite(log_prior)  # a class that no document has
    return TermWeights(UNIT * slope, np.where(known, intercept - np.where(known, log_prior, 0), 0))
