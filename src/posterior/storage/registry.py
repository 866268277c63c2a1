"""The classes that a model file may name: the package's own, and no others.

A file says "families.Gaussian", and that class is looked for in the sources of this package, so
that what other models need is not imported. A new family or estimator needs no entry here.
"""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

import posterior.estimators
import posterior.evaluation
import posterior.families
import posterior.kernels.terms

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
EARLIER = "earlier"  # classes that are no more: posterior.storage.earlier
KERNELS = "posterior.kernels.terms"  # rules and terms; other values of kernels live for a call


MOVED = {  # the names that earlier versions wrote
    "generative.HeldOut": "evaluation.HeldOut",
    "generative.Isotonic": "evaluation.Isotonic",
    "generative.Temperature": "evaluation.Temperature",
    "estimators.Column": "earlier.Column",
    "estimators.ColumnPlan": "earlier.ColumnPlan",
    "estimators.FamilyRules": "readers.FamilyRules",
    "estimators.Metric": "neighbors.Metric",
    "estimators.Search": "earlier.SearchState",
    "estimators.Way": "neighbors.SearchMethod",
    "neighbors.Columns": "neighbors.MixedRows",
    "neighbors.Examples": "earlier.Examples",
    "estimators.Estimate": "discriminative.Estimate",
    "estimators.Stream": "earlier.OpenStream",
}


@cache
def class_named(name: str) -> type | None:
    """The class that a file means, imported if it was not."""
    part, _, last = MOVED.get(name, name).partition(".")
    if part == EARLIER and name in MOVED:
        return vars(import_module("posterior.storage.earlier"))[last]
    found = _imported(part, last)
    if not found:
        for home in _sources(part).get(last, ()):
            import_module(home)
        found = _imported(part, last)
    return found[0] if len(found) == 1 else None


def _imported(part: str, last: str) -> list[type]:
    """The classes of a name in those modules of a part of the package that are there."""
    begin = f"{posterior.__name__}.{part}"
    homes = [name for name in [*sys.modules] if name.startswith(begin) and _part(name) == part]
    found: list[tuple[str, Any]] = [(name, vars(sys.modules[name]).get(last)) for name in homes]
    return [thing for name, thing in found if _lasts(thing) and thing.__module__ == name]


@cache
def _sources(part: str) -> dict[str, list[str]]:
    """The modules of a part of the package, by the names of the classes in their sources."""
    root, found = Path(inspect.getfile(posterior)).parent, dict[str, list[str]]()
    for path in sorted((root / part).rglob("*.py")) if part in LAYERS else ():
        home = ".".join(path.relative_to(root.parent).with_suffix("").parts)
        for last in re.findall(r"^class (\w+)", path.read_text("utf-8"), re.MULTILINE):
            found.setdefault(last, []).append(home.removesuffix(".__init__"))
    return found


def _part(module: str) -> str | None:
    """The part of the package that a module with classes of files is of."""
    package, part, *_ = [*module.split("."), ""]
    known = (package == posterior.__name__ and part in LAYERS) or module == KERNELS
    return part if known else None


@cache
def classes() -> dict[str, type]:
    """Every class that a file may hold, by its part of the package and its name."""
    for package in (posterior.estimators, posterior.evaluation, posterior.families):
        for name in dir(package):  # which bring in all that models are made of
            getattr(package, name)
    found: dict[str, list[type]] = {}
    for name, module in sorted(sys.modules.items()):
        if part := _part(name):
            for thing in vars(module).values():
                if _lasts(thing) and thing.__module__ == name:
                    found.setdefault(f"{part}.{thing.__name__}", []).append(thing)
    # Two of one name are settings of solvers, which no model keeps.
    known = {name: same[0] for name, same in found.items() if len(same) == 1}
    moved = {name: class_named(name) for name in MOVED}
    return known | {name: thing for name, thing in moved.items() if thing is not None}


def name_of(kind: type) -> str | None:
    """The name of a class in a file, if it may be there."""
    name = f"{_part(kind.__module__)}.{kind.__name__}"
    return name if class_named(name) is kind else None


def parameters(kind: type) -> dict[str, Any]:
    """The parameters of an estimator with their defaults."""
    if not issubclass(kind, BaseEstimator):
        return {}
    return {p.name: p.default for p in inspect.signature(kind).parameters.values()}


def _lasts(thing: Any) -> bool:
    """Values made of fields, estimators, and classes that say what of them is stored."""
    if not inspect.isclass(thing) or issubclass(thing, BaseException):
        return False
    return is_dataclass(thing) or issubclass(thing, BaseEstimator) or "__getstate__" in vars(thing)
