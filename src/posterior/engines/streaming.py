"""Tables larger than memory: threads read batches and take their sums, which are added in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from posterior.engines.local import n_threads, one_blas_thread
from posterior.engines.progress import Progress
from posterior.engines.readers import answers
from posterior.sources.source import Batch, Source
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
        with closing(self.values(function, source)) as values:
            for value in values:
                total = value if total is None else total + value
        if total is None:
            raise ValueError("Expected rows, got an empty table.")
        return total

    def values(
        self, function: Callable[[Batch], S], source: Source, skip: int = 0
    ) -> Generator[S, None, None]:
        """function(batch) of one batch after the other; the first ones are passed over."""

        def counted(batch: Batch) -> tuple[int, S]:
            return batch.frame.shape[0], function(batch)

        with Progress(self.verbose, "Read", total=source.n_rows) as progress, one_blas_thread():
            left = list(source.parts())
            n_rows = sum(batch.frame.shape[0] for batch in _passed_over(left, skip))
            with closing(answers(counted, left, n_threads())) as found:
                for n, value in found:
                    yield value
                    n_rows += n
                    progress(n_rows)


def _passed_over(parts: list[Iterator[Batch]], n: int) -> Iterator[Batch]:
    """The first batches, which are gone then."""
    while n and parts:
        batch = next(parts[0], None)
        if batch is None:
            parts.pop(0)
        else:
            n -= 1
            yield batch


def ahead(items: Iterator[T], n: int = AHEAD) -> Iterator[T]:
    """The same items; while one is in use, a thread reads the next ones."""
    with ThreadPoolExecutor(1, thread_name_prefix="posterior-reader") as reader:
        waiting = deque(reader.submit(next, items, None) for _ in range(n))
        while (item := waiting.popleft().result()) is not None:
            waiting.append(reader.submit(next, items, None))
            yield item
