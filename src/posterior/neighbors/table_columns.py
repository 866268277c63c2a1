"""The columns of a mixed table: numbers, and categories or text as strings."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.data.cells import Column
from posterior.data.typing import Array, Integers


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Columns by name: doubles, NaN where missing, or strings, None where missing."""

    names: tuple[Any, ...]
    parts: tuple[Array, ...]  # (n,) each

    @classmethod
    def of(cls, series: Sequence[Column], like: Columns | None = None) -> Columns:
        """Columns of a frame, of the kinds that their values have, or that training had."""
        kinds = [frames.kind(s) for s in series] if like is None else like.kinds
        parts = tuple(_cells(s, kind) for s, kind in zip(series, kinds, strict=True))
        return cls(tuple(s.name for s in series), parts)

    @property
    def kinds(self) -> list[frames.Kind]:
        return ["category" if part.dtype.kind == "O" else "number" for part in self.parts]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.parts[0]), len(self.parts)

    def __iter__(self) -> Iterator[nw.Series[Any]]:
        """The columns as those of a frame."""
        for name, part in zip(self.names, self.parts, strict=True):
            cells = part.tolist() if part.dtype.kind == "O" else part
            yield frames.from_columns({str(name): cells}).get_column(str(name))

    def take(self, index: Integers) -> Columns:
        """Copies of the rows at some positions, in that order."""
        return Columns(self.names, tuple(part[index] for part in self.parts))

    def joined(self, other: Columns) -> Columns:
        """These rows, then the others."""
        pairs = zip(self.parts, other.parts, strict=True)
        return Columns(self.names, tuple(np.concatenate(pair) for pair in pairs))

    def cells(self) -> Iterator[Hashable]:
        """What is in each row."""
        columns = (
            part if part.dtype.kind == "O" else [None if v != v else v for v in part.tolist()]
            for part in self.parts
        )
        return zip(*columns, strict=True)


def _cells(column: Column, kind: frames.Kind) -> Array:
    return frames.numbers(column) if kind == "number" else frames.texts(column, column.name)
