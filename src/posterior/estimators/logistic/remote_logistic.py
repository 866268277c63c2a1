"""Rows of a table that is elsewhere, as logistic regression reads them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from posterior.data.rows import Hard, Rows
from posterior.data.typing import Array, Floats
from posterior.engines.engine import BatchEngine
from posterior.engines.locate import locate
from posterior.estimators.checkpoint import FilePath, checkpointed, refuse_in_memory
from posterior.estimators.elsewhere import column_of, weights_of
from posterior.estimators.logistic import settings
from posterior.preprocessing.first_look import ClassWeights, FirstLook
from posterior.sources import target
from posterior.sources.remote_rows import RemoteRows, sampled
from posterior.sources.source import Batch, Source, errors_in


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A batch as rows, by a model that knows its columns."""

    model: Any
    target: Any
    weight: Any  # the column of weights, if there is one
    classes: Array
    factor: Floats | None  # (n_classes,): what a row of each class counts

    def __call__(self, batch: Batch) -> Rows:
        with errors_in(batch):
            frame, y, w = target.apart(batch.frame, self.target, self.weight)
            features = self.model._features(frame, fitting=True, reset=False)
            self.model._check_cells(features, 0, fitting=True)
            codes, weight = target.codes(y, self.classes), target.weights(w)
        if self.factor is not None:
            weight = self.factor[codes] * (1.0 if weight is None else weight)
        return Rows(features, Hard(codes, len(self.classes), weight))


def distant_rows(
    model: Any, engine: BatchEngine, source: Source, y: Any, weight: Any
) -> RemoteRows:
    """The rows of a source; sets the classes, the names of the columns, and how they are read."""
    look = engine.sum(FirstLook(y, weight, type(model).__name__, encoded=True), source).checked()
    assert look.classes is not None
    seen = look.classes
    frame, _, _ = target.apart(look.kept.frame(), y, weight)
    assert look.columns is not None
    array = isinstance(frame, np.ndarray)  # nothing but numbers, none of which may be missing
    model._learn_columns(frame, None if array else look.columns.encoding())
    model.classes_ = seen.classes
    factor = class_factors(model.class_weight, seen)
    reading = Reading(copy.copy(model), y, weight, seen.classes, factor)
    total = partial(engine.sum, source=source)
    sample = sampled(look.kept.frame(), reading, total)
    if len(sample) < look.kept.n_rows:  # each counts for those left out
        n = look.kept.n_rows / len(sample)
        weights = np.full(len(sample), n) if sample.hard.weight is None else n * sample.hard.weight
        sample = Rows(sample.X, Hard(sample.hard.codes, len(seen.classes), weights))
    of_all = look.weight if factor is None else float(factor @ seen.weight)
    return RemoteRows(total, reading, sample, look.kept.n_rows, of_all)


def class_factors(asked: Any, seen: ClassWeights) -> Floats | None:
    """What a row of each class counts, as class_weight says."""
    if asked is None:
        return None
    if asked == "balanced":
        return np.asarray(seen.weight.sum() / (len(seen.weight) * seen.weight))
    each = compute_class_weight(asked, classes=seen.classes, y=seen.classes)
    return np.asarray(each, np.float64)


@contextmanager
def all_rows(
    model: Any, X: Any, y: Any, weight: Any, offset: Any, checkpoint: FilePath | None
) -> Iterator[Rows | RemoteRows]:
    """The rows of a fit, in memory or elsewhere, while it lasts."""
    where = locate(X)
    if where is None:
        refuse_in_memory(checkpoint)
        yield model._rows(X, y, weight, offset)
        return
    if offset is not None or model.firth:
        raise ValueError(
            "Expected no offset and firth=False for a table that is elsewhere: both need its rows "
            "in memory."
        )
    engine, source = where
    y, weight = column_of(source, y, "target column"), weights_of(source, weight)
    with checkpointed(model, engine, source, checkpoint, y=y, sample_weight=weight) as engine:
        rows = distant_rows(model, engine, source, y, weight)
        model._check_classes()
        settings.check_input(model.solver, rows.sample.X, len(model.classes_))
        yield rows
