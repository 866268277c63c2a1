"""Shapes of many cells: $5,993.00 and $1,026.50 are both $0,000.00, and are read in one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.arrow import different
from posterior.data.typing import Array, Codes, Floats
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
        import pyarrow as pa

        column = as_arrow(cells)
        if isinstance(column, pa.ChunkedArray):  # of more letters than one array holds
            column = pa.concat_arrays(column.cast(pa.large_string()).chunks)
        kind = np.int64 if str(column.type) == "large_string" else np.int32
        _, places, text = column.buffers()
        ends = np.frombuffer(places, kind)[column.offset :][: len(column) + 1]
        letters = bytes(memoryview(text or b"")[ends[0] : ends[-1]])
        ends = ends - ends[0] if ends[0] else ends
        texts, codes = different(_strings(letters.translate(ZEROS), ends))
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
        kind = np.int32 if len(letters) < 1 << 31 else np.int64
        lengths = np.array([len(digits_of(text, decimal)) for text in self.texts], kind)
        ends = np.zeros(len(self.codes) + 1, kind)
        np.cumsum(lengths[self.codes], out=ends[1:])
        cells = _strings(letters, ends)
        if not fit.all():
            cells = pc.if_else(pa.array(fit[self.codes]), cells, pa.scalar(None, cells.type))
        return np.asarray(pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False))


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


def _strings(letters: bytes, ends: Array) -> Any:
    """Cells of Arrow, from all their letters, and where each ends."""
    import pyarrow as pa

    kind = pa.string() if ends.dtype == np.int32 else pa.large_string()
    return pa.Array.from_buffers(
        kind, len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(letters)]
    )
