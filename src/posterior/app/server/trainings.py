"""Trainings of uploaded files: one at a time among all workers, each in a process of its own.

What is known of a training is a file in its folder, so that any worker can tell of it.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from posterior.app.server import training_process
from posterior.app.server.api_schema import TrainingFacts
from posterior.app.server.limits import Limits
from posterior.app.server.refusals import RequestError
from posterior.app.server.served import Served
from posterior.app.server.uploads import check_safe, ending_of, shown_name, without
from posterior.app.server.watched_model import served_from
from posterior.preprocessing.overrides import Overrides
from posterior.sources.outputs import write_text
from posterior.storage import locked

NO_ROOM = "This machine has no room for the file."
UNDER_WAY = ("waiting", "running")
ENDED = "The training ended before it was done; the server's log may say why."
KEY = re.compile(r"[A-Za-z0-9_-]{16}", re.ASCII)
FACTS, PAUSE = "facts.json", 0.5


class Record(TrainingFacts):
    """A training as its file tells of it."""

    begun: float  # seconds since 1970
    worker: str


class Trainings:
    """All of them, by their ids, which nobody can guess."""

    def __init__(self, folder: Path, limits: Limits, name: str = "0") -> None:
        self._folder, self._limits, self._name = folder, limits, name
        self._lock = threading.Lock()
        self._served: dict[str, Served] = {}
        self._pool = ThreadPoolExecutor(1, "training")
        self._process: subprocess.Popen[str] | None = None
        self._closed = False

    def start(
        self, content: BinaryIO, name: str | None, target: str, asked: Overrides
    ) -> TrainingFacts:
        """Keep a file, and train on it when those before are done."""
        ending = ending_of(name)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        with locked(self._folder / "trainings"):
            most = self._limits.trainings
            if sum(record.state in UNDER_WAY for record in records(self._folder)) >= most:
                raise RequestError(
                    f"Expected at most {most} trainings under way. Try again when one is done.",
                    429,
                    "busy",
                )
            self._forget_old()
            record = Record(
                id=secrets.token_urlsafe(12),
                state="waiting",
                step="waiting",
                source=shown_name(name),
                target=target,
                seconds=0.0,
                begun=time.time(),
                worker=self._name,
            )
            (self._folder / record.id).mkdir()
            _keep(self._folder, record)
        upload = self._folder / record.id / f"upload{ending}"
        try:
            with upload.open("wb") as file:
                shutil.copyfileobj(content, file)
        except OSError:
            _change(self._folder, record.id, state="failed", step="failed", error=NO_ROOM)
            raise RequestError(NO_ROOM, 507, "memory") from None
        self._pool.submit(self._run, record, upload, asked)
        return _facts(record)

    def facts(self, key: str) -> TrainingFacts:
        return _facts(self._found(key))

    def file(self, key: str, name: str) -> Path:
        """A file of a training that is done; the name is one of ours."""
        if self._found(key).state != "done":
            raise RequestError("The training is not done.", 409, "address")
        return self._folder / key / name

    def served(self, key: str) -> Served:
        """The model of a training, to be asked."""
        if key in self._served:
            return self._served[key]
        path, record = self.file(key, training_process.MODEL), self._found(key)
        served = served_from(path, f"{record.target} in {record.source}")
        with self._lock:
            while len(self._served) >= self._limits.kept:
                self._served.pop(next(iter(self._served)))
            self._served[key] = served
        return served

    def close(self) -> None:
        """End what is under way."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()
        self._pool.shutdown(cancel_futures=True)

    def _found(self, key: str) -> Record:
        record = _read(self._folder, key) if KEY.fullmatch(key) else None
        if record is None:
            raise RequestError("There is no such training; old ones are removed.", 404, "address")
        return record

    def _forget_old(self) -> None:
        known = sorted(records(self._folder), key=lambda record: record.begun)
        done = [record.id for record in known if record.state not in UNDER_WAY]
        for key in done[: max(0, 1 + len(known) - self._limits.kept)]:
            shutil.rmtree(self._folder / key, ignore_errors=True)

    def _run(self, record: Record, upload: Path, asked: Overrides) -> None:
        folder = upload.parent
        try:
            with ExitStack() as turn:
                if not self._wait(turn):
                    return
                _change(self._folder, record.id, state="running", step="starting")
                check_safe(upload)
                found = self._work(record, upload, asked)
            if "summary" not in found:
                raise ValueError(found.get("error", ENDED))
            summary = found["summary"]
            _change(self._folder, record.id, state="done", step="done", summary=summary)
        except Exception as error:
            reason = without(folder, error)
            _change(self._folder, record.id, state="failed", step="failed", error=reason)
        finally:
            upload.unlink(missing_ok=True)

    def _wait(self, turn: ExitStack) -> bool:
        """Wait until no other worker trains; False if the server ends first."""
        while not self._closed:
            try:
                turn.enter_context(locked(self._folder / "training", wait=PAUSE))
                return True
            except TimeoutError:
                pass
        return False

    def _work(self, record: Record, upload: Path, asked: Overrides) -> dict[str, str]:
        """Let a process train, and read what it writes; the last line counts."""
        task = {
            "upload": str(upload),
            "source": record.source,
            "target": record.target,
            "asked": asked,
            "folder": str(upload.parent),
            "most": self._limits.training_rows,
        }
        with self._lock:
            if self._closed:
                return {}
            process = self._process = subprocess.Popen(
                [sys.executable, "-c", f"from {training_process.__name__} import main; main()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
        too_long = threading.Timer(self._limits.training_seconds, process.kill)
        too_long.start()
        found: dict[str, str] = {}
        try:
            with process:
                assert process.stdin is not None and process.stdout is not None
                process.stdin.write(f"{json.dumps(task)}\n")
                process.stdin.flush()  # it stays open: the process ends when this one does
                for line in process.stdout:
                    found = json.loads(line)
                    if "step" in found:
                        _change(self._folder, record.id, step=found["step"])
        finally:
            too_long.cancel()
            self._process = None
        return found


def records(folder: Path) -> Iterator[Record]:
    """All trainings of a folder."""
    for place in folder.iterdir():
        if KEY.fullmatch(place.name) and (record := _read(folder, place.name)) is not None:
            yield record


def fail_those_of(folder: Path, name: str) -> None:
    """Tell that the trainings of a worker that was killed have failed."""
    for record in records(folder):
        if record.worker == name and record.state in UNDER_WAY:
            _change(folder, record.id, state="failed", step="failed", error=ENDED)


def _facts(record: Record) -> TrainingFacts:
    seconds = time.time() - record.begun if record.state in UNDER_WAY else record.seconds
    known = record.model_dump(exclude={"begun", "worker"})
    return TrainingFacts(**{**known, "seconds": seconds})


def _read(folder: Path, key: str) -> Record | None:
    try:
        return Record.model_validate_json((folder / key / FACTS).read_bytes())
    except FileNotFoundError:
        return None


def _keep(folder: Path, record: Record) -> None:
    write_text(folder / record.id / FACTS, record.model_dump_json())


def _change(folder: Path, key: str, **changes: str) -> None:
    record = _read(folder, key)
    if record is not None:  # else it was removed with the server's other files
        seconds = time.time() - record.begun
        _keep(folder, record.model_copy(update={**changes, "seconds": seconds}))
