"""Places of a table: a file, files that match a pattern, a folder of files, standard input."""

from __future__ import annotations

import glob
import gzip
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posterior.sources.formats import is_table
from posterior.sources.naming import did_you_mean, listed

PATTERN = re.compile(r"[*?[]")


def is_pattern(path: str | Path) -> bool:
    """Whether a path stands for all files that match it."""
    return bool(PATTERN.search(str(path))) and not Path(path).exists()


def matching_places(path: str | Path) -> list[Path]:
    """The files that a path or a pattern names, or the tables in a folder."""
    if is_pattern(path):
        matches = sorted(Path(p) for p in glob.glob(str(path), recursive=True))
        if found := [place for place in matches if place.is_file()]:
            return found
        raise FileNotFoundError(f"Expected files that match {str(path)!r}, got none.")
    if str(path) == "-":
        raise ValueError("Expected files, got standard input, which can be read only once.")
    with located(path) as place:
        if not place.is_dir():
            return [place]
    if found := tables_in(place):
        return found
    raise FileNotFoundError(
        f"Expected a folder with tables, such as .csv or .parquet, got none in {path}."
    )


def check_there(path: str | Path) -> None:
    """Refuse a path where nothing is, before it is read."""
    if is_pattern(path):
        matching_places(path)
    elif str(path) != "-":
        _place(path)


def tables_in(folder: Path) -> list[Path]:
    """The files of a folder whose endings say that they hold a table; hidden ones are left out.

    A text beside tables is a note on them.
    """
    shown = (p for p in folder.iterdir() if p.is_file() and not p.name.startswith((".", "~$")))
    found = sorted(place for place in shown if is_table(place))
    return [place for place in found if place.suffix.lower() != ".txt"] or found


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file of a table: its format and its columns, which all files of a table share."""

    path: Path
    form: str
    schema: Any

    def check_like(self, first: TableFile) -> None:
        """An error where a file differs from the first one."""
        if self.form != first.form:
            raise ValueError(
                f"Expected files of one format, got {self.path} beside {first.path}. Name them by "
                "their ending, as in 'folder/*.parquet'."
            )
        known, found = set(first.schema.names), set(self.schema.names)
        if found != known:
            more, less = sorted(found - known), sorted(known - found)
            what = [f"has {listed(more)} more"] * bool(more)
            what += [f"lacks {listed(less)}"] * bool(less)
            raise ValueError(
                f"Expected the columns of {first.path} in all files, but {self.path} "
                f"{' and '.join(what)}."
            )


@contextmanager
def located(path: str | Path) -> Iterator[Path]:
    """A path that exists; standard input is put into a file first."""
    if str(path) != "-":
        yield _place(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        content = sys.stdin.buffer.read()
        ending = ".parquet" if content[:4] == b"PAR1" else ".csv"
        ending = ".json" if content.lstrip()[:1] in (b"{", b"[") else ending
        place = Path(folder) / f"stdin{ending}"
        place.write_bytes(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
        yield place


def _place(path: str | Path) -> Path:
    place = Path(path)
    if not place.exists():
        hint = did_you_mean(place.name, _names_beside(place))
        raise FileNotFoundError(f"Expected a file or a folder, got no such path: {path}.{hint}")
    return place


def _names_beside(place: Path) -> list[str]:
    return [p.name for p in place.parent.iterdir()] if place.parent.is_dir() else []
