"""The server under many clients at once: errors, latency, and whether its memory stays flat.

    python -m benchmarks.serve_load                       a model of a table made up here
    python -m benchmarks.serve_load MODEL --seconds 60    a model file of your own

Every client asks the next question when the last one is answered: four rows explained for one that
is only predicted, and now and then a file.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

WARM_UP = 3.0  # seconds before memory and latency count
BOUNDARY = "a-line-that-no-file-has"


@dataclass
class Heard:
    """What all clients have seen."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, what: str, seconds: float, error: str | None) -> None:
        with self.lock:
            self.seconds.setdefault(what, []).append(seconds)
            if error is not None:
                self.errors[error] += 1


def made_up(folder: Path) -> Path:
    """A naive Bayes of twelve columns and three classes."""
    import pandas as pd

    import posterior

    random = np.random.default_rng(0)
    y = random.integers(0, 3, 5000)
    table = pd.DataFrame({f"x{j}": random.normal(y * (j % 3), 2) for j in range(8)})
    for j in range(4):
        table[f"word {j}"] = np.array(list("abcde"))[(y + random.integers(0, 3, 5000)) % 5]
    path = folder / "made-up.posterior"
    posterior.save(posterior.NaiveBayes().fit(table, np.array(["a", "b", "c"])[y]), path)
    return path


def rows_like(columns: list[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    """Rows in the ranges that the model knows."""
    random = np.random.default_rng(1)

    def cell(column: dict[str, Any]) -> Any:
        if column["values"]:
            return str(random.choice(column["values"]))
        if column["kind"] == "text":
            return "free lunch, call now"
        low, high = column["low"] or 0.0, column["high"] or 1.0
        return None if column["kind"] == "date" else round(random.uniform(low, high), 3)

    return [{column["name"]: cell(column) for column in columns} for _ in range(n)]


def questions(rows: list[dict[str, Any]]) -> list[tuple[str, str, bytes, str]]:
    """(name, path, body, kind of body), to be asked in turn."""
    plain = "application/json"
    found = [
        ("predict", "/api/predict", json.dumps({"rows": [row]}).encode(), plain)
        if i % 5 == 0
        else ("explain", "/api/explain", json.dumps({"row": row}).encode(), plain)
        for i, row in enumerate(rows)
    ]
    lines = "\n".join(json.dumps(row) for row in rows)
    head = 'Content-Disposition: form-data; name="file"; filename="rows.jsonl"'
    body = f"--{BOUNDARY}\r\n{head}\r\n\r\n{lines}\r\n--{BOUNDARY}--\r\n".encode()
    file = ("batch", "/api/batch", body, f"multipart/form-data; boundary={BOUNDARY}")
    return [*found, file]


def client(port: int, asked: list[Any], first: int, until: float, heard: Heard) -> None:
    """One client, from its first question until the time is over."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    turn = first
    while time.monotonic() < until:
        what, path, body, kind = asked[turn % len(asked)]
        turn += 1
        begun, error = time.perf_counter(), None
        try:
            line.request("POST", path, body, {"Content-Type": kind})
            response = line.getresponse()
            content = response.read()
            if response.status != 200:
                error = f"{response.status} {content[:80]!r}"
        except OSError as problem:
            error = repr(problem)
            line.close()
        heard.note(what, time.perf_counter() - begun, error)
    line.close()


def memory(process: int) -> float:
    """What a process holds in memory, MB."""
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found.group(1)) / 1024


def run(port: int, asked: list[Any], clients: int, seconds: float) -> Heard:
    heard, until = Heard(), time.monotonic() + seconds
    threads = [
        threading.Thread(target=client, args=(port, asked, 7 * i, until, heard))
        for i in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return heard


def measure(model: Path, clients: int, seconds: float) -> bool:
    """Start a server, ask it, print what was found; whether no request failed."""
    command = [sys.executable, "-m", "posterior", "serve", str(model), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            port = int(server.stderr.readline().rpartition(":")[2].split()[0])
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            line.request("GET", "/api/model")
            columns = json.loads(line.getresponse().read())["columns"]
            line.close()
            asked = questions(rows_like(columns, 200))
            run(port, asked, clients, WARM_UP)
            before = memory(server.pid)
            heard = run(port, asked, clients, seconds)
            after = memory(server.pid)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)
    total = sum(map(len, heard.seconds.values()))
    print(
        f"{clients} clients, {seconds:.0f} s: {total:,} requests, {total / seconds:,.0f} a second"
    )
    for what, times in sorted(heard.seconds.items()):
        p50, p99 = np.percentile(times, [50, 99])
        print(f"  {what:8} {len(times):7,}   p50 {1e3 * p50:6.0f} ms   p99 {1e3 * p99:6.0f} ms")
    print(f"  memory   {before:.0f} MB at the start, {after:.0f} MB at the end")
    print(f"  errors   {sum(heard.errors.values())} {dict(heard.errors)}")
    return not heard.errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = given.model or made_up(Path(folder))
        sys.exit(0 if measure(model, given.clients, given.seconds) else 1)


if __name__ == "__main__":
    main()
