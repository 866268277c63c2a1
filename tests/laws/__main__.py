"""`make laws`: rounds of new trials of the laws until there were LAWS_TRIALS in all.

    python tests/laws [TRIALS]

build/laws/state.json keeps the trials and seconds of every law and what was found, so that a run
that was interrupted goes on where it stopped; delete it to begin anew. The first round tries every
law; those that follow try the quicker half, and what has not had its least number yet. A round is a
seed; a run first repeats findings that are open. After each round, and where somebody ends it, it
writes docs/results/laws.md. Ends with 1 while a finding is open.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from trials import law_of

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

from stress_page import facts, replace, today  # noqa: E402

FOLDER = REPOSITORY / "build" / "laws"
PAGE = REPOSITORY / "docs" / "results" / "laws.md"
LEAST = 1000  # trials of each law
FIRST, LATER = 200, 1000  # trials of a test in a round, at most
PROCESSES = 2


@dataclass
class State:
    """What all rounds so far have found."""

    rounds: int = 0
    all_tried: bool = False  # by one round at least
    first_day: str = ""
    trials: Counter[str] = field(default_factory=Counter)  # by law
    seconds: Counter[str] = field(default_factory=Counter)  # of the processor, by law
    findings: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def read(cls) -> State:
        path = FOLDER / "state.json"
        kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
        state = cls(**{"first_day": today(), **kept})
        state.trials, state.seconds = Counter(state.trials), Counter(state.seconds)
        return state

    def write(self) -> None:
        replace(FOLDER / "state.json", json.dumps(vars(self), indent=1))

    @property
    def examples(self) -> int:
        """How often the present round tries a test, at most."""
        return LATER if self.all_tried else FIRST

    @property
    def n_trials(self) -> int:
        return sum(self.trials.values())

    def behind(self) -> list[str]:
        """Laws that were not tried often enough yet."""
        return [law for law, n in self.trials.items() if n < LEAST]

    def plan(self) -> list[str] | None:
        """The laws of the next round; None: all."""
        if not self.all_tried:
            return None
        cost = {law: self.seconds[law] / n for law, n in self.trials.items() if n}
        middle = median(cost.values())
        return sorted({*self.behind(), *(law for law, each in cost.items() if each <= middle)})

    def open(self) -> list[dict[str, Any]]:
        return [finding for finding in self.findings if not finding["mended"]]


def absorb(state: State) -> None:
    """Take in what the last round has written down, whole or interrupted."""
    notes = FOLDER / "round.jsonl"
    for told in lines(notes):
        state.trials[law_of(told["item"])] += told.get("trials", 0)
        state.seconds[law_of(told["item"])] += told.get("seconds", 0.0)
        if told["says"]:
            finding = {"item": told["item"], "seed": state.rounds, "says": told["says"][-6000:]}
            state.findings.append({**finding, "examples": state.examples, "mended": False})
    state.write()
    notes.unlink(missing_ok=True)


def lines(notes: Path) -> Iterator[dict[str, Any]]:
    """The lines that were written to their end."""
    text = notes.read_text("utf-8") if notes.exists() else ""
    yield from map(json.loads, text.splitlines()[: text.count("\n")])


def tried(laws: list[str] | None, seed: int, examples: int, tests: list[str]) -> int:
    """Run some tests once, with a seed; the exit code of pytest."""
    (FOLDER / "laws.json").write_text(json.dumps(laws), "utf-8")
    given = ["--laws", str(FOLDER / "laws.json"), "--results", str(FOLDER / "round.jsonl")]
    options = ["-q", "-p", "trials", "-p", "no:cacheprovider", f"--hypothesis-seed={seed}"]
    spread = ["-n", str(PROCESSES), "--dist", "worksteal"] if len(tests) != 1 else []
    environment = {
        **os.environ,
        "HYPOTHESIS_PROFILE": "laws",
        "LAWS_EXAMPLES": str(examples),
        "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-m", "pytest", *options, *spread, *given, *tests]
    with (FOLDER / "pytest.log").open("wb") as log:
        done = subprocess.run(
            command, cwd=REPOSITORY, env=environment, stdout=log, stderr=log, check=False
        )
    return done.returncode


def page(state: State, wanted: int) -> str:
    """What the manual shows."""
    seconds = sum(state.seconds.values())
    files: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    for law, n in state.trials.items():
        files[law.partition("::")[0]] += n
        spent[law.partition("::")[0]] += state.seconds[law]
    n_laws = Counter(law.partition("::")[0] for law in state.trials)
    fewest = min(state.trials.values())
    rows = [f"| {name} | {n_laws[name]} | {files[name]:,} | {spent[name]:,.0f} |" for name in files]
    return "\n".join(
        [
            f"`make laws`, {facts(state.first_day)}.",
            "",
            f"{state.n_trials:,} trials of {len(state.trials)} laws so far, of {wanted:,} wanted, "
            f"at least {fewest:,} of each law, in {seconds:,.0f} seconds of processor time. Found: "
            f"{len(state.findings)}; still open: {len(state.open())}.",
            "",
            "| file of tests/laws | laws | trials | processor seconds |",
            "|---|---|---|---|",
            *sorted(rows),
            "",
            *(
                f"- {'mended' if f['mended'] else '**open**'}: `{f['item'].rpartition('/')[2]}`, "
                f"seed {f['seed']}"
                for f in state.findings
            ),
        ]
    ).strip()


def main(arguments: list[str]) -> int:
    wanted = int(arguments[0]) if arguments else 1_000_000
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    state = State.read()
    absorb(state)  # what a run that was killed has left
    for finding in state.open():
        told = tried(None, finding["seed"], finding["examples"], [finding["item"]])
        finding["mended"] = told == 0
        (FOLDER / "round.jsonl").unlink(missing_ok=True)
        state.write()
    while not state.all_tried or state.n_trials < wanted or state.behind():
        state.rounds += 1
        state.write()
        try:
            code = tried(state.plan(), state.rounds, state.examples, ["tests/laws"])
        finally:
            absorb(state)
            replace(PAGE, page(state, wanted) + "\n")
        if code not in (0, 1):  # 1: some failed
            sys.exit(f"pytest ended with {code}: see {FOLDER / 'pytest.log'}")
        state.all_tried = True
        state.write()
        print(f"round {state.rounds}: {state.n_trials:,} trials, {len(state.open())} open findings")
    return int(bool(state.open()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
