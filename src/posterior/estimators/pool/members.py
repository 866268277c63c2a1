"""Members of a pool: any classifier, by name, and what it says of rows held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from posterior.data.typing import Codes, Floats
from posterior.estimators.refits import given, refitted
from posterior.estimators.summed_classifier import SummedClassifier


def named(members: Any) -> dict[str, Any]:
    """Members by name; those without one have that of their class."""
    if isinstance(members, Mapping):
        found = dict(members)
    elif isinstance(members, Sequence) and not isinstance(members, str):
        found = {}
        for member in members:
            name, model = member if isinstance(member, tuple) else (_name(member, found), member)
            if name in found:
                raise ValueError(f"Expected members of different names, got two of {name!r}.")
            found[name] = model
    else:
        found = {}
    if not found:
        raise ValueError(f"Expected a list of classifiers or of (name, classifier), got {members}.")
    for name, model in found.items():
        if isinstance(model, type) or not hasattr(model, "fit") or not is_classifier(model):
            raise TypeError(f"Expected classifiers to pool, got {model!r} as {name!r}.")
        if not hasattr(model, "predict_proba"):
            raise TypeError(
                f"Expected members that say probabilities, but {name!r}, a "
                f"{type(model).__name__}, has no predict_proba. Calibrate it first."
            )
    return found


def _name(member: Any, taken: Mapping[str, Any]) -> str:
    kind = type(member).__name__
    same = [name for name in taken if name == kind or name.startswith(f"{kind} ")]
    return f"{kind} {len(same) + 1}" if same else kind


def learned_by(
    model: Any, X: Any, y: Any, folds: Codes, weight: Floats | None = None
) -> tuple[Any, Floats]:
    """A copy that has learned from all rows, and what it says (n, k) of those held out.

    Sums subtract folds; boosting has fits without each fold anyway; others are fitted again.
    Columns are those of the copy's classes; rows of a fold below zero are not held out.
    """
    own = clone(model)
    if hasattr(own, "fit_held_out"):
        return own, own.fit_held_out(X, y, folds, weight)
    if isinstance(own, SummedClassifier) and own.one_pass:
        whole = np.where(folds < 0, folds.max() + 1, folds)
        held_out = own.cross_validate(X, y, whole, weight)
        own.fit(X, y, **given(weight))
        return own, held_out.log_proba
    return own, refitted(own, X, y, folds, weight)
