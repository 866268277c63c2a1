"""Fields of dataclasses, and shapes of arrays, declared beside the fields: k groups, d columns.

    mean: Annotated[Floats, "k, d"]

An axis is a letter, or a letter or a number ("d|1"); one letter is one size in all fields.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints


class Axes(NamedTuple):
    """The axes of a field, and whether there may be no array."""

    names: tuple[str, ...]
    optional: bool = False


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name, as they are, not copied."""
    return {f.name: getattr(value, f.name) for f in fields(value)}


def declared(value: Any) -> dict[str, Axes]:
    """The fields of a value that say their shapes."""
    return _declared(type(value))  # type: ignore[arg-type]


@cache
def _declared(kind: Any) -> dict[str, Axes]:
    if not is_dataclass(kind):
        return {}
    hints = get_type_hints(kind, include_extras=True)
    found = {f.name: _axes(hints[f.name]) for f in fields(kind)}
    return {name: axes for name, axes in found.items() if axes is not None}


def _axes(hint: Any) -> Axes | None:
    if get_origin(hint) is Annotated:
        return Axes(tuple(name.strip() for name in hint.__metadata__[0].split(",")))
    if get_origin(hint) not in (Union, UnionType):
        return None
    parts = [axes for part in get_args(hint) if (axes := _axes(part)) is not None]
    return Axes(parts[0].names, NoneType in get_args(hint)) if parts else None
