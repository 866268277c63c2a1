"""Tables that are elsewhere: in files, in a database, on a cluster."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from posterior.data.errors import NotFiniteError

ROW = re.compile(r"\brow (\d+)\b")


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows of a table that is elsewhere."""

    frame: Any  # pyarrow.Table; a NumPy array of a Dask array
    place: str = ""  # file or partition, for errors
    first: int = 0  # number of its first row there


class Source(Protocol):
    """A table that is read in batches."""

    @property
    def names(self) -> list[str]:
        """The columns."""
        ...

    def batches(self) -> Generator[Batch, None, None]:
        """The rows, in order, the same at every call."""
        ...


@runtime_checkable
class Parted(Protocol):
    """A table of parts that can be read at the same time."""

    def parts(self) -> Iterable[Iterator[Batch]]:
        """The batches of one part after the other, in order, the same at every call."""
        ...


def parts(source: Source) -> Iterable[Iterator[Batch]]:
    """The parts of a table; those that have none are one."""
    return source.parts() if isinstance(source, Parted) else [source.batches()]


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
