"""log p(xⱼ | k) by column: what each family of features adds to a score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from scipy import special
from sqlglot import exp

from posterior.data.typing import Floats
from posterior.families import Bernoulli, Categorical, Gaussian, Multinomial, Poisson, Product
from posterior.families.bernoulli import BernoulliParameters
from posterior.families.binned import Binned, BinnedParameters
from posterior.families.categorical import CategoricalParameters
from posterior.families.complement import SETTLED, Complement
from posterior.families.gaussian import FLAT, GaussianParameters
from posterior.families.multinomial import MultinomialParameters
from posterior.families.poisson import PoissonParameters
from posterior.families.student import StudentT
from posterior.sql.cells import Column, spellings
from posterior.sql.expressions import (
    SQL,
    among,
    between,
    cases,
    exceeds,
    is_finite,
    is_missing,
    less,
    log,
    number,
    plus,
    times,
)
from posterior.sql.scores import Term
from posterior.text.words import Words

NEAREST = 1e-40  # deviations: what is closer to zero is zero
FARTHEST = 1e140  # deviations, beyond which squares are on their way to overflow


@singledispatch
def terms(family: Any, parameters: Any, columns: Sequence[Column]) -> list[Term]:
    """The terms of log p(x | k), up to what all groups share."""
    raise TypeError(f"Expected a family that SQL can hold, got {type(family).__name__}.")


@terms.register(Gaussian)
@terms.register(StudentT)
def _(family: Any, parameters: GaussianParameters, columns: Sequence[Column]) -> list[Term]:
    """-½ log 2πσ² - (x - μ)² / 2σ², or Student's t"""
    freedom, found = parameters.freedom, []
    for j, c in enumerate(columns):
        variance = parameters.variance[:, j]
        telling = (variance > 0) & (variance < np.inf)
        widest = float(np.sqrt(variance[telling].max(initial=0.0)))
        mean, least = from_zero(parameters.mean[:, j], widest)
        x, scores = c.number_or_infinity(least), []
        for k in range(len(variance)):
            if not telling[k]:
                scores.append(left_out(x, [], number(0.0)))
            elif freedom is None:
                scores.append(_normal(x, mean[k], variance[k]))
            else:
                curve = _student(x, mean[k], variance[k], freedom[k, j])
                scores.append(left_out(x, [], curve))
        found.append(Term(c.name, scores))
    return found


def from_zero(centers: Floats, deviation: float) -> tuple[Floats, float]:
    """Centers, with those next to zero at zero, and how close to zero a cell is as good as there.

    A cell is rounded only where there is such a center: distances to others do not vanish.
    """
    least = NEAREST * deviation
    at_zero = np.abs(centers) <= least
    return np.where(at_zero, 0.0, centers), least if at_zero.any() else 0.0


def _square(x: SQL, mean: float, deviation: float) -> SQL:
    """((x - μ) / σ)²"""
    z = [times(less(x.copy(), mean), number(1 / deviation)) for _ in range(2)]
    return times(*z)


def _normal(x: SQL, mean: float, variance: float) -> SQL:
    """So far away that squares overflow, no class is possible, as in Python."""
    deviation = float(np.sqrt(variance))
    height = number(-0.5 * np.log(2 * np.pi * variance))
    curve = plus(height, times(number(-0.5), _square(x, mean, deviation)))
    ends = mean - FARTHEST * deviation, mean + FARTHEST * deviation
    return within(x, ends, curve)


def within(x: SQL, ends: tuple[float, float], score: SQL) -> SQL:
    """A score; beyond the ends that of the impossible, and `left_out` otherwise."""
    inside, missing = (between(x.copy(), *ends), score), (is_missing(x.copy()), number(0.0))
    return cases([inside, missing, (is_finite(x.copy()), number(-np.inf))])


def left_out(x: SQL, scores: Sequence[tuple[SQL, SQL]], otherwise: SQL) -> SQL:
    """Zero if the cell is missing; NULL if it is infinite, since Python refuses such rows."""
    missing, infinite = is_missing(x.copy()), exp.Not(this=is_finite(x.copy()))
    return cases([(missing, number(0.0)), (infinite, exp.null()), *scores], otherwise)


