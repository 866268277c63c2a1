"""Reads documents: lists, columns of frames, Arrow arrays, generators, files and folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import InputTags

from posterior.data import frames
from posterior.data.table_columns import Columns
from posterior.data.typing import Array
from posterior.engines.local import Local, n_threads
from posterior.engines.progress import Progress
from posterior.readers.reader import Reader
from posterior.text.analysis import TermSettings
from posterior.text.arrow_text import ArrowText
from posterior.text.blocks import gathered
from posterior.text.counted import CountedRows
from posterior.text.counting import Counting
from posterior.text.decoding import is_missing
from posterior.text.term_rows import TermRows
from posterior.text.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Documents(Reader):
    """Counts of all terms to learn from, and to answer of those that are known."""

    columns: Columns  # none: a document is no row of a table
    terms: TermSettings
    column: Any = None  # of a frame: where the text is
    vocabulary: Vocabulary | None = None  # the terms that are known
    verbose: Any = False
    by_column: ClassVar[bool] = False

    def learn(self, X: Any) -> tuple[Self, CountedRows]:
        self.terms.warn_of_stop_words()
        frame = _frame(X)
        column = None if frame is None else _text_column(frame, None)
        known = replace(self, column=column, vocabulary=None)
        return known, known._count(X)

    def read(self, X: Any, fitting: bool = False) -> CountedRows | TermRows:
        return self._count(X) if fitting else self._count(X, self.vocabulary).table()

    def _count(self, X: Any, known: Vocabulary | None = None) -> CountedRows:
        documents, local = self.documents(X), Local()
        self.terms.check(documents)
        with Progress(self.verbose, "Counted", "documents") as progress:
            analysis, decoder = self.terms.analysis(), self.terms.decoder()
            counting = Counting(analysis, decoder, local.map, n_threads(), progress)
            seen = _Seen(documents, gathered(documents, decoder))
            counted = counting.count(seen.documents, None if known is None else known.lookup)
        n = counted.n_rows
        if n == 0 and known is None:
            raise ValueError("Found array with 0 sample(s): expected documents, got none.")
        write = partial(counting.matrix, dtype=np.float32)
        return CountedRows(counted, write, seen.absent(n), local.map)

    def documents(self, X: Any) -> Any:
        """The column of a frame, or the documents as they are."""
        frame = _frame(X)
        if frame is None:
            return X
        return frame.get_column(_text_column(frame, self.column)).to_native()

    def text(self, X: Any) -> str:
        """The one document, as it is read."""
        decoder = self.terms.decoder()
        (document,) = gathered(self.documents(X), decoder)
        return decoder.text(document, 0)

    def describe(self, tags: InputTags) -> None:
        tags.string = True
        tags.two_d_array = False

    def check_same(self, other: Reader) -> None:
        assert isinstance(other, Documents)
        self.terms.check_same(other.terms)

    def widths(self) -> tuple[int, ...]:
        return (0 if self.vocabulary is None else len(self.vocabulary.terms),)

    def summed_widths(self) -> tuple[int, ...]:
        return (1,)  # a column of text, however many words it has


def _frame(X: Any) -> Any:
    table = hasattr(X, "columns") or hasattr(X, "column_names")
    return frames.as_frame(X) if table else None


def _text_column(frame: Any, known: Any) -> Any:
    """The column of text, which is known or the only one."""
    names = frame.columns if known is None else [known]
    if len(names) != 1 or names[0] not in frame.columns:
        which = "one column of text" if known is None else f"the column of text {known!r}"
        raise ValueError(
            f"Expected a frame with {which}, got columns {frame.columns}. Choose it, as in "
            "table['text']."
        )
    return names[0]


class _Seen:
    """Which documents are missing: known from a column, noted down as a stream goes by."""

    def __init__(self, given: Any, documents: Any) -> None:
        self.documents, self._gone = documents, np.zeros(0, np.int64)
        self._noted: list[int] = []
        if isinstance(documents, ArrowText):
            self.documents = given
            nulls = [chunk.is_null().to_numpy(zero_copy_only=False) for chunk in documents.chunks]
            self._gone = np.flatnonzero(np.concatenate(nulls)) if nulls else self._gone
        elif not isinstance(documents, list):
            self.documents = self._watched(documents)
        elif not set(map(type, documents)) <= {str, bytes}:
            self._gone = np.flatnonzero([is_missing(document) for document in documents])

    def _watched(self, documents: Iterable[Any]) -> Iterator[Any]:
        for i, document in enumerate(documents):
            if is_missing(document):
                self._noted.append(i)
            yield document

    def absent(self, n: int) -> Array | None:
        gone = np.concatenate([self._gone, np.array(self._noted, np.int64)])
        if len(gone) == 0:
            return None
        mask = np.zeros(n, bool)
        mask[gone] = True
        return mask
