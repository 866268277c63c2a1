"""All runs of `make fuzz` so far: what each part tried and found, and where it goes on."""

from __future__ import annotations

import json
import resource
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from limits import Found

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests"))

from stress_page import facts, replace, today  # noqa: E402

STATE = REPOSITORY / "build" / "fuzz" / "state.json"
PAGE = REPOSITORY / "docs" / "results" / "fuzz.md"
ATTACKED = {
    "files": "model files, changed with care",
    "requests_to_server": "requests to the server",
    "tables": "files of tables: CSV, JSON, Parquet, workbooks, databases, archives",
    "sql_names": "names and cells in SQL",
    "arrays": "arrays into estimators and kernels",
    "growth": "commands on inputs that double",
}


@dataclass
class Part:
    """What one part has tried."""

    next_seed: int = 0
    seconds: float = 0.0  # of the processor
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[dict[str, Any]] = field(default_factory=list)

    @property
    def open(self) -> list[dict[str, Any]]:
        return [finding for finding in self.findings if not finding["mended"]]


@dataclass
class History:
    """All parts, since the state was begun."""

    first_day: str = field(default_factory=today)
    parts: dict[str, Part] = field(default_factory=dict)
    counted: float = 0.0  # seconds of this run that parts have had

    @classmethod
    def read(cls) -> History:
        if not STATE.exists():
            return cls()
        kept = json.loads(STATE.read_text("utf-8"))
        parts = {name: Part(**part) for name, part in kept["parts"].items()}
        for part in parts.values():
            part.outcomes = Counter(part.outcomes)
        return cls(kept["first_day"], parts)

    def part(self, name: str) -> Part:
        return self.parts.setdefault(name, Part())

    def look_again(self, passes: Callable[[str, int], bool]) -> None:
        """Mark what was mended since it was found."""
        for name, part in self.parts.items():
            for finding in part.open:
                finding["mended"] = passes(name, finding["seed"])
        self._write()
        self.counted = _seconds_of_children()

    def add(self, name: str, found: Found, following: int) -> None:
        """Take in a run of a part, and keep it."""
        part = self.part(name)
        part.next_seed = following
        part.outcomes += found.outcomes
        for says in found.failures:
            seed = int(says.removeprefix("seed ").partition(":")[0])
            part.findings.append({"seed": seed, "says": says, "mended": False})
        spent = _seconds_of_children()
        part.seconds += spent - self.counted
        self.counted = spent
        self._write()

    def is_open(self) -> bool:
        return any(part.open for part in self.parts.values())

    def _write(self) -> None:
        parts = {name: vars(part) for name, part in self.parts.items()}
        replace(STATE, json.dumps({"first_day": self.first_day, "parts": parts}, indent=1))

    def write_page(self) -> None:
        """What the manual shows."""
        parts = self.parts.items()
        cases = sum(part.outcomes.total() for _, part in parts)
        seconds = sum(part.seconds for _, part in parts)
        rows = [
            f"| {ATTACKED[name]} | {part.outcomes.total():,} | {_listed(part.outcomes)} "
            f"| {part.seconds:,.0f} | {len(part.findings)} | {len(part.open)} |"
            for name, part in parts
        ]
        lines = [
            f"`make fuzz`, {facts(self.first_day)}; GCC's address and undefined-behavior "
            "sanitizers.",
            "",
            f"{cases:,} cases in {seconds:,.0f} seconds of processor time.",
            "",
            "| what is attacked | cases | of which | processor seconds | found | still open |",
            "|---|---|---|---|---|---|",
            *rows,
        ]
        replace(PAGE, "\n".join(lines) + "\n")


def _listed(outcomes: Counter[str]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in outcomes.most_common())


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
