"""Naive Bayes of documents: from sums to the weight of each term in each class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from posterior.data.typing import Array, Floats
from posterior.families.family import Scorer
from posterior.families.linear import affine_scorer
from posterior.text.term_rows import UNIT, TermRows
from posterior.text.term_sums import TermSums


@dataclass(frozen=True, slots=True, eq=False)
class TermWeights:
    """score_k(x) = offset_k + Σⱼ weight_kj xⱼ, where xⱼ is how much of a term, or whether any."""

    weight: Floats  # (k, d)
    offset: Floats  # (k,)
    presence: bool = False

    def __mul__(self, factor: float) -> TermWeights:
        return TermWeights(self.weight * factor, self.offset * factor, self.presence)


Estimate: TypeAlias = Callable[[TermSums, Array, float], TermWeights]
"""The weights of some columns of the sums, which ascend, with so many pseudo-counts of each."""


def multinomial(sums: TermSums, columns: Array, alpha: float) -> TermWeights:
    """log p_kj,  p_kj = (α + s_kj) / Σⱼ (α + s_kj): documents are drawn from the class's urn."""
    return _urns(_log_shares(_totals(sums, columns), alpha))


def complement(sums: TermSums, columns: Array, alpha: float) -> TermWeights:
    """-log p_k̄j, where k̄ is every class but k: more documents fill its urn (Rennie et al. 2003)."""
    total = _totals(sums, columns)
    return _urns(-_log_shares(total.sum(axis=0) - total, alpha))


def contrast(sums: TermSums, columns: Array, alpha: float) -> TermWeights:
    """log p_kj - log p_k̄j: the urn of the class against that of the others."""
    total = _totals(sums, columns)
    others = _log_shares(total.sum(axis=0) - total, alpha)
    return _urns(_log_shares(total, alpha) - others)


def bernoulli(sums: TermSums, columns: Array, alpha: float) -> TermWeights:
    """log p_kj / (1 - p_kj),  p_kj = (α + n_kj) / (2 α + n_k); no term at all is the offset."""
    yes = sums.table(sums.documents.rounded(), columns)
    rows = sums.rows.rounded()[:, None]
    log_no = np.log(rows - yes + alpha)
    offset = (log_no - np.log(rows + 2 * alpha)).sum(axis=1)
    return TermWeights(np.log(yes + alpha) - log_no, offset, presence=True)


NAIVE_BAYES: dict[str, Estimate] = {
    "multinomial": multinomial,
    "complement": complement,
    "contrast": contrast,
    "bernoulli": bernoulli,
}


def _totals(sums: TermSums, columns: Array) -> Floats:
    return sums.table(UNIT * sums.total.rounded(), columns)


def _log_shares(total: Floats, alpha: float) -> Floats:
    """log (α + tⱼ) / Σⱼ (α + tⱼ), in the place of the totals."""
    total += alpha
    whole = total.sum(axis=1, keepdims=True)
    np.log(total, out=total)
    total -= np.log(whole, where=whole > 0, out=whole)  # none, if there are no terms
    return total


def _urns(weight: Floats) -> TermWeights:
    weight *= UNIT
    return TermWeights(weight, np.zeros(len(weight)))


@dataclass(frozen=True, slots=True)
class WeighedTerms:
    """log p(x, k) = log π_k + score_k(x), up to what all classes share."""

    def scorer(self, parameters: TermWeights, bias: Floats) -> Scorer:
        above = 0.0 if parameters.presence else None
        score_terms = affine_scorer(None, parameters.weight, bias + parameters.offset, above)

        def score(X: TermRows, out: Floats) -> None:
            score_terms(X.cells(), out)
            if X.absent is not None:
                out[X.absent] = bias

        return score

    discriminant = scorer
