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
        if found.cases % 50 == 0:
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


def run(part: str, seconds: float, most: int) -> Found:
    """Run a part in several processes at once, each again from the next case when one ends it."""
    step, until, total = os.cpu_count() or 1, time.time() + seconds, Found()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        notes = [Path(folder) / f"{p}.json" for p in range(step)]
        at_work = [_started(part, p, note, step, most, until) for p, note in enumerate(notes)]
        while at_work:
            time.sleep(0.2)
            for process in [p for p in at_work if p.running.poll() is not None]:
                at_work.remove(process)
                note, code = process.note, process.running.returncode
                more = read(note)
                total += more
                for failure in more.failures:
                    print(f"{part}: {failure}", flush=True)
                note.unlink(missing_ok=True)
                if code == 0:
                    continue
                seed = int(note.with_suffix(".seed").read_text())
                told = note.with_suffix(".err").read_text(errors="replace")
                total.outcomes["failed"] += 1
                total.failures.append(f"seed {seed}: ended by {code}\n{told[-4000:]}")
                print(f"{part}: {total.failures[-1]}", flush=True)
                if time.time() < until:
                    at_work.append(_started(part, seed + step, note, step, most, until))
    return total


def _started(part: str, start: int, note: Path, step: int, stop: int, until: float) -> Process:
    given = [part, str(start), str(stop), str(step), str(until), str(note)]
    python = sys.orig_argv[: sys.orig_argv.index(sys.argv[0])]  # with its options, such as -S
    with note.with_suffix(".err").open("wb") as errors:
        command = [*python, sys.argv[0], "--work", *given]
        return Process(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors), note)
