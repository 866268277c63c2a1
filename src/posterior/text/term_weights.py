"""Naive Bayes of documents: from sums to the weight of each term in each class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
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

    def scorer(self, bias: Floats) -> Scorer:
        """bias + score(x) of the cells of documents."""
        return affine_scorer(None, self.weight, bias + self.offset, 0.0 if self.presence else None)


class KnownTerms:
    """The terms of sums that a model knows; the tables of its models are made once."""

    def __init__(self, sums: TermSums, columns: Array) -> None:
        self.sums, self.columns = sums, columns  # ascending

    @cached_property
    def total(self) -> Floats:
        """s_kj, (k, d)."""
        return self.sums.table(UNIT * self.sums.total.rounded(), self.columns)

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
    return _urns(_log_shares(known.total, alpha))


def complement(known: KnownTerms, alpha: float) -> TermWeights:
    """-log p_k̄j, where k̄ is every class but k: more documents fill its urn (Rennie et al. 2003)."""
    return _urns(-_log_shares(known.of_others, alpha))


def contrast(known: KnownTerms, alpha: float) -> TermWeights:
    """log p_kj - log p_k̄j: the urn of the class against that of the others."""
    return _urns(_log_shares(known.total, alpha) - _log_shares(known.of_others, alpha))


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


def _urns(weight: Floats) -> TermWeights:
    weight *= UNIT
    return TermWeights(weight, np.zeros(len(weight)))


@dataclass(frozen=True, slots=True)
class WeighedTerms:
    """log p(x, k) = log π_k + score_k(x), up to what all classes share."""

    def scorer(self, parameters: TermWeights, bias: Floats) -> Scorer:
        score_cells = parameters.scorer(bias)

        def score(X: TermRows, out: Floats) -> None:
            score_cells(X.cells(), out)
            if X.absent is not None:
                out[X.absent] = bias

        return score

    discriminant = scorer
