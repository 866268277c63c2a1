"""Documents on disk: a folder of files, a folder of folders that are classes, a file of lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from posterior.text.documents import Reader, located


def files_of(folder: Path) -> list[Path]:
    """All files below a folder, in the order of their names; hidden ones are left out."""
    if not folder.is_dir():
        raise NotADirectoryError(f"Expected a folder of documents, got {str(folder)!r}.")
    below = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    shown = sorted(p for p in below if not any(part.startswith(".") for part in p.parts))
    return [folder / path for path in shown]


def labeled_files(folder: Path) -> tuple[list[Path], list[str]]:
    """The files of a folder that holds one folder for each class, and the class of each file."""
    files = files_of(folder)
    inside = [file.relative_to(folder).parts for file in files]
    for file, parts in zip(files, inside, strict=True):
        if len(parts) < 2:
            raise ValueError(
                f"Expected one folder for each class in {str(folder)!r}, got the file "
                f"{file.name!r} beside them. Move it into the folder of its class."
            )
    return files, [parts[0] for parts in inside]


def on_disk(path: Path, reader: Reader) -> Iterator[Any]:
    """The files of a folder as documents, or the lines of a file."""
    if path.is_dir() and reader.input == "filename":
        yield from files_of(path)
    elif reader.input != "content":
        raise ValueError(
            f"Expected input='content' to read documents from {str(path)!r}, got {reader.input!r}."
        )
    elif path.is_dir():
        for file in files_of(path):
            yield _decoded(file.read_bytes(), reader, f"the file {str(file)!r}")
    else:
        with path.open("rb") as lines:
            for number, line in enumerate(lines):
                yield _decoded(line.rstrip(b"\r\n"), reader, f"line {number} of {str(path)!r}")


def _decoded(document: bytes, reader: Reader, place: str) -> str:
    try:
        return document.decode(reader.encoding, reader.decode_error)
    except UnicodeDecodeError as error:
        raise located(error, place) from None
