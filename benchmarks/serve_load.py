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
import socket
import sys
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


def peer(port: int) -> None:
    """A plain FastAPI handler, as it is written everywhere."""
    import pandas as pd
    import uvicorn
    from fastapi import FastAPI
    from pydantic import BaseModel
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = table()
    names = [f"x{j}" for j in range(COLUMNS)]
    model = make_pipeline(StandardScaler(), GaussianNB()).fit(pd.DataFrame(X, columns=names), y)
    app = FastAPI()

    class Rows(BaseModel):
        rows: list[dict[str, float]]

    @app.post("/predict")
    def predict(question: Rows) -> list[dict[str, Any]]:
        p = model.predict_proba(pd.DataFrame(question.rows, columns=names))
        return [
            {
                "prediction": model.classes_[row.argmax()],
                "posterior": dict(zip(model.classes_, row, strict=True)),
            }
            for row in p
        ]

    @app.get("/health")
    async def health() -> dict[str, int]:
        import os

        return {"worker": os.getpid()}

    config = uvicorn.Config(app, log_level="warning")
    listening = socket.create_server(("127.0.0.1", port))
    print(f"127.0.0.1:{listening.getsockname()[1]}", file=sys.stderr, flush=True)
    uvicorn.Server(config).run(sockets=[listening])


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
    n = len(found.seconds)
    p50, p99 = np.percentile(found.seconds, [50, 99])
    cost = found.processor / n
    return (
        f"| {what} | {n / found.wall:,.0f} | {n * n_rows / found.wall:,.0f} | {1e3 * p50:.1f} ms | "
        f"{1e3 * p99:.1f} ms | {1e6 * cost:,.0f} µs | {n_rows / cost:,.0f} | {found.errors} |"
    )


def compare(clients: int, seconds: float) -> None:
    print("| | requests/s | rows/s | p50 | p99 | processor/request | rows/processor s | errors |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
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
        with started(["benchmarks.serve_load", "--peer"]) as (_, port):
            workers = workers_of(port, 1)
            for what, (sent, n_rows) in list(questions("/predict").items())[:2]:
                found = measure(port, sent, clients, seconds, workers)
                print(line_of(f"FastAPI and scikit-learn, {what}", n_rows, found), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peer:
        peer(0)
    else:
        compare(given.clients, given.seconds)


if __name__ == "__main__":
    main()
