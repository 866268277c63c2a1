"""The server under load, beside the same model behind a plain FastAPI handler with scikit-learn.

    python -m benchmarks.serve_load                    8 clients, 5 seconds each case
    python -m benchmarks.serve_load --seconds 2 --clients 4

Ten columns of numbers, three classes, naive Bayes. Every client asks the next question when the
last one is answered. Beside requests and rows a second stands the processor time of the server for
each request, which a busy machine changes little: one worker on a core of its own answers one
request in that time.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.serve_processes import Line, processor_seconds, request, started, workers_of

COLUMNS, BATCH = 10, 1000
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

    seconds: list[float]  # of each request
    wall: float
    processor: float  # of the server
    errors: int


def measure(port: int, sent: bytes, clients: int, seconds: float, workers: set[int]) -> Measured:
    times: list[list[float]] = [[] for _ in range(clients)]
    errors = [0] * clients

    def ask(i: int, until: float) -> None:
        line = Line(port)
        while (begun := time.perf_counter()) < until:
            errors[i] += line.ask(sent)[0] != 200
            times[i].append(time.perf_counter() - begun)
        line.close()

    before, begun = sum(map(processor_seconds, workers)), time.perf_counter()
    threads = [threading.Thread(target=ask, args=(i, begun + seconds)) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    used = sum(map(processor_seconds, workers)) - before
    each = [seconds for client in times for seconds in client]
    return Measured(each, time.perf_counter() - begun, used, sum(errors))


def line_of(what: str, n_rows: int, found: Measured) -> str:
    if found.errors:  # a refusal is quick, and no answer
        return f"| {what} | {found.errors:,} of {len(found.seconds):,} requests failed | | | | | |"
    n = len(found.seconds)
    p50, p99 = np.percentile(found.seconds, [50, 99])
    cost = found.processor / n
    return (
        f"| {what} | {n / found.wall:,.0f} | {n * n_rows / found.wall:,.0f} | {1e3 * p50:.1f} ms | "
        f"{1e3 * p99:.1f} ms | {1e6 * cost:,.0f} µs | {n_rows / cost:,.0f} |"
    )


def compare(clients: int, seconds: float) -> None:
    print("| | requests/s | rows/s | p50 | p99 | processor/request | rows/processor s |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        model = str(saved(Path(folder)))
        for n in (1, 2):
            command = ["posterior", "serve", model, "--port", "0", "--workers", str(n)]
            with started(command) as (_, port):
                workers = workers_of(port, n)
                for what, (sent, n_rows) in questions("/api/predict").items():
                    measure(port, sent, clients, 0.5, workers)
                    found = measure(port, sent, clients, seconds, workers)
                    print(line_of(f"posterior, {n} worker(s), {what}", n_rows, found), flush=True)
        with started(["benchmarks.serve_peer"]) as (_, port):
            workers = workers_of(port, 1)
            for what, (sent, n_rows) in list(questions("/predict").items())[:2]:
                found = measure(port, sent, clients, seconds, workers)
                print(line_of(f"FastAPI and scikit-learn, {what}", n_rows, found), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args()
    compare(given.clients, given.seconds)


if __name__ == "__main__":
    main()
