"""Rows of a table that is elsewhere, as mixtures read them."""

from __future__ import annotations

from typing import Any

from posterior.engines.engine import BatchEngine
from posterior.estimators.unlabeled import unlabeled
from posterior.generative.expectation import HIDDEN
from posterior.sources.remote_rows import RemoteRows
from posterior.sources.source import Source


def hidden_rows(model: Any, engine: BatchEngine, source: Source, weight: Any) -> RemoteRows:
    """The rows of a source; sets the names of the columns, and how they are read."""
    if not isinstance(model.init_params, str):
        raise ValueError(
            "Expected the name of a first guess for a table that is elsewhere, got shares of its "
            "rows in init_params."
        )
    rows, _ = unlabeled(model, engine, source, weight, group=HIDDEN, encoded=False)
    if len(rows) < 2:
        raise ValueError(f"Expected two rows or more, got a table of {len(rows)}.")
    return rows
