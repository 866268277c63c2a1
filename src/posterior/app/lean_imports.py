"""Imports of a command without what its libraries ask for and no command uses: half of the time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

from posterior.data import process

ABSENT = {"pandas"}  # tables are Arrow's here
OPTIONAL = {"psutil", "rich.progress"}  # of joblib and of scikit-learn, which do without
UNUSED = ("scipy.stats", "numpy.f2py", "numpy.testing")  # imported by name, and not looked at
OTHERWISE = (ImportError, AttributeError, KeyError, TypeError)  # where a version is another


class Without(MetaPathFinder):
    """Modules that are as if not installed."""

    def __init__(self, names: Set[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def take_process() -> None:
    """Say that this process is a command's, in which nobody else's code runs."""
    process.is_ours = True
    sys.meta_path.insert(0, Without(ABSENT))


def take_one_blas_thread() -> None:
    """Before NumPy comes, ask for no threads of matrix products, which wait for work by turning.

    Rows are given to threads of our own, each of which multiplies alone.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def import_sklearn() -> None:
    """Import scikit-learn without what it asks for and looks at only when asked to.

    Whoever needs that later gets it.
    """
    if not process.is_ours or {"sklearn", *UNUSED} & sys.modules.keys():
        return
    with suppress(*OTHERWISE), _put_off(), _without_docstrings():
        import_module("sklearn.callback")  # a version that looks at once: imported as usual


@contextmanager
def _put_off() -> Iterator[None]:
    absent = Without(OPTIONAL)
    sys.meta_path.insert(0, absent)
    for name in UNUSED:
        parent, _, last = name.rpartition(".")
        empty = sys.modules[name] = ModuleType(name)
        setattr(import_module(parent), last, empty)  # where `from numpy import *` finds it
    try:
        yield
    finally:
        sys.meta_path.remove(absent)
        for name in UNUSED:
            parent, _, last = name.rpartition(".")
            del sys.modules[name]
            delattr(sys.modules[parent], last)


@contextmanager
def _without_docstrings() -> Iterator[None]:
    """SciPy reads its docstrings to write into them; here it finds them empty, as by python -OO."""
    docstrings = vars(import_module("scipy._lib._docscrape"))
    read = docstrings["FunctionDoc"]
    unread = partial(read, doc="")
    unread(take_process)  # or an error, before a module depends on it
    docstrings["FunctionDoc"] = unread
    try:
        yield
    finally:
        docstrings["FunctionDoc"] = read
