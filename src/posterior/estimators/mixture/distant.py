"""Rows of a table that is elsewhere, as mixtures read them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from posterior.data import target
from posterior.data.distant import Distant, sampled
from posterior.data.rows import Hard, Rows
from posterior.data.source import Batch, Source, errors_in
from posterior.engines.engine import Elsewhere
from posterior.generative.expectation import HIDDEN
from posterior.preprocessing.first_look import FirstLook


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A batch as rows of hidden groups, by a model that knows its columns."""

    model: Any
    weight: Any  # the column of weights, if there is one

    def __call__(self, batch: Batch) -> Rows:
        with errors_in(batch):
            frame, w = target.apart(batch.frame, self.weight)
            features = self.model._features(frame, fitting=True, reset=False)
            self.model._check_cells(features, 0, fitting=True)
            weight = target.weights(w)
        return Rows(features, Hard(np.full(features.shape[0], HIDDEN, np.int32), 1, weight))


def hidden_rows(model: Any, engine: Elsewhere, source: Source, weight: Any) -> Distant:
    """The rows of a source; sets the names of the columns, and how they are read."""
    if not isinstance(model.init_params, str):
        raise ValueError(
            "Expected the name of a first guess for a table that is elsewhere, got shares of its "
            "rows in init_params."
        )
    look = engine.sum(
        FirstLook(None, weight, type(model).__name__, encoded=False), source
    ).checked()
    frame, _ = target.apart(look.kept.frame(), weight)
    model._features(frame, fitting=True, reset=True)
    reading, n_rows = Reading(copy.copy(model), weight), look.kept.n_rows
    if n_rows < 2:
        raise ValueError(f"Expected two rows or more, got a table of {n_rows}.")
    total = partial(engine.sum, source=source)
    sample = sampled(look.kept.frame(), reading, total)
    return Distant(total, reading, sample, n_rows, look.weight)
