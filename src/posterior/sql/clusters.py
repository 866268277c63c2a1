"""k-means: the nearest center."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posterior.estimators.kmeans.common import Clusters
from posterior.sql.cells import Column
from posterior.sql.expressions import less, negative, or_else, times
from posterior.sql.scores import Scores, Term, scores


@scores.register
def _(model: Clusters, columns: Sequence[Column]) -> Scores:
    """s_k = -|x - c_k|², of the cells that are there;  p(k | x) ∝ π_k exp(s_k / 2σ²)"""
    if model._sparse:
        raise TypeError(
            f"Expected a {type(model).__name__} fitted to dense rows, got one fitted to sparse "
            "rows. Fit it to X.toarray()."
        )
    centers = np.asarray(model.cluster_centers_, np.float64)
    found = []
    for j, c in enumerate(columns):
        x = c.number()
        squares = [times(less(x.copy(), m), less(x.copy(), m)) for m in centers[:, j]]
        found.append(Term(c.name, [or_else(negative(s), 0.0) for s in squares]))
    with np.errstate(divide="ignore"):
        scale = float(1 / (2 * np.float64(model.variance_)))
    return Scores(np.arange(len(centers)), np.zeros(len(centers)), found, scale, model.weights_)
