"""The picture of a model, whichever model it is."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from posterior.estimators import (
    Additive,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    JointBayes,
    KNeighborsClassifier,
    LinearDiscriminantAnalysis,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
)
from posterior.evaluation.boundary import decision_boundary
from posterior.plots.cells import CLUSTERED, cells
from posterior.plots.combinations import combinations
from posterior.plots.components import components
from posterior.plots.densities import Joint, densities
from posterior.plots.importances import panel
from posterior.plots.likelihoods import DISCRETE, likelihoods
from posterior.plots.logistic_picture import LOGISTIC, logistic, split
from posterior.plots.look import Chart
from posterior.plots.neighbors import error_by_k
from posterior.plots.normals import MIXTURES
from posterior.plots.one_step import STEPS, of_step
from posterior.plots.regions import of_model, regions
from posterior.plots.separation import DEEPEST, separation
from posterior.plots.structure import STRUCTURED, structure

NORMAL = (
    GaussianDiscriminantAnalysis,
    GaussianNB,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)


def plot(model: Any, X: Any = None, y: Any = None, **options: Any) -> Chart:
    """What there is to see of a fitted model, or of a step on the way to one.

    Of one or two columns, the model over the rows: the logistic curve, the densities of normal
    classes or their ellipses, the cells of clusters, the answers of neighbors, each with the
    boundaries. Else of a mixture its components, of logistic regression its coefficients, of
    neighbors what each number of them costs, of columns that depend on each other their graph, of
    `JointBayes` of two columns the answer to each combination of them, of words, categories, and
    yes and no their probabilities by class, of an additive model its terms ranked and the shapes of
    the first, and of any other generative classifier one column by class, for which it needs the
    rows. Normal and Poisson classes and stated models need none.

    Parameters
    ----------
    model : fitted estimator, or a step of `steps`
    X, y : as in `fit`, optional
        The rows to draw; a step holds its own.
    **options
        Of the picture: see `components`, `coefficients`, `sigmoid`, `separation`, `regions`,
        `cells`, `likelihoods`, `error_by_k`, `structure` and `densities`.

    Returns
    -------
    Altair chart
    """
    if isinstance(model, STEPS):
        return of_step(model, **options)
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
        return logistic(model, X, y, options)
    if isinstance(model, JointBayes) and model.n_features_in_ == 2 and X is not None:
        return combinations(model, X, y, **options)
    if isinstance(model, Joint):
        alone = X is None and isinstance(model, (*NORMAL, PoissonNB)) and not _student(model)
        if (X is None or y is None) and not alone:
            raise _needs_rows(model, "X, y")
        return _by_class(model, X, y, options)
    if isinstance(model, KNeighborsClassifier):
        if X is not None and model.n_features_in_ == 2:
            X, y, target = split(X, y)
            return of_model(model, X, y, **{"target": target, "deepest": DEEPEST, **options})
        if hasattr(model, "selection_"):
            return error_by_k(model, **options)
    raise TypeError(
        "Expected a mixture, clusters, a generative classifier, logistic regression, an additive "
        "model, neighbors in two columns, or neighbors that chose their number, got "
        f"{type(model).__name__}, which has no picture of its own."
    )


def _by_class(model: Any, X: Any, y: Any, options: dict[str, Any]) -> Chart:
    """Normal classes in their plane; of others, or where a column is named, one column."""
    student = _student(model)
    if isinstance(model, NORMAL) and model.n_features_in_ == 2 and not set(options) - {"target"}:
        X, y, target = split(X, y)
        draw = regions if student else separation
        return draw(model, X, y, **{"target": target, **options})
    if isinstance(model, NORMAL) and model.n_features_in_ == 1 and not student:
        options = {"boundaries": decision_boundary(model, form="points").at, **options}
    return densities(model, X, y, **options)


def _student(model: Any) -> bool:
    """Student's t, of what the rows leave open, has boundaries that are not quadratic."""
    return isinstance(model, GaussianDiscriminantAnalysis) and bool(model.predictive)


def _needs_rows(model: Any, rows: str) -> ValueError:
    return ValueError(
        f"Expected the rows to draw beside what {type(model).__name__} fitted to them, got none. "
        f"Call plot(model, {rows})."
    )
