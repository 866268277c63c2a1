"""From whatever holds documents and their classes to rows of counts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from posterior.data import frames
from posterior.data.typing import Array
from posterior.estimators.text.analyzing import Analyzing
from posterior.estimators.text.reading_progress import Progress
from posterior.sources.class_folders import labeled_files
from posterior.text.arrow_text import ArrowText
from posterior.text.blocks import gathered
from posterior.text.counted import CountedRows
from posterior.text.documents import is_missing
from posterior.text.vocabulary import Vocabulary


class ReadingDocuments(Analyzing):
    """Lists, columns of frames, Arrow arrays, generators, files and folders become rows."""

    _vocabulary: Vocabulary  # the terms that the model knows
    _column: str | None = None  # of a frame: where the text is

    def _with_target(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Documents and classes: of a folder of folders, of a frame, or as they are."""
        if y is None and isinstance(X, os.PathLike) and Path(X).is_dir():
            return labeled_files(Path(X))
        if not isinstance(y, str):
            return X, y
        rest, target = frames.split_target(X, y)
        frame = frames.as_frame(rest)
        assert frame is not None
        if len(frame.columns) != 1:
            raise ValueError(
                f"Expected one column of text beside {y!r}, got {frame.columns}. Choose it, as in "
                f"table[['text', {y!r}]]."
            )
        (self._column,) = frame.columns
        return frame.get_column(self._column).to_native(), target

    def _features(self, X: Any, fitting: bool, reset: bool) -> Any:
        """The counts of all terms, or of those that the model knows."""
        documents = self._documents(X)
        self._check_input(documents)
        with Progress(self.verbose) as progress:
            counting = self._counting(progress)
            seen = _Seen(documents, gathered(documents, counting.reader))
            known = None if fitting else self._vocabulary.lookup
            counted = counting.count(seen.documents, known)
        n = counted.n_rows
        if n == 0 and fitting:
            raise ValueError("Found array with 0 sample(s): expected documents, got none.")
        rows = CountedRows(counted, partial(counting.matrix, dtype=np.float32), seen.absent(n))
        return rows if fitting else rows.table()

    def _documents(self, X: Any) -> Any:
        """The column of a frame, or the documents as they are."""
        frame = frames.as_frame(X) if hasattr(X, "columns") or hasattr(X, "column_names") else None
        if frame is None:
            return X
        names = frame.columns if self._column is None else [self._column]
        if len(names) != 1 or names[0] not in frame.columns:
            raise ValueError(
                f"Expected a frame with {'one column' if self._column is None else 'the column'} "
                f"of text{'' if self._column is None else ' ' + repr(self._column)}, got columns "
                f"{frame.columns}. Choose it, as in table['text']."
            )
        return frame.get_column(names[0]).to_native()


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
