"""Probabilities of words in each class, as a table to read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from posterior.data import validate
from posterior.data.table import Table
from posterior.estimators.text.select_weights import LOGISTIC
from posterior.estimators.text.term_rule import TermRule
from posterior.text.term_shares import WORDS_SHOWN, chosen_terms, share_intervals


def parameters(
    self: Any, level: float = 0.95, words: int | Iterable[str] | None = WORDS_SHOWN
) -> Table:
    """P(word | class) as the model uses it, with credible intervals.

    p_kj = (α + s_kj) / Σⱼ (α + s_kj),  where class k has s_kj of word j: Beta-distributed, if
    words are counted. Of "bernoulli" it is the share of documents that have the word, of
    "complement" the share of the word in all other classes, and "contrast" has two of them.

    Parameters
    ----------
    level : float, default=0.95
    words : int, words or None, default=100
        The words that most documents have, in that order; or those named; None for all.
    """
    fitted = self.settled()
    assert isinstance(fitted.rule, TermRule)
    family, sums = fitted.rule.family, fitted.sums.features
    if family.model == LOGISTIC:
        raise TypeError(
            "Expected naive Bayes, whose parameters are probabilities of words, got "
            'model_="logistic", which has coefficients: see explain(), or fit another model.'
        )
    known = family.known(sums)
    names = np.array(sums.terms[known.columns].strings(), object)
    chosen = chosen_terms(names, sums.frequency()[known.columns], words)
    level = validate.level(level)
    lines = share_intervals(family.model, known, family.strength, chosen, level)
    return lines.table(names[chosen], fitted.classes)
