"""Classes, numbers in order, and discretizers in files."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.preprocessing import KBinsDiscretizer, SupervisedDiscretizer
from posterior.statistics.class_histogram import ClassHistogram
from posterior.storage.extents import shape_of
from posterior.storage.model_file_error import expect


def check_bins(model: KBinsDiscretizer) -> None:
    """Edges of each feature, in order."""
    if "bin_edges_" not in vars(model):
        return
    edges = model.bin_edges_
    expect(shape_of(edges) == (model.n_features_in_,), "edges of each feature")
    expect(all(len(e) > 1 and ascending(e) for e in edges), "edges in order")
    expect(np.array_equal(model.n_bins_, [len(e) - 1 for e in edges]), "bins between edges")


def check_cuts(model: SupervisedDiscretizer) -> None:
    """Cut points of each feature, and the counts that they were chosen by."""
    if "statistics_" not in vars(model):
        return
    k, parts, cuts = n_classes(model.classes_), model.statistics_, model.cut_points_
    expect(len(parts) == len(cuts) == model.n_features_in_, "cut points of each feature")
    for part in parts:
        expect(isinstance(part, ClassHistogram) and part.counts.shape[1] == k, f"{k} classes")
    expect(all(ascending(c) for c in cuts), "cut points in order")
    expect(np.array_equal(model.n_bins_, [len(c) + 1 for c in cuts]), "bins between cut points")


def n_classes(classes: Any) -> int:
    """How many classes there are, which must be in order."""
    expect(isinstance(classes, np.ndarray) and classes.ndim == 1, "classes")
    expect(np.array_equal(np.unique(classes), classes), "classes in order, each once")
    return len(classes)


def ascending(values: Any) -> bool:
    """Whether numbers are in order, each once."""
    numbers = isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.ndim == 1
    return numbers and bool((values[:-1] < values[1:]).all() and not np.isnan(values).any())
