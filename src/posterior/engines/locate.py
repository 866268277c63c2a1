"""Locates the engine that holds the rows passed to fit."""

from __future__ import annotations

import os
from typing import Any

from posterior.engines.engine import BatchEngine
from posterior.sources.source import Source

AT_HOME = {"numpy", "pandas", "polars", "pyarrow", "scipy"}  # in memory, at a glance


def locate(X: Any) -> tuple[BatchEngine, Source] | None:
    """The engine and the source of a table that is elsewhere; None if it is in memory."""
    home = type(X).__module__.partition(".")[0]
    if home in AT_HOME:
        return None
    if home in {"dask", "dask_expr"}:
        from posterior.engines import dask

        return dask.found(X)
    if home == "pyspark":
        from posterior.engines import spark

        return spark.found(X)
    source = _streamed(X, home)
    if source is None:
        return None
    from posterior.engines.streaming import Streamed

    return Streamed(), source


def _streamed(X: Any, home: str) -> Source | None:
    """Files by their paths, and queries of DuckDB; a source is one already."""
    from posterior.sources import query, table_files

    if isinstance(X, str) and query.SQL.match(X):
        return query.answer(X)
    paths = [X] if isinstance(X, str | os.PathLike) else X
    if isinstance(paths, list) and paths and all(isinstance(p, str | os.PathLike) for p in paths):
        _refuse_texts(paths)
        return table_files.matching(paths)
    if home in {"duckdb", "_duckdb"} and hasattr(X, "to_arrow_reader"):
        return query.Query(X)
    return X if isinstance(X, Source) else None


def _refuse_texts(paths: list[Any]) -> None:
    """A list of strings that are no paths is a list of texts."""
    from posterior.data import containers
    from posterior.sources.places import PATTERN

    texts = all(isinstance(p, str) and not PATTERN.search(p) for p in paths)
    if len(paths) > 1 and texts and not any(map(os.path.exists, paths)):
        raise FileNotFoundError(
            f"Expected rows, or paths of files, got {len(paths)} strings of which none is a file, "
            f"such as {paths[0]!r:.60}. {containers.TEXTS}."
        )
