"""Rows of a table that is elsewhere, as mixtures read them."""

from __future__ import annotations

from typing import Any

from posterior.data.distant import Distant
from posterior.data.source import Source
from posterior.engines.engine import Elsewhere
from posterior.estimators.unlabeled import unlabeled
from posterior.generative.expectation import HIDDEN


def hidden_rows(model: Any, engine: Elsewhere, source: Source, weight: Any) -> Distant:
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
