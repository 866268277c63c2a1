"""The page of the manual with all figures, made from the saved results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.report import Run, duration, megabytes
from benchmarks.timing import Result

RULERS = {  # no peers: what the machine can do, or other work of ours
    "bare counts of as many codes",
    "bare products",
    "bare sum",
    "half of the rows",
    "naive Bayes",
    "np.sort of each column",
    "own fit + predict",
    "str.lower alone",
}
TOP = """\
# Benchmarks

Every figure here was measured by `python -m benchmarks` and written by `make benchmarks-page` from
`benchmarks/results.json`; nothing is typed by hand. `benchmarks/README.md` says how the races are
run and what the columns mean. **Ratio** is the peer's time divided by ours: 10 means that we are
ten times as fast. **Of the limit** is our speed as a part of what the machine could reach if it did
nothing but read the table from memory, or nothing but multiply its matrices; above 100 % where
cells are skipped.
"""


def write(runs: Sequence[Run], path: Path) -> None:
    path.write_text("\n".join(page(runs)), encoding="utf-8")


def page(runs: Sequence[Run]) -> Iterator[str]:
    yield TOP
    yield from losses([r for run in runs for r in run.results])
    for run in runs:
        yield from section(run)


def losses(results: Sequence[Result]) -> Iterator[str]:
    """What a newcomer should know first."""
    slower = [r for r in results if r.ratio < 1 and r.peer not in RULERS]
    missed = [r for r in results if r.met is False and r not in slower]
    yield "## Where we lose\n"
    yield from bullets("A peer is faster than we are", slower)
    yield from bullets("We are faster, but less than we set out to be", missed)


def bullets(title: str, results: Iterable[Result]) -> Iterator[str]:
    rows = [
        f"- {r.case}, {r.operation}: {r.ratio:.2g} times {r.peer}"
        + ("" if r.target is None else f" (target {r.target:.2g})")
        for r in results
    ]
    yield f"{title}: " + ("no case.\n" if not rows else "\n")
    yield from (row for row in rows)
    if rows:
        yield ""


def section(run: Run) -> Iterator[str]:
    m = run.machine
    yield f"## {run.about}\n"
    yield (
        f"`python -m benchmarks {run.case}`, {m['date']}, {m['cpu']}, {m['cores']} cores, "
        f"{m.get('memory read', '?')} read, {m.get('float64 products', '?')} of float64 products, "
        f"scikit-learn {m['scikit-learn']}.\n"
    )
    yield "| operation | ours | peer | its time | ratio | target | of the limit | memory | its |"
    yield "|---|--:|---|--:|--:|--:|--:|--:|--:|"
    for r in run.results:
        target = "" if r.target is None else f"{r.target:.2g} {'met' if r.met else '**missed**'}"
        limit = "" if r.of_limit is None else f"{r.of_limit:.0%}"
        yield (
            f"| {r.operation} | {duration(r.ours.seconds)} | {r.peer} | "
            f"{duration(r.theirs.seconds)} | {r.ratio:.3g} | {target} | {limit} | "
            f"{megabytes(r.ours.peak)} | {megabytes(r.theirs.peak)} |"
        )
    yield ""
    yield from answers(run.results)


def answers(results: Sequence[Result]) -> Iterator[str]:
    """How near the answers of both are."""
    rows = [
        f"{r.operation}, {r.peer}: "
        + ", ".join(f"{name} {value:.4g}" for name, value in r.quality.items())
        for r in results
        if r.quality
    ]
    if rows:
        yield "Answers beside each other: " + "; ".join(rows) + ".\n"
