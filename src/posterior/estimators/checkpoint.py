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

from posterior.engines.engine import Elsewhere
from posterior.engines.journal import Journaled

FilePath: TypeAlias = str | os.PathLike[str]


@contextmanager
def checkpointed(
    model: Any, engine: Elsewhere, source: Any, path: FilePath | None, **given: Any
) -> Iterator[Elsewhere]:
    """An engine that writes its sums down at a path until the fit is done; None: nowhere."""
    if path is None:
        yield engine
        return
    journal = import_module("posterior.storage.journal")
    fit = journal.fit_of(model, given) | table_of(source)
    journaled = Journaled(engine, journal.JournalFile(Path(path), fit))
    try:
        yield journaled
    except BaseException:
        journaled.write()
        raise
    journaled.finish()


def table_of(source: Any) -> dict[str, Any]:
    """What distinguishes a table from others, as far as that is known without reading it."""
    told: dict[str, Any] = {"columns": list(source.names)}
    for path in getattr(source, "paths", ()):
        state = os.stat(path)
        told[str(path)] = [state.st_size, state.st_mtime_ns]
    if hasattr(source, "relation"):
        told["query"] = source.relation.sql_query()
    return told


def refuse_in_memory(path: FilePath | None) -> None:
    """Rows in memory are gone when the process is."""
    if path is not None:
        raise ValueError(
            "Expected a table that is elsewhere (files, a query, a cluster) to checkpoint its fit, "
            "got rows in memory. Leave checkpoint out."
        )


def random_of(random_state: Any, engine: Elsewhere) -> np.random.RandomState:
    """Random numbers that are the same after a kill, whatever the seed."""
    if random_state is None and isinstance(engine, Journaled):
        random_state = engine.once(lambda: randbelow(1 << 32))
    return check_random_state(random_state)
