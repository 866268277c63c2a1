"""A small table to read: columns by name, printed with numbers for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time
from html import escape
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data.typing import Array

MOST_LINES = 100  # of a table that is printed


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
        shown = range(min(len(self), MOST_LINES))
        parts = []
        for name, column in self.columns.items():
            cells = [name, *(text(column[i]) for i in shown)]
            width = max(len(cell) for cell in cells)
            right = np.asarray(column).dtype.kind in "iuf"
            parts.append([c.rjust(width) if right else c.ljust(width) for c in cells])
        lines = ["  ".join(line).rstrip() for line in zip(*parts, strict=True)]
        hidden = len(self) - len(shown)
        return "\n".join([*lines, f"... and {hidden} more"] if hidden else lines)

    __repr__ = __str__

    def to_html(self) -> str:
        """The same for a page or a notebook."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = (
            "".join(f"<td>{escape(text(column[i]))}</td>" for column in self.columns.values())
            for i in range(len(self))
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    _repr_html_ = to_html


def text(value: Any) -> str:
    """A value for people: four digits or all before the point, a dash for what is not known."""
    if value is None:
        return "-"
    if isinstance(value, datetime) and value.time() == time.min:
        return str(value.date())
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    if np.isnan(number):
        return "-"
    if abs(number) >= 1e6 or not np.isfinite(number):
        return f"{number:.4g}"
    return f"{number:.0f}" if number.is_integer() or abs(number) >= 1e4 else f"{number:.4g}"


def round_digits(values: Any, digits: int = 6) -> list[Any]:
    """Numbers with some digits, which is what a page and a file need."""
    return (
        np.asarray([float(f"{v:.{digits}g}") for v in np.ravel(values)])
        .reshape(np.shape(values))
        .tolist()
    )
