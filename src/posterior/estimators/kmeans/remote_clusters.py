"""Points of a table that is elsewhere, as k-means reads them."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.rows import Rows
from posterior.engines.engine import BatchEngine
from posterior.estimators.unlabeled import unlabeled
from posterior.generative.kmeans.points import Points
from posterior.generative.kmeans.remote_points import DistantPoints
from posterior.sources.source import Source
from posterior.statistics.moments import floats


def distant_points(model: Any, engine: BatchEngine, source: Source, weight: Any) -> DistantPoints:
    """The points of a source; sets the names of the columns."""
    rows, look = unlabeled(model, engine, source, weight, group=0, encoded=True)
    rows = rows.map(_contiguous)
    assert look.columns is not None
    here = model.engine_.fill, model.engine_.sum
    near = Points.of(rows.sample.X, rows.sample.hard.weight, look.columns.complete, *here)
    return DistantPoints(near.X, near.weight, near.geometry, near.fill, near.sum, rows)


def _contiguous(rows: Rows) -> Rows:
    table: Any = rows.X
    return Rows(np.ascontiguousarray(floats(table)), rows.groups)
