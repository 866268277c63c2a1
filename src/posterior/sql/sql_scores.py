"""Scores that are sums, to which every model comes down, and probabilities made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any, Protocol

import numpy as np

from posterior.data.typing import Array, Floats
from posterior.sql.expressions import SQL, as_double, column, has_infinity, number, total
from posterior.sql.sql_columns import Column

ZERO = number(0.0)


@dataclass(frozen=True)
class Term:
    """What a column adds to the score of each class."""

    name: str
    scores: Sequence[SQL]


class Steps(Protocol):
    """Steps of a query before its cells are taken, for what is no column of the table yet."""

    dialects: Sequence[str]  # that can take them
    numbered: Sequence[str]  # the column that numbers the rows, where joins may mix them
    sums: Sequence[str]  # the columns that rows have of it

    def from_(self, source: SQL, kept: Sequence[str], dialect: str) -> tuple[dict[str, SQL], SQL]:
        """The steps by name, and the rows that cells are selected from then."""


@dataclass(frozen=True)
class Correction:
    """p' = (1 - ε) p + ε / K; and, if there is a matrix, scores M log p' + b + c z² anew."""

    uniform: float  # ε
    matrix: Floats | None = None  # M, (K, K)
    intercept: Floats | None = None  # b, (K,)
    square: float = 0.0  # c of the second class, z being the log odds of two


@dataclass(frozen=True)
class Scores:
    """s_k = prior_k + Σⱼ term_kj,    p(k | x) ∝ share_k exp(scale (s_k - max s))"""

    classes: Array
    prior: Floats
    terms: Sequence[Term]
    scale: float = 1.0
    shares: Floats | None = None  # all alike if not given
    before: Steps | None = None
    # columns that terms mention, made of the cells and of each other: each step of those before
    steps: Mapping[str, Mapping[str, SQL]] = field(default_factory=dict)
    correction: Correction | None = None  # of the probabilities, after that
    known: Sequence[str] = ()  # columns that are zero, or NULL where a row has no answer
    # evidence, where it is not the terms: terms to show, how to come to them, or why there is none
    shown: Sequence[Term] | None = None
    explained: Callable[[], Scores] | None = None
    refused: str | None = None

    @property
    def rules_out(self) -> bool:
        """Whether some cell makes a class impossible."""
        cells = [score for term in self.terms for score in term.scores]
        steps = [value for step in self.steps.values() for value in step.values()]
        return bool(np.isneginf(self.prior).any()) or any(map(has_infinity, [*cells, *steps]))

    def changed(self, how: Callable[[Scores], Scores]) -> Scores:
        """Other scores made of these, and of these as they are explained."""
        told = self.explained
        return replace(how(self), explained=None if told is None else lambda: how(told()))

    def total(self, terms: Sequence[Sequence[SQL]]) -> list[SQL]:
        """prior_k + Σⱼ term_kj of the terms, which may go by other names now."""
        known = [[column(name)] * len(self.prior) for name in self.known]
        return [
            as_double(
                total([number(p), *(term[k] for term in [*known, *terms] if term[k] != ZERO)])
            )
            for k, p in enumerate(self.prior)
        ]


@singledispatch
def scores(model: Any, columns: Sequence[Column]) -> Scores:
    """The scores of a fitted model; an error where SQL cannot hold them."""
    raise TypeError(
        "Expected naive Bayes or a model of dependent columns, discriminant analysis, logistic "
        "regression, an additive model, k-means, a mixture, or a pool of such to write as SQL, got "
        f"{type(model).__name__}."
    )
