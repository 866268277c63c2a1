"""Discretizers in files."""

from __future__ import annotations

import numpy as np

from posterior.preprocessing import KBinsDiscretizer, SupervisedDiscretizer
from posterior.statistics.class_histogram import ClassHistogram
from posterior.storage.checks import looks
from posterior.storage.extents import ascending, n_classes, shape_of
from posterior.storage.model_file_error import expect


@looks.register
def _(model: KBinsDiscretizer) -> None:
    """Edges of each feature, in order."""
    if "bin_edges_" not in vars(model):
        return
    edges = model.bin_edges_
    expect(shape_of(edges) == (model.n_features_in_,), "edges of each feature")
    expect(all(len(e) > 1 and ascending(e) for e in edges), "edges in order")
    expect(np.array_equal(model.n_bins_, [len(e) - 1 for e in edges]), "bins between edges")


@looks.register
def _(model: SupervisedDiscretizer) -> None:
    """Cut points of each feature, and the counts that they were chosen by."""
    if "statistics_" not in vars(model):
        return
    k, parts, cuts = n_classes(model.classes_), model.statistics_, model.cut_points_
    expect(len(parts) == len(cuts) == model.n_features_in_, "cut points of each feature")
    for part in parts:
        expect(isinstance(part, ClassHistogram) and part.counts.shape[1] == k, f"{k} classes")
    expect(all(ascending(c) for c in cuts), "cut points in order")
    expect(np.array_equal(model.n_bins_, [len(c) + 1 for c in cuts]), "bins between cut points")
