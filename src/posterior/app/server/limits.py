"""How much one request may ask for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What is refused beyond."""

    json_bytes: int = 4_000_000  # of a question
    upload_bytes: int = 200_000_000  # of a file
    rows: int = 10_000  # of a question
    batch_rows: int = 2_000_000  # of a file to answer
    training_rows: int = 500_000  # of a file to learn from
    training_seconds: float = 900.0
    trainings: int = 3  # under way and waiting
    kept: int = 8  # trained models that are kept, the oldest go first
    answering: int = 2  # threads that answer questions: Python runs one, more get in its way
    batching: int = 2  # threads that answer files
