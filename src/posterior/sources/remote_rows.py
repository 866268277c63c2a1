"""Rows that are elsewhere, summed where they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from posterior.data.rows import Rows
from posterior.sources.source import Batch


@dataclass(frozen=True, slots=True, eq=False)
class RemoteRows:
    """Rows of a table that is elsewhere: every sum of them is a pass over its batches."""

    total: Callable[[Callable[[Batch], Any]], Any]  # adds up a function of the batches
    prepare: Callable[[Batch], Rows]
    sample: Rows  # all rows if they are few; otherwise each counts for those left out
    n_rows: int
    weight: float  # of all rows

    def __len__(self) -> int:
        return self.n_rows

    @property
    def complete(self) -> bool:
        """Whether the sample is all there is."""
        return len(self.sample) == self.n_rows

    def sum(self, function: Callable[[Rows], Any]) -> Any:
        """function(rows) added up over all batches."""
        prepare = self.prepare  # all that travels with the function: the sample stays here
        return self.total(lambda batch: function(prepare(batch)))

    def map(self, function: Callable[[Rows], Rows]) -> RemoteRows:
        """The same rows seen in another way, such as in other groups."""
        return replace(self, prepare=_Then(self.prepare, function), sample=function(self.sample))


def sampled(
    frame: Any, prepare: Callable[[Batch], Rows], total: Callable[[Callable[[Batch], Any]], Any]
) -> Rows:
    """Rows of a sample. If some are refused, the batches say where they stand."""
    try:
        return prepare(Batch(frame))
    except (TypeError, ValueError):
        total(lambda batch: len(prepare(batch)))
        raise


@dataclass(frozen=True, slots=True, eq=False)
class _Then:
    """One function after the other."""

    first: Callable[[Batch], Rows]
    second: Callable[[Rows], Rows]

    def __call__(self, batch: Batch) -> Rows:
        return self.second(self.first(batch))
