"""Tables of numbers, categories and text, by a distance that is 0 to 1 in every column."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

import narwhals as nw
import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from posterior.data import frames
from posterior.data.names import quoted
from posterior.data.typing import Array, Floats, Integers
from posterior.neighbors.edit_distance import numbered
from posterior.neighbors.index import Best, Fill, deal, wanted, without
from posterior.neighbors.mixed_rows import MixedRows

CELLS = 32_768  # pairs of a query and a row at once: what is made of them stays in cache
ROWS = 2048  # of them
LEAST = np.finfo(np.float64).smallest_subnormal  # any difference is beyond such a range


class Measure(Protocol):
    """Reads the cells of one column, and says how far apart two of them are."""

    def read(self, cells: Any) -> Array: ...

    def missing(self, cells: Array) -> Array: ...

    def apart(self, q: Array, x: Array) -> Floats:
        """Distances (m, b), 0 to 1; where a cell is missing, anything."""
        ...


class Number:
    """|q - x| / range, at most 1. The range is that of the column's training cells.

    In a column of one value, any other is 1 away.
    """

    def __init__(self, cells: Any, name: Any, given: float | None = None) -> None:
        self._name = name
        known = self.read(cells)
        known = known[~np.isnan(known)]
        self._ends = (known.min(), known.max()) if len(known) else (0.0, 0.0)
        with np.errstate(over="ignore"):
            spread = self._ends[1] - self._ends[0]
        self.range = (
            float(np.clip(spread, LEAST, np.finfo(np.float64).max)) if given is None else given
        )

    def read(self, cells: Any) -> Floats:
        array = isinstance(cells, np.ndarray)
        values = cells.astype(np.float64) if array else frames.numbers(cells)
        if np.isinf(values).any():
            raise ValueError(
                f"Input X contains infinity, first in row {np.isinf(values).argmax()}, column "
                f"{quoted(self._name)}. Replace it by a value, or by NaN if the cell is not known."
            )
        return np.asarray(values)

    def missing(self, cells: Array) -> Array:
        return np.isnan(cells)

    def apart(self, q: Array, x: Array) -> Floats:
        with np.errstate(over="ignore"):
            out = np.subtract.outer(q, x)
            np.abs(out, out=out)
            out /= self.range
            furthest = max(np.fmax.reduce(q) - self._ends[0], self._ends[1] - np.fmin.reduce(q))
        return out if furthest <= self.range else np.minimum(out, 1, out=out)


class Category:
    """0 if equal, 1 if not; a value that training has not seen equals none of its cells."""

    def __init__(self, cells: Any, name: Any) -> None:
        self._name = name
        self._values = frames.distinct(self._items(cells))

    def _items(self, cells: Any) -> list[str | None]:
        values = cells.tolist() if isinstance(cells, np.ndarray) else cells.to_list()
        return frames.items(values, self._name)

    def read(self, cells: Any) -> Array:
        return frames.encode(self._items(cells), self._values)

    def missing(self, cells: Array) -> Array:
        return cells < 0

    def apart(self, q: Array, x: Array) -> Floats:
        return np.not_equal.outer(q, x).astype(np.float64)


class Text(Category):
    """Levenshtein's edits over the length of the longer string."""

    def read(self, cells: Any) -> Array:
        return np.array(self._items(cells), dtype=object)

    def missing(self, cells: Array) -> Array:
        return np.array([cell is None for cell in cells], dtype=bool)

    def apart(self, q: Array, x: Array) -> Floats:
        (a, i), (b, j) = numbered(q.tolist()), numbered(x.tolist())
        edits = process.cdist([*a, ""], [*b, ""], scorer=Levenshtein.distance, dtype=np.int32)
        lengths = [np.array([*map(len, strings), 1]) for strings in (a, b)]
        longer = np.maximum(np.maximum.outer(*lengths), 1)
        return np.asarray((edits / longer)[np.ix_(i, j)])


