"""What a model asks of the place where its rows are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from posterior.data.rows import Features, Rows
from posterior.data.typing import Floats
from posterior.statistics.algebra import Addable

S = TypeVar("S", bound=Addable)


class Engine(Protocol):
    """Sums a function over rows, and fills an array row by row."""

    def sum(self, function: Callable[[Rows], S], rows: Rows) -> S:
        """function(chunk) added up over all chunks."""
        ...

    def fill(
        self, function: Callable[[Features, slice, Floats], None], X: Features, out: Floats
    ) -> None:
        """function(chunk, its rows, its part of out) for all chunks."""
        ...
