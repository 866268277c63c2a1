"""Shapes of many cells: $5,993.00 and $1,026.50 are both $0,000.00, and are read in one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.arrow import different
from posterior.data.typing import Codes, Floats, Integers
from posterior.preprocessing.text_cells import MANY, Texts, as_arrow

DIGITS = b"0123456789"
ZEROS = bytes.maketrans(DIGITS, b"0" * len(DIGITS))


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """The different shapes of cells, in which each digit is a zero, and which one each cell has."""

    cells: Texts
    letters: bytes  # of all cells
    texts: list[str]
    codes: Codes  # (n,)

    @classmethod
    def of(cls, cells: Texts) -> Shapes:
        """Those of cells of which none is missing; an error where Arrow is not installed."""
        column = as_arrow(cells)
        kind = np.int64 if str(column.type) == "large_string" else np.int32
        _, places, text = column.buffers()
        ends = np.frombuffer(places, kind)[column.offset :][: len(column) + 1]
        letters = memoryview(text)[ends[0] : ends[-1]].tobytes()
        texts, codes = different(_strings(letters.translate(ZEROS), ends - ends[0]))
        return cls(cells, letters, texts.to_pylist(), codes)

    def numbers(self, decimal: str, fit: Any) -> Floats:
        """The number that is left of each cell without all but its digits and the decimal sign.

        `fit` says of which shapes; of others, it is NaN.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        kept = DIGITS + decimal.encode()
        other = bytes(set(range(256)) - set(kept))
        letters = self.letters.translate(bytes.maketrans(decimal.encode(), b"."), other)
        lengths = np.array([len(digits_of(text, decimal)) for text in self.texts], np.int64)
        cells = _strings(letters, np.append(0, np.cumsum(lengths[self.codes])))
        if not fit.all():
            cells = pc.if_else(pa.array(fit[self.codes]), cells, pa.scalar(None, cells.type))
        return np.array(pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False))


def shaped(cells: Texts | Shapes) -> Texts | Shapes:
    """Many cells by their shapes, where Arrow is installed; few as they are."""
    if isinstance(cells, Shapes) or len(cells) <= MANY:
        return cells
    try:
        return Shapes.of(cells)
    except ModuleNotFoundError:
        return cells


def digits_of(shape: str, decimal: str) -> str:
    """What is left of a shape without all but its digits and the decimal sign, as a point."""
    return "".join(letter for letter in shape if letter in ("0", decimal)).replace(decimal, ".")


def _strings(letters: bytes, ends: Integers) -> Any:
    """Cells of Arrow, from all their letters, and where each ends."""
    import pyarrow as pa

    buffers = [None, pa.py_buffer(ends.astype(np.int64)), pa.py_buffer(letters)]
    return pa.Array.from_buffers(pa.large_string(), len(ends) - 1, buffers)
