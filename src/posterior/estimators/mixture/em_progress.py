"""What EM says while it works: lines if asked for, else a line that stays if it takes long."""

from __future__ import annotations

import sys
import time

PATIENCE = 3.0  # seconds until somebody at a terminal wants to know


class Progress:
    """A line for every so many steps, or one that is written again and again."""

    def __init__(self, verbose: int, interval: int, max_iter: int) -> None:
        self._verbose, self._interval, self._max_iter = verbose, interval, max_iter
        self._begin, self._shown = time.perf_counter(), False
        self._start = 0
        self.step = 0  # of the start that is on its way

    def begin(self, start: int) -> None:
        """A new start of EM."""
        self._start, self.step = start, 0
        if self._verbose:
            print(f"Start {start}")

    def __call__(self, step: int, value: float, change: float) -> None:
        self.step = step
        seconds = time.perf_counter() - self._begin
        if self._verbose:
            if step % self._interval == 0:
                print(f"  Step {step}: {value:.6f} a row, {change:+.2g}, after {seconds:.1f} s")
        elif seconds > PATIENCE and sys.stderr.isatty():
            self._shown = True
            line = f"EM start {self._start}, step {step} of at most {self._max_iter}"
            print(f"\r\x1b[K{line}: {value:.6f} a row", end="", file=sys.stderr, flush=True)

    def end(self, reason: str, value: float) -> None:
        """All starts are done."""
        if self._verbose:
            print(f"Ended ({reason}) at {value:.6f} a row")
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
