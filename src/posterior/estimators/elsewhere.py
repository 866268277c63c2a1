"""Fitting where the rows are: files, a database, a cluster. What their batches say adds up."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from posterior.data import validate
from posterior.data.rows import Hard, Rows
from posterior.data.typing import Array
from posterior.engines.engine import BatchEngine, first_rows
from posterior.engines.locate import locate
from posterior.engines.streaming import Streamed
from posterior.estimators.checkpoint import FilePath, checkpointed, refuse_in_memory
from posterior.generative.joint import JointStatistics
from posterior.sources import target
from posterior.sources.files import column_named
from posterior.sources.source import Batch, Source, errors_in
from posterior.sources.strings import Describe, Described

HEAD = 1000  # rows that say which columns there are


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What labeled rows add up to: the classes among them, and their sums by class."""

    classes: Array  # sorted
    statistics: JointStatistics[Any]
    strings: Described = field(default_factory=Described)  # what tells texts from categories

    def __add__(self, other: Self, /) -> Self:
        classes = validate.union(self.classes, other.classes)
        statistics = self.among(classes) + other.among(classes)
        return type(self)(classes, statistics, self.strings + other.strings)

    def among(self, classes: Array) -> JointStatistics[Any]:
        """The sums with room for other classes."""
        if len(classes) == len(self.classes):
            return self.statistics
        return self.statistics.placed(np.searchsorted(classes, self.classes), len(classes))


@dataclass(frozen=True, slots=True, eq=False)
class Learn:
    """The sums of a batch, by a model that knows the columns and has learned nothing."""

    model: Any
    y: Any  # the column of the classes, and that of the weights
    weight: Any = None
    words: Sequence[str] = ()  # columns that hold texts or categories

    def __call__(self, batch: Batch) -> Learned:
        with errors_in(batch):
            X, labels, weight = target.apart(batch.frame, self.y, self.weight)
            classes, codes = target.labels(labels)
            features = self.model._features(X, fitting=True, reset=False)
            groups = Hard(codes, len(classes), target.weights(weight))
            statistics = self.model._sum(Rows(features, groups))
            return Learned(classes, statistics, Describe(self.words)(batch))


def found(X: Any, checkpoint: FilePath | None = None) -> tuple[BatchEngine, Source] | None:
    """The engine and the source of a table that is elsewhere; None if it is in memory."""
    there = locate(X)
    if there is None:
        refuse_in_memory(checkpoint)
    return there


def refuse_elsewhere(X: Any, method: str) -> None:
    """What a method says of each row would need the memory that the rows do not have."""
    if locate(X) is not None:
        raise TypeError(
            f"Expected rows in memory for {method}, got a table that is elsewhere. Call fit, and "
            "then ask for the rows batch by batch."
        )


def learned(
    model: Any,
    there: tuple[BatchEngine, Source],
    y: Any,
    weight: Any = None,
    checkpoint: FilePath | None = None,
) -> Learned:
    """The sum over all rows of a source; the model gets to know the columns."""
    engine, source = there
    y = column_of(source, y, "target column")
    weight = weights_of(source, weight)
    if isinstance(engine, Streamed):
        engine = Streamed(verbose=bool(getattr(model, "verbose", False)))
    asked = {"y": y, "sample_weight": weight}
    with checkpointed(model, engine, source, checkpoint, **asked) as journaled:
        words = _look(model, source, y, weight)
        total = journaled.sum(Learn(_blank(model), y, weight, words), source)
        if _correct(model, words, total.strings):
            total = journaled.sum(Learn(_blank(model), y, weight), source)
    if not total.statistics.weight.rounded().any():
        raise ValueError("Expected at least one row of positive weight, got weights of zero only.")
    return total


def column_of(source: Source, asked: Any, what: str) -> Any:
    """A name that the source has, or a position where columns have no names."""
    if source.names and isinstance(asked, str):
        return column_named(source.names, asked, what)
    if not source.names and isinstance(asked, int):
        return asked
    kind = "name" if source.names else "position"
    raise TypeError(
        f"Expected the {what} by its {kind}, since the rows are not in memory, got "
        f"{type(asked).__name__}."
    )


def weights_of(source: Source, asked: Any) -> Any:
    """The column of the weights, if there is one."""
    return None if asked is None else column_of(source, asked, "column of weights")


def learn_columns(model: Any, engine: BatchEngine, source: Source, y: Any, weight: Any) -> None:
    """Names and kinds of the columns, as the model would find them in the whole table."""
    if words := _look(model, source, y, weight):
        _correct(model, words, engine.sum(Describe(words), source.select(words)))


def _look(model: Any, source: Source, y: Any, weight: Any) -> list[str]:
    """Names and kinds of the columns by the first rows; which of them are texts, all rows tell."""
    batch = first_rows(source, HEAD)
    with errors_in(batch):
        head, _ = target.apart(batch.frame, weight)
        X, _ = model._with_target(head, y) if isinstance(y, str) else target.apart(head, y)
        model._features(X, fitting=True, reset=True)
    if not source.names or not getattr(model, "reads_text", False):
        return []
    asked = model.families if isinstance(model.families, Mapping) else {}
    return [name for name in _strings(batch.frame) if name not in {*asked, y, weight}]


def _correct(model: Any, names: Sequence[str], found: Described) -> bool:
    """Whether the first rows told a text from a category wrongly; the model then knows better."""
    if not names:
        return False
    pairs = zip(names, found.columns, strict=True)
    kinds = {name: "text" if strings.are_sentences() else "category" for name, strings in pairs}
    before = model.plan_
    model.plan_ = before.with_kinds(kinds)
    return bool(model.plan_ != before)


def _strings(table: Any) -> list[str]:
    """The columns of a table of Arrow that hold strings."""
    import pyarrow as pa

    kinds = {field.name: field.type for field in table.schema}
    plain = {n: t.value_type if pa.types.is_dictionary(t) else t for n, t in kinds.items()}
    words = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return [name for name, kind in plain.items() if any(is_words(kind) for is_words in words)]


def _blank(model: Any) -> Any:
    """The model as it reads rows. Class probabilities that were given wait for all classes."""
    blank = copy.copy(model)
    for name in ("classes_", "statistics_"):
        blank.__dict__.pop(name, None)
    if hasattr(blank, "priors"):
        blank.priors = None
    return blank
