"""Threads that read a table together, and compute with what they read; the answers come in order.

A part of the table is read by one thread at a time, batch after batch. Whoever has nothing to do
reads the next batch of the first part at which nobody is, and computes with it while others read
on: a table of many parts is read by all threads, one of a single part by one after the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from threading import Condition
from typing import Generic, TypeVar

from posterior.engines.local import work_beside_others

B = TypeVar("B")
T = TypeVar("T")

AHEAD = 16  # answers of later parts that may wait, or two for each thread


def answers(
    function: Callable[[B], T], parts: Iterable[Iterator[B]], n_threads: int
) -> Generator[T, None, None]:
    """function(batch) of all batches of all parts, in order; so is the first error."""
    if n_threads == 1:
        yield from (function(batch) for part in parts for batch in part)
        return
    readers = Readers(function, parts, n_threads)
    with ThreadPoolExecutor(n_threads, "posterior-reader", work_beside_others) as pool:
        try:
            for _ in range(n_threads):
                pool.submit(readers.work)
            yield from readers.answers()
        finally:
            readers.stop()


class Part(Generic[B, T]):
    """Batches that are read one after the other, and what was computed with them."""

    def __init__(self, batches: Iterator[B]) -> None:
        self.batches = batches
        self.answers: deque[Future[T]] = deque()  # in order, some of them not yet known
        self.busy, self.over = False, False  # whether a thread reads; whether all is read


class Readers(Generic[B, T]):
    """What the threads share: who reads where, and how far they are."""

    def __init__(
        self, function: Callable[[B], T], parts: Iterable[Iterator[B]], n_threads: int
    ) -> None:
        self._function, self._n_threads = function, n_threads
        self._parts: deque[Part[B, T]] = deque(map(Part, parts))  # the first one is waited for
        self._changed, self._stopped = Condition(), False
        self._ahead, self._most = 0, max(AHEAD, 2 * n_threads)  # answers that nobody has taken

    def answers(self) -> Iterator[T]:
        """All answers, in order."""
        while self._parts:
            part, answer = self._parts[0], None
            with self._changed:
                while not part.answers and not part.over:
                    self._changed.wait()
                if part.answers:
                    answer = part.answers.popleft()
                else:
                    self._parts.popleft()
            if answer is not None:
                yield answer.result()
                with self._changed:
                    self._ahead -= 1
                    self._changed.notify_all()

    def work(self) -> None:
        """Read and compute, as long as there is something to read."""
        while (part := self._free()) is not None:
            answer: Future[T] = Future()
            batch = None
            try:
                batch = next(part.batches, None)
            except BaseException as error:  # whoever waits for the answer gets it
                answer.set_exception(error)
            with self._changed:
                part.busy, part.over = False, batch is None
                if batch is not None or answer.done():
                    part.answers.append(answer)
                else:
                    self._ahead -= 1
                self._changed.notify_all()
            if batch is not None:
                try:
                    answer.set_result(self._function(batch))
                except BaseException as error:
                    answer.set_exception(error)

    def stop(self) -> None:
        """Nobody waits any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _free(self) -> Part[B, T] | None:
        """A part to read from, as soon as there is one; None at the end."""
        with self._changed:
            while not self._stopped and not all(part.over for part in self._parts):
                left = (part for part in self._parts if not part.over)
                for place, part in enumerate(islice(left, self._n_threads)):
                    # answers of later parts leave room for those that are waited for
                    if not part.busy and self._ahead < self._most * (1 if place else 2):
                        part.busy = True
                        self._ahead += 1
                        return part
                self._changed.wait()
            return None
