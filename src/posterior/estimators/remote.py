"""Fits where the rows are: files, a database, a cluster. What their batches say adds up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from secrets import randbelow
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from posterior.data import validate
from posterior.data.rows import Hard, Rows
from posterior.data.typing import Array
from posterior.engines.engine import BatchEngine, first_rows
from posterior.engines.journaled import Journaled
from posterior.engines.locate import locate
from posterior.engines.streaming import Streamed
from posterior.generative.fitted import Fitted
from posterior.generative.joint import JointStatistics
from posterior.generative.rule import Rule
from posterior.preprocessing.first_look import FirstLook, Look
from posterior.readers.batch import BatchRows, Grouping
from posterior.readers.labels import Labels
from posterior.readers.reader import Reader
from posterior.sources import target
from posterior.sources.files import column_named
from posterior.sources.remote_rows import RemoteRows, sampled
from posterior.sources.source import Batch, Source, errors_in
from posterior.sources.strings import Describe, Described

HEAD = 1000  # rows that say which columns there are
FilePath: TypeAlias = str | os.PathLike[str]
There: TypeAlias = tuple[BatchEngine, Source]


def located(X: Any, checkpoint: FilePath | None = None) -> There | None:
    """The engine and the source of a table that is elsewhere; None if it is in memory."""
    there = locate(X)
    if there is None and checkpoint is not None:  # rows in memory are gone when the process is
        raise ValueError(
            "Expected a remote table (files, a query, a cluster) to checkpoint its fit, "
            "got rows in memory. Leave checkpoint out."
        )
    return there


def refuse_elsewhere(X: Any, method: str) -> None:
    """What a method says of each row would need the memory that the rows do not have."""
    if locate(X) is not None:
        raise TypeError(
            f"Expected rows in memory for {method}, got a remote table. Call fit, and "
            "then ask for the rows batch by batch."
        )


@contextmanager
def checkpointed(
    model: Any, engine: BatchEngine, source: Any, path: FilePath | None, **given: Any
) -> Iterator[BatchEngine]:
    """An engine that writes its sums down at a path until the fit is done; None: nowhere."""
    if path is None:
        yield engine
        return
    journal = import_module("posterior.storage.journal")
    fit = journal.fit_of(model, given) | source.identity()
    journaled = Journaled(engine, journal.JournalFile(Path(path), fit))
    try:
        yield journaled
    except BaseException:
        journaled.write()
        raise
    journaled.finish()


def random_of(random_state: Any, engine: BatchEngine) -> np.random.RandomState:
    """Random numbers that are the same after a kill, whatever the seed."""
    if random_state is None and isinstance(engine, Journaled):
        random_state = engine.once(lambda: randbelow(1 << 32))
    return check_random_state(random_state)


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


def remote_rows(there: There, look: Look, read: BatchRows) -> RemoteRows:
    """The rows of a source, after a first look at all of them."""
    engine, source = there
    total = partial(engine.sum, source=source)
    frame = look.kept.frame()
    sample = sampled(frame, read, total)
    return RemoteRows(total, read, sample, look.kept.n_rows, look.weight)


def unlabeled_rows(
    there: There, reader: Reader, weight: Any, grouping: Grouping, *, encoded: bool
) -> tuple[Reader, RemoteRows, Look]:
    """Rows of a source without labels, a reader that knows their columns, and a look at them."""
    engine, source = there
    first = FirstLook(None, weight, reader.columns.owner, encoded=encoded)
    look = engine.sum(first, source).checked()
    frame, _ = target.apart(look.kept.frame(), weight)
    reader, _ = reader.learn(frame)
    read = BatchRows(reader, grouping, weight=weight)
    return reader, remote_rows(there, look, read), look


@dataclass(frozen=True, slots=True, eq=False)
class ClassSums:
    """What labeled rows add up to: the classes among them, and their sums by class."""

    classes: Array  # sorted
    statistics: Any
    strings: Described = field(default_factory=Described)  # what tells texts from categories

    def __add__(self, other: Self, /) -> Self:
        classes = validate.union(self.classes, other.classes)
        statistics = self.among(classes) + other.among(classes)
        return type(self)(classes, statistics, self.strings + other.strings)

    def among(self, classes: Array) -> Any:
        """The sums with room for other classes."""
        if len(classes) == len(self.classes):
            return self.statistics
        return self.statistics.placed(np.searchsorted(classes, self.classes), len(classes))


@dataclass(frozen=True, slots=True, eq=False)
class SumBatch:
    """The sums of a batch of labeled rows, by classes that it brings itself."""

    reader: Reader
    function: Callable[[Rows], Any]  # of rows in memory, which adds up
    y: Any  # the column of the classes, and that of the weights
    weight: Any = None
    words: Sequence[str] = ()  # columns that hold texts or categories

    def __call__(self, batch: Batch) -> ClassSums:
        with errors_in(batch):
            X, labels, weight = target.apart(batch.frame, self.y, self.weight)
            classes, codes = target.labels(labels)
            features = self.reader.read(X, fitting=True)
            groups = Hard(codes, len(classes), target.weights(weight))
            rows = Rows(features, groups)
            return ClassSums(classes, self.function(rows), Describe(self.words)(batch))


@dataclass(frozen=True, slots=True, eq=False)
class RemoteTable:
    """Labeled rows that are elsewhere, and how they are read."""

    engine: BatchEngine
    source: Source
    reader: Reader
    y: Any
    weight: Any
    words: Sequence[str] = ()  # columns of which all rows must say whether they are texts

    @classmethod
    def of(
        cls, there: There, reader: Reader, y: Any, weight: Any, verbose: bool = False
    ) -> RemoteTable:
        """Names and kinds of the columns by the first rows; which are texts, all rows tell."""
        engine, source = there
        batch = first_rows(source, HEAD)
        with errors_in(batch):
            head, _, _ = target.apart(batch.frame, y, weight)
            reader, _ = reader.learn(head)
        names = [] if not source.names else reader.unsure(_strings(batch.frame))
        if isinstance(engine, Streamed):
            engine = Streamed(verbose=verbose)
        return cls(engine, source, reader, y, weight, [n for n in names if n not in {y, weight}])

    def sum(self, function: Callable[[Rows], Any]) -> ClassSums:
        """A function of rows added up over all batches, whose kinds of columns are settled."""
        total: ClassSums = self.engine.sum(self._summing(function), self.source)
        return total

    def _summing(self, function: Callable[[Rows], Any]) -> SumBatch:
        return SumBatch(self.reader, function, self.y, self.weight, self.words)

    def settled(self) -> RemoteTable:
        """With the kinds of columns that all rows tell, by a look at them."""
        if not self.words:
            return self
        found = self.engine.sum(Describe(self.words), self.source.select(self.words))
        return self._knowing(found)

    def learned(self, found: Described) -> RemoteTable:
        """The same from a look that came with the sums."""
        return self._knowing(found) if self.words else self

    def _knowing(self, found: Described) -> RemoteTable:
        pairs = zip(self.words, found.columns, strict=True)
        kinds: dict[Any, Any] = {
            name: "text" if strings.are_sentences() else "category" for name, strings in pairs
        }
        reader = self.reader.corrected(kinds)
        return RemoteTable(self.engine, self.source, reader, self.y, self.weight)


class Learner(Protocol):
    """An estimator that learns from sums of labeled rows."""

    def reader(self) -> Reader: ...
    def rule(self, reader: Reader, labels: Labels | None, /) -> Rule: ...
    def total(self, table: RemoteTable) -> tuple[RemoteTable, ClassSums]: ...


def fitted(
    model: Learner, there: There, y: Any, weight: Any, checkpoint: FilePath | None
) -> Fitted:
    """What is learned from labeled rows, summed where they are."""
    engine, source = there
    y, weight = column_of(source, y, "target column"), weights_of(source, weight)
    known = source.summed(model, y) if weight is None else None  # a database adds up by itself
    if known is not None:
        reader, classes, statistics = known
        labels = Labels(classes)
        return Fitted.of(reader, labels, model.rule(reader, labels), statistics)
    asked = {"y": y, "sample_weight": weight}
    with checkpointed(model, engine, source, checkpoint, **asked) as engine:
        verbose = bool(vars(model).get("verbose", False))
        table = RemoteTable.of((engine, source), model.reader(), y, weight, verbose)
        table, total = model.total(table)
    check_weight(total.statistics)
    labels = Labels(total.classes)
    return Fitted.of(table.reader, labels, model.rule(table.reader, labels), total.statistics)


def check_weight(total: JointStatistics[Any]) -> None:
    """Refuse a table whose rows all count for nothing."""
    if not total.weight.rounded().any():
        raise ValueError("Expected at least one row of positive weight, got weights of zero only.")


def _strings(table: Any) -> list[str]:
    """The columns of a table of Arrow that hold strings."""
    import pyarrow as pa

    kinds = {field.name: field.type for field in table.schema}
    plain = {n: t.value_type if pa.types.is_dictionary(t) else t for n, t in kinds.items()}
    words = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return [name for name, kind in plain.items() if any(is_words(kind) for is_words in words)]
