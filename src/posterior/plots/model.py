"""The picture of a model, whichever model it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from posterior.data import frames
from posterior.data.names import feature_names, plain
from posterior.estimators import (
    Additive,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    KNeighborsClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    LogisticRegressionCV,
    QuadraticDiscriminantAnalysis,
)
from posterior.evaluation.boundary import decision_boundary
from posterior.plots.cells import CLUSTERED, cells
from posterior.plots.coefficients import coefficients
from posterior.plots.components import components
from posterior.plots.densities import Joint, densities
from posterior.plots.importances import panel
from posterior.plots.likelihoods import DISCRETE, likelihoods
from posterior.plots.look import Chart
from posterior.plots.neighbors import error_by_k
from posterior.plots.normals import MIXTURES
from posterior.plots.regions import of_model, regions
from posterior.plots.separation import DEEPEST, separation
from posterior.plots.sigmoid import sigmoid
from posterior.plots.structure import STRUCTURED, structure

LOGISTIC = (LogisticRegression, LogisticRegressionCV)
NORMAL = (
    GaussianDiscriminantAnalysis,
    GaussianNB,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)


def plot(model: Any, X: Any = None, y: Any = None, **options: Any) -> Chart:
    """What there is to see of a fitted model.

    Of one or two columns, the model over the rows: the logistic curve, the densities of normal
    classes or their ellipses, the cells of clusters, the answers of neighbors, each with the
    boundaries. Else of a mixture its components, of logistic regression its coefficients, of
    neighbors what each number of them costs, of columns that depend on each other their graph, of
    words, categories, and yes and no their probabilities by class, of an additive model its terms
    ranked and the shapes of the first, and of any other generative classifier one column by class,
    for which it needs the rows.

    Parameters
    ----------
    model : fitted estimator
    X, y : as in `fit`, optional
        The rows to draw.
    **options
        Of the picture: see `components`, `coefficients`, `sigmoid`, `separation`, `regions`,
        `cells`, `likelihoods`, `error_by_k`, `structure` and `densities`.

    Returns
    -------
    Altair chart
    """
    check_is_fitted(model)
    if isinstance(model, MIXTURES):
        return components(model, X, **options)
    if isinstance(model, STRUCTURED):
        return structure(model, **options)
    if isinstance(model, Additive):
        return panel(model, **options)
    if isinstance(model, DISCRETE):
        return likelihoods(model, **options)
    if isinstance(model, CLUSTERED):
        if X is None:
            raise _needs_rows(model, "X")
        return cells(model, X, **options)
    if isinstance(model, LOGISTIC):
        return _logistic(model, X, y, options)
    if isinstance(model, Joint):
        if X is None or y is None:
            raise _needs_rows(model, "X, y")
        return _by_class(model, X, y, options)
    if isinstance(model, KNeighborsClassifier):
        if X is not None and model.n_features_in_ == 2:
            X, y, target = _split(X, y)
            return of_model(model, X, y, **{"target": target, "deepest": DEEPEST, **options})
        if hasattr(model, "selection_"):
            return error_by_k(model, **options)
    raise TypeError(
        "Expected a mixture, clusters, a generative classifier, logistic regression, an additive "
        "model, neighbors in two columns, or neighbors that chose their number, got "
        f"{type(model).__name__}, which has no picture of its own."
    )


def _logistic(model: Any, X: Any, y: Any, options: dict[str, Any]) -> Chart:
    """The curve of one column, the line of two, or else the coefficients."""
    outputs, d = model.coef_.shape
    numbers = X is not None and model.encoding_ is None
    if numbers and d == 2:
        X, y, target = _split(X, y)
        return separation(model, X, y, **{"target": target, **options})
    if numbers and d == 1 and outputs == 1 and y is not None:
        X, y, _ = _split(X, y)
        return sigmoid(model, X, y, **options)
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    return coefficients(_coefficient_names(model), np.ravel(coef), **options)


def _by_class(model: Any, X: Any, y: Any, options: dict[str, Any]) -> Chart:
    """Normal classes in their plane; of others, or where a column is named, one column."""
    # Student's t, of what the rows leave open, has boundaries that are not quadratic
    student = isinstance(model, GaussianDiscriminantAnalysis) and model.predictive
    if isinstance(model, NORMAL) and model.n_features_in_ == 2 and not set(options) - {"target"}:
        X, y, target = _split(X, y)
        draw = regions if student else separation
        return draw(model, X, y, **{"target": target, **options})
    if isinstance(model, NORMAL) and model.n_features_in_ == 1 and not student:
        options = {"boundaries": decision_boundary(model, form="points").at, **options}
    return densities(model, X, y, **options)


def _split(X: Any, y: Any) -> tuple[Any, Any, str]:
    """Rows, their labels, and what these are called."""
    if isinstance(y, str):
        name = y
        X, y = frames.split_target(X, y)
        return X, y, name
    return X, y, str(getattr(y, "name", None) or "class")


def _needs_rows(model: Any, rows: str) -> ValueError:
    return ValueError(
        f"Expected the rows to draw beside what {type(model).__name__} fitted to them, got none. "
        f"Call plot(model, {rows})."
    )


def _coefficient_names(model: Any) -> list[str]:
    """Columns, with the class they speak for where there are several rows of coefficients."""
    lines, d = model.coef_.shape
    known = feature_names(model)
    names = [str(plain(name)) for name in (range(d) if known is None else known)]
    if lines == 1:
        return names
    return [f"{name}, {plain(label)}" for label in model.classes_ for name in names]
