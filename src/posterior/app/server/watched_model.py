"""A model file that may change while it is served: the old model answers until the new is whole."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Literal, TypeAlias

from posterior.app.server.refusals import LOG, sentence
from posterior.app.server.served import Served
from posterior.storage import inspect, load

Outcome: TypeAlias = Literal["same", "reloaded", "refused"]
Signature: TypeAlias = tuple[int, int, int, int]


class WatchedModel:
    """The last model of a file that was whole, and what is wrong with the file since then.

    The file is copied into `folder`, and the copy is read: so a worker that starts anew finds the
    last good model even if the file is damaged by then.
    """

    def __init__(self, name: str, path: Path, folder: Path) -> None:
        self.name, self.problem = name, None
        self._path, self._good = path, folder / f"{name}.posterior"
        self._seen = _signature(path)
        try:
            self.served = self._read()
        except ValueError as error:
            if not self._good.exists():
                raise
            self.served = served_from(self._good, name)
            self._refuse(error)

    name: str
    served: Served
    problem: str | None  # in a sentence; the model before it goes on answering

    def refresh(self) -> Outcome:
        """Read the file again if it has changed."""
        signature = _signature(self._path)
        if signature == self._seen:
            return "same"
        try:
            served = self._read()
        except ValueError as error:
            self._seen = signature  # until it changes once more
            self._refuse(error)
            return "refused"
        if _signature(self._path) != signature:  # changed again meanwhile: look once more
            return "same"
        self._seen, self.problem = signature, None
        if served.hash == self.served.hash:
            return "same"
        self.served = served
        LOG.info("%s: reloaded, sha256 %s", self.name, served.hash)
        return "reloaded"

    def _read(self) -> Served:
        """The model of a copy, which is kept if it is whole."""
        copy = self._good.with_name(f"{self._good.name}.{os.getpid()}")
        try:
            shutil.copyfile(self._path, copy)
            served = served_from(copy, self.name)
            os.replace(copy, self._good)
        except OSError as error:
            reason = error.strerror or sentence(error)
            raise ValueError(
                f"Expected to read the model file {self._path}, but: {reason}."
            ) from None
        except ValueError as error:
            raise ValueError(sentence(error).replace(str(copy), str(self._path))) from None
        finally:
            copy.unlink(missing_ok=True)
        return served

    def _refuse(self, error: Exception) -> None:
        gone = not self._path.exists()
        said = f"The model file {self._path} is gone." if gone else sentence(error)
        self.problem = f"{said} The model of before goes on answering."
        print(f"posterior: {self.name}: {self.problem}", file=sys.stderr, flush=True)


def served_from(path: Path, name: str) -> Served:
    """The model of a file, whose checksum is taken."""
    model = load(path)
    head = inspect(path)
    served = Served(model, name, version=str(head["version"]), hash=str(head["sha256"]))
    served.is_quick(1)  # predicts some rows, so that no request is the first one
    return served


def _signature(path: Path) -> Signature | None:
    """What changes with the file; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_dev
