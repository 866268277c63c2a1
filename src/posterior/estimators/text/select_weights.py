"""Selects weights of terms: which model, how smooth and how sharp, by documents held out.

Sums subtract, so naive Bayes without a part of the documents costs no second look at the others.
Documents are held out by what they say: their order does not matter, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from posterior import kernels
from posterior.data.rows import Features, Hard, Rows, SparseRows
from posterior.data.table import Table
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.objective import Objective
from posterior.discriminative.penalty import Penalty
from posterior.discriminative.solvers import QuasiNewton, Stop
from posterior.engines.local import Local
from posterior.generative.dealing import by_content
from posterior.generative.joint import JointStatistics, labeled
from posterior.text.counted import CountedRows
from posterior.text.term_rows import TermRows
from posterior.text.term_sums import TermSums
from posterior.text.term_weights import (
    NAIVE_BAYES,
    KnownTerms,
    TermWeights,
    WeighedTerms,
    contrast,
)

LOGISTIC = "logistic"
FOLDS = 5
ENOUGH = 4000  # documents held out: few numbers are learned from them
ALPHAS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
START = 2  # where the search for the best of them begins
WIDEST = 8.0  # log of the sharpness, either way
WORTH = 10**7  # multiplications in a pass of the logistic model, for it to be tried
ALPHA = 0.03  # pseudo-counts of the weights that say how free a logistic coefficient is
LEAST = 1e-2  # of such a weight: a term that is alike in all classes may still matter a little
STOP = Stop(tol=1e-3, max_iter=30)  # documents held out gain nothing from more


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A model with its sharpness s, p(k | x) ∝ π_k exp(s score_k(x)), and what came of it.

    Naive Bayes takes words for independent and claims too much: s says how much of it to believe.
    """

    family: WeighedTerms
    sharpness: float
    log_proba: Floats  # (held out, k), as sharp as the model will be
    log_loss: float


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Documents that are held out, and what the others know."""

    inside: Array  # their numbers
    cells: SparseRows  # as the others see them
    absent: Array | None  # those that are missing
    terms: KnownTerms
    log_prior: Floats  # (k,)


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutDocuments:
    """Parts of the documents, each to be scored by models of the others."""

    rows: Rows
    parts: tuple[Part, ...]
    usual: WeighedTerms  # whose weighting and least frequency all models share
    calibrated: bool  # whether the model will be as sharp as suits it, or as it is
    engine: Local

    @classmethod
    def of(
        cls,
        rows: Rows,
        total: JointStatistics[TermSums],
        parts: Sequence[Array],
        log_prior: Callable[[Floats], Floats],
        usual: WeighedTerms,
        calibrated: bool,
        engine: Local,
    ) -> HeldOutDocuments:
        def part(inside: Array) -> Part:
            ascending = np.sort(inside)
            held = rows.take(ascending)
            others = total - labeled(held, usual)
            terms = usual.known(others.features)
            known = term_rows(held.X).among(terms.columns)
            known = known.take(np.searchsorted(ascending, inside))
            prior = log_prior(others.weight.rounded())
            cells = known.cells(usual.damping)
            return Part(inside, cells, known.absent, terms, prior)

        return cls(rows, tuple(map(part, parts)), usual, calibrated, engine)

    @property
    def index(self) -> Array:
        """The numbers of the documents that are held out, part after part."""
        return np.concatenate([part.inside for part in self.parts])

    def judge(self, model: str, strength: float) -> Judged:
        """A model with the sharpness that suits it."""
        family = replace(self.usual, model=model, strength=strength)
        scores = [score(self._weigh(family, p), p, self.engine) for p in self.parts]
        pairs = zip(self.parts, scores, strict=True)
        log_prior = np.concatenate([np.broadcast_to(p.log_prior, s.shape) for p, s in pairs])
        groups = self.rows.hard[self.index]
        return _judged(family, np.concatenate(scores), log_prior, groups, self.calibrated)

    def climb(self, model: str) -> list[Judged]:
        """Pseudo-counts, tried one after the other as long as they get better."""
        i, tried = START, [self.judge(model, ALPHAS[START])]
        best = tried[0]
        for step in (1, -1):
            while 0 <= i + step < len(ALPHAS):
                tried.append(self.judge(model, ALPHAS[i + step]))
                if tried[-1].log_loss >= best.log_loss:
                    break
                i, best = i + step, tried[-1]
            if best is not tried[0]:
                break
        return tried

    def compare(self, model: str, alpha: float | None, C: float) -> list[Judged]:
        """Everything that was left open; the logistic model only where it does not take long."""
        judged: list[Judged] = []
        for name in self._names(model):
            if name == LOGISTIC:
                judged.append(self.judge(name, C))
            else:
                judged += self.climb(name) if alpha is None else [self.judge(name, alpha)]
        return judged

    def _names(self, model: str) -> list[str]:
        if model != "auto":
            return [model]
        k = self.rows.hard.n_groups
        # of two classes each is the complement of the other
        names = ["contrast", "bernoulli"] if k == 2 else list(NAIVE_BAYES)
        assert isinstance(self.rows.X, CountedRows)
        cells = self.rows.X.n_entries * (k if k > 2 else 1)
        return [*names, LOGISTIC] if cells <= WORTH else names

    def _weigh(self, family: WeighedTerms, part: Part) -> TermWeights:
        rest = None
        if family.model == LOGISTIC:
            outside = np.ones(len(self.rows), bool)
            outside[part.inside] = False
            rest = self.rows.take(np.flatnonzero(outside))
        return weigh(family, part.terms, rest, part.log_prior, self.engine)


def weigh(
    family: WeighedTerms, terms: KnownTerms, rows: Rows | None, log_prior: Floats, engine: Local
) -> TermWeights:
    """The weights of terms by one model; the logistic one needs the rows."""
    if family.model != LOGISTIC or rows is None:
        return family.weights(terms)
    order, _ = by_content(rows)  # its sums round
    known = Rows(term_rows(rows.X).take(order).among(terms.columns), rows.hard[order])
    return corrected(known, terms, family, log_prior, engine) * family.sharpness


def corrected(
    rows: Rows, terms: KnownTerms, family: WeighedTerms, log_prior: Floats, engine: Local
) -> TermWeights:
    """Coefficients with priors as wide as naive Bayes' weights (after Wang and Manning 2012).

    β_kj ~ N(0, C |r_kj|),  r_kj = log p_kj - log p_k̄j: terms that tell classes apart move freely.
    """
    X, groups, C, unit = rows.X, rows.hard, family.strength, terms.unit
    assert isinstance(X, TermRows)
    ratio = contrast(terms, ALPHA).weight / unit
    if groups.n_groups == 2:
        ratio = ratio[1:]
    ridge = np.column_stack([1 / (C * np.maximum(np.abs(ratio), LEAST)), np.zeros(len(ratio))])
    codes = groups.codes if X.absent is None else np.where(X.absent, -1, groups.codes)
    cells = X.cells(family.damping)
    cells = SparseRows(cells.data * np.float32(unit), cells.column, cells.start, cells.n_columns)
    rows = Rows(cells, Hard(codes.astype(np.int32), groups.n_groups, groups.weight))
    penalty = Penalty(ridge, np.zeros_like(ridge), np.zeros_like(ridge))
    loss = LogisticLoss(len(ridge))
    objective = Objective(rows, loss, penalty, engine)
    coef = QuasiNewton(STOP).minimize(objective, np.zeros(ridge.shape)).coef
    slope, intercept = loss.parts(coef)
    if groups.n_groups == 2:  # the first class has a score of zero
        slope, intercept = (np.concatenate([np.zeros_like(v), v]) for v in (slope, intercept))
    known = np.isfinite(log_prior)  # a class that no document has
    return TermWeights(unit * slope, np.where(known, intercept - np.where(known, log_prior, 0), 0))


def score(weights: TermWeights, part: Part, engine: Local) -> Floats:
    """score_k of each document that is held out, (n, k)."""
    none = np.zeros(len(weights.offset))
    out, scorer = np.empty((len(part.inside), len(none))), weights.scorer(none)
    engine.fill(lambda chunk, _, scores: scorer(chunk, scores), part.cells, out)
    if part.absent is not None:
        out[part.absent] = 0.0
    return out


def some_parts(order: Integers) -> list[Array]:
    """Parts of documents in order of content, classes spread evenly: all of them, or enough.

    Documents that are alike are dealt out as well: held out together, those of one class would be
    answered by the other classes' alone.
    """
    n = len(order)
    if n < 2:
        return []
    folds = max(2, min(FOLDS, n), n // ENOUGH)
    fold = np.arange(n) % folds
    return [order[fold == part] for part in range(min(folds, -(-ENOUGH * folds // n)))]


def parts_of(fold: Codes, n_parts: int) -> list[Array]:
    """The numbers of the documents of each fold."""
    return [np.flatnonzero(fold == part) for part in range(n_parts)]


def _judged(
    family: WeighedTerms, scores: Floats, log_prior: Floats, groups: Hard, calibrated: bool
) -> Judged:
    """The sharpness of least log loss, with a prior log s ~ N(0, 1)."""
    codes = groups.codes
    own = np.arange(len(codes)), codes
    w = np.ones(len(codes)) if groups.weight is None else groups.weight
    w = np.where(np.isfinite(log_prior[own]), w, 0.0)  # some class may be in one part alone

    def log_proba(log_s: float) -> Floats:
        log_joint = np.exp(log_s) * scores
        log_joint += log_prior
        kernels.normalize(log_joint, "log_posterior")
        return log_joint

    def loss(log_s: float) -> float:
        return -float(w[w > 0] @ log_proba(log_s)[own][w > 0])

    def doubted(log_s: float) -> float:
        return loss(log_s) + 0.5 * log_s**2  # few documents cannot make it extreme

    log_s = 0.0
    if scores.shape[1] > 1 and w.any():
        bounds = (-WIDEST, WIDEST)
        found = scipy.optimize.minimize_scalar(
            doubted, bounds=bounds, method="bounded", options={"xatol": 1e-3}
        )
        log_s = float(found.x)
    mean = loss(log_s) / max(float(w.sum()), 1e-300)
    used = log_s if calibrated else 0.0
    return Judged(family, float(np.exp(log_s)), log_proba(used), mean)


def tried(judged: Sequence[Judged], best: Judged) -> Table:
    """What was tried, with the log loss of documents held out."""
    return Table(
        {
            "model": np.array([j.family.model for j in judged]),
            "alpha": np.array([j.family.strength for j in judged]),
            "sharpness": np.array([j.sharpness for j in judged]),
            "log_loss": np.array([j.log_loss for j in judged]),
            "chosen": np.array(["<-" if j is best else "" for j in judged]),
        }
    )


def term_rows(X: Features) -> TermRows:
    """Documents as a table."""
    if isinstance(X, CountedRows):
        return X.table()
    assert isinstance(X, TermRows)
    return X
