"""The classes that a model file may name: the package's own, and no others.

A file says "families.Gaussian", and nothing is imported for its sake: the names are those of the
classes that the estimators themselves brought in. A new family or estimator needs no entry here.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import is_dataclass
from functools import cache

from sklearn.base import BaseEstimator

import posterior.estimators
import posterior.families
import posterior.preprocessing
from posterior.storage.earlier import MOVED

LAYERS = {
    "data",
    "statistics",
    "families",
    "generative",
    "discriminative",
    "neighbors",
    "text",
    "preprocessing",
    "engines",
    "estimators",
    "evaluation",
    "readers",
    "sources",
}
KERNELS = "posterior.kernels.terms"  # rules and terms; other values of kernels live for a call


@cache
def classes() -> dict[str, type]:
    """Every class that a file may hold, by its part of the package and its name."""
    for name in posterior.estimators.__all__:  # which bring in all that models are made of
        getattr(posterior.estimators, name)
    posterior.families.by_name()
    found: dict[str, list[type]] = {}
    for name, module in sorted(sys.modules.items()):
        package, part, *_ = [*name.split("."), ""]
        if (package == posterior.__name__ and part in LAYERS) or name == KERNELS:
            for thing in vars(module).values():
                if inspect.isclass(thing) and thing.__module__ == name and _lasts(thing):
                    found.setdefault(f"{part}.{thing.__name__}", []).append(thing)
    # Two of one name are settings of solvers, which no model keeps.
    known = {name: same[0] for name, same in found.items() if len(same) == 1}
    moved = {old: known[new] if isinstance(new, str) else new for old, new in MOVED.items()}
    return known | moved


@cache
def names() -> dict[type, str]:
    """The same, the other way round."""
    return {thing: name for name, thing in classes().items() if name not in MOVED}


def _lasts(thing: type) -> bool:
    """Values made of fields, estimators, and classes that say what of them is stored."""
    if issubclass(thing, BaseException):
        return False
    return is_dataclass(thing) or issubclass(thing, BaseEstimator) or "__getstate__" in vars(thing)
