"""Rows of a table that is elsewhere, some of whose labels are hidden."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from posterior.data import validate
from posterior.data.frames import missing
from posterior.data.rows import Hard, Rows
from posterior.data.typing import Array, Codes
from posterior.engines.engine import BatchEngine
from posterior.generative.expectation import HIDDEN
from posterior.preprocessing.first_look import FirstLook
from posterior.sources import target
from posterior.sources.remote_rows import RemoteRows, sampled
from posterior.sources.source import Batch, Source, errors_in


@dataclass(frozen=True, slots=True)
class PartlyKnown:
    """Classes of a column, and the codes of its rows, HIDDEN where a label is marked or missing."""

    marker: Any

    def __call__(self, column: Any) -> tuple[Array, Codes]:
        different, place = target.different(column)
        known = np.array([not missing(v) and v != self.marker for v in different], bool)
        labels = [v for v, is_known in zip(different, known, strict=True) if is_known]
        codes = np.full(len(different) + 1, HIDDEN, np.int32)  # the last is that of nothing
        classes = np.array(labels)
        if labels:
            classes, codes[np.flatnonzero(known)] = validate.labels(classes, len(labels))
        return classes, codes[place]


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A batch as rows, by a classifier that knows its columns."""

    model: Any
    target: Any
    weight: Any  # the column of weights, if there is one
    labels: PartlyKnown
    classes: Array

    def __call__(self, batch: Batch) -> Rows:
        with errors_in(batch):
            frame, y, w = target.apart(batch.frame, self.target, self.weight)
            features = self.model._features(frame, fitting=True, reset=False)
            self.model._check_cells(features, 0, fitting=True)
            weight, (found, codes) = target.weights(w), self.labels(y)
        among = np.append(np.searchsorted(self.classes, found), HIDDEN).astype(np.int32)
        return Rows(features, Hard(among[codes], len(self.classes), weight))


def partly_labeled(
    base: Any, marker: Any, engine: BatchEngine, source: Source, y: Any, weight: Any
) -> tuple[Array, RemoteRows]:
    """The classes and the rows of a source; the classifier gets to know the columns."""
    labels = PartlyKnown(marker)
    look = engine.sum(FirstLook(y, weight, type(base).__name__, False, labels), source).checked()
    assert look.classes is not None
    classes = look.classes.classes
    if len(classes) == 0:
        raise ValueError(
            "Expected some rows with a label, all of them are hidden. Use Mixture to find groups "
            "that nobody has named."
        )
    frame, _, _ = target.apart(look.kept.frame(), y, weight)
    base._features(frame, fitting=True, reset=True)
    reading = Reading(copy.copy(base), y, weight, labels, classes)
    total = partial(engine.sum, source=source)
    sample = sampled(look.kept.frame(), reading, total)
    return classes, RemoteRows(total, reading, sample, look.kept.n_rows, look.weight)
