"""Logistic regression: the curve of one column, the line of two, or the coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from posterior.data import frames
from posterior.data.names import plain
from posterior.estimators import LogisticRegression, LogisticRegressionCV
from posterior.plots.coefficients import coefficients
from posterior.plots.look import Chart
from posterior.plots.separation import separation
from posterior.plots.sigmoid import sigmoid

LOGISTIC = (LogisticRegression, LogisticRegressionCV)


def logistic(model: Any, X: Any, y: Any, options: dict[str, Any]) -> Chart:
    """The curve of one column, the line of two, or else the coefficients."""
    outputs, d = model.coef_.shape
    stated = model.fitted_.n_iter is None  # no rows stand behind it
    if X is None and stated and outputs == 1 and d == 1:
        return sigmoid(model, **options)
    if X is None and stated and d == 2:
        return separation(model, **options)
    numbers = X is not None and model.encoding_ is None
    if numbers and d == 2:
        X, y, target = split(X, y)
        return separation(model, X, y, **{"target": target, **options})
    if numbers and d == 1 and outputs == 1 and y is not None:
        X, y, _ = split(X, y)
        return sigmoid(model, X, y, **options)
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    return coefficients(_names(model), np.ravel(coef), **options)


def split(X: Any, y: Any) -> tuple[Any, Any, str]:
    """Rows, their labels, and what these are called."""
    if sparse.issparse(X) and X.shape[1] <= 2:
        X = X.toarray()
    if isinstance(y, str):
        name = y
        X, y = frames.split_target(X, y)
        return X, y, name
    return X, y, str(getattr(y, "name", None) or "class")


def _names(model: Any) -> list[str]:
    """Columns, or their categories, with the class they speak for if each has coefficients."""
    names = [str(plain(name)) for name in model.fitted_.reader.names]
    if model.coef_.shape[0] == 1:
        return names
    return [f"{name}, {plain(label)}" for label in model.classes_ for name in names]
