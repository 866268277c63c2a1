"""The picture of a model, whichever model it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior.data.names import feature_names, plain
from posterior.estimators import KNeighborsClassifier, LogisticRegression, LogisticRegressionCV
from posterior.plots.coefficients import coefficients
from posterior.plots.components import components
from posterior.plots.densities import Joint, densities
from posterior.plots.look import Chart
from posterior.plots.neighbors import error_by_k
from posterior.plots.normals import MIXTURES
from posterior.plots.structure import STRUCTURED, structure


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
    if isinstance(model, MIXTURES):
        return components(model, X, **options)
    if isinstance(model, STRUCTURED):
        return structure(model, **options)
    if isinstance(model, Joint):
        if X is None or y is None:
            raise ValueError(
                f"Expected the rows to draw beside what {type(model).__name__} fitted to them, "
                "got none. Call plot(model, X, y)."
            )
        return densities(model, X, y, **options)
    if isinstance(model, LogisticRegression | LogisticRegressionCV):
        return coefficients(_coefficient_names(model), np.ravel(model.coef_), **options)
    if isinstance(model, KNeighborsClassifier) and hasattr(model, "selection_"):
        return error_by_k(model, **options)
    raise TypeError(
        f"Expected a mixture, a generative classifier, logistic regression, or neighbors that "
        f"chose their number, got {type(model).__name__}, which has no picture of its own."
    )


def _coefficient_names(model: Any) -> list[str]:
    """Columns, with the class they speak for where there are several rows of coefficients."""
    lines, d = np.atleast_2d(model.coef_).shape
    known = feature_names(model)
    names = [str(plain(name)) for name in (range(d) if known is None else known)]
    if lines == 1:
        return names
    return [f"{name}, {plain(label)}" for label in model.classes_ for name in names]
