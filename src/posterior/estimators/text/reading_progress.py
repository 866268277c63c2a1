"""What counting says while it works."""

from __future__ import annotations

from posterior.engines import progress


class Progress(progress.Progress):
    """How many documents were counted."""

    def __init__(self, verbose: int, verb: str = "Counted") -> None:
        super().__init__(verbose, verb, "documents")
