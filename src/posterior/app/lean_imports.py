"""Imports of a command without what its libraries ask for and no command uses: half of the time."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

from posterior.data import process


class WithoutPandas(MetaPathFinder):
    """Tables are Arrow's here: pandas is as if not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


def take_process() -> None:
    """Say that this process is a command's, in which nobody else's code runs."""
    process.is_ours = True
    sys.meta_path.insert(0, WithoutPandas())


def import_sklearn() -> None:
    """Import scikit-learn, which imports all of scipy.stats, and looks at it when asked to.

    Whoever needs scipy.stats later gets it.
    """
    if not process.is_ours or {"sklearn", "scipy.stats"} & sys.modules.keys():
        return
    sys.modules["scipy.stats"] = ModuleType("scipy.stats")
    with suppress(ImportError, AttributeError):  # a version that looks at once: imported as usual
        import_module("sklearn")
    del sys.modules["scipy.stats"]
