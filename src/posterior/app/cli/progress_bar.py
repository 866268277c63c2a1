"""A bar of what is done, with the time left, while somebody at a terminal waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from posterior.app.cli.command import console

Watch = Callable[[str, int, int], None]  # what is done now, how much is done, and of how much
SOON = 0.02  # of all done: before that nobody knows


@dataclass(slots=True)
class TimeLeft:
    """An estimate by the share that is done, which runs down until the next one."""

    began: float | None = None  # when it was first told
    ends: float | None = None

    def tell(self, share: float, now: float) -> None:
        """A share of all is done by now."""
        if self.began is None:
            self.began = now
        elif share >= SOON:
            self.ends = self.began + (now - self.began) / share

    def said(self, now: float) -> str:
        if self.ends is None:
            return ""
        left = max(round(self.ends - now), 1)
        return f"about {left} s left" if left < 120 else f"about {round(left / 60)} min left"

    def __str__(self) -> str:  # at every turn of the bar
        return self.said(time.monotonic())


@contextmanager
def progress_bar(text: str) -> Iterator[Watch]:
    """A bar on the error stream, if that is a terminal; the function moves it."""
    page = console(stderr=True)
    if not page.is_terminal:
        yield lambda name, done, total: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    left = TimeLeft()
    columns = (
        SpinnerColumn(),
        BarColumn(24),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[left]}", style="dim"),
    )
    with Progress(*columns, console=page, transient=True) as bar:
        task = bar.add_task(text, total=None, left=left)

        def watch(name: str, done: int, total: int) -> None:
            left.tell(done / max(total, 1), time.monotonic())
            bar.update(task, description=name, completed=done, total=total)

        yield watch
