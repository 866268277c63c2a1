"""The picture of a model, whichever model it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior.data.names import plain
from posterior.plots.coefficients import coefficients
from posterior.plots.components import components
from posterior.plots.densities import densities
from posterior.plots.look import Chart
from posterior.plots.neighbors import error_by_k
from posterior.plots.structure import structure


def plot(model: Any, X: Any = None, y: Any = None, **options: Any) -> Chart:
    """What there is to see of a fitted model.

    Of a mixture its components, of logistic regression its coefficients, of neighbors what each
    number of them costs, of columns that depend on each other their graph, and of any other
    generative classifier one column by class, for which it needs the rows.

    Parameters
    ----------
    model : fitted estimator
    X, y : as in `fit`, optional
        The rows to draw.
    **options
        Of the picture: see `components`, `coefficients`, `error_by_k`, `structure` and `densities`.

    Returns
    -------
    Altair chart
    """
    check_is_fitted(model)
    if hasattr(model, "lower_bound_") and not hasattr(model, "coef_"):
        return components(model, X, **options)
    if hasattr(model, "structure_"):
        return structure(model, **options)
    if hasattr(model, "predict_joint_log_proba"):
        if X is None or y is None:
            raise ValueError(
                f"Expected the rows to draw beside what {type(model).__name__} fitted to them, "
                "got none. Call plot(model, X, y)."
            )
        return densities(model, X, y, **options)
    if hasattr(model, "coef_"):
        return coefficients(_coefficient_names(model), np.ravel(model.coef_), **options)
    if hasattr(model, "selection_") and hasattr(model, "n_neighbors"):
        return error_by_k(model, **options)
    raise TypeError(
        f"Expected a mixture, a generative classifier, logistic regression, or neighbors that "
        f"chose their number, got {type(model).__name__}, which has no picture of its own."
    )


def _coefficient_names(model: Any) -> list[str]:
    """Columns, with the class they speak for where there are several rows of coefficients."""
    lines, d = np.atleast_2d(model.coef_).shape
    names = [str(plain(n)) for n in getattr(model, "feature_names_in_", range(d))]
    if lines == 1:
        return names
    return [f"{name}, {plain(label)}" for label in model.classes_ for name in names]
