"""Progress of a pass over the rows: one line of a terminal, written again and again."""

from __future__ import annotations

import sys
import time
from typing import Self

PATIENCE = 3.0  # seconds until somebody at a terminal wants to know
PAUSE = 0.1  # seconds between two looks


class Progress:
    """A line on the error stream, if it is a terminal: from the start if asked for, else later."""

    def __init__(
        self, verbose: int, verb: str, unit: str = "rows", total: int | None = None
    ) -> None:
        self._begin, self._shown = time.perf_counter(), False
        self._next = self._begin + (0.0 if verbose else PATIENCE)
        self._verb, self._unit, self._total = verb, unit, total

    def __call__(self, n: int) -> None:
        now = time.perf_counter()
        if now >= self._next and sys.stderr.isatty():
            self._shown, self._next = True, now + PAUSE
            line = self.line(n, now - self._begin)
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def line(self, n: int, seconds: float) -> str:
        """What there is to say after some seconds."""
        if not self._total or not 0 < n <= self._total:
            return f"{self._verb} {n:,} {self._unit} in {seconds:.1f} s"
        left = seconds * (self._total - n) / n
        return (
            f"{self._verb} {n:,} of {self._total:,} {self._unit} in {seconds:.1f} s, "
            f"{left:.0f} s left"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