class MixedIndex:
    """Rows of a table with columns of any kind (Gower 1971). With S the columns both rows have,

        d(a, b)  =  Σ_{j ∈ S} wⱼ dⱼ(aⱼ, bⱼ)  /  Σ_{j ∈ S} wⱼ           1 where S is empty

    dⱼ is |a - b| / range for numbers and times, 0 or 1 for categories and booleans, and for the
    columns named as text the edits over the longer length. `columns` is an array of numbers, a
    frame, or its columns; `weights` are by name or in the order of the columns. `ranges` are those
    of other rows, where these are some of them; NaN for columns that are no numbers.
    """

    def __init__(
        self,
        columns: Any,
        fill: Fill,
        *,
        weights: Mapping[Any, float] | Sequence[float] | None = None,
        text: Collection[Any] = (),
        ranges: Floats | None = None,
    ) -> None:
        self._fill = fill
        named = _named(columns)
        names = [name for name, _ in named]
        unknown = [name for name in text if name not in names]
        if unknown:
            raise ValueError(f"Expected text columns of {names}, got {unknown}.")
        self.weights = _weights(weights, names)
        given = [None] * len(named) if ranges is None else ranges.tolist()
        self._measures = [
            _measure(cells, name, name in text, spread)
            for (name, cells), spread in zip(named, given, strict=True)
        ]
        self._rows = self._read(columns)

    def _read(self, columns: Any) -> list[tuple[Array, Array]]:
        """The cells of each column, and which are missing."""
        named = _named(columns)
        if len(named) != len(self._measures):
            raise ValueError(f"Expected {len(self._measures)} columns, got {len(named)}.")
        read = [m.read(cells) for m, (_, cells) in zip(self._measures, named, strict=True)]
        return [(cells, m.missing(cells)) for m, cells in zip(self._measures, read, strict=True)]

    @property
    def ranges(self) -> Floats:
        """Of the columns of numbers; NaN for the others."""
        return np.array([m.range if isinstance(m, Number) else np.nan for m in self._measures])

    def distances(self, Q: Any) -> Floats:
        """Of all queries from all rows, (m, n)."""
        queries, n = self._read(Q), len(self._rows[0][0])
        out = np.empty((len(queries[0][0]), n))

        def measure(_: Array, chunk: slice, distances: Floats) -> None:
            for i in range(0, len(distances), step):
                part = slice(chunk.start + i, chunk.start + min(i + step, len(distances)))
                some = [(q[part], gap[part]) for q, gap in queries]
                distances[i : i + step] = self._distances(some, self._rows)

        step = max(CELLS // n, 1)
        self._fill(measure, np.broadcast_to(np.arange(len(out))[:, None], out.shape), out)
        return out

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        queries = self._read(Q)
        n, n_queries = len(self._rows[0][0]), len(queries[0][0])
        most = wanted(k, skip, n)

        def look(chunk: slice) -> tuple[Floats, Integers]:
            step = max(CELLS // min(n, ROWS), 1)
            starts = range(chunk.start, chunk.stop, step)
            parts = [slice(i, min(i + step, chunk.stop)) for i in starts]
            found = [self._search([(q[p], gap[p]) for q, gap in queries], most) for p in parts]
            distances, numbers = zip(*found, strict=True)
            return np.concatenate(distances), np.concatenate(numbers)

        return without(*deal(look, self._fill, n_queries, n, most), skip, k)

    def _search(self, queries: list[tuple[Array, Array]], k: int) -> tuple[Floats, Integers]:
        best = Best(len(queries[0][0]), k)
        for i in range(0, len(self._rows[0][0]), ROWS):
            part = slice(i, i + ROWS)
            best.see(self._distances(queries, [(x[part], gap[part]) for x, gap in self._rows]))
        return best.distance, best.number

    def _distances(
        self, queries: list[tuple[Array, Array]], rows: list[tuple[Array, Array]]
    ) -> Floats:
        """Distances (m, b) of a block, added up in the order of the columns."""
        total = np.zeros((len(queries[0][0]), len(rows[0][0])))
        weight: Any = 0.0  # one number for all pairs, until cells are missing
        columns = zip(self._measures, self.weights, queries, rows, strict=True)
        for measure, w, (q, q_missing), (x, x_missing) in columns:
            apart = measure.apart(q, x)
            if w != 1:
                apart *= w
            if q_missing.any() or x_missing.any():
                gap = np.logical_or.outer(q_missing, x_missing)
                apart[gap] = 0
                weight = weight + np.where(gap, 0, w)
            else:
                weight = weight + w
            total += apart
        with np.errstate(invalid="ignore"):
            total /= weight
        total[np.broadcast_to(weight == 0, total.shape)] = 1
        return total


def _named(columns: Any) -> list[tuple[Any, Any]]:
    """Names and cells of the columns."""
    if isinstance(columns, MixedRows):
        return list(zip(columns.names, columns.parts, strict=True))
    if isinstance(columns, np.ndarray):
        return [(j, columns[:, j]) for j in range(columns.shape[1])]
    frame = frames.as_frame(columns)
    if frame is not None:
        columns = [frame.get_column(name) for name in frame.columns]
    series: list[nw.Series[Any]] = list(columns)
    return [(column.name, column) for column in series]


def _measure(cells: Any, name: Any, text: bool, spread: float | None) -> Measure:
    if text:
        return Text(cells, name)
    words = (
        cells.dtype.kind == "O" if isinstance(cells, np.ndarray) else frames.kind(cells) != "number"
    )
    return Category(cells, name) if words else Number(cells, name, spread)


def _weights(weights: Mapping[Any, float] | Sequence[float] | None, names: list[Any]) -> Floats:
    if weights is None:
        return np.ones(len(names))
    if isinstance(weights, Mapping):
        unknown = [name for name in weights if name not in names]
        if unknown:
            raise ValueError(f"Expected weights for columns of {names}, got {unknown}.")
        weights = [weights.get(name, 1.0) for name in names]
    values = np.asarray(weights, np.float64)
    if values.shape != (len(names),):
        raise ValueError(f"Expected {len(names)} weights, one a column, got {values.shape}.")
    if not (np.isfinite(values) & (values >= 0)).all() or not values.any():
        raise ValueError(f"Expected weights of 0 or more, not all of them 0, got {weights}.")
    return values
