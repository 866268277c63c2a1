"""Pools in files: members of the same classes, and a weight of each."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from posterior.data.typing import Array
from posterior.discriminative.pooling import PoolWeights
from posterior.estimators.pool.column_models import ColumnModel, ColumnModels
from posterior.estimators.pool.fitted_pool import FittedPool
from posterior.estimators.pool.learned_rows import HeldOutSummary, LearnedRows
from posterior.estimators.pool.value_shares import ValueShares
from posterior.estimators.text.text_classifier import TextClassifier
from posterior.evaluation.held_out import SCORES
from posterior.preprocessing.column_summary import ColumnSummary
from posterior.preprocessing.roles import Roles
from posterior.storage.checks import check_columns, looks
from posterior.storage.extents import shape_of
from posterior.storage.model_file_error import expect


@looks.register
def _(value: FittedPool) -> None:
    """Refuse what no fit leaves behind."""
    names, members, pool, classes = value.names, value.members, value.pool, value.classes
    check_columns(value.columns)
    expect(isinstance(pool, PoolWeights), "a pool")
    expect(isinstance(classes, np.ndarray) and classes.ndim == 1, "classes")
    expect(np.array_equal(np.unique(classes), classes), "classes in order, each once")
    expect(all(isinstance(name, str) for name in names) and len(set(names)) == len(names), "names")
    expect(len(members) == len(names) > 0, "a member of each name")
    expect(all(isinstance(member, BaseEstimator) for member in members), "members")
    for member in members:
        expect(np.isin(member.classes_, classes).all(), "members of the same classes")
    weights, intercept = pool.weights, pool.intercept
    expect(shape_of(weights) == (len(members),), "a weight of each member")
    expect(np.isfinite(weights).all() and (weights >= 0).all(), "weights of zero or more")
    expect(shape_of(intercept) == classes.shape and np.isfinite(intercept).all(), "an intercept")
    expect(value.roles is None or isinstance(value.roles, Roles), "what columns are")
    expect(value.read_by is None or isinstance(value.read_by, ColumnModels), "models of columns")
    if value.read_by is not None:
        _check_columns(value.read_by, classes)
    expect(value.order is None or value.order.dtype.kind == "i", "where rows stood")
    expect(
        value.learned_from is None or isinstance(value.learned_from, LearnedRows), "rows learned"
    )
    if value.learned_from is not None:
        _check_learned(value.learned_from, len(classes))


def _check_learned(value: LearnedRows, k: int) -> None:
    """Rows in short: counts of zero or more, as many as there are bins."""
    expect(_are_counts(value.class_counts, k), "a count of each class")
    expect(isinstance(value.rows, float) and np.isfinite(value.rows), "a number of rows")
    for column in value.columns:
        expect(isinstance(column, ColumnSummary) and isinstance(column.name, str), "a column")
        expect(all(isinstance(v, str) for v in column.values), "values of a column")
        expect(_are_cuts(column.cuts), "cut points in order")
        ends = column.ends
        both = isinstance(ends, tuple) and len(ends) == 2 and np.isfinite(ends).all()
        expect(ends is None or both, "the ends of a column")
        bins = (len(column.cuts) if column.ends else len(column.values)) + 1
        expect(_are_counts(column.counts, bins), "a count of each bin")
        expect(isinstance(column.missing, float) and column.missing >= 0, "missing cells")
    held_out = value.held_out
    if held_out is not None:
        expect(isinstance(held_out, HeldOutSummary), "scores of rows held out")
        expect(isinstance(held_out.rows, int) and set(held_out.scores) == set(SCORES), "scores")
        expect(all(len(pair) == 2 for pair in held_out.scores.values()), "means and errors")
        expect(shape_of(held_out.confusion) == (k, k), "a confusion matrix")
        expect(shape_of(held_out.mean_proba) == (k,), "mean probabilities")
        expect(_are_cuts(held_out.cuts), "cut points in order")
        expect(_are_counts(held_out.counts, len(held_out.cuts) + 1), "a count of each bin")


def _are_counts(value: object, n: int) -> bool:
    if not isinstance(value, np.ndarray) or value.shape != (n,) or value.dtype.kind != "f":
        return False
    return bool(np.isfinite(value).all() and (value >= 0).all())


def _are_cuts(value: object) -> bool:
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind != "f":
        return False
    return bool(np.isfinite(value).all() and (np.diff(value) > 0).all())


def _check_columns(value: ColumnModels, classes: Array) -> None:
    """Models of single columns: of the same classes, with a weight of each."""
    expect(isinstance(value.roles, Roles), "what columns are")
    expect(all(isinstance(name, str) for name in value.silent), "names of columns")
    for column in value.columns:
        expect(isinstance(column, ColumnModel) and isinstance(column.name, str), "a column")
        expect(np.array_equal(column.classes, classes), "columns of the same classes")
        expect(shape_of(column.log_prior) == classes.shape, "shares of classes")
        expect(isinstance(column.pool, PoolWeights), "weights")
        expect(shape_of(column.pool.weights) == (len(column.models),), "a weight of each model")
        expect(shape_of(column.pool.intercept) == classes.shape, "an intercept")
        for model in column.models:
            expect(isinstance(model, ValueShares | TextClassifier), "a model of a column")
            if isinstance(model, ValueShares):
                expect(isinstance(model.values, np.ndarray), "values")
                expect(shape_of(model.counts) == (len(model.values), len(classes)), "counts")
                expect(np.isfinite(model.counts).all() and (model.counts >= 0).all(), "counts")
                expect(isinstance(model.pseudo_rows, float) and model.pseudo_rows > 0, "a prior")
            else:
                expect(np.isin(model.classes_, classes).all(), "models of the same classes")
