"""Limits of requests: what is refused beyond them, each in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any


def _limit(default: float, words: str) -> Any:
    return field(default=default, metadata={"words": words})


@dataclass(frozen=True, slots=True)
class Limits:
    """What is refused beyond."""

    json_bytes: int = _limit(16_000_000, "bytes of a question, as JSON or Arrow")
    upload_bytes: int = _limit(200_000_000, "bytes of a file that is uploaded")
    rows: int = _limit(100_000, "rows of a question")
    cells: int = _limit(1_000_000, "cells of a question, rows times columns")
    batch_rows: int = _limit(2_000_000, "rows of a file to predict")
    training_rows: int = _limit(500_000, "rows of a file to train on")
    seconds: float = _limit(30.0, "seconds until a question is answered")
    upload_seconds: float = _limit(900.0, "seconds until an uploaded file is predicted")
    training_seconds: float = _limit(900.0, "seconds of a training")
    trainings: int = _limit(3, "trainings under way or waiting")
    kept: int = _limit(8, "trained models that are kept; the oldest go first")
    # Python runs one thread at a time, and more get in its way.
    answering: int = _limit(2, "threads of a worker that answer questions")
    batching: int = _limit(2, "threads of a worker that answer files")

    def described(self) -> Iterator[tuple[str, float, str]]:
        """(name, value, words) of each limit."""
        for each in fields(self):
            yield each.name, getattr(self, each.name), each.metadata["words"]
