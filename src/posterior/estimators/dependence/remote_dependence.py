"""Tables that are elsewhere: what says where to cut, and who depends on whom, adds up too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from posterior.data.rows import Rows
from posterior.data.typing import Array
from posterior.engines.engine import BatchEngine
from posterior.estimators.checkpoint import FilePath, checkpointed
from posterior.estimators.elsewhere import Learn, Learned, column_of, learn_columns, weights_of
from posterior.sources.source import Source
from posterior.statistics.class_histogram import ClassHistogram

S = TypeVar("S")


class Total(Protocol):
    """What all rows say to a look, wherever they are."""

    def __call__(self, look: Callable[[Rows], S], /) -> S: ...


@dataclass(frozen=True, slots=True, eq=False)
class ClassHistograms:
    """The classes at each value of some columns."""

    parts: tuple[ClassHistogram, ...]

    def __add__(self, other: ClassHistograms, /) -> ClassHistograms:
        pairs = zip(self.parts, other.parts, strict=True)
        return ClassHistograms(tuple(a + b for a, b in pairs))

    def placed(self, index: Array, n_groups: int) -> ClassHistograms:
        return ClassHistograms(tuple(part.placed(index, n_groups) for part in self.parts))


@dataclass(frozen=True, slots=True, eq=False)
class Looking:
    """A model that takes a look at rows, in the place of one that learns them."""

    model: Any
    look: Callable[[Rows], Any]  # which adds up

    def _features(self, X: Any, fitting: bool, reset: bool) -> Any:
        return self.model._features(X, fitting, reset)

    def _sum(self, rows: Rows) -> Any:
        return self.look(rows)


def learned(
    model: Any, there: tuple[BatchEngine, Source], y: Any, weight: Any, checkpoint: FilePath | None
) -> Learned:
    """One pass for each look, and one for the sums of all rows of a source."""
    engine, source = there
    y, weight = column_of(source, y, "target column"), weights_of(source, weight)
    for name in ("statistics_", "joint_"):  # they need not travel
        model.__dict__.pop(name, None)
    with checkpointed(model, engine, source, checkpoint, y=y, sample_weight=weight) as journaled:
        learn_columns(model, journaled, source, y, weight)

        def summed(reader: Any) -> Learned:
            return journaled.sum(Learn(reader, y, weight), source)

        model._prepare(lambda look: summed(Looking(model, look)).statistics)
        total = summed(model)
    if not total.statistics.weight.rounded().any():
        raise ValueError("Expected at least one row of positive weight, got weights of zero only.")
    return total
