"""`make fuzz`: model files, requests, arrays and growing inputs, for FUZZ_SECONDS in all.

    python tests/fuzz [SECONDS] [PART ...]              all parts, or some
    python tests/fuzz --cases PART SEED [HOW_MANY]      some cases again, in this process

Ends with 1 if anything was found; each finding has the seed that repeats it.
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path

import limits

# The share of the time that each part gets.
PARTS = {"files": 0.4, "requests_to_server": 0.42, "arrays": 0.1, "growth": 0.08}


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--work"]:
        part, start, stop, step, until, note = arguments[1:]
        seeds = range(int(start), int(stop), int(step))
        limits.work(importlib.import_module(part).case, seeds, float(until), Path(note))
        return 0
    if arguments[:1] == ["--cases"]:
        part, seed, *many = arguments[1:]
        seeds = range(int(seed), int(seed) + int(many[0] if many else 1))
        return told(part, limits.ran(importlib.import_module(part).case, seeds))
    seconds, chosen = float(arguments[0] if arguments else 600), arguments[1:] or list(PARTS)
    shares = sum(PARTS[part] for part in chosen)
    failed = 0
    for part in chosen:
        start = time.time()
        most = getattr(importlib.import_module(part), "CASES", 1 << 40)
        found = limits.run(part, seconds * PARTS[part] / shares, most)
        failed += told(f"{part} in {time.time() - start:,.0f} s", found)
    return min(failed, 1)


def told(part: str, found: limits.Found) -> int:
    """Say what came of some cases; whether anything was found."""
    outcomes = ", ".join(f"{n:,} {name}" for name, n in found.outcomes.most_common())
    print(f"{part}: {found.cases:,} cases: {outcomes}", flush=True)
    for failure in found.failures:
        print(f"  {failure}", flush=True)
    return int(bool(found.failures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
