"""Shares of terms in each class, P(term | class), with credible intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import TypeAlias, cast

import numpy as np

from posterior.data.typing import Array, Floats
from posterior.families.credible import beta_interval
from posterior.families.family import Intervals
from posterior.text.term_weights import KnownTerms

WORDS_SHOWN = 100  # unless more are asked for: a vocabulary may have 100,000

Pseudo: TypeAlias = Callable[[KnownTerms, float], tuple[Floats, Floats]]
"""Draws of each term (k, d) and of all (k, 1), pseudo-counts among them."""


def _in_class(known: KnownTerms, alpha: float) -> tuple[Floats, Floats]:
    draws = known.total + alpha
    return draws, draws.sum(axis=1, keepdims=True)


def _in_others(known: KnownTerms, alpha: float) -> tuple[Floats, Floats]:
    draws = known.of_others + alpha
    return draws, draws.sum(axis=1, keepdims=True)


def _documents(known: KnownTerms, alpha: float) -> tuple[Floats, Floats]:
    return known.documents + alpha, known.sums.rows.rounded()[:, None] + 2 * alpha


OWN, OTHERS = "probability", "probability in other classes"
SHARES: dict[str, dict[str, Pseudo]] = {  # what the weights of each model are made of
    "multinomial": {OWN: _in_class},
    "complement": {OTHERS: _in_others},
    "contrast": {OWN: _in_class, OTHERS: _in_others},
    "bernoulli": {OWN: _documents},
}


def chosen_terms(names: Array, frequency: Floats, wanted: int | Iterable[str] | None) -> Array:
    """The places of terms: of those in most documents, of those named, or of all."""
    often = np.lexsort((np.arange(len(names)), -frequency))
    if wanted is None:
        return often
    if isinstance(wanted, Integral):
        if wanted < 1:
            raise ValueError(f"Expected one word or more, or None for all, got words={wanted}.")
        return often[: int(wanted)]
    asked = [wanted] if isinstance(wanted, str) else [*cast(Iterable[str], wanted)]
    place = {name: j for j, name in enumerate(names.tolist())}
    unknown = [word for word in asked if word not in place]
    if unknown or not asked:
        raise ValueError(
            f"Expected words that the model knows, got {unknown[:5] if unknown else 'none'}. Words "
            "are known as they are read, in lower case unless lowercase=False."
        )
    return np.array([place[word] for word in asked], np.int64)


def share_intervals(
    model: str, known: KnownTerms, alpha: float, columns: Array, level: float
) -> Intervals:
    """p_kj = a_kj / n_k of some terms, and the interval of Beta(a_kj, n_k - a_kj)."""
    found = []
    for name, pseudo in SHARES[model].items():
        draws, whole = pseudo(known, alpha)
        some = draws[:, columns]
        low, high = beta_interval(level, some, np.maximum(whole - some, 0.0))
        alone = some >= whole  # the only term there is: nothing is open
        low, high = np.where(alone, 1.0, low), np.where(alone, 1.0, high)
        found.append(Intervals.of(name, some / whole, low, high))
    return sum(found[1:], start=found[0])
