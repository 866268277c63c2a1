"""Counting terms: blocks of documents over threads, joined into sums and into one matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from itertools import islice
from operator import add
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from posterior import kernels
from posterior.data.typing import Codes
from posterior.kernels.terms import Bag, Hashed, Lookup, Rule
from posterior.text.analysis import Analysis
from posterior.text.blocks import Block, batches, text_blocks
from posterior.text.counted import Counted, Spread
from posterior.text.decoding import MISSING, Decoder
from posterior.text.tally import count_function, hash_function
from posterior.text.vocabulary import TermCounts

T = TypeVar("T")

WRITTEN = (np.int64, np.float64, np.float32)  # types of counts that the kernels write


def nobody(n_documents: int) -> None:
    """Wants to know how far the counting is."""


@dataclass(frozen=True, slots=True)
class Counting:
    """From documents to counts, by one analysis."""

    analysis: Analysis
    decoder: Decoder
    map: Spread  # of the engine: function(i) of all i, on its threads
    threads: int
    tell: Callable[[int], None] = nobody

    def sums(self, documents: Any, known: Lookup | None = None) -> TermCounts:
        """The sums alone: no row is kept."""
        bags = self._bags(documents, known, keep_rows=False)
        return reduce(add, map(TermCounts.of, bags), TermCounts.zero())

    def count(self, documents: Any, known: Lookup | None = None) -> Counted:
        """All counts, in parts."""
        bags = list(self._bags(documents, known, keep_rows=True))
        return Counted.of(bags) if known is None else Counted.of_known(bags, known.terms)

    def matrix(
        self, counted: Counted, dtype: Any, column: Codes | None = None, n_columns: int = 0
    ) -> sparse.csr_array:
        """The rows of all bags; column (m,) is that of each term, or PRUNED; None: its number."""
        bags, place = counted.bags, counted.place
        sizes = [bag.n_entries for bag in bags]
        if column is None:
            n_columns = len(counted.terms)
        else:
            place = tuple(column[p] for p in place)
            pairs = zip(bags, place, strict=True)
            sizes = [int(bag.documents[p >= 0].sum()) for bag, p in pairs]
        write = [_writer(bag, p) for bag, p in zip(bags, place, strict=True)]
        return self._csr([bag.n_rows for bag in bags], sizes, write, n_columns, dtype)

    def known(
        self, documents: Any, terms: Lookup, column: Codes, n_columns: int, dtype: Any
    ) -> sparse.csr_array:
        """Rows of terms that are given with their columns; nothing is done term by term."""
        bags = list(self._bags(documents, terms, keep_rows=True))
        write = [_writer(bag, column) for bag in bags]
        sizes = [bag.n_entries for bag in bags]
        return self._csr([bag.n_rows for bag in bags], sizes, write, n_columns, dtype)

    def hashed(
        self, documents: Any, n_features: int, alternate_sign: bool, dtype: Any
    ) -> sparse.csr_array:
        """Rows of hashed terms."""
        how = self.analysis.how

        def hash_block(block: Any, first: int) -> Hashed:
            if isinstance(how, Rule):
                return kernels.hash_terms(block, how, n_features, alternate_sign)
            return hash_function(block, first, how, n_features, alternate_sign)

        parts = list(self._each_block(documents, hash_block))
        sizes = [part.n_entries for part in parts]
        write = [part.rows for part in parts]
        return self._csr([part.n_rows for part in parts], sizes, write, n_features, dtype)

    def _bags(self, documents: Any, known: Lookup | None, keep_rows: bool) -> Iterator[Bag]:
        how = self.analysis.how

        def count(block: Any, first: int) -> Bag:
            if not isinstance(how, Rule):
                terms = None if known is None else known.terms
                return count_function(block, first, how, terms, keep_rows)
            if known is None:
                return kernels.count_terms(block, how, keep_rows)
            return kernels.count_known(block, how, known, keep_rows)  # type: ignore[arg-type]

        return self._each_block(documents, count)

    def _each_block(self, documents: Any, work: Callable[[Any, int], T]) -> Iterator[T]:
        """work(block, number of its first document), on as many blocks at a time as threads.

        Users' functions stay on the thread of the caller.
        """
        blocks: Iterator[Any] = (
            batches(documents, self.decoder, self.analysis.raw)
            if self.analysis.by_python
            else text_blocks(documents, self.decoder, self.threads)
        )
        here = not isinstance(self.analysis.how, Rule)
        blocks, first = map(self._prepared, blocks), 0
        while some := list(islice(blocks, self.threads)):
            start = [first, *(first + np.cumsum([len(block) for block in some])).tolist()]
            yield from self._run(partial(_work, work, some, start), len(some), here)
            first = start[-1]
            self.tell(first)
            del some  # before the next are read

    def _run(self, function: Callable[[int], T], n: int, here: bool = False) -> Iterable[T]:
        """function(i) of n parts, on threads; one part stays here."""
        return map(function, range(n)) if here or n == 1 else self.map(function, range(n))

    def _prepared(self, block: Any) -> Block:
        prepare = self.analysis.prepare
        if prepare is None:
            return block
        return ["" if document is MISSING else prepare(document) for document in block]

    def _csr(
        self,
        n_rows: list[int],
        sizes: list[int],
        write: list[Callable[..., None]],
        n_columns: int,
        dtype: Any,
    ) -> sparse.csr_array:
        """A matrix whose parts are written side by side, each into its place."""
        row, entry = ([0, *np.cumsum(n, dtype=np.int64).tolist()] for n in (n_rows, sizes))
        index = np.int32 if entry[-1] <= np.iinfo(np.int32).max else np.int64
        written = np.dtype(dtype) if np.dtype(dtype) in WRITTEN else np.dtype(np.int64)
        start = np.zeros(row[-1] + 1, index)
        indices, values = np.empty(entry[-1], index), np.empty(entry[-1], written)

        def part(i: int) -> None:
            ends, cells = start[row[i] + 1 : row[i + 1] + 1], slice(entry[i], entry[i + 1])
            write[i](entry[i], ends, indices[cells], values[cells])

        for _ in self._run(part, len(sizes)):
            pass
        values = values.astype(dtype, copy=False)
        matrix = sparse.csr_array((values, indices, start), shape=(row[-1], n_columns))
        matrix.has_canonical_format = True
        return matrix


def _work(work: Callable[[Any, int], T], blocks: list[Any], start: list[int], i: int) -> T:
    return work(blocks[i], start[i])


def _writer(bag: Bag, place: Codes) -> Callable[..., None]:
    return lambda *out: bag.rows(place, *out)
