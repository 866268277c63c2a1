"""Reads batches of a table that is elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.rows import Hard, Rows
from posterior.data.typing import Array, Codes, Floats
from posterior.readers.reader import Reader
from posterior.sources import target
from posterior.sources.source import Batch, errors_in

Grouping = Callable[[Any, Floats | None, int], Hard]  # of a column of labels, weights, rows


@dataclass(frozen=True, slots=True, eq=False)
class BatchRows:
    """A batch as rows: features by a reader that knows the columns, groups by their labels."""

    reader: Reader
    grouping: Grouping
    y: Any = None  # the column of labels, if there is one
    weight: Any = None  # the column of weights, if there is one

    def __call__(self, batch: Batch) -> Rows:
        with errors_in(batch):
            frame, y, w = target.apart(batch.frame, self.y, self.weight)
            features = self.reader.read(frame, fitting=True)
            self.reader.check(features, fitting=True)
            return Rows(features, self.grouping(y, target.weights(w), features.shape[0]))


@dataclass(frozen=True, slots=True)
class InOneGroup:
    """Rows without labels, all of one group, or hidden."""

    code: int = 0

    def __call__(self, y: Any, weight: Floats | None, n_rows: int) -> Hard:
        return Hard(np.full(n_rows, self.code, np.int32), 1, weight)


@dataclass(frozen=True, slots=True, eq=False)
class AmongClasses:
    """Rows whose labels are among classes that are known; others are hidden."""

    classes: Array
    factor: Floats | None = None  # (n_classes,): what a row of each class counts
    labels: Callable[[Any], tuple[Array, Codes]] = target.labels

    def __call__(self, y: Any, weight: Floats | None, n_rows: int) -> Hard:
        found, codes = self.labels(y)
        among = np.append(np.searchsorted(self.classes, found), -1).astype(np.int32)[codes]
        if self.factor is not None:
            weight = self.factor[among] * (1.0 if weight is None else weight)
        return Hard(among, len(self.classes), weight)
