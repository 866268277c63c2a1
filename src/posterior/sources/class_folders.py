"""Folders of documents: all files below one, and those of a folder for each class."""

from __future__ import annotations

from pathlib import Path
from typing import Any


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


def holds_classes(folder: Path) -> bool:
    """Whether there are folders with files in a folder, which then are its classes."""
    return any(len(file.relative_to(folder).parts) > 1 for file in files_of(folder))


def documents(folder: Path) -> Any:
    """One row for each file below the folders of the classes: text, class, file."""
    import pyarrow as pa

    inside = [file.relative_to(folder) for file in files_of(folder)]
    inside = [path for path in inside if len(path.parts) > 1]  # a README may stand beside them
    if not inside:
        raise ValueError(
            f"Expected a folder in {folder.name!r} for each class, with its documents, got none."
        )
    return pa.table(
        {
            "text": [_decoded((folder / path).read_bytes()) for path in inside],
            "class": [path.parts[0] for path in inside],
            "file": [path.as_posix() for path in inside],
        }
    )


def _decoded(document: bytes) -> str:
    try:
        return document.decode("utf-8-sig")
    except UnicodeDecodeError:
        return document.decode("latin-1")
