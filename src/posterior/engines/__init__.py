"""Engines: each sums a function over the rows it holds, and never asks what it sums."""

from posterior.engines.engine import Engine
from posterior.engines.local import Local, threads

__all__ = ["Engine", "Local", "threads"]
