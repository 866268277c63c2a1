"""Pools in files: members of the same classes, and a weight of each."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from posterior.data.table_columns import Columns
from posterior.discriminative.pooling import PoolWeights
from posterior.estimators.pool.fitted_pool import FittedPool
from posterior.preprocessing.roles import Roles
from posterior.storage.extents import shape_of
from posterior.storage.model_file_error import expect


def check_pool(value: FittedPool) -> None:
    """Refuse what no fit leaves behind."""
    names, members, pool, classes = value.names, value.members, value.pool, value.classes
    expect(isinstance(value.columns, Columns) and isinstance(pool, PoolWeights), "a pool")
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
    expect(value.order is None or value.order.dtype.kind == "i", "where rows stood")
