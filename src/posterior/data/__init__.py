"""Input at the boundary: validation, frames, rows, and the errors that speak of them."""

from collections.abc import Callable, Mapping
from importlib import import_module
from sys import modules

Package = tuple[list[str], Callable[[str], object], Callable[[], list[str]]]


def by_first_use(package: str, homes: Mapping[str, str]) -> Package:
    """`__all__`, `__getattr__` and `__dir__` of a package: each name comes when it is asked for.

    `homes` are its modules, and which names they have.
    """
    names = {name: home for home, listed in homes.items() for name in listed.split()}

    def found(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        thing = getattr(import_module(f"{package}.{names[name]}"), name)
        return vars(modules[package]).setdefault(name, thing)

    return sorted(names), found, lambda: sorted({*vars(modules[package]), *names})
