"""Many documents as blocks of some of them, each a part of the work for one thread."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from posterior.data.typing import Array
from posterior.kernels.terms import Utf8Column
from posterior.text.arrow_text import ArrowText
from posterior.text.decoding import (
    MISSING,
    Decoder,
    check_collection,
    is_missing,
    missing_document,
)
from posterior.text.document_files import on_disk

Block = list[str] | Utf8Column

SMALLEST, LARGEST = 1 << 16, 1 << 26  # letters of a block of documents that are in memory
SAMPLE = 4096  # documents whose length stands for that of all
STREAM = 1 << 25  # letters of the blocks that are read from a stream at a time
BATCH = 4096  # documents of a block that a function analyzes


def text_blocks(documents: Any, decoder: Decoder, n_blocks: int) -> Iterator[Block]:
    """Blocks of text, n of them if they are neither small nor large; a stream is read in parts."""
    documents = gathered(documents, decoder)
    if isinstance(documents, ArrowText) and decoder.plain:
        for column in documents.columns():
            if column.valid is not None and decoder.missing == "error":
                raise missing_document(None, column.first + int(np.argmin(column.valid)))
            for rows in even_slices(np.diff(column.offsets), n_blocks):
                yield column[rows]
    elif isinstance(documents, list) and decoder.plain and set(map(type, documents)) <= {str}:
        step = 1 + len(documents) // SAMPLE
        lengths = np.array([len(document) for document in documents[::step]], np.int64)
        for rows in even_slices(lengths, n_blocks, step):
            yield documents[rows]
    else:
        yield from _read(documents, decoder, max(STREAM // n_blocks, SMALLEST))


def batches(documents: Any, decoder: Decoder, raw: bool) -> Iterator[list[Any]]:
    """Some documents at a time for Python's own work on them: their text, or as they are given."""
    stream = iter(_marked(gathered(documents, decoder), decoder, raw))
    while batch := list(islice(stream, BATCH)):
        yield batch


def _marked(documents: Any, decoder: Decoder, raw: bool) -> Iterator[Any]:
    for number, document in enumerate(documents):
        if decoder.missing == "empty" and is_missing(document):
            yield MISSING
        else:
            yield document if raw else decoder.text(document, number)


def gathered(documents: Any, decoder: Decoder) -> Any:
    """A list where all documents are at hand, a column of Arrow, else an iterable."""
    check_collection(documents)
    if isinstance(documents, os.PathLike):
        return on_disk(Path(documents), decoder)
    if isinstance(documents, list):
        return documents
    if isinstance(documents, np.ndarray):
        return documents.tolist()
    if (column := ArrowText.of(documents)) is not None:
        return column
    for to_list in ("to_list", "to_pylist"):  # other columns of pandas, polars and pyarrow
        if hasattr(documents, to_list):
            return getattr(documents, to_list)()
    return list(documents) if isinstance(documents, Sequence) else documents


def even_slices(lengths: Array, n_slices: int, step: int = 1) -> list[slice]:
    """Consecutive documents in slices of about equal length, by the length of every so many."""
    ends = np.cumsum(lengths.astype(np.int64) + 1)
    total = int(ends[-1]) if len(ends) else 0
    n_slices = max(1, min(n_slices, total * step // SMALLEST), -(-total * step // LARGEST))
    cuts = np.searchsorted(ends, total * np.arange(1, n_slices) // n_slices)
    bounds = [0, *(step * cuts).tolist(), step * len(lengths)]
    return [slice(a, b) for a, b in pairwise(bounds) if b > a]


def _read(documents: Any, decoder: Decoder, most: int) -> Iterator[list[str]]:
    block: list[str] = []
    size = 0
    for number, document in enumerate(documents):
        plain = type(document) is str and decoder.plain
        text = document if plain else decoder.text(document, number)
        block.append(text)
        size += len(text) + 64  # a short string is not free
        if size >= most:
            yield block
            block, size = [], 0
    if block:
        yield block
