"""Cases in processes of their own, whose time and memory are bounded.

A case is a number: its seed. A process runs one after the other and notes where it is, so that
whatever ends it (a fault that a sanitizer found, the alarm, a signal) has a number that repeats it.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

CPU_SECONDS = 20  # of one case; those of a busy machine count no more than those of a quiet one
MEMORY = 4 << 30  # bytes of a process
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")  # whose own memory has no bounds


@dataclass
class Found:
    """What came of some cases."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def cases(self) -> int:
        return sum(self.outcomes.values())

    def __add__(self, other: Found) -> Found:
        return Found(self.outcomes + other.outcomes, self.failures + other.failures)


def bounded() -> None:
    """Let this process take no more memory than the limit, and tell where it was when it ends."""
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)  # then as the alarm does: the end
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def alarm(seconds: float) -> None:
    """End this process if it computes for so long."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def ran(
    case: Callable[[int], str],
    seeds: Iterable[int],
    before: Callable[[int, Found], None] = lambda seed, found: None,
) -> Found:
    """What came of some cases, in this process; `before` each, it is told.

    A case answers with the name of its outcome, and raises AssertionError if it found something.
    """
    bounded()
    found = Found()
    for seed in seeds:
        before(seed, found)
        alarm(CPU_SECONDS)
        try:
            found.outcomes[case(seed)] += 1
        except (AssertionError, MemoryError) as error:
            found.outcomes["failed"] += 1
            found.failures.append(f"seed {seed}: {type(error).__name__}: {error}")
        alarm(0)
    return found


def work(case: Callable[[int], str], seeds: Iterable[int], until: float, note: Path) -> None:
    """Run cases until the time is over; `note` says which, and what came of them."""

    def look(seed: int, found: Found) -> None:
        note.with_suffix(".seed").write_text(str(seed))
        if found.cases % 20 == 0:
            write(found, note)

    in_time = takewhile(lambda _: time.time() < until, seeds)
    write(ran(case, in_time, look), note)


def write(found: Found, note: Path) -> None:
    note.write_text(json.dumps({"outcomes": found.outcomes, "failures": found.failures}))


def read(note: Path) -> Found:
    told: Any = json.loads(note.read_text()) if note.exists() else {}
    return Found(Counter(told.get("outcomes", {})), told.get("failures", []))


class Process(NamedTuple):
    """A process at work, and where it notes how far it is."""

    running: subprocess.Popen[bytes]
    note: Path

    @property
    def seed(self) -> int:
        """Of the case that it runs, or ran at last."""
        return int(self.note.with_suffix(".seed").read_text())

    def found(self) -> Found:
        """What came of its cases; one that ended the process is a finding."""
        found, code = read(self.note), self.running.returncode
        for failure in found.failures:
            print(f"  {failure}", flush=True)
        if code:
            told = self.note.with_suffix(".err").read_text(errors="replace")
            found.outcomes["failed"] += 1
            found.failures.append(f"seed {self.seed}: ended by {code}\n{told[-4000:]}")
            print(f"  {found.failures[-1]}", flush=True)
        return found


def run(part: str, seconds: float, first: int, processes: int) -> tuple[Found, int]:
    """Run a part in several processes at once, each again from the next case when one ends it.

    Gives what was found and the next seed. Where someone ends this one, what it knows so far.
    """
    until, total, following = time.time() + seconds, Found(), first
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        notes = [Path(folder) / f"{p}.json" for p in range(processes)]
        at_work = [
            _started(part, first, first + p, note, processes, until) for p, note in enumerate(notes)
        ]
        try:
            while at_work:
                time.sleep(0.2)
                for process in [p for p in at_work if p.running.poll() is not None]:
                    at_work.remove(process)
                    total += process.found()
                    following = max(following, process.seed + 1)
                    process.note.unlink(missing_ok=True)
                    if process.running.returncode and time.time() < until:
                        after = process.seed + processes
                        at_work.append(_started(part, first, after, process.note, processes, until))
        except (KeyboardInterrupt, SystemExit):
            for process in at_work:
                process.running.kill()
                process.running.wait()
                total += read(process.note)
                following = max(following, process.seed + 1)
            raise RunEndedError(total, following) from None
    return total, following


class RunEndedError(Exception):
    """Somebody ended a run: what was found until then, and the next seed."""


def _started(part: str, first: int, start: int, note: Path, step: int, until: float) -> Process:
    given = [part, str(first), str(start), str(step), str(until), str(note)]
    python = sys.orig_argv[: sys.orig_argv.index(sys.argv[0])]  # with its options, such as -S
    with note.with_suffix(".err").open("wb") as errors:
        note.with_suffix(".seed").write_text(str(start - 1))  # until the first begins
        command = [*python, sys.argv[0], "--work", *given]
        return Process(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors), note)
