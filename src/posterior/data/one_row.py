"""One row of a table, cell by cell: read without what a frame library costs for each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from posterior.data.cells import ArrayColumn, Column


@dataclass(frozen=True, slots=True, eq=False)
class OneRow:
    """Columns of one cell each, by name."""

    columns: tuple[Column, ...]

    @classmethod
    def of(cls, names: Sequence[str], cells: Sequence[Any]) -> OneRow:
        pairs = zip(names, cells, strict=True)
        return cls(tuple(ArrayColumn.of(name, [cell]) for name, cell in pairs))

    @classmethod
    def of_frame(cls, frame: nw.DataFrame[Any]) -> OneRow:
        """The first row of a frame."""
        return cls.of(frame.columns, frame.row(0))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}
