"""What the terms of documents are, and what their counts look like.

`posterior.kernels` has the counters: count_terms, count_known, hash_terms, lookup and union
(`posterior.kernels.reference.text` says what each does). They run on one thread and release the
GIL: documents are split, each part becomes a `Bag`, `union` joins their terms, and each bag writes
its rows into its part of one CSR matrix. Terms are sorted and counts are integers, so the matrix
does not depend on the split.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from posterior.data.typing import Array, Codes, Integers

Bytes: TypeAlias = NDArray[np.uint8]
PRUNED = -1  # the place of a term that has no column

Cells: TypeAlias = tuple[Integers, Integers, Integers, Integers]
"""Where the cells of each group start, (k + 1,); their columns, ascending; two sums of each."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What the terms of a document are.

    word: runs of letters, digits and _, and n of them in a row with a space between;
    char: n characters in a row, where runs of white space count as one space;
    char_wb: the same within words that white space parts, with a space on either side.
    """

    unit: Literal["word", "char", "char_wb"] = "word"
    ngrams: tuple[int, int] = (1, 1)
    lowercase: bool = True
    min_length: int = 2  # characters of the shortest word
    stop_words: frozenset[str] = frozenset()  # words that are left out before n are joined

    def __post_init__(self) -> None:
        least, most = self.ngrams
        if not 1 <= least <= most:
            raise ValueError(
                f"Expected ngrams (a, b) with 1 <= a <= b, got {self.ngrams!r}. "
                "(1, 2) means single terms and pairs."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Utf8Column:
    """Documents end to end in UTF-8, as Arrow holds a column of strings: nothing is copied."""

    data: Bytes
    offsets: Array  # (n + 1,) int32 or int64; document i is data[offsets[i] : offsets[i + 1]]
    valid: NDArray[np.bool_] | None = None  # (n,) False where a document is missing: no terms
    first: int = 0  # the number of the first document, for errors

    def __post_init__(self) -> None:
        steps = self.offsets[1:] < self.offsets[:-1]
        if len(self.offsets) == 0 or steps.any() or not self._within():
            raise ValueError(
                f"Expected ascending offsets within {len(self.data)} bytes, got others. "
                "The column may be damaged: read it again."
            )

    def _within(self) -> bool:
        return bool(0 <= self.offsets[0] and self.offsets[-1] <= len(self.data))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: slice) -> Utf8Column:
        start, stop, _ = rows.indices(len(self))
        stop = max(start, stop)
        valid = None if self.valid is None else self.valid[start:stop]
        return Utf8Column(self.data, self.offsets[start : stop + 1], valid, self.first + start)

    def __iter__(self) -> Iterator[str]:
        for i, (start, end) in enumerate(pairwise(self.offsets.tolist())):
            if self.valid is not None and not self.valid[i]:
                yield ""
                continue
            try:
                yield self.data[start:end].tobytes().decode()
            except UnicodeDecodeError as error:
                raise self.bad_bytes(i) from error

    def bad_bytes(self, i: int) -> ValueError:
        return ValueError(
            f"Expected documents in UTF-8, got other bytes in document {self.first + i}. "
            "Decode it with its own encoding, or with errors='replace'."
        )


Documents: TypeAlias = Sequence[str] | Utf8Column


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """Distinct strings in order of their code points, which is the order of their bytes."""

    data: Bytes  # UTF-8 end to end; lone surrogates take three bytes
    starts: Integers  # (m + 1,)  term t is data[starts[t] : starts[t + 1]]

    @classmethod
    def of(cls, strings: Iterable[str]) -> Terms:
        """The distinct strings among these."""
        encoded = [encode(string) for string in sorted(set(strings))]
        starts = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(one) for one in encoded], out=starts[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def strings(self) -> list[str]:
        """The terms themselves."""
        text = self.data.tobytes().decode("utf-8", "surrogatepass")
        starts = self.starts
        if len(text) < len(self.data):  # count characters: bytes that do not continue one
            before = np.zeros(len(self.data) + 1, np.int64)
            np.cumsum((self.data & 0xC0) != 0x80, out=before[1:])
            starts = before[starts]
        return [text[start:end] for start, end in pairwise(starts.tolist())]

    def __getitem__(self, chosen: Array) -> Terms:
        """The terms of these numbers, which ascend, or where a mask is True."""
        sizes = np.diff(self.starts)
        starts = np.zeros(len(sizes[chosen]) + 1, np.int64)
        if len(starts) == len(self.starts):
            return self
        np.cumsum(sizes[chosen], out=starts[1:])
        # Byte b of the chosen terms comes from as far as its term has moved.
        moved = np.repeat(self.starts[:-1][chosen] - starts[:-1], np.diff(starts))
        return Terms(self.data[np.arange(starts[-1]) + moved], starts)


class Bag(Protocol):
    """The counted documents of one part."""

    @property
    def terms(self) -> Terms:
        """Those of this part."""

    @property
    def documents(self) -> Integers:
        """(m,) in how many documents each term occurs."""

    @property
    def total(self) -> Integers:
        """(m,) how often each term occurs in all."""

    @property
    def n_rows(self) -> int:
        """How many documents there were."""

    @property
    def n_entries(self) -> int:
        """Σ documents, or 0 if the rows were not kept."""

    def take(self, index: Integers) -> Bag:
        """Some of the documents, in that order; the terms stay."""

    def fingerprints(self, place: Codes) -> Array:
        """A number (n,) of 64 bits for each document, by its counts; see `data.fingerprints`."""

    def group_sums(
        self, codes: Codes, n_groups: int, place: Codes, logs: Integers, unit: float
    ) -> Cells:
        """What the documents of each group add up to; a negative code leaves one out.

        n_kj = Σᵢ [c_ij > 0]      s_kj = Σᵢ ⌊l(c_ij) / (u ‖l(cᵢ)‖)⌉,  l(c) = logs[c], the last
        of them for larger counts, and c itself if there are none. A unit u of zero leaves rows as
        long as they are, s_kj = Σᵢ l(c_ij). Cells without a document are left out. place (m,) is
        the column of each term, ascending.
        """

    def rows(self, place: Codes, first: int, ends: Array, indices: Array, values: Array) -> None:
        """Fill in rows of a CSR matrix, columns ascending.

        place (m,) is the column of each term, or PRUNED. There are Σ documents[place >= 0]
        indices and values; ends (n,) count from `first`, the entries of the parts before.
        Indices and ends are both int32 or both int64; values are int64, float64 or float32.
        """


class Hashed(Protocol):
    """Documents whose terms were numbered by a hash."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_entries(self) -> int: ...

    def rows(self, first: int, ends: Array, indices: Array, values: Array) -> None:
        """Fill in rows of a CSR matrix, columns ascending; the arrays are those of a `Bag`."""


class Lookup(Protocol):
    """Terms that are given, ready to be found. Threads may share it."""

    @property
    def terms(self) -> Terms: ...


def encode(string: str) -> bytes:
    return string.encode("utf-8", "surrogatepass")


def not_a_string(i: int, document: object) -> TypeError:
    return TypeError(
        f"Expected documents to be strings, got {type(document).__name__} as document {i}. "
        "Decode bytes, and leave missing documents out or write them as ''."
    )


def rows_not_kept() -> ValueError:
    return ValueError("Expected a bag with its rows, got one without. Count with keep_rows=True.")
