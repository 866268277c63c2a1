"""The server under load, beside the same model behind a plain FastAPI handler with scikit-learn.

    python -m benchmarks.serve_load                    8 clients, 5 seconds each case
    python -m benchmarks.serve_load --seconds 2 --clients 4
    python -m benchmarks.serve_load --page             and keep it: docs/results/serving.md

The clients are those of wrk, if it is there: a thread in C, which leaves the processor to the
server. Else they are threads of Python, and cost more than the server does.

Ten columns of numbers, three classes, naive Bayes. Every client asks the next question when the
last one is answered. Beside requests and rows a second stands the processor time of the server for
each request, which a busy machine changes less: one worker on a core of its own answers one request
in that time.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import serve_wrk
from benchmarks.serve_processes import Line, processor_seconds, request, started, workers_of

COLUMNS, BATCH = 10, 1000
PAGE = Path(__file__).parent.parent / "docs/results/serving.md"
ARROW = "application/vnd.apache.arrow.stream"


def table(n: int = 5000) -> tuple[Any, Any]:
    """Numbers that tell three classes apart, more or less."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, n)
    X = random.normal(y[:, None] * (np.arange(COLUMNS) % 3), 2).round(4)
    return X, np.array(["a", "b", "c"])[y]


def saved(folder: Path) -> Path:
    """The model file."""
    import pandas as pd

    import posterior

    X, y = table()
    names = [f"x{j}" for j in range(COLUMNS)]
    path = folder / "speed.posterior"
    posterior.save(posterior.NaiveBayes().fit(pd.DataFrame(X, columns=names), y), path)
    return path


def questions(path: str) -> dict[str, tuple[bytes, int]]:
    """What is asked, and how many rows it has."""
    import pyarrow as pa
    from pyarrow import ipc

    X, _ = table(BATCH)
    names = [f"x{j}" for j in range(COLUMNS)]
    rows = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    columns = {name: X[:, j].tolist() for j, name in enumerate(names)}
    out = pa.BufferOutputStream()
    with ipc.new_stream(out, (batch := pa.table(columns)).schema) as stream:
        stream.write_table(batch)
    return {
        "one row": (request(path, json.dumps({"rows": rows[:1]}).encode()), 1),
        "1,000 rows as objects": (request(path, json.dumps({"rows": rows}).encode()), BATCH),
        "1,000 rows as columns": (request(path, json.dumps({"columns": columns}).encode()), BATCH),
        "1,000 rows as Arrow": (request(path, out.getvalue().to_pybytes(), ARROW), BATCH),
    }


@dataclass(frozen=True, slots=True)
class Measured:
    """What some clients have seen."""

    n: int  # requests
    wall: float
    p50: float
    p99: float
    processor: float = 0.0  # seconds of the server


def measure(port: int, sent: bytes, clients: int, seconds: float, workers: set[int]) -> Measured:
    ask = serve_wrk.loaded if serve_wrk.WRK else by_threads
    before = sum(map(processor_seconds, workers))
    found = Measured(*ask(port, sent, clients, seconds))
    return replace(found, processor=sum(map(processor_seconds, workers)) - before)


def by_threads(
    port: int, sent: bytes, clients: int, seconds: float
) -> tuple[int, float, float, float]:
    """Requests answered, the seconds they took together, and p50 and p99."""
    times: list[list[float]] = [[] for _ in range(clients)]
    failed: list[bytes] = []

    def ask(i: int, until: float) -> None:
        line = Line(port)
        while (begun := time.perf_counter()) < until:
            status, body = line.ask(sent)
            times[i].append(time.perf_counter() - begun)
            if status != 200:
                failed.append(body)
        line.close()

    begun = time.perf_counter()
    threads = [threading.Thread(target=ask, args=(i, begun + seconds)) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:  # a refusal is quick, and no answer
        raise RuntimeError(f"{len(failed):,} requests failed: {failed[0][:200]!r}")
    each = [seconds for client in times for seconds in client]
    p50, p99 = np.percentile(each, [50, 99])
    return len(each), time.perf_counter() - begun, float(p50), float(p99)


def line_of(what: str, n_rows: int, found: Measured) -> str:
    n, cost = found.n, found.processor / found.n
    return (
        f"| {what} | {n / found.wall:,.0f} | {n * n_rows / found.wall:,.0f} | "
        f"{1e3 * found.p50:.1f} ms | {1e3 * found.p99:.1f} ms | {1e6 * cost:,.0f} µs |"
    )


def compare(clients: int, seconds: float) -> Iterator[str]:
    """The lines of the page."""
    by = "wrk" if serve_wrk.WRK else "threads of Python"
    date = datetime.now(UTC).date()
    busy = f"{os.cpu_count()} cores, with {os.getloadavg()[0]:.0f} others at work on it at first"
    yield f"{date}: {clients} clients of {by} on a machine of {busy};"
    yield f"{seconds:g} s each; naive Bayes, {COLUMNS} columns. Processor time is of all workers."
    yield ""
    yield "| | requests/s | rows/s | p50 | p99 | processor/request |"
    yield "|---|--:|--:|--:|--:|--:|"
    with tempfile.TemporaryDirectory() as folder:
        model = str(saved(Path(folder)))
        for n in (1, 2):
            command = ["posterior", "serve", model, "--port", "0", "--workers", str(n)]
            with started(command) as (_, port):
                workers, name = workers_of(port, n), "one worker" if n == 1 else f"{n} workers"
                for what, (sent, n_rows) in questions("/api/predict").items():
                    measure(port, sent, clients, 1.0, workers)
                    found = measure(port, sent, clients, seconds, workers)
                    yield line_of(f"posterior, {name}, {what}", n_rows, found)
        with started(["benchmarks.serve_peer"]) as (_, port):
            workers = workers_of(port, 1)
            for what, (sent, n_rows) in list(questions("/predict").items())[:2]:
                measure(port, sent, clients, 1.0, workers)
                found = measure(port, sent, clients, seconds, workers)
                yield line_of(f"FastAPI and scikit-learn, {what}", n_rows, found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--page", action="store_true", help=f"write {PAGE}")
    given = parser.parse_args()
    lines = []
    for line in compare(given.clients, given.seconds):
        print(line, flush=True)
        lines.append(line)
    if given.page:
        PAGE.write_text("\n".join([*lines, ""]), "utf-8")


if __name__ == "__main__":
    main()
