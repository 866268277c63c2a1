"""The compiled loops, seen as NumPy functions: outputs are allocated here and filled there.

Each has the name, the meaning and the module of its twin in `posterior.kernels.reference`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from posterior.kernels import reference

__all__ = reference.__all__


def twin(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The compiled function of the same name, in the module of the same name."""
    module = import_module(f"{__name__}.{kernel.__module__.rpartition('.')[2]}")
    found: Callable[..., Any] = getattr(module, kernel.__name__)
    return found


globals().update({name: twin(getattr(reference, name)) for name in reference.__all__})
