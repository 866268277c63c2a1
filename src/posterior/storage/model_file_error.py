"""The one error of reading a model file."""

from __future__ import annotations

from typing import Any


class ModelFileError(ValueError):
    """A file that is not a model, was damaged, or was written by a newer version."""


def expect(condition: Any, what: str) -> None:
    """Refuse what does not hold."""
    if not condition:
        raise ModelFileError(f"Expected {what}, got something else.")
