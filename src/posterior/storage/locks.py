"""One writer of a model file at a time, among all processes of a machine."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import local

WAIT = 60.0  # seconds
PAUSE = 0.02

_held = local()  # paths that this thread has locked


@contextmanager
def locked(path: str | os.PathLike[str], wait: float = WAIT) -> Iterator[None]:
    """Keep other writers of a model file out while it is read, changed and saved.

    `save` takes the same lock, so that a model is never lost between another's reading and writing.
    Readers need none: a file is the old or the new one at any moment. The lock is a file beside the
    model's (`.NAME.lock`), on which the system itself keeps the lock: it ends with the process.

    A `TimeoutError` says that others have held the file for `wait` seconds.

    Examples
    --------
    >>> import tempfile, posterior
    >>> from posterior.storage import locked
    >>> model = posterior.GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/fish.posterior"
    ...     posterior.save(model, path)
    ...     with locked(path):
    ...         posterior.save(posterior.load(path).partial_fit([[6.0]], [1]), path)
    ...     posterior.load(path).class_count_
    array([2., 3.])
    """
    place = Path(path).resolve()  # names of one file have one lock
    held: set[Path] = _held.__dict__.setdefault("paths", set())
    if place in held:
        yield
        return
    lock = place.with_name(f".{place.name}.lock")
    handle = _acquired(lock, place, time.monotonic() + wait, wait)
    held.add(place)
    try:
        yield
    finally:
        held.remove(place)
        _release(handle, lock)


def _acquired(lock: Path, place: Path, until: float, wait: float) -> int:
    """The handle of the lock, once nobody else has it."""
    while True:
        handle = _opened(lock)
        try:
            if _taken(handle) and _is_at(handle, lock):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if time.monotonic() > until:
            raise TimeoutError(
                f"Expected to change {str(place)!r}, but another process has been changing it for "
                f"{wait:g} seconds. Try again when it is done; nothing was changed."
            )
        time.sleep(PAUSE)


def _opened(lock: Path) -> int:
    try:
        return os.open(lock, os.O_RDWR | CREATE, 0o666)
    except PermissionError:  # another user's, perhaps left by a process that was killed
        return os.open(lock, os.O_RDONLY | CREATE, 0o666)


def _is_at(handle: int, lock: Path) -> bool:
    """Whether the lock is that of the name: its last holder may have taken the file away."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(lock))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    CREATE = os.O_CREAT

    def _taken(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(handle: int, lock: Path) -> None:
        os.close(handle)  # the file stays: no open file can be taken away there
else:
    import fcntl

    CREATE = os.O_CREAT | os.O_NOFOLLOW

    def _taken(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(handle: int, lock: Path) -> None:
        lock.unlink(missing_ok=True)  # while it is held: whoever waits for it looks again
        os.close(handle)
