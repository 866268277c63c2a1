"""Documents on disk: a folder of files, or a file of lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from posterior.sources.class_folders import files_of
from posterior.text.decoding import Decoder, located


def on_disk(path: Path, decoder: Decoder) -> Iterator[Any]:
    """The files of a folder as documents, or the lines of a file."""
    if path.is_dir() and decoder.input == "filename":
        yield from files_of(path)
    elif decoder.input != "content":
        raise ValueError(
            f"Expected input='content' to read documents from {str(path)!r}, got {decoder.input!r}."
        )
    elif path.is_dir():
        for file in files_of(path):
            yield _decoded(file.read_bytes(), decoder, f"the file {str(file)!r}")
    else:
        with path.open("rb") as lines:
            for number, line in enumerate(lines):
                yield _decoded(line.rstrip(b"\r\n"), decoder, f"line {number} of {str(path)!r}")


def _decoded(document: bytes, decoder: Decoder, place: str) -> str:
    try:
        return document.decode(decoder.encoding, decoder.decode_error)
    except UnicodeDecodeError as error:
        raise located(error, place) from None
