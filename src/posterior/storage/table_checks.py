"""A model of a file's table."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from posterior.estimators.table_classifier import FittedTable
from posterior.preprocessing.numbers import Numbers
from posterior.storage.checks import looks
from posterior.storage.model_file_error import expect


@looks.register
def _(value: FittedTable) -> None:
    expect(isinstance(value.model, BaseEstimator), "a model of columns")
    expect(
        value.numbers is None or isinstance(value.numbers, Numbers), "how columns became numbers"
    )
    expect(all(isinstance(name, str) for name in value.names), "names of columns")
