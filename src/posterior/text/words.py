"""A column of text among other columns: its words, drawn from one urn a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from posterior.data.rows import Groups, Hard, SparseRows
from posterior.data.typing import Array, Floats, Integers
from posterior.families.family import Family, Intervals, Scorer, Support, fill
from posterior.families.multinomial import Multinomial, MultinomialParameters
from posterior.families.priors import LAPLACE, DiscretePrior
from posterior.families.symbols import Cells, Formula
from posterior.kernels.terms import Terms
from posterior.statistics.moments import Totals
from posterior.text.term_rows import TermRows, moved
from posterior.text.term_sums import TermSums, same_terms
from posterior.text.vocabulary import places

SHOWN = 20  # words with their intervals


@dataclass(frozen=True, slots=True, eq=False)
class WordParameters:
    """The words that are known, and what the urn of each group holds of them."""

    terms: Terms
    urn: MultinomialParameters


@dataclass(frozen=True, slots=True)
class Words(Family[TermSums, WordParameters]):
    """Text, as the words in it: each is a draw from the group's urn.

    log p(x | k) = Σⱼ cⱼ log p_kj,  where the text has word j cⱼ times.

    A missing text says nothing, and so does a word never seen. One column is one feature: its
    evidence is that of all words together.
    """

    exact: ClassVar[bool] = True
    support: ClassVar[Support] = "text"

    prior: DiscretePrior = LAPLACE

    @property
    def _urn(self) -> Multinomial:
        return Multinomial(self.prior)

    def statistics(self, X: TermRows, groups: Groups) -> TermSums:
        if not isinstance(groups, Hard):
            raise TypeError("Expected each row in one group: text has no place in a mixture yet.")
        return TermSums.of(X, groups, X.counts)

    def estimate(self, statistics: TermSums, pooled: TermSums | None = None) -> WordParameters:
        everyone = None if pooled is None else _totals(pooled)
        return WordParameters(statistics.terms, self._urn.estimate(_totals(statistics), everyone))

    def scorer(self, parameters: WordParameters, bias: Floats) -> Scorer:
        score = self._urn.scorer(parameters.urn, bias)
        return lambda X, out: score(_aligned(X, parameters.terms), out)

    def evidence(self, X: TermRows, parameters: WordParameters) -> Floats:
        k = len(parameters.urn.log_prob)
        return fill(self.scorer(parameters, np.zeros(k)), X, k)[:, :, None]

    def leave_one_out(self, X: TermRows, groups: Hard, statistics: TermSums) -> Floats:
        rows = _aligned(X, statistics.terms)
        return self._urn.leave_one_out(rows, groups, _totals(statistics))

    def sample(
        self, codes: Array, parameters: WordParameters, random: np.random.Generator
    ) -> Array:
        raise TypeError(
            "Expected columns that can be drawn, got one of text: its words are known, and not "
            "their order. Leave the column out, families={name: None}."
        )

    def n_parameters(self, parameters: WordParameters) -> int:
        return self._urn.n_parameters(parameters.urn)

    def summary(self, statistics: TermSums, parameters: WordParameters, column: int) -> str:
        return f"{len(statistics.terms):,} words"

    def formula(self, parameters: WordParameters, cells: Cells) -> list[Formula]:
        raise TypeError(
            f"Expected columns of numbers and categories, got text in {cells[0].name!r}, which SQL "
            "would have to cut into words first. Leave the column out: families={...: None}."
        )

    def intervals(
        self, statistics: TermSums, parameters: WordParameters, level: float
    ) -> Intervals:
        """Of the words that occur most."""
        total = _totals(statistics).total.rounded().sum(axis=0)
        often = np.sort(np.argsort(-total, kind="stable")[:SHOWN])
        lines = self._urn.intervals(_totals(statistics), parameters.urn, level)
        kept = np.isin(lines.feature, often)
        names = dict(zip(often.tolist(), statistics.terms[often].strings(), strict=True))
        word = np.array([f"p({names[j]})" for j in lines.feature[kept].tolist()])
        zero: Integers = np.zeros(len(word), np.int64)
        return Intervals(
            zero, word, lines.group[kept], lines.value[kept], lines.low[kept], lines.high[kept]
        )


def _totals(sums: TermSums) -> Totals:
    """The same sums as a table of groups and words."""
    k, d = sums.n_groups, len(sums.terms)
    group = np.repeat(np.arange(k), np.diff(sums.start))
    total = sums.total.placed(group * d + sums.column, k * d).reshape(k, d)
    return Totals(sums.rows.reshape(k, 1), total)


def _aligned(X: TermRows, terms: Terms) -> SparseRows:
    """Rows with a column for each known word, and none for others."""
    if same_terms(X.terms, terms):
        return X.counts
    return moved(X.counts, places(X.terms, terms), len(terms))
