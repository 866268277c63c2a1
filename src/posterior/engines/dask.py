"""Tables of Dask: frames, arrays and bags, summed where their partitions are."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeVar

from posterior.engines.engine import first_rows
from posterior.sources.source import Batch, Source
from posterior.statistics.algebra import Addable

S = TypeVar("S", bound=Addable)

FAN_IN = 8  # sums that one task adds up


@dataclass(frozen=True, slots=True, eq=False)
class Partitions(Source):
    """A frame, an array of rows, or a bag of records or texts, one batch a partition."""

    table: Any
    columns: list[str]  # an array has none

    @property
    def names(self) -> list[str]:
        return self.columns

    def select(self, names: Sequence[str]) -> Partitions:
        """Some of the columns."""
        frame = _kind(self.table) == "frame"
        return Partitions(self.table[[*names]] if frame else self.table, [*names])

    def pieces(self) -> list[Any]:
        """The partitions as Dask will make them, in order."""
        table = self.table
        if _kind(table) == "array":
            return [row[0] for row in table.rechunk({1: -1}).to_delayed()]
        return list(table.to_delayed())

    def batches(self) -> Generator[Batch, None, None]:
        """The partitions that have rows, one at a time in this process."""
        for i, piece in enumerate(self.pieces()):
            batch = Batch(_rows(piece.compute(), self.names), f"partition {i}")
            if batch.frame.shape[0]:
                yield batch


@dataclass(frozen=True, slots=True)
class Dask:
    """Sums partitions where they are, and then the sums in a tree of tasks.

    The tree depends on the number of partitions alone, so every run gives the same bits, whichever
    scheduler runs it and however often it had to begin a task anew.
    """

    fan_in: int = FAN_IN

    def sum(self, function: Callable[[Batch], S], source: Partitions) -> S:
        """function(batch) added up over all partitions that have rows."""
        from dask import delayed

        shared = delayed(function, traverse=False)  # a task of its own, sent to each worker once
        part, added = delayed(_part), delayed(_added)
        sums = [part(shared, rows, source.names, i) for i, rows in enumerate(source.pieces())]
        while len(sums) > 1:
            sums = [added(sums[i : i + self.fan_in]) for i in range(0, len(sums), self.fan_in)]
        total: S | None = sums[0].compute() if sums else None
        if total is None:
            raise ValueError("Expected rows, got an empty table.")
        return total

    def map(self, function: Callable[[Batch], Any], source: Partitions) -> Any:
        """A frame of what a function makes of the batches, an Arrow table of each, when asked."""
        import dask.dataframe as dd
        from dask import delayed

        example = function(first_rows(source)).to_pandas().iloc[:0]
        part, shared = delayed(_table), delayed(function, traverse=False)
        pieces = enumerate(source.pieces())
        tables = [part(shared, rows, source.names, i, example) for i, rows in pieces]
        return dd.from_delayed(tables, meta=example)


def found(X: Any) -> tuple[Dask, Partitions]:
    """The engine and the source of a Dask collection."""
    kind = _kind(X)
    if kind == "frame":
        X = X.to_frame() if X.ndim == 1 else X
        names = [str(name) for name in X.columns]
        return Dask(), Partitions(X.rename(columns=str) if names != [*X.columns] else X, names)
    if kind == "array" and X.ndim == 2:
        return Dask(), Partitions(X, [])
    if kind == "bag":
        head = X.take(1, npartitions=-1, warn=False)
        if not head:
            raise ValueError("Expected a bag of records or texts, got an empty bag.")
        names = [str(name) for name in head[0]] if isinstance(head[0], dict) else ["text"]
        return Dask(), Partitions(X, names)
    raise TypeError(
        "Expected a Dask frame, an array of two dimensions, or a bag of records or texts, got "
        f"{type(X).__name__}."
    )


def _kind(X: Any) -> str:
    """frame, array or bag, by where it is at home: importing these parts of Dask takes a second."""
    home = type(X).__module__
    if hasattr(type(X), "columns"):  # not asked of X: a delayed value claims to have everything
        return "frame"
    return next((kind for kind in ("array", "bag") if home.startswith(f"dask.{kind}")), "unknown")


def _rows(piece: Any, names: Sequence[str]) -> Any:
    """A partition as a pyarrow table; that of an array stays as it is."""
    if not names:
        return piece
    import pyarrow as pa

    if hasattr(piece, "columns"):
        return pa.Table.from_pandas(piece, preserve_index=False)
    records = list(piece)
    if records and not isinstance(records[0], dict):
        return pa.table({names[0]: records})
    return pa.table({name: [record.get(name) for record in records] for name in names})


def _part(function: Callable[[Batch], S], piece: Any, names: Sequence[str], i: int) -> S | None:
    rows = _rows(piece, names)
    return function(Batch(rows, f"partition {i}")) if rows.shape[0] else None


def _table(
    function: Callable[[Batch], Any], piece: Any, names: Sequence[str], i: int, example: Any
) -> Any:
    table = _part(function, piece, names, i)
    return example if table is None else table.to_pandas().astype(example.dtypes)


def _added(sums: Sequence[S | None]) -> S | None:
    some = [total for total in sums if total is not None]
    return reduce(add, some) if some else None
