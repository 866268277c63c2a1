"""Rows of a mixed table: numbers, and categories or text as strings."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data import frames
from posterior.data.cells import Column
from posterior.data.typing import Array, Integers


@dataclass(frozen=True, slots=True, eq=False)
class MixedRows:
    """Columns by name: doubles, NaN where missing, or strings, None where missing."""

    names: tuple[Any, ...]
    parts: tuple[Array, ...]  # (n,) each

    @classmethod
    def of(cls, columns: Sequence[Column], kinds: Sequence[frames.Kind]) -> MixedRows:
        """Columns of a table, as their kinds say."""
        parts = tuple(_cells(c, kind) for c, kind in zip(columns, kinds, strict=True))
        return cls(tuple(c.name for c in columns), parts)

    @property
    def kinds(self) -> tuple[frames.Kind, ...]:
        return tuple("category" if part.dtype.kind == "O" else "number" for part in self.parts)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.parts[0]), len(self.parts)

    def take(self, index: Integers) -> MixedRows:
        """Copies of the rows at some positions, in that order."""
        return MixedRows(self.names, tuple(part[index] for part in self.parts))

    def joined(self, other: MixedRows) -> MixedRows:
        """These rows, then the others."""
        pairs = zip(self.parts, other.parts, strict=True)
        return MixedRows(self.names, tuple(np.concatenate(pair) for pair in pairs))

    def cells(self) -> Iterator[Hashable]:
        """The cells of each row."""
        columns = (
            part if part.dtype.kind == "O" else [None if v != v else v for v in part.tolist()]
            for part in self.parts
        )
        return zip(*columns, strict=True)


def _cells(column: Column, kind: frames.Kind) -> Array:
    return frames.numbers(column) if kind == "number" else frames.texts(column, column.name)
