"""Metrics of a model file, and the rows that they compare."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.rows import SparseRows
from posterior.neighbors.metrics import Metric
from posterior.storage.extents import shape_of
from posterior.storage.model_file_error import expect


def check_metric(metric: Any, X: Any) -> None:
    """Refuse settings that a distance could not read, and rows that it could not order."""
    shape = shape_of(X)
    expect(isinstance(metric, Metric) and isinstance(metric.name, str), "the name of a metric")
    expect(metric.settings.get("p", 1) > 0, "a positive power")
    for name in {"V", "VI"} & set(metric.settings):  # SciPy does not look at how wide they are
        expect(
            np.shape(metric.settings[name]) in (shape[1:], shape[1:] * 2), f"{name} of all columns"
        )
    # a tree, and sorting, of what has no order may not end
    cells = X.data if isinstance(X, SparseRows) else X
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "f":
        expect(not np.isinf(cells).any(), "rows of finite numbers")
        gaps = metric.euclidean or metric.name == "mixed"
        expect(gaps or not np.isnan(cells).any(), "rows without missing cells")
