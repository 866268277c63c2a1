"""The compiled loops, seen as NumPy functions: outputs are allocated here and filled there.

Each has the name, the meaning and the module of its twin in `posterior.kernels.reference`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType
from typing import Any

from posterior.kernels._compiled import carry

_modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
_kernels: dict[str, Any] = {"carry": carry}  # the one that needs no memory allocated
for _module in _modules:
    _own = {n: f for n, f in vars(_module).items() if isinstance(f, FunctionType)}
    _kernels |= {n: f for n, f in _own.items() if f.__module__ == _module.__name__ and n[0] != "_"}
globals().update(_kernels)
__all__ = sorted(_kernels)
