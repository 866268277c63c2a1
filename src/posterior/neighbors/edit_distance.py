"""Strings by the edits between them, exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA, DamerauLevenshtein, Levenshtein

from posterior import kernels
from posterior.data import frames
from posterior.data.typing import Array, Floats, Integers
from posterior.kernels.spelling import LONGEST, Dictionary, Spelling
from posterior.neighbors.edit_rounds import Rounds
from posterior.neighbors.index import Fill, deal, wanted, without

QUERIES, ALL_PAIRS = 256, 8_000_000  # of rounds, at most
PAIRS = 32_768  # of a round that are aligned at once


@dataclass(frozen=True, slots=True)
class Kind:
    """An edit, and whether edits are divided by the longer string's length."""

    scorer: Callable[..., int]
    normalized: bool = False
    swaps: bool | None = False  # of neighbors, if they stay as they are; None: more than that


KINDS = {
    "levenshtein": Kind(Levenshtein.distance),
    "damerau": Kind(DamerauLevenshtein.distance, swaps=None),
    "alignment": Kind(OSA.distance, swaps=True),
    "normalized": Kind(Levenshtein.distance, normalized=True),
}


def kind_of(name: str) -> Kind:
    """A kind of edit distance, by its name."""
    if name not in KINDS:
        raise ValueError(f"Expected a kind of edit distance of {sorted(KINDS)}, got {name!r}.")
    return KINDS[name]


class EditIndex:
    """Strings, near if few edits make one of the other.

    "levenshtein"   insert, delete or replace a character (Levenshtein 1966)
    "damerau"       or swap two neighbors, and edit between them later (Damerau 1964, unrestricted)
    "alignment"     or swap two neighbors, and leave them so (optimal string alignment)
    "normalized"    Levenshtein's edits over the length of the longer string, 0 to 1

    A missing string is as far as can be from every string, missing or not: 1 if normalized,
    otherwise the length of the query or of the longest string, whichever is more.

    Equal strings are held against a query once. Short ones are all aligned with it, many side by
    side. Where some are longer, or swaps are unrestricted, RapidFuzz aligns those that may be near
    (see Rounds).
    """

    def __init__(self, strings: Any, kind: str, fill: Fill) -> None:
        self._kind, self._fill = kind_of(kind), fill
        distinct, code = numbered(texts(strings), by_length=True)
        self._alphabet = Alphabet(distinct)
        spelling = self._alphabet.spell(distinct)
        self._dictionary = Dictionary.of(spelling, len(self._alphabet), code)
        short = self._kind.swaps is not None and spelling.lengths.max(initial=0) <= LONGEST
        how = self._kind.scorer, self._kind.normalized
        self._rounds = None if short else Rounds(distinct, self._dictionary, *how)

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        n, kind = len(self._dictionary.row), self._kind
        most = wanted(k, skip, n)
        queries, code = numbered(texts(Q), by_length=True)  # those of a chunk have much in common
        spelling = self._alphabet.spell(queries)

        def look(chunk: slice) -> tuple[Floats, Integers]:
            shape = chunk.stop - chunk.start, most
            distance, row = np.empty(shape), np.empty(shape, np.int64)
            if self._rounds is None:
                known = self._dictionary, bool(kind.swaps), kind.normalized
                kernels.nearest_strings(spelling[chunk], *known, distance, row)
                return distance, row
            step = max(1, min(QUERIES, ALL_PAIRS // n))
            for i in range(chunk.start, chunk.stop, step):
                part = slice(i, min(i + step, chunk.stop))
                ours = slice(part.start - chunk.start, part.stop - chunk.start)
                found = self._rounds.nearest(queries[part], spelling[part], most, PAIRS)
                distance[ours], row[ours] = found
            return distance, row

        distance, row = deal(look, self._fill, len(queries), n, most)
        far = self._dictionary.far(np.zeros(1, np.int64), kind.normalized)
        distance = np.vstack([distance, np.repeat(far, most)])  # of a missing query
        row = np.vstack([row, np.arange(most)])
        return without(distance[code], row[code], skip, k)


def longest(strings: Any) -> int:
    """The length of the longest string, one or more: so far away is a missing one."""
    return max((len(string) for string in texts(strings) if string is not None), default=0) or 1


def edit_distances(Q: Any, X: Any, longest: int, kind: str = "levenshtein") -> Floats:
    """Distances (m, n) of all strings of Q from all of X, where training had a longest one."""
    edit = kind_of(kind)
    (a, i), (b, j) = numbered(texts(Q)), numbered(texts(X))
    edits = process.cdist([*a, ""], [*b, ""], scorer=edit.scorer, dtype=np.int32)
    lengths = [np.array([*map(len, strings), 0]) for strings in (a, b)]
    if edit.normalized:
        distances, far = edits / np.maximum(np.maximum.outer(*lengths), 1), np.ones(len(a) + 1)
    else:
        distances, far = edits.astype(np.float64), np.maximum(lengths[0], longest)
    distances[-1], distances[:, -1] = far[-1], far
    return np.asarray(distances[np.ix_(i, j)])


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
