"""What counting says while it works: one line of a terminal, written again and again."""

from __future__ import annotations

import sys
import time

PATIENCE = 3.0  # seconds until somebody at a terminal wants to know


class Progress:
    """A line on the error stream, if it is a terminal: from the start if asked for, else later."""

    def __init__(self, verbose: int, verb: str = "Counted") -> None:
        self._patience = 0.0 if verbose else PATIENCE
        self._verb, self._begin, self._shown = verb, time.perf_counter(), False

    def __call__(self, n_documents: int) -> None:
        seconds = time.perf_counter() - self._begin
        if seconds >= self._patience and sys.stderr.isatty():
            self._shown = True
            line = f"{self._verb} {n_documents:,} documents in {seconds:.1f} s"
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
