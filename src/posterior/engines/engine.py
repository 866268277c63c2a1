"""Protocol of engines, which sum a function over the rows they hold."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any, Protocol, TypeVar, runtime_checkable

from posterior.data.rows import Features, Rows
from posterior.data.typing import Floats
from posterior.sources.source import Batch, Source
from posterior.statistics.algebra import Addable

S = TypeVar("S", bound=Addable)
ROWS = 5


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


def first_rows(source: Source, rows: int = ROWS) -> Batch:
    """The head of the first batch."""
    with closing(source.head(rows).batches()) as batches:
        batch = next(batches, None)
    if batch is None:
        raise ValueError("Expected rows, got an empty table.")
    return Batch(batch.frame[:rows], batch.place, batch.first)
