"""Objects of this package from their fields, after a look at what they would be made of."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from posterior.storage.checks import check
from posterior.storage.earlier import parameters, upgraded
from posterior.storage.model_file_error import ModelFileError


def built(kind: Any, state: dict[str, Any]) -> Any:
    """An object of a known class."""
    if is_dataclass(kind):
        names = {f.name for f in fields(kind) if f.init}
        unknown = [name for name in state if name not in names]
        if unknown:
            raise ModelFileError(f"Expected fields of {kind.__name__}, got {unknown[0]!r:.60}.")
        value = kind(**state)
    else:
        check_names(kind, state)
        value = kind.__new__(kind)
        younger = {n: v for n, v in parameters(kind).items() if n not in state}
        if inspect.Parameter.empty in younger.values():
            raise ModelFileError(f"Expected all parameters of {kind.__name__}, got some.")
        if issubclass(kind, BaseEstimator):
            value.__setstate__(upgraded(kind, state | younger))
        else:
            value.__dict__.update(state)
        value.__dict__ = dict(value.__getstate__())  # what is never stored cannot come from a file
        if isinstance(value, BaseEstimator):
            value._validate_params()  # as `fit` would have
    with np.errstate(all="ignore"):  # of numbers that no fit would give
        check(value)
    return value


def check_names(kind: type, state: dict[str, Any]) -> None:
    """Attributes are values: none may stand in the place of a method.

    Those of an estimator are parameters, or learned, which an underscore tells.
    """
    known = parameters(kind)
    for name in state:
        own = inspect.getattr_static(kind, name, None)
        value = name.isidentifier() and not (inspect.isroutine(own) or isinstance(own, property))
        if issubclass(kind, BaseEstimator):
            value = value and (name in known or name.endswith("_") or name.startswith("_"))
        if not value or name.startswith("__"):
            raise ModelFileError(
                f"Expected parameters and learned values of {kind.__name__}, got an attribute "
                f"{name!r:.60}, which is neither. Delete it."
            )
