"""A DuckDB of one's own, and its errors in one sentence."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any


def check_installed() -> None:
    """An error that names the remedy where files cannot be read; imports nothing."""
    for library in ("duckdb", "pyarrow"):
        if sys.modules.get(library) is None and find_spec(library) is None:
            raise ModuleNotFoundError(
                f"Reading files needs {library}: pip install posterior[app].", name=library
            )


def connection() -> Any:
    """A database of one's own, in memory."""
    check_installed()
    import duckdb

    opened = duckdb.connect()
    opened.execute("SET enable_progress_bar=false")
    return opened


@contextmanager
def plain_errors(name: str) -> Iterator[None]:
    """Errors of DuckDB, where it was used, and of Arrow in one sentence."""
    import pyarrow as pa

    try:
        yield
    except PermissionError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"Expected a table in {name!r}: {_sentence(str(error))}") from None
    except _duckdb_errors() as error:
        text = re.sub(f'"[^"]*[/\\\\]{re.escape(name)}"', f'"{name}"', str(error))  # not its folder
        line = re.search(r"CSV Error on Line: (\d+)", text)
        if line:
            raise ValueError(
                f"Expected a table in {name!r}, but line {line.group(1)} does not fit the "
                f"header: {_unfit(text)}."
            ) from None
        raise ValueError(
            f"Expected a table in {name!r}: {_sentence(text.splitlines()[0])}"
        ) from None


def _duckdb_errors() -> tuple[type[Exception], ...]:
    """Those that can be there: asked while one is handled, as DuckDB comes when it is needed."""
    duckdb = sys.modules.get("duckdb")
    return () if duckdb is None else (duckdb.Error,)


def _unfit(text: str) -> str:
    """What is wrong with a line, as DuckDB says it."""
    if cells := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
        n = int(cells[2])
        return f"it has {n} cell{'' if n == 1 else 's'} instead of {cells[1]}"
    if "unterminated quote" in text:
        return "it has a quote that never ends (an unterminated quote)"
    return _sentence(text.splitlines()[0]).rstrip(".")


def _sentence(text: str) -> str:
    shown = "".join(letter for letter in text if letter.isprintable() or letter.isspace())
    return " ".join(shown.split()).rstrip(".") + "."
