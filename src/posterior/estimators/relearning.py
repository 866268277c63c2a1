"""Copies of a model that never saw some rows, at all that `fit` has chosen.

Families, cuts, a structure, a covariance, smoothing, k, rounds and penalties stay as they are: what
is learned anew are the numbers. Sums subtract rows; trees, coefficients and weights of words are
learned from the others.
"""

from __future__ import annotations

import copy
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.base import clone

from posterior.data.frames import take
from posterior.data.typing import Array, Integers


@runtime_checkable
class Relearns(Protocol):
    """A model that learns from other rows with the settings it has chosen."""

    def relearn(self, X: Any, y: Any) -> Any: ...


def without(model: Any, X: Any, y: Array, gone: Integers) -> Any:
    """A copy that never saw the rows `gone` of those (X, y) that the model has learned from."""
    if not isinstance(model, Relearns) and hasattr(model, "forget"):
        return copy.copy(model).forget(take(X, gone), y[gone])
    kept = np.delete(np.arange(len(y)), gone)
    rest = take(X, kept), y[kept]
    if isinstance(model, Relearns):
        return copy.copy(model).relearn(*rest)
    return clone(model).fit(*rest)
