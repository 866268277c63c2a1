"""Pools and classifiers that chose by themselves: each member as it is written, or why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from posterior.estimators.pool import Classifier, Pool
from posterior.estimators.pool.candidates import SEARCH_COLUMNS, Candidate, candidates
from posterior.estimators.pool.column_models import ColumnModels
from posterior.sql.column_numbers import ColumnNumbers
from posterior.sql.pooled import Member, pooled
from posterior.sql.sql_columns import Column
from posterior.sql.sql_scores import Scores, scores
from posterior.sql.table_model import joined


@scores.register
def _(model: Pool, columns: Sequence[Column]) -> Scores:
    fitted, roles = model.fitted_, model.fitted_.roles
    if roles is not None and fitted.columns.names is None:  # of an array, known by their places
        columns = [replace(c, name=f"x{j}") for j, c in enumerate(columns)]
    if fitted.read_by is not None and fitted.read_by.columns:
        numbers = ColumnNumbers(columns, fitted.read_by)
        return _with_numbers(_pooled(model, columns, numbers.given()), numbers, fitted.read_by)
    return _pooled(model, columns, columns)


def _pooled(model: Pool, columns: Sequence[Column], given: Sequence[Column]) -> Scores:
    """The scores of a pool of the table's columns, whose members are given others."""
    fitted = model.fitted_
    found: list[Member] = []
    refused: dict[str, str] = {}
    for name, member, weight in fitted.weighed:
        try:
            found.append(Member(name, weight, scores(member, given)))
        except (TypeError, ValueError) as error:
            refused[name] = str(error)
    if refused:
        raise TypeError(
            "Expected a pool whose members all fit into one query, but "
            + " ".join(f"{name!r} does not: {reason}" for name, reason in refused.items())
            + f" {_remedy(model, refused)}"
        )
    read = model.columns_read if isinstance(model, Classifier) else columns
    names = [c.name for c in read]
    return pooled(columns[0].sheet, found, fitted.pool.intercept, fitted.classes, names)


def _with_numbers(made: Scores, numbers: ColumnNumbers, read_by: ColumnModels) -> Scores:
    """Numbers are made first, and evidence is that of the columns which they come from."""

    def by_column(each: Scores) -> Scores:
        shown = each.shown
        if shown is not None:
            shown = joined(shown, read_by.sources)
        return replace(each, before=numbers, shown=shown)

    return made.changed(by_column)


def first_of_documents(model: Any) -> Any:
    """A member of a pool that was fitted to documents rather than columns; else the model."""
    if isinstance(model, Pool) and not model.fitted_.columns.n:
        return model.fitted_.members[0]
    return model


def _remedy(model: Pool, refused: Mapping[str, str]) -> str:
    """How to come to a pool that can be written."""
    fitted = model.fitted_
    roles = fitted.roles if fitted.read_by is None else fitted.read_by.roles
    if roles is None:
        return f"Fit the pool without {', '.join(map(repr, refused))}."
    every = candidates(roles, SEARCH_COLUMNS, len(model.classes_))
    known = set(model.comparison_.columns["model"].tolist()) - set(refused)
    others = [each.key for each in every if each.name in known and _can_be_written(each)]
    without = [repr(each.key) for each in every if each.name in refused]
    fit = f"Fit {type(model).__name__}(models={others}), without {', '.join(without)}"
    return f"{fit}; or posterior fit --quick."


def _can_be_written(each: Candidate) -> bool:
    return each.kind != "by example"
