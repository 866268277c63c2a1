"""Rows without classes of a table that is elsewhere, as mixtures and k-means read them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from posterior.data.rows import Hard, Rows
from posterior.engines.engine import BatchEngine
from posterior.preprocessing.first_look import FirstLook, Look
from posterior.sources import target
from posterior.sources.remote_rows import RemoteRows, sampled
from posterior.sources.source import Batch, Source, errors_in


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A batch as rows of one group, by a model that knows its columns."""

    model: Any
    weight: Any  # the column of weights, if there is one
    group: int

    def __call__(self, batch: Batch) -> Rows:
        with errors_in(batch):
            frame, w = target.apart(batch.frame, self.weight)
            features = self.model._features(frame, fitting=True, reset=False)
            self.model._check_cells(features, 0, fitting=True)
            weight = target.weights(w)
        return Rows(features, Hard(np.full(features.shape[0], self.group, np.int32), 1, weight))


def unlabeled(
    model: Any, engine: BatchEngine, source: Source, weight: Any, *, group: int, encoded: bool
) -> tuple[RemoteRows, Look]:
    """The rows of a source, and the first look at them; sets the names of the columns."""
    first = FirstLook(None, weight, type(model).__name__, encoded=encoded)
    look = engine.sum(first, source).checked()
    frame, _ = target.apart(look.kept.frame(), weight)
    model._features(frame, fitting=True, reset=True)
    reading = Reading(copy.copy(model), weight, group)
    total = partial(engine.sum, source=source)
    sample = sampled(look.kept.frame(), reading, total)
    return RemoteRows(total, reading, sample, look.kept.n_rows, look.weight), look
