"""Packed files: a zip of one file, .gz, .bz2 and .zst, unpacked into a folder that goes away."""

from __future__ import annotations

import errno
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from posterior.sources.connections import check_installed
from posterior.sources.formats import ARCHIVE, PACKED, format_of, is_packed, is_table
from posterior.sources.naming import listed

BLOCK = 1 << 20
FREE = 1 << 30  # bytes that anything may unpack to
MOST_TIMES = 200  # and beyond, how many times its own size: tables have much less in them


@contextmanager
def unpacked(place: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The file that is packed in another, or the file itself, and what to know about it."""
    ending = place.suffix.lower()
    streamed = ending == ".gz" and format_of(place) in ("csv", "json")  # DuckDB unpacks as it reads
    if ending != ARCHIVE and (ending not in PACKED or streamed):
        yield place, ()
        return
    with tempfile.TemporaryDirectory() as folder:
        if ending == ARCHIVE:
            member, notes = only_member(place)
            inside = Path(folder) / PurePosixPath(member.filename).name
            with _zip(place) as archive, archive.open(member) as packed:
                _copy(packed, inside, place, member.file_size)
        else:
            inside, notes = Path(folder) / place.name[: -len(ending)], ()
            check_installed()
            import pyarrow as pa

            with pa.input_stream(str(place), compression="detect") as packed:
                _copy(packed, inside, place)
        yield inside, notes


def only_member(place: Path) -> tuple[zipfile.ZipInfo, tuple[str, ...]]:
    """The one table in a zip archive, and which files stand beside it."""
    with _zip(place) as archive:
        members = [m for m in archive.infolist() if not m.is_dir() and not _is_hidden(m.filename)]
    found = [m for m in members if is_table(PurePosixPath(m.filename))]
    found = found or members
    names = [PurePosixPath(m.filename) for m in members]
    if len(found) != 1:
        hint = " Unpack it, and name one of them or their folder." if names else ""
        shown = listed([str(name) for name in names])
        raise ValueError(f"Expected one file in {place.name!r}, got {shown}.{hint}")
    path = PurePosixPath(found[0].filename)
    if path.is_absolute() or ".." in path.parts or "\\" in found[0].filename:
        raise ValueError(f"Expected a file in {place.name!r}, got a path out of it: {str(path)!r}.")
    if is_packed(path):
        raise ValueError(
            f"Expected a table in {place.name!r}, got another archive, {path.name!r}. Unpack it."
        )
    beside = [name.name for name in names if name != path]
    return found[0], (f"Of {place.name}, {path.name} is read.",) if beside else ()


def check_size(place: Path, most: int | None = None) -> None:
    """Refuse a zip archive, such as most workbooks are, of which far too much would come out."""
    if not zipfile.is_zipfile(place):
        return
    with _zip(place) as archive:
        size = sum(member.file_size for member in archive.infolist())
    _check(size, place, most)


def _check(size: int, place: Path, most: int | None = None) -> None:
    limit = max(FREE, MOST_TIMES * place.stat().st_size) if most is None else most
    if size > limit:
        raise ValueError(
            f"Expected {place.name!r} to unpack to at most {limit / 1e9:.1f} GB, got more. Unpack "
            "it first, if that is what it holds."
        )


@contextmanager
def _zip(place: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(place) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise ValueError(f"Expected a zip archive, got {place.name!r}: {error}.") from None
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise ValueError(
            f"Expected a zip archive, got {place.name!r}: a file in it begins before the archive."
        ) from None
    except RuntimeError:  # of zipfile, where a password is asked for
        raise ValueError(
            f"Expected a zip archive without a password, got {place.name!r}. Unpack it first."
        ) from None


def _is_hidden(name: str) -> bool:
    """What systems add beside the files of people: .DS_Store, __MACOSX/._a.csv."""
    return any(part.startswith((".", "__MACOSX")) and part != ".." for part in name.split("/"))


def _copy(packed: Any, inside: Path, place: Path, size: int | None = None) -> None:
    if size is not None:
        _check(size, place)
    done = 0
    try:
        with inside.open("wb") as out:
            while block := packed.read(BLOCK):
                done += len(block)
                _check(done, place)
                out.write(block)
    except OSError as error:
        if shutil.disk_usage(inside.parent).free < 2 * BLOCK:
            raise
        raise ValueError(f"Expected to unpack {place.name!r}, but: {error}.") from None
