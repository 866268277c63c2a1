"""Decodes documents: strings, bytes, paths and open files become text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from posterior.data.frames import missing

MISSING = object()  # a document without terms, whatever Python does to documents


@dataclass(frozen=True, slots=True)
class Decoder:
    """How one document becomes text; errors say which document it was."""

    input: Literal["content", "file", "filename"] = "content"
    encoding: str = "utf-8"
    decode_error: str = "strict"
    missing: Literal["error", "empty"] = "error"
    own: Callable[[Any], Any] | None = None  # a decoder that a subclass put in the place of ours

    @property
    def plain(self) -> bool:
        """Whether a string is its own text."""
        return self.input == "content" and self.own is None

    def decode(self, document: Any) -> Any:
        """The text of a document, or the document itself if it is neither text nor bytes."""
        if self.input == "filename":
            document = Path(document).read_bytes()
        elif self.input == "file":
            document = document.read()
        if isinstance(document, bytes):
            document = document.decode(self.encoding, self.decode_error)
        if document is np.nan:
            raise ValueError("np.nan is an invalid document, expected byte or unicode string.")
        return document

    def text(self, document: Any, number: int) -> str:
        """The text of document `number`; a missing one is empty, or an error."""
        if is_missing(document):
            if self.missing == "empty":
                return ""
            raise missing_document(document, number)
        try:
            text = self._read(document)
        except UnicodeDecodeError as error:
            raise located(error, f"document {number}") from None
        if not isinstance(text, str):
            raise TypeError(
                f"Expected documents that are strings or bytes, got {type(text).__name__} as "
                f"document {number}."
            )
        return text

    def _read(self, document: Any) -> Any:
        if self.own is not None:
            return self.own(document)
        if self.input == "content":  # paths and open files need no word about them
            if isinstance(document, os.PathLike):
                document = Path(document).read_bytes()
            elif hasattr(document, "read"):
                document = document.read()
        return self.decode(document)


def is_missing(document: Any) -> bool:
    """None, NaN or a library's own mark; whatever has a length or can be read is there."""
    if document is None:
        return True
    if isinstance(document, str | bytes | os.PathLike | dict):
        return False
    return not hasattr(document, "__len__") and not hasattr(document, "read") and missing(document)


def missing_document(document: Any, number: int) -> ValueError:
    """What to say of a document that is not there."""
    name = "np.nan" if isinstance(document, float) else repr(document)
    return ValueError(
        f"{name} is an invalid document, expected byte or unicode string. Document {number} is "
        "missing: leave it out, or set missing='empty'."
    )


def located(error: UnicodeDecodeError, place: str) -> UnicodeDecodeError:
    """The same error with its place and the remedy."""
    reason = f"{error.reason}, in {place}; name its encoding, or set decode_error='replace'"
    return UnicodeDecodeError(error.encoding, error.object, error.start, error.end, reason)


def check_collection(documents: Any) -> None:
    """Refuse one document, or a table, in the place of many documents."""
    if isinstance(documents, str | bytes | bytearray):
        kind = "string" if isinstance(documents, str) else "bytes"
        raise ValueError(
            f"Iterable over raw text documents expected, {kind} object received. Put it into a "
            "list; a file or a folder is named by a pathlib.Path."
        )
    if hasattr(documents, "columns") or hasattr(documents, "column_names"):
        raise TypeError(
            f"Expected one column of documents, got a table ({type(documents).__name__}). Choose "
            "its column of text, as in table['text']."
        )
    if not isinstance(documents, Iterable | os.PathLike):
        raise TypeError(f"Expected an iterable of documents, got {type(documents).__name__}.")
