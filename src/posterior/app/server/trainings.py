"""Trainings: one at a time, each in a process of its own, with its report and its model."""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from posterior.app.server import worker
from posterior.app.server.api_schema import TrainingFacts
from posterior.app.server.refusals import Limits, RequestError
from posterior.app.server.served import Served
from posterior.app.server.uploads import check_safe, ending_of, shown_name, without
from posterior.preprocessing.overrides import Overrides
from posterior.storage import load

NO_ROOM = "This machine has no room for the file."
UNDER_WAY = ("waiting", "running")
ENDED = "The training ended before it was done; the server's log may say why."


@dataclass(slots=True)
class Training:
    """One training, and the folder of its files."""

    facts: TrainingFacts
    folder: Path
    begun: float = field(default_factory=time.monotonic)
    served: Served | None = None


class Trainings:
    """All of them, by their ids, which nobody can guess."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._all: dict[str, Training] = {}
        self._folder: Path | None = None
        self._pool = ThreadPoolExecutor(1, "training")
        self._process: subprocess.Popen[str] | None = None
        self._closed = False

    def start(
        self, content: BinaryIO, name: str | None, target: str, asked: Overrides
    ) -> TrainingFacts:
        """Keep a file, and train on it when those before are done."""
        ending = ending_of(name)
        with self._lock:
            if sum(t.facts.state in UNDER_WAY for t in self._all.values()) >= (
                self._limits.trainings
            ):
                raise RequestError(
                    "Other trainings are under way. Try again when one is done.", 429
                )
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="posterior-"))
            key = secrets.token_urlsafe(12)
            facts = TrainingFacts(
                id=key,
                state="waiting",
                step="waiting",
                source=shown_name(name),
                target=target,
                seconds=0.0,
            )
            folder = self._folder / key
            folder.mkdir()
            training = self._all[key] = Training(facts, folder)
            self._forget_old()
        upload = training.folder / f"upload{ending}"
        try:
            with upload.open("wb") as file:
                shutil.copyfileobj(content, file)
        except OSError:
            self._set(training, state="failed", step="failed", error=NO_ROOM)
            raise RequestError(NO_ROOM, 507) from None
        self._pool.submit(self._run, training, upload, asked)
        return facts

    def facts(self, key: str) -> TrainingFacts:
        return self._found(key).facts

    def file(self, key: str, name: str) -> Path:
        """A file of a training that is done; the name is one of ours."""
        training = self._found(key)
        if training.facts.state != "done":
            raise RequestError("The training is not done.", 409)
        return training.folder / name

    def served(self, key: str) -> Served:
        """The model of a training, to be asked."""
        served = self._found(key).served
        if served is None:
            raise RequestError("The training is not done.", 409)
        return served

    def close(self) -> None:
        """End what is under way, and remove all files."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()
        self._pool.shutdown(cancel_futures=True)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _found(self, key: str) -> Training:
        training = self._all.get(key)
        if training is None:
            raise RequestError("There is no such training; old ones are removed.", 404)
        return training

    def _forget_old(self) -> None:
        done = [key for key, t in self._all.items() if t.facts.state not in UNDER_WAY]
        for key in done[: max(0, len(self._all) - self._limits.kept)]:
            shutil.rmtree(self._all.pop(key).folder, ignore_errors=True)

    def _run(self, training: Training, upload: Path, asked: Overrides) -> None:
        try:
            self._set(training, state="running", step="starting")
            check_safe(upload)
            found = self._work(training, upload, asked)
            if "summary" not in found:
                raise ValueError(found.get("error", ENDED))
            model = load(training.folder / worker.MODEL)
            training.served = Served(model, f"{training.facts.target} in {training.facts.source}")
            self._set(training, state="done", step="done", summary=found["summary"])
        except Exception as error:
            reason = without(training.folder, error)
            self._set(training, state="failed", step="failed", error=reason)
        finally:
            upload.unlink(missing_ok=True)

    def _work(self, training: Training, upload: Path, asked: Overrides) -> dict[str, str]:
        """Let the worker train, and read what it writes; the last line counts."""
        task = {
            "upload": str(upload),
            "source": training.facts.source,
            "target": training.facts.target,
            "asked": asked,
            "folder": str(training.folder),
            "most": self._limits.training_rows,
        }
        with self._lock:
            if self._closed:
                return {}
            process = self._process = subprocess.Popen(
                [sys.executable, "-c", f"from {worker.__name__} import main; main()"],
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
                process.stdin.write(json.dumps(task))
                process.stdin.close()
                for line in process.stdout:
                    found = json.loads(line)
                    if "step" in found:
                        self._set(training, step=found["step"])
        finally:
            too_long.cancel()
            self._process = None
        return found

    def _set(self, training: Training, **changes: str) -> None:
        seconds = time.monotonic() - training.begun
        training.facts = training.facts.model_copy(update={**changes, "seconds": seconds})
