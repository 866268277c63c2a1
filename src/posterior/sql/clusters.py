"""k-means: the nearest center."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posterior.estimators.kmeans.base import Clusters
from posterior.families.symbols import FARTHEST, from_zero
from posterior.sql.densities import within
from posterior.sql.expressions import SQL, less, negative, times
from posterior.sql.sql_columns import Column
from posterior.sql.sql_scores import Scores, Term, scores


@scores.register
def _(model: Clusters, columns: Sequence[Column]) -> Scores:
    """s_k = -|x - c_k|², of the cells that are there;  p(k | x) ∝ π_k exp(s_k / 2σ²)"""
    if model.fitted_.sparse:
        raise TypeError(
            f"Expected a {type(model).__name__} fitted to dense rows, got one fitted to sparse "
            "rows. Fit it to X.toarray()."
        )
    centers = np.asarray(model.cluster_centers_, np.float64)
    found = []
    for j, c in enumerate(columns):
        places, least = from_zero(centers[:, j], float(np.sqrt(model.variance_)))
        x = c.number_or_infinity(least)
        found.append(Term(c.name, [_closeness(x, m) for m in places]))
    with np.errstate(divide="ignore"):
        scale = float(1 / (2 * np.float64(model.variance_)))
    return Scores(np.arange(len(centers)), np.zeros(len(centers)), found, scale, model.weights_)


def _closeness(x: SQL, center: float) -> SQL:
    """-(x - c)², or so far away that no cluster is closer than another."""
    square = times(less(x.copy(), center), less(x.copy(), center))
    return within(x, (center - FARTHEST, center + FARTHEST), negative(square))
