"""The table, the JSON file and the chart of the results."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks import limits
from benchmarks.memory import Cost, method
from benchmarks.timing import Result

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
    f"  {'operation':<31}{'ours':>8}  {'peer':<18}{'time':>8}{'ratio':>9}  {'target':<14}"
    f"{'memory':>8} {'quarter X':<11}{'of peer':>8}  answers"
)


def line(result: Result) -> str:
    target = "" if result.target is None else f"{result.target:<6.3g} {verdict(result.met)}"
    answers = ", ".join(f"{name} {value:.4g}" for name, value in result.quality.items())
    return (
        f"  {result.operation:<31}{duration(result.ours.seconds):>8}  "
        f"{result.peer:<18}{duration(result.theirs.seconds):>8}{result.ratio:>9.2f}  {target:<14}"
        f"{megabytes(result.ours.peak):>8} {verdict(result.memory_met):<11}"
        f"{megabytes(result.theirs.peak):>8}  {answers}"
    ).rstrip()


def verdict(met: bool | None) -> str:
    return "" if met is None else "met" if met else "MISSED"


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.0f} MB"


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


def save(runs: Iterable[Run], path: Path) -> None:
    """Write cases beside those that the file has; a case that was run again replaces itself."""
    content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for run in runs:
        rows = [
            asdict(r) | {"ratio": r.ratio, "met": r.met, "memory_met": r.memory_met}
            for r in run.results
        ]
        content[run.case] = {"about": run.about, "machine": run.machine, "results": rows}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def load(path: Path) -> list[Run]:
    content = json.loads(path.read_text(encoding="utf-8"))
    return [
        Run(case, saved["about"], saved["machine"], [*map(result, saved["results"])])
        for case, saved in content.items()
    ]


def result(row: dict[str, Any]) -> Result:
    row |= {"ours": Cost(**row["ours"]), "theirs": Cost(**row["theirs"])}
    return Result(**{field.name: row[field.name] for field in fields(Result)})


def draw(results: Sequence[Result], facts: dict[str, str | int], path: Path) -> None:
    """Ratios as bars, and cases of growing size as lines; SVG or PNG by the suffix."""
    alt = import_altair()
    growing = [r for r in results if r.case.endswith("_growth")]
    others = [r for r in results if not r.case.endswith("_growth")]
    pictures = [*([bars(alt, others, facts)] if others else [])]
    pictures += [lines(alt, growing, facts)] if growing else []
    whole = alt.vconcat(*pictures).resolve_scale(color="independent")
    whole.configure_axis(labelLimit=400).save(path)


def lines(alt: Any, results: Sequence[Result], facts: dict[str, str | int]) -> Any:
    """Seconds by megabytes on logarithmic axes: a straight line of slope one is linear."""
    rows = [
        {"megabytes": float(r.operation.split()[0]), "who": who, "seconds": cost.seconds}
        for r in results
        for who, cost in (("posterior", r.ours), (r.peer, r.theirs))
    ]
    log = alt.Scale(type="log")
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("megabytes:Q", scale=log, title="size, MB"),
            y=alt.Y("seconds:Q", scale=log, title="seconds"),
            color=alt.Color("who:N", title=None, scale=alt.Scale(range=["#2a7f62", "#999"])),
        )
        .properties(width=500, height=300, title=f"{results[0].case}, {facts['cpu']}")
    )


def bars(alt: Any, results: Sequence[Result], facts: dict[str, str | int]) -> Any:
    """From 1 (as fast) to the ratio, a tick at the target."""
    rows = [
        {
            "label": f"{r.case} {r.operation}, {r.peer}",
            "ratio": r.ratio,
            "target": r.target,
            "verdict": {None: "no target", True: "met", False: "missed"}[r.met],
        }
        for r in results
    ]
    colors = alt.Scale(domain=["met", "missed", "no target"], range=["#2a7f62", "#c8553d", "#999"])
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=alt.Y("label:N", sort=None, title=None))
    scale = alt.Scale(type="log")
    ratio = base.mark_bar().encode(
        x=alt.X("ratio:Q", scale=scale, title="peer's time / our time"),
        x2=alt.datum(1),
        color=alt.Color("verdict:N", scale=colors, title="target"),
    )
    ticks = base.mark_tick(color="black", thickness=2).encode(x=alt.X("target:Q", scale=scale))
    subtitle = f"{facts['cpu']}, {facts['cores']} cores, scikit-learn {facts['scikit-learn']}"
    title = alt.Title("How many times as fast as the peer", subtitle=subtitle)
    return (ratio + ticks).properties(width=500, height=alt.Step(15), title=title)


def import_altair() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401  (Altair saves pictures with it)
    except ImportError as error:
        raise SystemExit(
            "Drawing needs Altair and vl-convert; install them with pip install 'posterior[bench]'."
        ) from error
    return altair
