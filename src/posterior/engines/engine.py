"""What a model asks of the place where its rows are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, runtime_checkable

from posterior.data.rows import Features, Rows
from posterior.data.typing import Floats
from posterior.sources.source import Batch
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


class BatchEngine(Protocol):
    """Sums a function over the batches of a table that is not in this process's memory.

    The function may be sent to other machines: it holds no lock, pool or connection.
    """

    def sum(self, function: Callable[[Batch], S], source: Any) -> S:
        """function(batch) added up over all batches."""
        ...


@runtime_checkable
class ClusterEngine(BatchEngine, Protocol):
    """One that also makes new tables, where the rows are, when somebody asks for them."""

    def map(self, function: Callable[[Batch], Any], source: Any) -> Any:
        """A frame of function(batch) for all batches."""
        ...
