"""Tables that are elsewhere: in files, in a database, on a cluster."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from posterior.data.errors import NotFiniteError
from posterior.data.typing import Array

ROW = re.compile(r"\brow (\d+)\b")


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows of a table that is elsewhere."""

    frame: Any  # pyarrow.Table; a NumPy array of a Dask array
    place: str = ""  # file or partition, for errors
    first: int = 0  # number of its first row there


class Source(ABC):
    """A table that is read in batches. The first two members say where; the rest have defaults."""

    __slots__ = ()

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The columns; none of an array."""

    @abstractmethod
    def batches(self) -> Generator[Batch, None, None]:
        """The rows, in order, the same at every call."""

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, if that is known before they are read."""
        return None

    def parts(self) -> Iterable[Iterator[Batch]]:
        """The same batches, in parts that can be read at the same time."""
        return [self.batches()]

    def head(self, rows: int) -> Source:
        """A source of at least so many of the first rows, where fewer can be had for less."""
        return self

    def select(self, names: Sequence[str]) -> Source:
        """A source of these columns, and perhaps of others, where fewer can be had for less."""
        return self

    def identity(self) -> dict[str, Any]:
        """What distinguishes the table from others, as far as that is known without reading it."""
        return {"columns": list(self.names)}

    def summed(self, learner: Any, y: str) -> tuple[Any, Array, Any] | None:
        """How rows are read, the classes and their sums, where the source can take them itself."""
        return None


@contextmanager
def errors_in(batch: Batch) -> Iterator[None]:
    """Errors about the rows of a batch say in which file they are, and where in it."""
    try:
        yield
    except (ValueError, TypeError) as error:
        text = ROW.sub(lambda row: f"row {batch.first + int(row[1]):,}", str(error))
        kinds = (NotFiniteError, TypeError, ValueError)
        kind = next(kind for kind in kinds if isinstance(error, kind))
        raise kind(f"{batch.place}: {text}" if batch.place else text) from error
