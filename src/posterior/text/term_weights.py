"""Weighs the terms of documents: from sums to the weight of each term in each class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np

from posterior.data.rows import Groups, Hard
from posterior.data.typing import Array, Floats
from posterior.families.family import Family, Scorer, Support
from posterior.families.linear import affine_scorer
from posterior.text.counted import CountedRows
from posterior.text.damping import UNIT_LOG_COUNTS, WEIGHTINGS, Damping
from posterior.text.term_rows import TermRows
from posterior.text.term_sums import TermSums


@dataclass(frozen=True, slots=True, eq=False)
class TermWeights:
    """score_k(x) = offset_k + Σⱼ weight_kj xⱼ, where xⱼ is how much of a term, or whether any."""

    weight: Floats  # (k, d)
    offset: Floats  # (k,)
    presence: bool = False

    def __mul__(self, factor: float) -> TermWeights:
        return TermWeights(self.weight * factor, self.offset * factor, self.presence)

    def scorer(self, bias: Floats) -> Scorer:
        """bias + score(x) of the cells of documents."""
        return affine_scorer(None, self.weight, bias + self.offset, 0.0 if self.presence else None)


class KnownTerms:
    """The terms of sums that a model knows; the tables of its models are made once."""

    def __init__(self, sums: TermSums, columns: Array, unit: float) -> None:
        self.sums, self.columns = sums, columns  # ascending
        self.unit = unit  # of the sums, and of the cells that weights are for

    @cached_property
    def total(self) -> Floats:
        """s_kj, (k, d)."""
        return self.sums.table(self.unit * self.sums.total.rounded(), self.columns)

    @cached_property
    def of_others(self) -> Floats:
        """s_k̄j, where k̄ is every class but k."""
        return np.asarray(self.total.sum(axis=0) - self.total)

    @cached_property
    def documents(self) -> Floats:
        """n_kj, (k, d)."""
        return self.sums.table(self.sums.documents.rounded(), self.columns)


Estimate: TypeAlias = Callable[[KnownTerms, float], TermWeights]
"""The weights of terms, with so many pseudo-counts of each."""


def multinomial(known: KnownTerms, alpha: float) -> TermWeights:
    """log p_kj,  p_kj = (α + s_kj) / Σⱼ (α + s_kj): documents are drawn from the class's urn."""
    return _urns(known, _log_shares(known.total, alpha))


def complement(known: KnownTerms, alpha: float) -> TermWeights:
    """-log p_k̄j, where k̄ is every class but k: more documents fill its urn (Rennie et al. 2003)."""
    return _urns(known, -_log_shares(known.of_others, alpha))


def contrast(known: KnownTerms, alpha: float) -> TermWeights:
    """log p_kj - log p_k̄j: the urn of the class against that of the others."""
    return _urns(known, _log_shares(known.total, alpha) - _log_shares(known.of_others, alpha))


def bernoulli(known: KnownTerms, alpha: float) -> TermWeights:
    """log p_kj / (1 - p_kj),  p_kj = (α + n_kj) / (2 α + n_k); no term at all is the offset."""
    yes, rows = known.documents, known.sums.rows.rounded()[:, None]
    log_no = np.log(rows - yes + alpha)
    offset = (log_no - np.log(rows + 2 * alpha)).sum(axis=1)
    return TermWeights(np.log(yes + alpha) - log_no, offset, presence=True)


NAIVE_BAYES: dict[str, Estimate] = {
    "multinomial": multinomial,
    "complement": complement,
    "contrast": contrast,
    "bernoulli": bernoulli,
}


def _log_shares(total: Floats, alpha: float) -> Floats:
    """log (α + tⱼ) / Σⱼ (α + tⱼ)."""
    share = total + alpha
    whole = share.sum(axis=1, keepdims=True)
    np.log(share, out=share)
    share -= np.log(whole, where=whole > 0, out=whole)  # none, if there are no terms
    return share


def _urns(known: KnownTerms, weight: Floats) -> TermWeights:
    weight *= known.unit
    return TermWeights(weight, np.zeros(len(weight)))


@dataclass(frozen=True, slots=True)
class WeighedTerms(Family[TermSums, TermWeights]):
    """log p(x, k) = log π_k + s score_k(x), up to what all classes share.

    Terms are weighed, and documents are not modeled: scores compare classes and nothing else. The
    weights are those of a model of `NAIVE_BAYES`, or come from elsewhere.
    """

    exact: ClassVar[bool] = True
    support: ClassVar[Support] = "text"

    model: str = "contrast"  # whose sharpness is nearest to one
    strength: float = 0.03  # pseudo-counts of every term, or what else the model has of it
    sharpness: float = 1.0
    min_df: int = 1  # documents that a term must be in
    weighting: str = UNIT_LOG_COUNTS  # which files of earlier versions leave unsaid

    @property
    def damping(self) -> Damping:
        return WEIGHTINGS[self.weighting]

    def statistics(self, X: CountedRows | TermRows, groups: Groups) -> TermSums:
        assert isinstance(groups, Hard)
        if isinstance(X, CountedRows):
            return X.sums(groups, self.damping)
        return TermSums.of(X, groups, X.cells(self.damping))

    def known(self, statistics: TermSums) -> KnownTerms:
        """The terms that enough documents have; those of one, however little it weighs."""
        frequency = statistics.frequency()
        enough = frequency > 0 if self.min_df <= 1 else frequency >= self.min_df
        return KnownTerms(statistics, np.flatnonzero(enough), self.damping.unit)

    def weights(self, known: KnownTerms) -> TermWeights:
        return NAIVE_BAYES[self.model](known, self.strength) * self.sharpness

    def estimate(self, statistics: TermSums, pooled: TermSums | None = None) -> TermWeights:
        return self.weights(self.known(statistics))

    def scorer(self, parameters: TermWeights, bias: Floats) -> Scorer:
        score_cells = parameters.scorer(bias)

        def score(X: TermRows, out: Floats) -> None:
            score_cells(X.cells(self.damping), out)
            if X.absent is not None:
                out[X.absent] = bias

        return score

    def evidence(self, X: TermRows, parameters: TermWeights) -> Floats:
        """Of each term, and last, unless there is none, that of a document without any."""
        cells = X.cells(self.damping).scipy().toarray().astype(np.float64)
        if parameters.presence:
            cells = (cells > 0).astype(np.float64)
        terms = cells[:, None, :] * parameters.weight
        if not parameters.offset.any():
            return np.asarray(terms)
        offset = np.tile(parameters.offset[:, None], (len(terms), 1, 1))
        if X.absent is not None:
            offset[X.absent] = 0.0
        return np.concatenate([terms, offset], axis=2)

    def n_parameters(self, parameters: TermWeights) -> int:
        return parameters.weight.size

    def impossible(self, statistics: TermSums) -> Array:
        """None: sums are looked at term by term, see `TermSums.missing_cell`."""
        return np.zeros((0, 0), bool)

    def check_density(self) -> None:
        raise TypeError(
            "TextClassifier weighs words and has no density of documents. Use CountVectorizer and "
            "MultinomialNB."
        )
