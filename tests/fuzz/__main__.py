"""`make fuzz`: what comes from strangers, for FUZZ_SECONDS, going on where the last run stopped.

    python tests/fuzz [SECONDS] [PART ...]              all parts, or some
    python tests/fuzz --cases PART SEED [HOW_MANY]      some cases again, in this process

build/fuzz/state.json keeps cases, seconds, the next seed and what was found of every part; delete
it to begin anew. A run first repeats findings that are open, and at its end, or where somebody ends
it, writes docs/results/fuzz.md. Ends with 1 while a finding is open; each has the seed that repeats
it. FUZZ_PROCESSES says how many work at once, by default one a core.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import limits
from history import History

# The share of the time that each part gets.
PARTS = {
    "files": 0.25,
    "requests_to_server": 0.25,
    "tables": 0.22,
    "sql_names": 0.12,
    "arrays": 0.1,
    "growth": 0.06,
}


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--work"]:
        part, first, start, step, until, note = arguments[1:]
        cases = importlib.import_module(part)
        stop = int(first) + getattr(cases, "CASES", 1 << 40)
        seeds = range(int(start), stop, int(step))
        limits.work(cases.case, seeds, float(until), Path(note))
        return 0
    if arguments[:1] == ["--cases"]:
        part, seed, *many = arguments[1:]
        seeds = range(int(seed), int(seed) + int(many[0] if many else 1))
        return told(part, limits.ran(importlib.import_module(part).case, seeds))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return attack(float(arguments[0] if arguments else 600), arguments[1:] or list(PARTS))


def attack(seconds: float, chosen: list[str]) -> int:
    """Run parts one after the other; whether anything that was found is open."""
    history = History.read()
    history.look_again(repeated)
    shares = sum(PARTS[part] for part in chosen)
    processes = int(os.environ.get("FUZZ_PROCESSES", os.cpu_count() or 1))
    for part in chosen:
        start, share = history.part(part).next_seed, seconds * PARTS[part] / shares
        try:
            found, following = limits.run(part, share, start, processes)
        except limits.RunEndedError as end:
            history.add(part, *end.args)
            history.write_page()
            return 1
        history.add(part, found, following)
        told(part, found)
    history.write_page()
    return int(history.is_open())


def repeated(part: str, seed: int) -> bool:
    """Whether a case that failed once passes now."""
    python = sys.orig_argv[: sys.orig_argv.index(sys.argv[0])]
    command = [*python, sys.argv[0], "--cases", part, str(seed)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def told(part: str, found: limits.Found) -> int:
    """Say what came of some cases; whether anything was found."""
    outcomes = ", ".join(f"{n:,} {name}" for name, n in found.outcomes.most_common())
    print(f"{part}: {found.cases:,} cases: {outcomes}", flush=True)
    for failure in found.failures:
        print(f"  {failure}", flush=True)
    return int(bool(found.failures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
