"""Frames of Spark, summed by its executors."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, itemgetter
from typing import Any, TypeAlias, TypeVar

from posterior.engines.engine import first_rows
from posterior.sources.source import Batch, Source
from posterior.statistics.algebra import Addable

S = TypeVar("S", bound=Addable)
Numbered: TypeAlias = tuple[int, bytes]  # a partition, and what it has to say

FAN_IN = 8  # sums that one task adds up
BATCH_ROWS = 65_536  # a sum for each 10,000 rows, Spark's own batches, would cost too much


@dataclass(frozen=True, slots=True, eq=False)
class SparkTable(Source):
    """A Spark frame, read in Arrow batches."""

    frame: Any

    @property
    def names(self) -> list[str]:
        return list(self.frame.columns)

    def select(self, names: Sequence[str]) -> SparkTable:
        """Some of the columns."""
        return SparkTable(self.frame.select(*(f"`{name.replace('`', '``')}`" for name in names)))

    def head(self, rows: int) -> SparkTable:
        """Some of the first rows: a whole partition may be more than the driver can hold."""
        return SparkTable(self.frame.limit(rows))

    def batches(self) -> Generator[Batch, None, None]:
        """The rows, in order, one partition at a time in this process."""
        import pyarrow as pa

        packed = self.frame.mapInArrow(_packed, "place string, first long, rows binary")
        for place, first, rows in packed.toLocalIterator():
            yield Batch(pa.ipc.open_stream(bytes(rows)).read_all(), place, first)


@dataclass(frozen=True, slots=True)
class Spark:
    """Sums each partition by `mapInArrow`, and then the sums in a tree of shuffles.

    At most `fan_in` sums reach the driver. Partitions are added in their order, so every run gives
    the same bits, however often Spark had to begin a task anew.
    """

    fan_in: int = FAN_IN

    def sum(self, function: Callable[[Batch], S], source: SparkTable) -> S:
        """function(batch) added up over all partitions that have rows."""
        fan_in = self.fan_in
        rows = source.frame.mapInArrow(_summed(function), "place int, total binary")
        n = rows.rdd.getNumPartitions()
        sums = rows if n <= fan_in else rows.rdd.map(tuple)
        while n > fan_in:
            n = -(-n // fan_in)
            parents = sums.map(lambda child: (child[0] // fan_in, child))
            sums = parents.groupByKey(n).mapValues(_added)
        total = _loaded(_added(sums.collect()))
        if isinstance(total, _Refused):
            raise total.error
        if total is None:
            raise ValueError("Expected rows, got an empty table.")
        return total

    def map(self, function: Callable[[Batch], Any], source: SparkTable) -> Any:
        """A frame of what a function makes of the batches, an Arrow table of each, when asked."""
        from pyspark.sql.pandas.types import from_arrow_schema

        def mapped(records: Iterable[Any]) -> Iterator[Any]:
            for batch in _gathered(records):
                yield from function(batch).to_batches()

        example = function(first_rows(source))
        return source.frame.mapInArrow(mapped, from_arrow_schema(example.schema))


def found(X: Any) -> tuple[Spark, SparkTable]:
    """The engine and the source of a Spark frame."""
    if hasattr(X, "to_spark"):  # pandas on Spark
        X = X.to_spark()
    if type(X).__module__.startswith("pyspark.sql.connect"):
        raise TypeError(
            "Expected a frame of a Spark session in this process, got one of Spark Connect, which "
            "has no tree to add sums in. Write the table to Parquet and fit the files."
        )
    if not hasattr(X, "mapInArrow"):
        raise TypeError(f"Expected a Spark DataFrame, got {type(X).__name__}: make it one first.")
    return Spark(), SparkTable(X)


@dataclass(frozen=True, slots=True)
class _Refused:
    """In place of a sum: the error of a batch that the model cannot accept.

    Left to Spark, the task would run three times more, and the error end inside one of Spark's.
    """

    error: Exception


def _gathered(records: Iterable[Any]) -> Iterator[Batch]:
    """A partition's Arrow batches, put together to larger ones."""
    import pyarrow as pa

    place, first = f"partition {_partition()}", 0
    waiting: list[Any] = []
    for record in records:
        waiting.append(record)
        if sum(map(len, waiting)) >= BATCH_ROWS:
            yield Batch(pa.Table.from_batches(waiting), place, first)
            first, waiting = first + sum(map(len, waiting)), []
    if sum(map(len, waiting)):
        yield Batch(pa.Table.from_batches(waiting), place, first)


def _summed(function: Callable[[Batch], S]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """What turns a partition's Arrow batches to one row: its number and its sum."""

    def summed(records: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        try:
            sums = map(function, _gathered(records))
            first = next(sums, None)
            total: S | _Refused | None = None if first is None else reduce(add, sums, first)
        except (TypeError, ValueError) as error:
            total = _Refused(error)
        if total is not None:
            columns = {"place": pa.array([_partition()], pa.int32()), "total": [_dumped(total)]}
            yield pa.RecordBatch.from_pydict(columns)

    return summed


def _packed(records: Iterable[Any]) -> Iterator[Any]:
    """Batches as bytes, so that a frame of them can travel to the driver one by one."""
    import pyarrow as pa

    for batch in _gathered(records):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.frame.schema) as writer:
            writer.write_table(batch.frame)
        rows = sink.getvalue().to_pybytes()
        yield pa.RecordBatch.from_pydict(
            {"place": [batch.place], "first": [batch.first], "rows": [rows]}
        )


def _added(sums: Iterable[Numbered]) -> bytes:
    """The sum of some partitions, in their order; the first refusal stands for all."""
    some = [_loaded(bytes(total)) for _, total in sorted(sums, key=itemgetter(0))]
    refused = (total for total in some if isinstance(total, _Refused))
    return _dumped(next(refused, None) or (reduce(add, some) if some else None))


def _partition() -> int:
    from pyspark import TaskContext

    task = TaskContext.get()
    return 0 if task is None else int(task.partitionId())


def _dumped(value: Any) -> bytes:
    from pyspark import cloudpickle

    return cloudpickle.dumps(value)


def _loaded(value: bytes) -> Any:
    """Only what our own tasks have dumped, in the job's own channel."""
    from pyspark import cloudpickle

    return cloudpickle.loads(value)
