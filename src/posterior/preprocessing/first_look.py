"""What a fit must know of a table that is elsewhere before it looks at it again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data import frames, validate
from posterior.data.rows import Hard
from posterior.data.typing import Array, Codes, Floats
from posterior.preprocessing.encoding import CategoryColumn, Encoding, NumberColumn, empty
from posterior.sources import target
from posterior.sources.sampling import Kept
from posterior.sources.source import Batch, errors_in
from posterior.statistics.moments import Totals


@dataclass(frozen=True, slots=True, eq=False)
class ClassWeights:
    """The classes seen so far, and the weight of each."""

    classes: Array
    weight: Floats

    def __add__(self, other: ClassWeights, /) -> ClassWeights:
        if len(other.classes) == 0 or len(self.classes) == 0:  # which have no type either
            return self if len(other.classes) == 0 else other
        classes = validate.union(self.classes, other.classes)
        weight = np.zeros(len(classes))
        for part in (self, other):
            weight[np.searchsorted(classes, part.classes)] += part.weight
        return ClassWeights(classes, weight)


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """What an encoding is made of: sums of numbers, and the levels of categories, which add."""

    numbers: tuple[str, ...]
    totals: Totals  # (1, numbers)
    n_rows: int
    categories: tuple[CategoryColumn, ...]
    order: tuple[str, ...]  # of all columns

    @classmethod
    def of(cls, frame: Any, estimator: str) -> Columns:
        """Of a frame, or of an array, which is nothing but numbers."""
        table = frames.as_frame(frame)
        columns = [] if table is None else [*table.iter_columns()]
        kinds = {column.name: frames.kind(column) for column in columns}
        if table is None:
            kinds, cells = {str(j): "number" for j in range(frame.shape[1])}, frame
        numbers = tuple(name for name, kind in kinds.items() if kind == "number")
        if table is not None:
            cells = np.empty((len(table), len(numbers)))
            for j, name in enumerate(numbers):
                cells[:, j] = frames.numbers(table.get_column(name))
        validate.check_numbers(
            cells,
            names=numbers,
            allow_missing=True,
            allow_negative=True,
            estimator=estimator,
        )
        in_one = Hard(np.zeros(len(cells), np.int32), 1)
        categories = tuple(CategoryColumn.seen(c) for c in columns if kinds[c.name] != "number")
        return cls(numbers, Totals.of(cells, in_one), len(cells), categories, tuple(kinds))

    def __add__(self, other: Columns, /) -> Columns:
        both = zip(self.categories, other.categories, strict=True)
        return Columns(
            self.numbers,
            self.totals + other.totals,
            self.n_rows + other.n_rows,
            tuple(a + b for a, b in both),
            self.order,
        )

    @property
    def complete(self) -> bool:
        """Whether no number is missing."""
        return bool((self.totals.weight.rounded()[0] == self.n_rows).all())

    def encoding(self) -> Encoding | None:
        """None where the table holds nothing but numbers."""
        weight = self.totals.weight.rounded()[0]
        columns: dict[str, NumberColumn | CategoryColumn] = {c.name: c for c in self.categories}
        if not self.categories and self.complete:
            return None
        for name, count, mean in zip(self.numbers, weight, self.totals.mean()[0], strict=True):
            if count == 0:
                raise empty(name)
            columns[name] = NumberColumn(name, float(mean), bool(count < self.n_rows))
        for category in self.categories:
            if not category.levels:
                raise empty(category.name)
        return Encoding(tuple(columns[name] for name in self.order))


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A sample, the weight of all rows, and where they matter the classes and the columns."""

    kept: Kept
    weight: float
    classes: ClassWeights | None
    columns: Columns | None

    def __add__(self, other: Look, /) -> Look:
        return Look(
            self.kept + other.kept,
            self.weight + other.weight,
            _added(self.classes, other.classes),
            _added(self.columns, other.columns),
        )

    def checked(self) -> Look:
        """The look at a table whose rows count."""
        if not self.weight > 0:
            raise ValueError(
                "Expected at least one row of positive weight, got weights of zero only."
            )
        return self


@dataclass(frozen=True, slots=True)
class FirstLook:
    """What a batch adds to a look."""

    target: Any  # the column of labels, if there is one
    weight: Any  # the column of weights
    estimator: str  # for errors
    encoded: bool  # whether columns become numbers
    labels: Callable[[Any], tuple[Array, Codes]] = target.labels

    def __call__(self, batch: Batch) -> Look:
        with errors_in(batch):
            frame, y, w = target.apart(batch.frame, self.target, self.weight)
            weight = target.weights(w)
            classes = None
            if y is not None:
                names, codes = self.labels(y)
                known = codes >= 0
                counted = None if weight is None else weight[known]
                of_each = np.bincount(codes[known], counted, len(names)).astype(np.float64)
                classes = ClassWeights(names, of_each)
            columns = Columns.of(frame, self.estimator) if self.encoded else None
        total = float(len(frame) if weight is None else weight.sum())
        return Look(Kept.of(batch), total, classes, columns)


def _added(a: Any, b: Any) -> Any:
    return None if a is None else a + b
