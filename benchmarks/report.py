"""The table and the JSON file of the results, and the facts of the machine."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks import limits
from benchmarks.memory import Cost, method
from benchmarks.timing import Result

RESULTS = Path(__file__).parent / "results.json"
LEGEND = """\
Time is the best round; ratio is the peer's time / ours, and the target is the least ratio.
Memory is the peak of a call above its start. Ours, less what the answer keeps, should stay
within a quarter of X: a few chunks, not a copy.
"""


@dataclass(frozen=True, slots=True)
class Run:
    """A case that was run, and on what."""

    case: str
    about: str
    machine: dict[str, str | int]
    results: list[Result]


HEADER = (
    f"  {'operation':<31}{'ours':>8}  {'peer':<22}{'time':>8}{'ratio':>9}  {'target':<14}"
    f"{'memory':>8} {'quarter X':<11}{'of peer':>8}  answers"
)


def line(result: Result) -> str:
    target = "" if result.target is None else f"{result.target:<6.3g} {verdict(result.met)}"
    answers = ", ".join(f"{name} {value:.4g}" for name, value in result.quality.items())
    return (
        f"  {result.operation:<31}{duration(result.ours.seconds):>8}  "
        f"{result.peer:<21} {peer_time(result):>8}{result.ratio:>9.2f}  {target:<14}"
        f"{megabytes(result.ours.peak):>8} {verdict(result.memory_met):<11}"
        f"{megabytes(result.theirs.peak):>8}  {answers}"
    ).rstrip()


def verdict(met: bool | None) -> str:
    return "" if met is None else "met" if met else "MISSED"


def duration(seconds: float) -> str:
    """Three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size or unit == "us":
            break
    return f"{three_digits(seconds / size)} {unit}"


def three_digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 99.95 else f"{number:#.3g}"


def peer_time(result: Result) -> str:
    return "> " * result.cut + duration(result.theirs.seconds)


def megabytes(n_bytes: int) -> str:
    """Nothing where it would be 0."""
    return f"{n_bytes / 1e6:,.0f} MB" if n_bytes >= 500_000 else ""


def summary(results: Iterable[Result]) -> str:
    verdicts = {}
    for r in results:
        verdicts[f"{r.case}, {r.operation}: {r.ratio:.3g} times {r.peer}"] = r.met
        verdicts[f"{r.case}, {r.operation}: memory"] = r.memory_met
    judged = {name: met for name, met in verdicts.items() if met is not None}
    if not judged:
        return "No target applies."
    missed = [f"  missed: {name}" for name, met in judged.items() if not met]
    return "\n".join([f"{len(judged) - len(missed)} of {len(judged)} targets met.", *missed])


def machine() -> dict[str, str | int]:
    """What a reader must know to compare the figures; nothing that names the machine."""
    compiled = find_spec("posterior.kernels._compiled") is not None
    chosen = os.environ.get("POSTERIOR_KERNELS", "compiled" if compiled else "reference")
    return {
        "date": datetime.date.today().isoformat(),
        "cpu": cpu_model(),
        "cores": n_cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "kernels": chosen,
        **limits.facts(),
        "memory": method(),
        **{name: version(name) for name in ("posterior", "numpy", "scipy", "scikit-learn")},
    }


def n_cores() -> int:
    """The cores that this process may use, where the system can tell."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_model() -> str:
    facts = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.+)", facts.read_text()) if facts.exists() else None
    return found[1] if found else platform.processor()


def save(runs: Iterable[Run], path: Path, known: Iterable[str]) -> None:
    """Write cases beside those that the file has, in the order of the known ones.

    A case that was run again replaces itself; one that is known no more is left out.
    """
    content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for run in runs:
        rows = [
            asdict(r) | {"ratio": r.ratio, "met": r.met, "memory_met": r.memory_met}
            for r in run.results
        ]
        content[run.case] = {"about": run.about, "machine": run.machine, "results": rows}
    content = {case: content[case] for case in known if case in content}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def load(path: Path) -> list[Run]:
    content = json.loads(path.read_text(encoding="utf-8"))
    return [
        Run(case, saved["about"], saved["machine"], [*map(result, saved["results"])])
        for case, saved in content.items()
    ]


def result(row: dict[str, Any]) -> Result:
    row |= {"ours": Cost(**row["ours"]), "theirs": Cost(**row["theirs"])}
    return Result(**{field.name: row[field.name] for field in fields(Result) if field.name in row})
