"""Some rows of a table that passes by once, drawn by where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from posterior.data.typing import Array
from posterior.sources.source import Batch

MOST = 100_000  # rows of a sample
LAST = (1 << 64) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """The rows of the smallest keys, in the order in which they came.

    A key is a number that looks random and depends on the place of a row alone, so that parts of
    a table, added in any tree, keep the same rows; of a table of few rows, all.
    """

    keys: tuple[Array, ...]  # of 64 bits, an array a part
    parts: tuple[Array, ...]  # rows: an array as it is, an Arrow table as its stream of bytes
    n_rows: int  # of all, kept or not
    last: int = LAST  # the largest key that may be kept

    @classmethod
    def of(cls, batch: Batch) -> Kept:
        n = len(batch.frame)
        return cls((_keys(batch.place, batch.first, n),), (_packed(batch.frame),), n)

    def __add__(self, other: Kept, /) -> Kept:
        last = min(self.last, other.last)
        mine, theirs = self.below(last), other.below(last)
        n_rows = self.n_rows + other.n_rows
        both = Kept(mine.keys + theirs.keys, mine.parts + theirs.parts, n_rows, last)
        return both.cut() if sum(map(len, both.keys)) > 2 * MOST else both

    def frame(self) -> Any:
        """The sample."""
        return _joined([_unpacked(part) for part in self.cut().parts])

    def cut(self) -> Kept:
        """Not more than a sample has."""
        keys = np.concatenate(self.keys)
        if len(keys) <= MOST:
            return self
        few = self.below(int(np.partition(keys, MOST - 1)[MOST - 1]))
        frame = _joined([_unpacked(part) for part in few.parts])
        return Kept((np.concatenate(few.keys),), (_packed(frame),), self.n_rows, few.last)

    def below(self, last: int) -> Kept:
        """The rows of keys up to `last`."""
        if last >= self.last:
            return self
        keys, parts = [], []
        for key, part in zip(self.keys, self.parts, strict=True):
            kept = key <= np.uint64(last)
            if not kept.all():
                key, part = key[kept], _packed(_some(_unpacked(part), kept))
            if len(key):
                keys.append(key)
                parts.append(part)
        return Kept(tuple(keys), tuple(parts), self.n_rows, last)


def _keys(place: str, first: int, n: int) -> Array:
    """Numbers of 64 bits that look random, by splitmix64 (Steele, Lea and Flood 2014)."""
    seed = int.from_bytes(blake2b(place.encode(), digest_size=8).digest(), "little")
    z = np.arange(first, first + n, dtype=np.uint64)
    z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _packed(frame: Any) -> Array:
    """Rows as one array, which can be written down and sent."""
    if isinstance(frame, np.ndarray):
        return frame
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, frame.schema) as stream:
        stream.write_table(frame)
    return np.frombuffer(sink.getvalue(), np.uint8)


def _unpacked(part: Array) -> Any:
    if part.ndim > 1:
        return part
    import pyarrow as pa

    return pa.ipc.open_stream(pa.py_buffer(part)).read_all()


def _some(frame: Any, kept: Array) -> Any:
    if isinstance(frame, np.ndarray):
        return frame[kept]
    return frame.filter(kept)


def _joined(frames: Sequence[Any]) -> Any:
    if isinstance(frames[0], np.ndarray):
        return np.concatenate(frames)
    import pyarrow as pa

    return pa.concat_tables(frames, promote_options="permissive").combine_chunks()
