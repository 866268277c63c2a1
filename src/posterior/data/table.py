"""A small table to read: columns by name, printed with numbers for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data.typing import Array


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of equal length, in order."""

    columns: Mapping[str, Array]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def to_frame(self, backend: Any = "pandas") -> Any:
        """The same as a frame of pandas, polars or pyarrow, whichever is installed."""
        return nw.from_dict(dict(self.columns), backend=backend).to_native()

    def __str__(self) -> str:
        cells = {name: [text(v) for v in column] for name, column in self.columns.items()}
        lines = []
        for i in range(-1, len(self)):
            line = []
            for name, column in cells.items():
                width = max([len(name), *(len(v) for v in column)])
                value = name if i < 0 else column[i]
                right = np.asarray(self.columns[name]).dtype.kind in "iuf"
                line.append(value.rjust(width) if right else value.ljust(width))
            lines.append("  ".join(line).rstrip())
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = (
            "".join(f"<td>{escape(text(column[i]))}</td>" for column in self.columns.values())
            for i in range(len(self))
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def text(value: Any) -> str:
    """A value for people: four digits that count, a dash for what is not known."""
    if value is None:
        return "-"
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    if np.isnan(number):
        return "-"
    return str(int(number)) if number.is_integer() and abs(number) < 1e6 else f"{number:.4g}"
