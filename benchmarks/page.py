"""The page of the manual with all figures, made from the saved results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from benchmarks.drawing import SIZES, grows, series
from benchmarks.report import Run, duration, megabytes, peer_time, three_digits
from benchmarks.timing import Result

RULERS = {  # no peers: what the machine can do, or other work of ours
    "bare counts of as many codes",
    "bare products",
    "bare sum",
    "half of the rows",
    "naive Bayes",
    "np.sort of each column",
    "one fit",
    "own fit + predict",
    "scikit-learn's GaussianNB, for scale",
    "str.lower alone",
}
LARGE = 20_000_000  # bytes by which another's peak must be lower, to be a loss of ours
PICTURES = "../build/pictures"  # drawn when the manual is built
CONTEXT = {"cells", "inertia", "log likelihood a row", "objective"}  # tell nothing alone
TOP = """\
# Benchmarks

Every figure here was measured by `python -m benchmarks` and written by `make benchmarks-page` from
`benchmarks/results.json`; nothing is typed by hand. `benchmarks/README.md` says how the races are
run and what the columns mean. **Ratio** is the peer's time divided by ours: 10 means that we are
ten times as fast; **>** marks a peer that was stopped before it reached our answer. **Of the
limit** is our speed as a part of what the machine could reach if it did nothing but read the table
from memory, or nothing but multiply its matrices; above 100 % where cells are skipped.
"""


def write(runs: Sequence[Run], path: Path) -> None:
    path.write_text("\n".join(page(runs)).rstrip() + "\n", encoding="utf-8")


def page(runs: Sequence[Run]) -> Iterator[str]:
    yield TOP
    yield from machines(runs)
    growing = [run for run in runs if grows(run)]
    fixed = [run for run in runs if run.results and not grows(run)]
    yield from overview(fixed)
    yield from losses([r for run in runs for r in run.results])
    if growing:
        yield "## Cost by size\n"
        yield "Both axes are logarithmic: a line of slope one is a cost in proportion to size.\n"
    for run in growing:
        yield from growth(run)
    yield "## Every case\n"
    for run in fixed:
        yield from section(run)


def machines(runs: Sequence[Run]) -> Iterator[str]:
    facts = ("cpu", "cores", "memory read", "float64 products", "python", "numpy", "scikit-learn")
    found = {run.machine["date"]: run.machine for run in runs}
    for date, m in found.items():
        told = ", ".join(f"{name} {m[name]}" for name in facts if name in m)
        yield f"Measured {date}: {told}.\n"


def overview(runs: Sequence[Run]) -> Iterator[str]:
    """A row a case, beside the peer that most readers know."""
    yield "## In short\n"
    yield (
        "From the least to the most over the operations of a case. In italics stands a ruler, "
        "where no peer does the same.\n"
    )
    rows = []
    for run in runs:
        peer = best_known(run.results)
        seen = [r for r in run.results if r.peer == peer]
        limits = [r.of_limit for r in run.results if r.of_limit is not None]
        ratios = spread([r.ratio for r in seen], three_digits)
        limit = spread(limits, lambda share: f"{share:.0%}")
        beside = f"*{peer}*" if peer in RULERS else peer
        rows.append([run.about, beside, "> " * any(r.cut for r in seen) + ratios, limit])
    yield from table(["case", "beside", "ratio", "of the limit"], rows, "ll")


def best_known(results: Sequence[Result]) -> str:
    peers = [r.peer for r in results]
    real = [peer for peer in peers if peer not in RULERS]
    return min(real, key=lambda peer: not peer.startswith("scikit-learn")) if real else peers[0]


def spread(values: Sequence[float], show: object) -> str:
    assert callable(show)
    if not values:
        return ""
    least, most = show(min(values)), show(max(values))
    return least if least == most else f"{least} to {most}"


def losses(results: Sequence[Result]) -> Iterator[str]:
    """What a newcomer should know first."""
    real = [r for r in results if r.peer not in RULERS]
    slower = [r for r in real if r.ratio < 1]
    missed = [r for r in results if r.met is False and r not in slower]
    larger = [r for r in real if r.theirs.peak and r.ours.peak - r.theirs.peak > LARGE]
    yield "## Where we lose\n"
    yield from bullets("A peer is faster than we are", map(ratio_told, slower))
    yield from bullets("We are faster, but less than we set out to be", map(ratio_told, missed))
    yield from bullets(
        f"A peer takes less memory, by more than {megabytes(LARGE)}",
        (
            f"{r.case}, {r.operation}: {megabytes(r.ours.peak)} beside "
            f"{megabytes(r.theirs.peak) or 'less than 1 MB'} of {r.peer}"
            for r in larger
        ),
    )


def ratio_told(r: Result) -> str:
    target = "" if r.target is None else f" (target {r.target:.2g})"
    return f"{r.case}, {r.operation}: {r.ratio:.2g} times {r.peer}{target}"


def bullets(title: str, rows: Iterable[str]) -> Iterator[str]:
    found = [f"- {row}" for row in rows]
    yield f"{title}:\n" if found else f"{title}: no case.\n"
    if found:
        yield "\n".join(found) + "\n"


def growth(run: Run) -> Iterator[str]:
    """A picture, and the figures behind it: our time, and how many times as long the peer's is."""
    yield f"### {run.about}\n"
    yield f"```{{image}} {PICTURES}/{run.case}.svg\n:alt: {run.about}\n```\n"
    models = series(run.results)
    sizes = sorted({r.size for r in run.results if r.size is not None})
    rows = []
    for name, results in models.items():
        cells = {r.size: f"{duration(r.ours.seconds)}, {three_digits(r.ratio)} ×" for r in results}
        rows.append([name or "fit", *(cells.get(size, "") for size in sizes)])
    peers = ", ".join(dict.fromkeys(r.peer for r in run.results))
    yield f"Our time, and how many times as long {peers} takes, by {SIZES.get(run.case, 'size')}:\n"
    yield from table(["", *(f"{size:,.0f}" for size in sizes)], rows, "l")


