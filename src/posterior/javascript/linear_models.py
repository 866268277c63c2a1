"""Logistic regression: scores linear in numbers, which words and gaps become first."""

from __future__ import annotations

from collections.abc import Sequence

from posterior.estimators.logistic.base import LogisticBase
from posterior.javascript.descriptions import described, summed
from posterior.javascript.number_rows import NumberRow, encoded, plain_numbers
from posterior.javascript.sheet import Column, Described
from posterior.preprocessing.encoding import Encoding


@described.register
def _(model: LogisticBase, columns: Sequence[Column]) -> Described:
    encoding = model.fitted_.reader.encoding
    return linear(model, _row(encoding, columns))


def _row(encoding: Encoding | None, columns: Sequence[Column]) -> NumberRow:
    return plain_numbers(columns) if encoding is None else encoded(encoding, columns)


def linear(model: LogisticBase, row: NumberRow) -> Described:
    """s_k = b_k + w_k · t + Σⱼ w_kj (xⱼ - tⱼ), where t is the mean: a missing cell adds nothing"""
    fitted = model.fitted_
    coef, intercept = fitted.by_class()
    names = [row.sheet.name(term) for term in row.terms]
    read = {"x": row.vector(), "names": names, "typical": fitted.typical}
    part = {"kind": "linear", **read, "coef": coef}
    prior = intercept + (coef * fitted.typical).sum(axis=1)
    return summed(fitted.classes, prior, [part], names, fitted.calibrator)
