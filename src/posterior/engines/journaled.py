"""A long fit that can be killed: its sums are written down, and read again when it starts anew.

A solver is a function of the sums that it asked for. Started again with the same ones, it
comes to where it was, to the bit, without a look at the rows; no solver knows of it.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from posterior.engines.engine import BatchEngine
from posterior.engines.streaming import Streamed
from posterior.sources.source import Batch
from posterior.statistics.algebra import Addable

S = TypeVar("S", bound=Addable)
T = TypeVar("T")

SECONDS = 5.0  # between two writings
SHARE = 0.02  # of the time, that writing may take


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The sums that a fit has received, and the one that it waits for as far as it is known."""

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

    def __init__(self, engine: BatchEngine, log: Log) -> None:
        self._engine, self._log = engine, log
        self._known = log.read()
        self._told = 0  # how many of the known sums were asked for
        self._pause, self._last = SECONDS, time.monotonic()
        self._new, self._over = False, False  # whether something waits to be written; the fit is

    def sum(self, function: Callable[[Batch], S], source: Any) -> S:
        """function(batch) added up over all batches, or what it was before the fit was killed."""
        if self._over:
            return self._engine.sum(function, source)
        engine = self._engine
        if isinstance(engine, Streamed):
            return self.once(lambda: self._streamed(engine, function, source))
        return self.once(lambda: engine.sum(function, source))

    def once(self, make: Callable[[], T]) -> T:
        """A value that is made once, even if the fit is killed and starts anew."""
        known = self._known.sums
        if self._told == len(known):
            known.append(copy.deepcopy(make()))
            self._note(Known(known))
        self._told += 1
        return copy.deepcopy(known[self._told - 1])  # which may be changed

    def _streamed(self, engine: Streamed, function: Callable[[Batch], S], source: Any) -> S:
        """The sum of a stream, noted now and then; it goes on after the batches that are known."""
        running, done = self._known.running, self._known.batches
        with closing(engine.values(function, source, skip=done)) as values:
            for value in values:
                running, done = value if running is None else running + value, done + 1
                self._note(Known(self._known.sums, running, done))
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
