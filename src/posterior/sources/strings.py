"""Statistics of strings over batches, which show whether a column holds sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from posterior.data import frames
from posterior.sources.source import Batch

MOST = 1 << 20  # hashes that are kept; of more different strings, the number is an estimate


@dataclass(frozen=True, slots=True, eq=False)
class Strings:
    """How many cells a column has, and how many different ones.

    The smallest h of all hashes in [0, 1) give their number: n ≈ (h - 1) / largest of them
    (Bar-Yossef et al. 2002). Up to h different strings, it is exact.
    """

    cells: int
    hashes: NDArray[np.uint64]  # the smallest, sorted
    first: tuple[str, ...]  # some strings, in the order of the rows

    @classmethod
    def of(cls, column: Any) -> Self:
        """Of a column of Arrow."""
        values = [v for v in column.unique().to_pylist() if isinstance(v, str)]
        return cls(len(column) - column.null_count, _hashes(values), tuple(values[: frames.SOME]))

    def __add__(self, other: Self, /) -> Self:
        hashes = np.union1d(self.hashes, other.hashes)[:MOST]
        first = tuple(dict.fromkeys(self.first + other.first))[: frames.SOME]
        return type(self)(self.cells + other.cells, hashes, first)

    @property
    def distinct(self) -> int:
        """How many different strings there are."""
        if len(self.hashes) < MOST:
            return len(self.hashes)
        return round((MOST - 1) * 2.0**64 / float(self.hashes[-1]))

    def are_sentences(self) -> bool:
        """Whether they are texts, as `frames.are_texts` says of all cells."""
        return frames.are_sentences(self.first, self.distinct, self.cells)


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """The same of several columns."""

    columns: tuple[Strings, ...] = ()

    def __add__(self, other: Self, /) -> Self:
        pairs = zip(self.columns, other.columns, strict=True)
        return type(self)(tuple(a + b for a, b in pairs))


@dataclass(frozen=True, slots=True, eq=False)
class Describe:
    """What columns of strings hold in a batch."""

    names: Sequence[str]

    def __call__(self, batch: Batch) -> Described:
        return Described(tuple(Strings.of(batch.frame.column(name)) for name in self.names))


def _hashes(values: list[str]) -> NDArray[np.uint64]:
    """The same ones in every process."""
    digests = (hashlib.blake2b(value.encode(), digest_size=8).digest() for value in values)
    return np.unique(np.frombuffer(b"".join(digests), np.uint64))[:MOST]