def section(run: Run) -> Iterator[str]:
    yield f"### {run.about}\n"
    yield f"`python -m benchmarks {run.case}`, {run.machine['date']}.\n"
    names = "operation,ours,peer,its time,ratio,target,of the limit,memory,its".split(",")
    rows = []
    for _, group in groupby(run.results, key=lambda r: r.operation):
        for i, r in enumerate(group):
            once = [r.operation, duration(r.ours.seconds)] if i == 0 else ["", ""]
            verdict = {None: "", True: " met", False: " **missed**"}[r.met]
            target = "" if r.target is None else f"{r.target:.2g}{verdict}"
            limit = "" if r.of_limit is None or i else f"{r.of_limit:.0%}"
            mine = megabytes(r.ours.peak) if i == 0 else ""
            ratio = "> " * r.cut + three_digits(r.ratio)
            rows.append(
                [*once, r.peer, peer_time(r), ratio, target, limit, mine, megabytes(r.theirs.peak)]
            )
    shown = [j for j in range(len(names)) if any(row[j] for row in rows)]
    alignment = "".join("l" if names[j] in {"operation", "peer"} else "r" for j in shown)
    yield from table(
        [names[j] for j in shown], [[row[j] for j in shown] for row in rows], alignment
    )
    yield from answers(run.results)


def answers(results: Sequence[Result]) -> Iterator[str]:
    """How near the answers of both are, at worst, and where a peer was when it was stopped."""
    worst: dict[str, float] = {}
    for r in results:
        for name, value in r.quality.items():
            if name not in CONTEXT and not r.cut:
                alike = name.startswith(("same", "accuracy", "our accuracy"))
                pick = min if alike else max
                worst[name] = pick(worst.get(name, value), value, key=abs)
    if worst:
        told = ", ".join(f"{name} {value:.2g}" for name, value in worst.items())
        yield f"Answers at worst: {told}.\n"
    for r in results:
        if r.cut:
            reached = ", ".join(f"{name} {value:.2g}" for name, value in r.quality.items())
            yield f"{r.peer} was stopped after {duration(r.theirs.seconds)}: {reached}.\n"


def table(names: Sequence[str], rows: Iterable[Sequence[str]], alignment: str) -> Iterator[str]:
    """Columns beyond the alignment that is told are numbers, to the right."""
    sides = alignment.ljust(len(names), "r")
    yield "| " + " | ".join(names) + " |"
    yield "|" + "|".join("---" if side == "l" else "--:" for side in sides) + "|"
    yield from ("| " + " | ".join(row) + " |" for row in rows)
    yield ""
