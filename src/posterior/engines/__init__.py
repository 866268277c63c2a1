"""Where the rows are: an engine sums a function over them, and never asks what it sums."""

from posterior.engines.engine import Engine
from posterior.engines.local import Local, threads

__all__ = ["Engine", "Local", "threads"]
