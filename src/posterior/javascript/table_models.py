"""Models of a file's table: columns read by their roles, and numbers made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from posterior.estimators import KNeighborsClassifier
from posterior.estimators.discriminant.base import Discriminant
from posterior.estimators.logistic.base import LogisticBase
from posterior.estimators.table_classifier import TableClassifier
from posterior.javascript.descriptions import corrected, described
from posterior.javascript.linear_models import linear
from posterior.javascript.neighbor_votes import neighbors_of_numbers
from posterior.javascript.normal_classes import normal_classes
from posterior.javascript.number_rows import NumberRow, scaled
from posterior.javascript.sheet import Column, Described
from posterior.preprocessing.roles import ColumnRole


@described.register
def _(model: TableClassifier, columns: Sequence[Column]) -> Described:
    by_name = {c.name: c for c in columns}
    if model.reads == "everything" or (model.reads == "documents" and len(model.roles.text) != 1):
        raise TypeError(
            "Expected a model of columns, or of one column of text, got one of text among others. "
            "Leave the text out, or use model.predict_proba."
        )
    if model.reads == "documents":
        (role,) = model.roles.text
        (source,) = by_name[role.name].of_role(role)
        return corrected(described(model.model_, [source]), model.calibrator)
    roles = model.roles.table_columns
    read = [part for role in roles for part in _of_role(by_name[role.name], role)]
    if model.reads == "numbers":
        made = of_numbers(model.model_, scaled(model.numbers_, read))
    else:
        made = described(model.model_, read)
    return corrected(made, model.calibrator)


def of_numbers(model: Any, row: NumberRow) -> Described:
    """A model of the numbers that a table became."""
    if isinstance(model, LogisticBase):
        return linear(model, row)
    if isinstance(model, Discriminant):
        return normal_classes(model.settled(), row)
    if isinstance(model, KNeighborsClassifier):
        return neighbors_of_numbers(model, row)
    raise TypeError(
        "Expected logistic regression, a discriminant or neighbors of the columns as numbers, got "
        f"{type(model).__name__}: a module holds no other. Use model.predict_proba."
    )


def _of_role(column: Column, role: ColumnRole) -> list[Column]:
    """The column and its parts; a number that a model of a column made has none."""
    return [column] if column.told is not None else column.of_role(role)
