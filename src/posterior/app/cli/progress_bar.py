"""Where a command is: on stderr, and only if somebody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from posterior.app.cli.command import console


@contextmanager
def busy(text: str) -> Iterator[Callable[[str], None]]:
    """A line that turns while a step takes its time; the function renames the step."""
    page = console(stderr=True)
    if not page.is_terminal:
        yield lambda text: None
        return
    with page.status(text) as status:
        yield status.update


@contextmanager
def counting(text: str) -> Iterator[Callable[[int], None]]:
    """A line that counts rows; the function adds some."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    page = console(stderr=True)
    if not page.is_terminal:
        yield lambda rows: None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.completed:,} rows"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=page, transient=True) as progress:
        task = progress.add_task(text, total=None)
        yield lambda rows: progress.advance(task, rows)
