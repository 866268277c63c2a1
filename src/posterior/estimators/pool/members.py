"""Members of a pool: any classifier that says probabilities, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import is_classifier


def named(members: Any) -> dict[str, Any]:
    """Members by name; those without one have that of their class."""
    if members is None:
        from posterior.estimators.logistic import LogisticRegression
        from posterior.estimators.naive_bayes import NaiveBayes

        return {"naive Bayes": NaiveBayes(), "logistic regression": LogisticRegression()}
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
