"""Tables larger than memory: batches are read ahead on a thread, and added up as they come."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from posterior.data.source import Batch, Source
from posterior.engines.progress import Progress
from posterior.statistics.algebra import Addable

S = TypeVar("S", bound=Addable)
T = TypeVar("T")

AHEAD = 2  # batches that wait for their turn


@dataclass(frozen=True, slots=True)
class Streamed:
    """Batch after batch in this process: as much memory as some batches need."""

    verbose: bool = False

    def sum(self, function: Callable[[Batch], S], source: Source) -> S:
        """function(batch) added up over all batches, in order."""
        total: S | None = None
        n_rows = 0
        known = getattr(source, "n_rows", None)
        with Progress(self.verbose, "Read", total=known) as progress:
            for batch in ahead(source.batches()):
                part = function(batch)
                total = part if total is None else total + part
                n_rows += batch.frame.shape[0]
                progress(n_rows)
        if total is None:
            raise ValueError("Expected rows, got an empty table.")
        return total


def ahead(items: Iterator[T], n: int = AHEAD) -> Iterator[T]:
    """The same items; while one is in use, a thread reads the next ones."""
    with ThreadPoolExecutor(1, thread_name_prefix="posterior-reader") as reader:
        waiting = deque(reader.submit(next, items, None) for _ in range(n))
        while (item := waiting.popleft().result()) is not None:
            waiting.append(reader.submit(next, items, None))
            yield item
