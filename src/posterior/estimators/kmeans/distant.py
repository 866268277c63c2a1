"""Points of a table that is elsewhere, as k-means reads them."""

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
from posterior.generative.kmeans.distant import DistantPoints
from posterior.generative.kmeans.points import Points
from posterior.preprocessing.first_look import FirstLook
from posterior.statistics.moments import floats


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A batch as points of one group, by a model that knows its columns."""

    model: Any
    weight: Any  # the column of weights, if there is one

    def __call__(self, batch: Batch) -> Rows:
        with errors_in(batch):
            frame, w = target.apart(batch.frame, self.weight)
            table: Any = self.model._features(frame, fitting=True, reset=False)
            self.model._check_cells(table, 0, fitting=True)
            weight = target.weights(w)
        X = np.ascontiguousarray(floats(table))
        return Rows(X, Hard(np.zeros(len(X), np.int32), 1, weight))


def distant_points(model: Any, engine: Elsewhere, source: Source, weight: Any) -> DistantPoints:
    """The points of a source; sets the names of the columns."""
    look = engine.sum(FirstLook(None, weight, type(model).__name__, encoded=True), source).checked()
    frame, _ = target.apart(look.kept.frame(), weight)
    model._features(frame, fitting=True, reset=True)
    reading = Reading(copy.copy(model), weight)
    total = partial(engine.sum, source=source)
    sample = sampled(look.kept.frame(), reading, total)
    rows = Distant(total, reading, sample, look.kept.n_rows, look.weight)
    assert look.columns is not None
    here = model.engine_.fill, model.engine_.sum
    near = Points.of(sample.X, sample.hard.weight, look.columns.complete, *here)
    return DistantPoints(near.X, near.weight, near.geometry, near.fill, near.sum, rows)
