"""One request and its answer: the facts that metrics and the access log tell of it."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

KEY = "posterior"  # where an ASGI scope keeps it


@dataclass(slots=True)
class Exchange:
    """Filled in by whoever knows: the guard, the route, the handlers of errors."""

    trusted: bool = False  # whether it has the token, if one is asked for
    route: str | None = None
    asked: str | None = None  # the name in the path, which may be nobody's
    model: str | None = None  # the one that answers
    rows: int = 0
    refusal: str | None = None  # the reason in a word


def exchange_of(scope: MutableMapping[str, Any]) -> Exchange:
    """The facts of a request, made when first asked for."""
    found: Exchange = scope.setdefault(KEY, Exchange())
    return found
