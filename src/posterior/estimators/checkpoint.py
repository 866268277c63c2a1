"""Fits that go on where they were killed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from secrets import randbelow
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from posterior.engines.engine import BatchEngine
from posterior.engines.journaled import Journaled

FilePath: TypeAlias = str | os.PathLike[str]


@contextmanager
def checkpointed(
    model: Any, engine: BatchEngine, source: Any, path: FilePath | None, **given: Any
) -> Iterator[BatchEngine]:
    """An engine that writes its sums down at a path until the fit is done; None: nowhere."""
    if path is None:
        yield engine
        return
    journal = import_module("posterior.storage.journal")
    fit = journal.fit_of(model, given) | source.identity()
    journaled = Journaled(engine, journal.JournalFile(Path(path), fit))
    try:
        yield journaled
    except BaseException:
        journaled.write()
        raise
    journaled.finish()


def refuse_in_memory(path: FilePath | None) -> None:
    """Rows in memory are gone when the process is."""
    if path is not None:
        raise ValueError(
            "Expected a table that is elsewhere (files, a query, a cluster) to checkpoint its fit, "
            "got rows in memory. Leave checkpoint out."
        )


def random_of(random_state: Any, engine: BatchEngine) -> np.random.RandomState:
    """Random numbers that are the same after a kill, whatever the seed."""
    if random_state is None and isinstance(engine, Journaled):
        random_state = engine.once(lambda: randbelow(1 << 32))
    return check_random_state(random_state)
