"""A long fit that can be killed: its sums are written down, and told again when it starts anew.

A solver is a function of the sums that it asked for. Started again and told the same ones, it
comes to where it was, to the bit, without a look at the rows; no solver knows of it.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from posterior.data.source import Batch
from posterior.engines.engine import Elsewhere
from posterior.engines.streaming import Streamed
from posterior.statistics.algebra import Addable

S = TypeVar("S", bound=Addable)
T = TypeVar("T")

SECONDS = 5.0  # between two writings
SHARE = 0.02  # of the time, that writing may take


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The sums that a fit was told, and the one that it waits for as far as it is known."""

    sums: list[Any]
    running: Any = None
    batches: int = 0  # in the running sum


class Log(Protocol):
    """Where it is written down."""

    def read(self) -> Known: ...
    def write(self, known: Known) -> None: ...
    def remove(self) -> None: ...


class Journaled:
    """An engine whose sums outlive the process."""

    def __init__(self, engine: Elsewhere, log: Log) -> None:
        self._engine, self._log = engine, log
        self._known = log.read()
        self._told = 0  # how many of the known sums were asked for
        self._pause, self._last = SECONDS, time.monotonic()
        self._new, self._over = False, False  # whether something waits to be written; the fit is

    def sum(self, function: Callable[[Batch], S], source: Any) -> S:
        """function(batch) added up over all batches, or what it was before the fit was killed."""
        if self._over:
            return self._engine.sum(function, source)
        if isinstance(self._engine, Streamed):
            return self.once(lambda: self._in_stretches(function, source))
        return self.once(lambda: self._engine.sum(function, source))

    def once(self, make: Callable[[], T]) -> T:
        """A value that is made once, even if the fit is killed and starts anew."""
        known = self._known.sums
        if self._told == len(known):
            known.append(copy.deepcopy(make()))
            self._note(Known(known))
        self._told += 1
        return copy.deepcopy(known[self._told - 1])  # which may be changed

    def _in_stretches(self, function: Callable[[Batch], S], source: Any) -> S:
        """The sum of a stream, noted now and then.

        What is known so far comes before the first batch of a stretch, so that batches are added
        in their order, one by one, wherever stretches end.
        """
        running, done = self._known.running, self._known.batches
        batches = iter(source.batches())
        for _ in range(done):
            next(batches)
        while (first := next(batches, None)) is not None:
            stretch = Stretch(source, first, batches, self._last + self._pause)
            running = self._engine.sum(_after(running, first, function), stretch)
            done += stretch.n_batches
            self._note(Known(self._known.sums, copy.deepcopy(running), done))
        if running is None:
            raise ValueError("Expected rows, got an empty table.")
        return running

    def _note(self, known: Known) -> None:
        self._known, self._new = known, True
        if time.monotonic() >= self._last + self._pause:
            self.write()

    def write(self) -> None:
        """Write down what is known."""
        if not self._new or self._over:
            return
        begin = time.monotonic()
        self._log.write(self._known)
        self._last, self._new = time.monotonic(), False
        self._pause = max(SECONDS, (self._last - begin) / SHARE)

    def finish(self) -> None:
        """The fit is done: nothing is written any more, and what was written is removed."""
        self._over = True
        self._log.remove()


class Stretch:
    """Some batches of a source, one after the other until a moment has come."""

    def __init__(self, source: Any, first: Batch, others: Iterator[Batch], until: float) -> None:
        self._source, self._first, self._others, self._until = source, first, others, until
        self.n_batches = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def batches(self) -> Generator[Batch, None, None]:
        batch: Batch | None = self._first
        while batch is not None:
            self.n_batches += 1
            yield batch
            batch = next(self._others, None) if time.monotonic() < self._until else None


def _after(running: S | None, first: Batch, function: Callable[[Batch], S]) -> Callable[[Batch], S]:
    """The function, with what is known so far added to the value of the first batch."""
    if running is None:
        return function
    return lambda batch: running + function(batch) if batch is first else function(batch)
