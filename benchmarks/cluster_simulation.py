"""python -m benchmarks.cluster_simulation: what a pass over 1 TB and 1 PB takes on a cluster.

A pass is simulated task by task: a scheduler that hands out tasks one after another, workers with
cores and a disk that these share, sums that travel through a tree, stragglers, and tasks that are
lost with their worker. What it assumes of the machines is in `Cluster`, and of the models in
`MODELS`, which --measure measures anew.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.cluster_models import Model, measure

MB, GB, TB, PB = 1e6, 1e9, 1e12, 1e15

# As measured on one thread of a Xeon at 2.8 GHz: tables of 50 columns of doubles, 10 classes or
# groups; documents of 100 words from a vocabulary of 50,000, 20 classes.
MODELS = [
    Model("Gaussian naive Bayes", 919 * MB, 73e3, 0.12e-3, 1),
    Model("linear discriminant analysis", 553 * MB, 421e3, 0.38e-3, 1),
    Model("documents, naive Bayes", 236 * MB, 3.0 * MB, 0.78e-3, 1),
    Model("the same, with 1,000,000 words", 236 * MB, 60 * MB, 16e-3, 1),  # 20 times as large
    Model("logistic regression", 606 * MB, 4.3e3, 0.07e-3, 49, 80 * MB),
    Model("k-means", 784 * MB, 8.4e3, 0.05e-3, 17, 80 * MB),
    Model("Gaussian mixture, full", 145 * MB, 527e3, 0.49e-3, 5, 80 * MB),
]


@dataclass(frozen=True)
class Cluster:
    """Machines of an ordinary kind, joined by an ordinary network."""

    workers: int
    cores: int = 8  # of a worker
    disk: float = 1 * GB  # bytes a second that a worker can read
    network: float = 1.25 * GB  # bytes a second that a worker can receive
    dispatch: float = 1e-3  # seconds of the scheduler for a task
    spread: float = 0.2  # of the logarithm of a task's time
    between_failures: float = 30 * 24 * 3600  # seconds that a worker lives on average
    fan_in: int = 8

    @property
    def slots(self) -> int:
        return self.workers * self.cores


@dataclass(frozen=True)
class Pass:
    """How long it took, and what it could not have been shorter than."""

    seconds: float
    bounds: dict[str, float]

    @property
    def limit(self) -> str:
        return max(self.bounds, key=lambda name: self.bounds[name])


def tasks_of(size: float) -> int:
    """Partitions of 256 MB, or of up to 4 GB where there would be more than 100,000 of them."""
    return math.ceil(size / min(max(256 * MB, size / 100_000), 4 * GB))


def simulate(size: float, model: Model, cluster: Cluster, seed: int = 0) -> Pass:
    """One pass over `size` bytes, task by task."""
    chance = random.Random(seed)
    levels = levels_of(size, cluster.fan_in)
    reading = size / levels[0] / min(model.rate, cluster.disk / cluster.cores)
    adding = adding_seconds(model.total, model, cluster)
    lost = 1 - math.exp(-reading / cluster.between_failures)

    free = [0.0] * cluster.slots  # when a core is next without work
    scheduler = end = 0.0
    to_read = list(range(levels[0] - 1, -1, -1))
    ready: list[tuple[float, int, int]] = []  # sums whose children are all there: since, level, i
    waiting: dict[tuple[int, int], tuple[int, float]] = {}  # children there, and since when
    while to_read or ready:
        core = heapq.heappop(free)
        if ready and (not to_read or ready[0][0] <= max(core, scheduler)):
            since, level, i = heapq.heappop(ready)  # first what makes room
        else:
            since, level, i = 0.0, 0, to_read.pop()
        scheduler = max(core, scheduler, since) + cluster.dispatch
        work = adding if level else reading
        done = scheduler + work * chance.lognormvariate(0.0, cluster.spread)
        heapq.heappush(free, done)
        if level == 0 and chance.random() < lost:
            to_read.append(i)
            continue
        end = max(end, done)
        if level + 1 < len(levels):
            parent = level + 1, i // cluster.fan_in
            n, latest = waiting.pop(parent, (0, 0.0))
            n, latest = n + 1, max(latest, done)
            if n == min(cluster.fan_in, levels[level] - parent[1] * cluster.fan_in):
                heapq.heappush(ready, (latest, *parent))
            else:
                waiting[parent] = n, latest

    return Pass(end, bounds(levels, size, model, cluster))


def bounds(levels: Sequence[int], size: float, model: Model, cluster: Cluster) -> dict[str, float]:
    """Seconds that a pass takes at least, by what limits it."""
    adding = adding_seconds(model.total, model, cluster)
    return {
        "cores": size / model.rate / cluster.slots,
        "disks": size / cluster.disk / cluster.workers,
        "scheduler": cluster.dispatch * sum(levels),
        "tree": (len(levels) - 1) * adding + sum(levels[1:]) * adding / cluster.slots,
    }


def levels_of(size: float, fan_in: int) -> list[int]:
    """How many tasks read, how many add their sums, and so on up to one."""
    levels = [tasks_of(size)]
    while levels[-1] > 1:
        levels.append(math.ceil(levels[-1] / fan_in))
    return levels


def adding_seconds(total: float, model: Model, cluster: Cluster) -> float:
    """Of a task that gets the sums of its children and adds them.

    A worker's cores share its network; half of them add while the others read.
    """
    return cluster.fan_in * (total * cluster.cores / 2 / cluster.network + model.add)


def duration(seconds: float) -> str:
    """In the unit that people would use."""
    for unit, size in [("years", 365 * 86400.0), ("days", 86400.0), ("h", 3600.0), ("min", 60.0)]:
        if seconds >= 2 * size:
            return f"{seconds / size:.{0 if seconds >= 10 * size else 1}f} {unit}"
    return f"{seconds:.{0 if seconds >= 10 else 1}f} s"


def fit(size: float, model: Model, cluster: Cluster) -> tuple[float, str]:
    """Seconds of all passes, and what limits most of them."""
    one = simulate(size, model, cluster)
    first = replace(model, total=model.total + model.sample)  # of several, with rows for the start
    levels = levels_of(size, cluster.fan_in)
    more = bounds(levels, size, first, cluster)["tree"] - one.bounds["tree"]
    return model.passes * one.seconds + more, one.limit


def tables(models: Sequence[Model]) -> Iterator[str]:
    """The tables of the manual, in Markdown."""
    yield "| model | a core sums | a sum has | two add in | passes |"
    yield "|---|---|---|---|---|"
    for m in models:
        size = f"{m.total / 1e6:.1f} MB" if m.total >= 1e6 else f"{m.total / 1e3:.0f} kB"
        add = f"{1e3 * m.add:.2f} ms"
        yield f"| {m.name} | {m.rate / 1e6:.0f} MB/s | {size} | {add} | {m.passes} |"
    yield ""
    workers = (10, 100, 1000)
    heads = [f"{name}, {w:,}" for name in ("1 TB", "1 PB") for w in workers]
    yield f"| model | {' | '.join(heads)} |"
    yield "|---" * (1 + len(heads)) + "|"
    for model in models:
        cells = (fit(size, model, Cluster(w)) for size in (TB, PB) for w in workers)
        shown = (f"{duration(seconds)}, {limit}" for seconds, limit in cells)
        yield f"| {model.name} | {' | '.join(shown)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_simulation")
    parser.add_argument("--measure", action="store_true", help="measure the models first")
    models: Sequence[Model] = MODELS
    if parser.parse_args(arguments).measure:
        models = list(measure())
        print(*models, "", sep="\n")
    for line in tables(models):
        print(line, flush=True)


if __name__ == "__main__":
    main()
