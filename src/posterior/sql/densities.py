"""log p(xⱼ | k) by column: what each family of features adds to a score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from scipy import special

from posterior.data.typing import Floats
from posterior.families import Bernoulli, Categorical, Gaussian, Multinomial, Poisson, Product
from posterior.families.bernoulli import BernoulliParameters
from posterior.families.binned import Binned, BinnedParameters
from posterior.families.categorical import CategoricalParameters
from posterior.families.complement import Complement
from posterior.families.gaussian import GaussianParameters
from posterior.families.multinomial import MultinomialParameters
from posterior.families.poisson import PoissonParameters
from posterior.families.student import StudentT
from posterior.sql.cells import Column, spellings
from posterior.sql.expressions import (
    SQL,
    among,
    cases,
    equals,
    exceeds,
    is_missing,
    label,
    less,
    log,
    number,
    or_else,
    plus,
    times,
)
from posterior.sql.scores import Term
from posterior.text.words import Words


@singledispatch
def terms(family: Any, parameters: Any, columns: Sequence[Column]) -> list[Term]:
    """The terms of log p(x | k), up to what all groups share."""
    raise TypeError(f"Expected a family that SQL can hold, got {type(family).__name__}.")


@terms.register(Gaussian)
@terms.register(StudentT)
def _(family: Any, parameters: GaussianParameters, columns: Sequence[Column]) -> list[Term]:
    """-½ log 2πσ² - (x - μ)² / 2σ², or Student's t"""
    curve = _normal if parameters.freedom is None else _student
    found = []
    for j, c in enumerate(columns):
        x, variance = c.number(), parameters.variance[:, j]
        telling = (variance > 0) & (variance < np.inf)
        scores = [
            or_else(curve(x, parameters, k, j), 0.0) if telling[k] else number(0.0)
            for k in range(len(variance))
        ]
        found.append(Term(c.name, scores))
    return found


def _square(x: SQL, mean: float) -> SQL:
    return times(less(x.copy(), mean), less(x.copy(), mean))


def _normal(x: SQL, parameters: GaussianParameters, k: int, j: int) -> SQL:
    mean, variance = parameters.mean[k, j], parameters.variance[k, j]
    height = number(-0.5 * np.log(2 * np.pi * variance))
    return plus(height, times(number(-0.5 / variance), _square(x, mean)))


def _student(x: SQL, parameters: GaussianParameters, k: int, j: int) -> SQL:
    assert parameters.freedom is not None
    mean, variance, v = (
        a[k, j] for a in (parameters.mean, parameters.variance, parameters.freedom)
    )
    half = (v + 1) / 2
    height = special.gammaln(half) - special.gammaln(v / 2) - 0.5 * np.log(v * np.pi * variance)
    apart = times(number(1 / (v * variance)), _square(x, mean))
    return plus(number(height), times(number(-half), log(plus(number(1.0), apart))))


@terms.register
def _(family: Bernoulli, parameters: BernoulliParameters, columns: Sequence[Column]) -> list[Term]:
    """log p or log (1 - p), as x is above the threshold or not"""
    above = 0.5 if family.threshold is None else family.threshold
    found = []
    for j, c in enumerate(columns):
        x, scores = c.number(), []
        for yes, no in zip(parameters.log_yes[:, j], parameters.log_no[:, j], strict=True):
            missing = is_missing(x.copy()), number(0.0)
            is_yes = exceeds(x.copy(), above), number(yes)
            scores.append(cases([missing, is_yes], number(no)))
        found.append(Term(c.name, scores))
    return found


@terms.register
def _(family: Binned, parameters: BinnedParameters, columns: Sequence[Column]) -> list[Term]:
    """log P(bin | k) - log width; x ≥ c is x > the number before c"""
    found = []
    for c, cuts, density in zip(columns, parameters.cuts(), parameters.log_density(), strict=True):
        x, before = c.number(), np.nextafter(cuts, -np.inf)[::-1]
        scores = []
        for lowest, *higher in density:
            missing = is_missing(x.copy()), number(0.0)
            bins = zip(before, higher[::-1], strict=True)
            above = [(exceeds(x.copy(), cut), number(score)) for cut, score in bins]
            scores.append(cases([missing, *above], number(lowest)))
        found.append(Term(c.name, scores))
    return found


def _linear(columns: Sequence[Column], weight: Floats) -> list[Term]:
    """w_kj xⱼ"""
    found = []
    for j, c in enumerate(columns):
        x = c.number()
        found.append(Term(c.name, [times(number(w), x.copy()) for w in weight[:, j]]))
    return found


@terms.register(Multinomial)
@terms.register(Complement)
def _(family: Any, parameters: MultinomialParameters, columns: Sequence[Column]) -> list[Term]:
    """xⱼ log p_kj"""
    if parameters.concentration is not None:
        raise TypeError(
            "Expected an urn that is known: predictive=True needs log Γ, which SQL does not have. "
            "Fit the model with predictive=False."
        )
    return _linear(columns, np.asarray(parameters.log_prob))


@terms.register
def _(family: Poisson, parameters: PoissonParameters, columns: Sequence[Column]) -> list[Term]:
    """xⱼ log λ_kj - λ_kj"""
    if parameters.rows is not None:
        raise TypeError(
            "Expected rates that are known: predictive=True needs log Γ, which SQL does not have. "
            "Fit the model with predictive=False."
        )
    with np.errstate(divide="ignore"):
        log_rate = np.log(np.asarray(parameters.rate, np.float64))
    return [
        Term(
            term.name,
            [
                or_else(less(score, rate), 0.0)
                for score, rate in zip(term.scores, parameters.rate[:, j], strict=True)
            ],
        )
        for j, term in enumerate(_linear(columns, log_rate))
    ]


@terms.register
def _(
    family: Categorical, parameters: CategoricalParameters, columns: Sequence[Column]
) -> list[Term]:
    """The log probability of the cell's value, or of one never seen"""
    found = []
    for c, values, log_prob in zip(columns, parameters.values, parameters.log_prob, strict=True):
        levels = values.tolist()
        x = c.words() if values.dtype.kind in "OU" else c.number()
        conditions = [_is_level(x, level, levels) for level in levels]
        scores = []
        for each in np.asarray(log_prob):
            missing = is_missing(x.copy()), number(0.0)
            known = zip(conditions, each[: len(levels)], strict=True)
            pairs = [(condition.copy(), number(p)) for condition, p in known]
            scores.append(cases([missing, *pairs], number(each[-1])))
        found.append(Term(c.name, scores))
    return found


def _is_level(x: SQL, level: Any, levels: list[Any]) -> SQL:
    if isinstance(level, str):
        return among(x.copy(), spellings(level, levels))
    return equals(x.copy(), label(level))  # categories 0, 1, 2, ...


@terms.register
def _(family: Product, parameters: tuple[Any, ...], columns: Sequence[Column]) -> list[Term]:
    """Columns in the order of the table"""
    placed: list[tuple[int, Term]] = []
    for one, its, js in zip(family.families, parameters, family.columns, strict=True):
        part = terms(one, its, [columns[j] for j in js])
        placed += [(js[min(i, len(js) - 1)], term) for i, term in enumerate(part)]
    return [term for _, term in sorted(placed, key=lambda pair: pair[0])]


@terms.register
def _(family: Words, parameters: Any, columns: Sequence[Column]) -> list[Term]:
    raise TypeError(
        f"Expected columns of numbers and categories, got text in {columns[0].name!r}, which SQL "
        "would have to cut into words first. Leave the column out: families={...: None}."
    )
