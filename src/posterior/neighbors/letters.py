"""Strings as they come, and as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from posterior.data import frames
from posterior.data.typing import Array, Integers
from posterior.kernels.spelling import Spelling


def texts(X: Any) -> list[str | None]:
    """One column of strings, None where missing, of a list, an array or a frame."""
    frame = frames.as_frame(X)
    if frame is not None:
        shape, cells = frame.shape, frame.get_column(frame.columns[0]).to_list()
    else:
        table = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        shape, cells = table.shape, table.reshape(-1).tolist()
    if len(shape) > 2 or shape[1:] not in ((), (1,)):
        raise ValueError(
            f"Expected one column of strings, got a table of shape {shape}. Choose a column, or "
            "a distance of mixed tables."
        )
    return cells if set(map(type, cells)) <= {str} else frames.items(cells, "strings")


def numbered(cells: Sequence[str | None], by_length: bool = False) -> tuple[list[str], Integers]:
    """The distinct strings, and which of them each cell is; missing cells are beyond the last."""
    seen = dict.fromkeys(cells)
    seen.pop(None, None)
    distinct: list[Any] = sorted(seen, key=len) if by_length else list(seen)
    place = dict(zip([*distinct, None], range(len(distinct) + 1), strict=True))
    return distinct, np.fromiter(map(place.__getitem__, cells), np.int64, len(cells))


class Alphabet:
    """The characters that occur in some strings, numbered; all others share the last number."""

    def __init__(self, strings: Sequence[str]) -> None:
        characters = _characters(strings)
        seen = np.zeros(int(characters.max(initial=0)) + 2, bool)
        seen[characters] = True
        self._n_known = int(np.count_nonzero(seen))
        self._number = np.where(seen, np.cumsum(seen) - 1, self._n_known).astype(np.int32)

    def __len__(self) -> int:
        return self._n_known + 1

    def spell(self, strings: Sequence[str]) -> Spelling:
        characters = np.minimum(_characters(strings), len(self._number) - 1)
        start = np.zeros(len(strings) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, strings), np.int64, len(strings)), out=start[1:])
        return Spelling(self._number[characters], start)


def _characters(strings: Sequence[str]) -> Array:
    return np.frombuffer("".join(strings).encode("utf-32-le", "surrogatepass"), "<u4")
