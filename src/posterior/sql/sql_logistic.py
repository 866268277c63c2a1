"""Logistic regression: scores linear in numbers, which words and gaps become first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from posterior.estimators.logistic.base import LogisticBase
from posterior.families.symbols import from_zero
from posterior.preprocessing.encoding import CategoryColumn, Encoding, NumberColumn
from posterior.sql.expressions import SQL, among, cases, is_missing, less, number, or_else, times
from posterior.sql.sql_calibration import calibrated
from posterior.sql.sql_columns import Column, indicator, spellings
from posterior.sql.sql_scores import Scores, Term, scores


@scores.register
def _(model: LogisticBase, columns: Sequence[Column]) -> Scores:
    """s_k = b_k + w_k · t + Σⱼ w_kj (xⱼ - tⱼ), where t is the mean: a missing cell adds nothing"""
    fitted = model.fitted_
    encoding, typical = fitted.reader.encoding, fitted.typical
    inputs = columns if encoding is None else encoded(encoding, columns)
    coef, intercept = fitted.by_class()
    found = []
    for j, each in enumerate(inputs):
        steepest = np.abs(coef[:, j]).max()
        _, least = from_zero(typical[[j]], 1 / steepest if steepest else 0.0)
        x = each.number(least, missing=float(typical[j]))
        weighted = [times(number(w), less(x.copy(), typical[j])) for w in coef[:, j]]
        found.append(Term(each.name, weighted))
    made = Scores(fitted.classes, intercept + coef @ typical, found)
    return calibrated(made, fitted.calibrator)


def encoded(encoding: Encoding, columns: Sequence[Column]) -> list[Column]:
    """The numbers that the encoding makes of a table."""
    made: list[Column] = []
    for each, source in zip(encoding.columns, columns, strict=True):
        values = _number(each, source) if isinstance(each, NumberColumn) else _levels(each, source)
        made += source.numbers(dict(zip(each.names, values, strict=True)))
    return made


def _number(each: NumberColumn, source: Column) -> list[SQL]:
    if not each.gaps:
        return [source.as_number()]
    return [or_else(source.as_number(), each.fill), indicator(is_missing(source.as_number()))]


def _levels(each: CategoryColumn, source: Column) -> list[SQL]:
    """An indicator for each level but the first, and one for whatever is none of them."""
    if not each.gaps:
        return [_if_known(source, level, each.levels) for level in each.levels[1:]]
    found = level_indicators(source, each.levels[1:], each.levels)
    return [*found, unless(source, each.levels, missing=1.0)]


def _if_known(source: Column, level: str, levels: Sequence[str]) -> SQL:
    """One for a level, zero for the others, and NULL for what is none of them."""
    every = [s for each in levels for s in spellings(each, levels)]
    of_level = among(source.as_words(), spellings(level, levels)), number(1.0)
    return cases([of_level, (among(source.as_words(), every), number(0.0))])


def unless(source: Column, levels: Sequence[str], missing: float) -> SQL:
    """One for a value that is none of the levels."""
    words = source.as_words()
    every = [s for level in levels for s in spellings(level, levels)]
    known = [(is_missing(words.copy()), number(missing))]
    known += [(among(words, every), number(0.0))] if every else []
    return cases(known, number(1.0))


def level_indicators(source: Column, wanted: Iterable[str], levels: Sequence[str]) -> list[SQL]:
    return [indicator(among(source.as_words(), spellings(v, levels))) for v in wanted]