def _student(x: SQL, mean: float, variance: float, v: float) -> SQL:
    """log (1 + z²) is 2 log |z| where z² may overflow"""
    half, scale = (v + 1) / 2, float(np.sqrt(v * variance))
    height = special.gammaln(half) - special.gammaln(v / 2) - 0.5 * np.log(v * np.pi * variance)
    near = log(plus(number(1.0), _square(x, mean, scale)))
    far = less(times(number(2.0), log(exp.Abs(this=less(x.copy(), mean)))), 2 * np.log(scale))
    ends = mean - FLAT * scale, mean + FLAT * scale
    tail = cases([(between(x.copy(), *ends), near)], far)
    return plus(number(height), times(number(-half), tail))


@terms.register
def _(family: Bernoulli, parameters: BernoulliParameters, columns: Sequence[Column]) -> list[Term]:
    """log p or log (1 - p), as x is above the threshold or not"""
    above = 0.5 if family.threshold is None else family.threshold
    found = []
    for j, c in enumerate(columns):
        x, scores = c.number_or_infinity(), []
        for yes, no in zip(parameters.log_yes[:, j], parameters.log_no[:, j], strict=True):
            is_yes = exceeds(x.copy(), above), number(yes)
            scores.append(left_out(x, [is_yes], number(no)))
        found.append(Term(c.name, scores))
    return found


@terms.register
def _(family: Binned, parameters: BinnedParameters, columns: Sequence[Column]) -> list[Term]:
    """log P(bin | k) - log width; x ≥ c is x > the number before c"""
    found = []
    for c, cuts, density in zip(columns, parameters.cuts(), parameters.log_density(), strict=True):
        x, before = c.number_or_infinity(), np.nextafter(cuts, -np.inf)[::-1]
        scores = []
        for lowest, *higher in density:
            bins = zip(before, higher[::-1], strict=True)
            above = [(exceeds(x.copy(), cut), number(score)) for cut, score in bins]
            scores.append(left_out(x, above, number(lowest)))
        found.append(Term(c.name, scores))
    return found


def _linear(columns: Sequence[Column], weight: Floats) -> list[Term]:
    """w_kj xⱼ; 0 times infinity is 0"""
    found = []
    for j, c in enumerate(columns):
        x = c.number()
        found.append(Term(c.name, [_weighed(x.copy(), float(w)) for w in weight[:, j]]))
    return found


def _weighed(x: SQL, weight: float) -> SQL:
    if abs(weight) < SETTLED:
        return times(number(weight), x)
    none = between(x, 0.0, 0.0), number(0.0)
    return cases([none, (is_missing(x.copy()), exp.null())], number(weight))


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
    rates, found = np.asarray(parameters.rate, np.float64), []
    with np.errstate(divide="ignore"):
        log_rates = np.log(rates)
    for j, c in enumerate(columns):
        x = c.number_or_infinity()
        pairs = zip(log_rates[:, j], rates[:, j], strict=True)
        scores = [less(_weighed(x.copy(), float(w)), rate) for w, rate in pairs]
        found.append(Term(c.name, [_of_count(x, [], score) for score in scores]))
    return found


def _of_count(x: SQL, scores: Sequence[tuple[SQL, SQL]], otherwise: SQL) -> SQL:
    """NULL also below zero."""
    negative = exp.LT(this=x.copy(), expression=number(0.0)), exp.null()
    return left_out(x, [negative, *scores], otherwise)


@terms.register
def _(
    family: Categorical, parameters: CategoricalParameters, columns: Sequence[Column]
) -> list[Term]:
    """The log probability of the cell's value, or of one never seen"""
    found = []
    for c, values, log_prob in zip(columns, parameters.values, parameters.log_prob, strict=True):
        levels, by_name = values.tolist(), values.dtype.kind in "OU"
        x = c.words() if by_name else c.number_or_infinity()
        conditions = [_is_level(x, level, levels) for level in levels]
        scores = []
        for each in np.asarray(log_prob):
            known = zip(conditions, each[: len(levels)], strict=True)
            pairs = [(condition.copy(), number(p)) for condition, p in known]
            missing = is_missing(x.copy()), number(0.0)
            never_seen = number(each[-1])
            scores.append(
                cases([missing, *pairs], never_seen) if by_name else _of_count(x, pairs, never_seen)
            )
        found.append(Term(c.name, scores))
    return found


def _is_level(x: SQL, level: Any, levels: list[Any]) -> SQL:
    if isinstance(level, str):
        return among(x.copy(), spellings(level, levels))
    # categories 0, 1, 2, ..., which Python makes of numbers by leaving out their fractions
    return between(x.copy(), level, float(np.nextafter(level + 1, 0)))


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
