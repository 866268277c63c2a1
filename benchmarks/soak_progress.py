"""What a soak has shown so far: kept in a file, so that one that was interrupted goes on."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

MOST_GROWN = 20.0  # MB


@dataclass
class Progress:
    """Counts of all runs together."""

    seconds: float = 0.0
    runs: int = 0
    answers: int = 0
    rows: int = 0
    models: int = 0  # versions of the model that answered
    updates: int = 0
    kills: int = 0
    restart: float = 0.0  # seconds that the slowest new worker took to answer
    broken: int = 0  # connections that broke
    refused: int = 0  # connections that were not let in at all
    unexplained: int = 0  # of both, those while no worker was starting
    lost: int = 0  # rows that were learned and are not in the model
    wrong: list[str] = field(default_factory=list)
    settle: float = 60.0  # seconds until a process has what it needs
    watched: int = 0  # processes that lived twice as long
    longest: float = 0.0  # seconds that one of them lived
    memory: float = 0.0  # MB of the largest
    grown: float = 0.0  # MB, the most that one of them did

    @classmethod
    def at(cls, path: Path) -> Progress:
        """What a file says; the beginning, if there is none."""
        return cls(**json.loads(path.read_text("utf-8"))) if path.exists() else cls()

    def keep(self, path: Path) -> None:
        whole = path.with_suffix(".new")
        whole.write_text(json.dumps(asdict(self), indent=1), "utf-8")
        os.replace(whole, path)

    def holds(self) -> bool:
        """Whether nothing was wrong, nothing lost, and memory flat."""
        return not (self.unexplained or self.lost or self.wrong) and self.grown < MOST_GROWN

    def page(self, clients: int, kill: float) -> str:
        """The result for people to read."""
        again = "" if self.runs == 1 else f" in {self.runs} runs"
        facts = {
            "answers, each compared with what the version of the model says that it names": (
                f"{self.answers:,}, of {self.rows:,} rows"
            ),
            "versions of the model that answered, of those written": (
                f"{self.models:,} of {self.updates + 1:,}"
            ),
            "workers killed; the slowest restart": f"{self.kills:,}; {self.restart:.1f} s",
            "connections that broke with the worker they were on": f"{self.broken:,}",
            "connections refused": f"{self.refused:,}",
            "connections broken or refused while no worker was starting": f"{self.unexplained:,}",
            "wrong answers": f"{len(self.wrong):,}",
            "rows that were learned and are not in the last model": f"{self.lost:,}",
            "memory of the largest process": f"{self.memory:.0f} MB",
            f"the most that a process grew after its first {self.settle:.0f} s": (
                f"{self.grown:.1f} MB"
            ),
        }
        table = "\n".join(f"| {what} | {value} |" for what, value in facts.items())
        date = datetime.now(UTC).date()
        return (
            f"{date}: {self.seconds:,.0f} s{again}, 2 workers, {clients} clients; a worker is "
            f"killed every {kill:g} s,\nand the model in the file learns every second or so.\n\n"
            f"| | |\n|---|--:|\n{table}\n\n"
            "Memory is the resident set, looked at every second, of the supervisor and of the "
            f"workers that lived\n{2 * self.settle:.0f} s or more ({self.watched} processes, the "
            f"longest {self.longest:,.0f} s): the most they had after their first "
            f"{self.settle:.0f} s,\nagainst what they had then. Kills take the youngest worker, "
            "and each 60th time the eldest.\n"
        )
