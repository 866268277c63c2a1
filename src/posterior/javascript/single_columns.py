"""Columns that models of their own read first: numbers in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from posterior.discriminative.pooling import LIMIT
from posterior.estimators.pool.column_models import MISSING, ColumnModel, ColumnModels
from posterior.estimators.pool.value_shares import ValueShares
from posterior.evaluation.held_out import LEAST
from posterior.javascript.descriptions import described
from posterior.javascript.sheet import Column, Described
from posterior.preprocessing.roles import Roles


def with_numbers(read_by: ColumnModels, roles: Roles, columns: Sequence[Column]) -> list[Column]:
    """The columns as other models are given them."""
    models = {each.name: each for each in read_by.columns}
    given: list[Column] = []
    for column in columns:
        if column.name not in models:
            given.append(column)
            continue
        model, sheet = models[column.name], column.sheet
        own = replace(column, role=roles[column.name], missing=MISSING)
        sheet.models.append(_column_model(model, own))
        place = len(sheet.models) - 1
        given += [replace(column, name=name, told=(place, i)) for i, name in enumerate(model.names)]
    return given


def _column_model(model: ColumnModel, column: Column) -> Described:
    """log p(k | x_j) - log p(k) of a pool of models of one column, against the first class."""
    said = [_said(each, model, column) for each in model.models]
    pool = {"weights": model.pool.weights, "intercept": model.pool.intercept}
    limits = {"limit": float(LIMIT), "least": LEAST}
    return {"kind": "column", "models": said, **pool, **limits, "log_prior": model.log_prior}


def _said(each: object, model: ColumnModel, column: Column) -> Described:
    """log p(k | v) of the models; those of words may not know all classes."""
    if isinstance(each, ValueShares):
        levels = each.values.tolist()
        cell = column.text(levels)
        share = np.asarray(each.counts.sum(axis=0) + 0.5)
        shares = {"counts": each.counts, "prior": each.pseudo_rows * (share / share.sum())}
        return {"kind": "values", "cell": cell, "values": column.sheet.shared(levels), **shares}
    found = described(each, [column])
    places = {label: k for k, label in enumerate(model.classes.tolist())}
    return {"kind": "said", "model": found, "places": [places[c] for c in found["classes"]]}
