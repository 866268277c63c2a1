"""Components of classes, and clusters."""

from __future__ import annotations

import numpy as np

from posterior.generative.class_components import Components, FittedComponents
from posterior.generative.fitted import Fitted
from posterior.generative.kmeans.fitted_clusters import FittedClusters
from posterior.generative.kmeans.mini_batch_steps import BatchStream
from posterior.generative.several_starts import Convergence
from posterior.readers.labels import Labels
from posterior.storage.calibrator_checks import check_calibrator
from posterior.storage.checks import looks, n_columns
from posterior.storage.extents import n_classes, shape_of
from posterior.storage.model_file_error import expect


@looks.register
def _(value: Components) -> None:
    sizes = value.sizes
    whole = isinstance(sizes, tuple) and all(type(n) is int and n > 0 for n in sizes)
    expect(whole, "numbers of components")


@looks.register
def _(value: FittedComponents) -> None:
    labels, components, fitted = value.labels, value.components, value.fitted
    expect(isinstance(labels, Labels) and isinstance(components, Components), "classes")
    expect(len(components.sizes) == n_classes(labels.classes), "components of the classes")
    expect(isinstance(fitted, Fitted) and fitted.joint is not None, "a model of the components")
    expect(len(fitted.labels) == len(components), "a model of the components")
    expect(isinstance(fitted.derived, Convergence), "the steps of EM")
    check_calibrator(value.calibrator, len(components.sizes))


@looks.register
def _(value: FittedClusters) -> None:
    n, shape = n_columns(value.reader), shape_of(value.centers)
    expect(len(shape) == 2 and shape[1] == n, "centers as wide as the rows")
    expect(np.isfinite(value.centers).all(), "centers of finite numbers")
    expect(
        value.weights is None or shape_of(value.weights) == shape[:1], "a weight of each cluster"
    )
    if value.stream is not None:
        expect(isinstance(value.stream, BatchStream), "a stream of batches")
        expect(shape_of(value.stream.weight) == shape, "the weight that each center received")
