"""Columns as numbers, or as codes of their values: what pictures, associations and drift count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data import frames
from posterior.data.typing import Codes, Floats
from posterior.preprocessing.roles import TEXT_ROLES, ColumnRole, frame_of


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredColumn:
    """The cells of a column: numbers, or codes of values; of texts, how long they are."""

    name: str
    role: str
    numbers: Floats | None  # (n,) NaN where missing; dates count in days since 1970
    codes: Codes | None  # (n,) -1 where missing
    values: tuple[str, ...] = ()  # that the codes stand for
    unit: str = ""  # of texts: words or letters

    @property
    def missing(self) -> Any:
        """Which cells are missing, (n,)."""
        return np.isnan(self.numbers) if self.numbers is not None else self.codes == -1

    def grouped(self, most: int) -> tuple[Codes, tuple[str, ...]]:
        """Codes of the most frequent values, the rest together as the last one."""
        assert self.codes is not None
        if len(self.values) <= most:
            return self.codes, self.values
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))
        kept = np.argsort(-counts, kind="stable")[:most]
        place = np.full(len(self.values) + 1, most, np.int32)
        place[kept], place[-1] = np.arange(most), -1
        return place[self.codes], (*(self.values[k] for k in kept), "(others)")


def measured(frame: Any, columns: Iterable[ColumnRole]) -> list[MeasuredColumn]:
    """Some columns of a table whose cells have been read."""
    table = frame_of(frame)
    return [_measured(table.get_column(column.name), column) for column in columns]


def _measured(column: Any, role: ColumnRole) -> MeasuredColumn:
    name = role.name
    if role.role in ("number", "date"):
        return MeasuredColumn(name, role.role, frames.numbers(column), None)
    if role.role in TEXT_ROLES:
        texts, codes = frames.different(column, name)
        letters = role.role == "word"
        long = [np.nan if t is None else len(t) if letters else len(t.split()) for t in texts]
        lengths = np.array([*map(float, long), np.nan])[codes]
        return MeasuredColumn(name, role.role, lengths, None, (), "letters" if letters else "words")
    found, values = frames.coded(column, name)
    names = [str(v) for v in values.tolist()]
    if role.role == "boolean":  # a file's TRUE is a frame's True
        small = [v.lower() for v in names]
        names = sorted(set(small))
        place = np.array([*map(names.index, small), -1], np.int32)
        found = place[found]
    return MeasuredColumn(name, role.role, None, np.asarray(found, np.int32), tuple(names))
