"""The server for a minute: many clients, a model that learns, and workers that are killed.

    python -m benchmarks.serve_soak                          50 clients, 60 s, a kill every 10 s
    python -m benchmarks.serve_soak --seconds 6 --clients 8 --kill 2

Every answer names its model by hash, and is compared with what that model says; every row that the
model learned must be in the last file; connections may break only while a worker starts anew; and
memory has to stay flat.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.serve_processes import Line, get, memory, request, started, workers_of

N_ROWS, LEARNED, PAUSE = 40, 25, 0.7
RESTART = 15.0  # seconds in which a worker that was killed may be missed, on a busy machine


@dataclass
class Outcome:
    """What a soak has shown."""

    answers: int = 0
    rows: int = 0
    wrong: list[str] = field(default_factory=list)
    broken: list[float] = field(default_factory=list)  # when connections broke
    kills: list[float] = field(default_factory=list)
    updates: int = 0
    models: set[str] = field(default_factory=set)  # that answered
    lost: int = 0  # rows that were learned and are not in the last model
    counted: float = 0.0  # rows by the server's own metrics
    before: float = 0.0  # MB of the largest worker
    after: float = 0.0

    def unexplained(self) -> int:
        """Connections that broke while no worker was starting."""
        return sum(
            not any(kill - 1 <= when <= kill + RESTART for kill in self.kills)
            for when in self.broken
        )


class Soak:
    """One server, its clients, and who disturbs them."""

    def __init__(self, folder: Path, clients: int, seconds: float, kill: float) -> None:
        import posterior

        self.outcome, self.lock = Outcome(), threading.Lock()
        self.clients, self.seconds, self.kill = clients, seconds, kill
        random = np.random.default_rng(0)
        self.X, self.y = random.normal(size=(5000, 6)), random.integers(0, 2, 5000)
        self.path = folder / "soak.posterior"
        posterior.save(posterior.GaussianNB().fit(self.X[:500], self.y[:500]), self.path)
        self.asked = random.normal(size=(N_ROWS, 6)).round(6)
        self.expected: dict[str, Any] = {}
        self.heard: set[tuple[str, int, str]] = set()  # (hash, row, posterior), each once
        self.until = 0.0
        self._know()

    def _know(self) -> None:
        """Keep what the model in the file says, by its hash."""
        import posterior
        from posterior.storage import inspect

        p = posterior.load(self.path).predict_proba(self.asked)
        self.expected[str(inspect(self.path)["sha256"])] = p

    def ask(self, port: int, first: int) -> None:
        """One client: a row, and every fifth time all of them."""
        names = [f"column {j + 1}" for j in range(6)]
        rows = [dict(zip(names, row, strict=True)) for row in self.asked.tolist()]
        sent = [request("/api/predict", json.dumps({"rows": [row]}).encode()) for row in rows]
        every = request("/api/predict", json.dumps({"rows": rows}).encode())
        line, turn = Line(port), first
        while time.monotonic() < self.until:
            turn += 1
            i = None if turn % 5 == 0 else turn % N_ROWS
            try:
                status, body = line.ask(every if i is None else sent[i])
            except OSError:
                line.close()
                with self.lock:
                    self.outcome.broken.append(time.monotonic())
                continue
            self.note(status, body, range(N_ROWS) if i is None else [i])
        line.close()

    def note(self, status: int, body: bytes, places: Any) -> None:
        answer = json.loads(body)
        with self.lock:
            if status != 200 or len(answer["predictions"]) != len(places):
                self.outcome.wrong.append(f"{status} {body[:200]!r}")
                return
            self.outcome.answers += 1
            self.outcome.rows += len(places)
            for i, row in zip(places, answer["predictions"], strict=True):
                self.heard.add((answer["model"]["hash"], i, json.dumps(row["posterior"])))

    def learn(self) -> None:
        """Add rows to the model in the file again and again, as `posterior update` does."""
        import posterior
        from posterior.storage import locked

        at = 500
        while time.monotonic() < self.until - 2 * PAUSE and at + LEARNED < len(self.X):
            rows = slice(at, at + LEARNED)
            with locked(self.path):
                model = posterior.load(self.path).partial_fit(self.X[rows], self.y[rows])
                posterior.save(model, self.path)
                self._know()
            at += LEARNED
            self.outcome.updates += 1
            time.sleep(PAUSE)

    def end_some(self, port: int) -> None:
        """Kill a worker now and then."""
        while time.monotonic() + self.kill < self.until:
            time.sleep(self.kill)
            try:
                victim = get(port, "/health")["worker"]
                self.outcome.kills.append(time.monotonic())
                os.kill(victim, signal.SIGKILL)
            except OSError:  # the one that was asked has just been killed
                pass

    def run(self) -> Outcome:
        import posterior

        outcome = self.outcome
        command = ["posterior", "serve", str(self.path), "--port", "0", "--workers", "2"]
        with started(command) as (_, port):
            workers_of(port, 2)
            for phase in ("warm-up", "soak"):
                length = min(3.0, self.seconds / 2) if phase == "warm-up" else self.seconds
                self.until = time.monotonic() + length
                work: list[tuple[Any, ...]] = [(self.ask, port, 7 * i) for i in range(self.clients)]
                if phase == "soak":
                    work += [(self.learn,), (self.end_some, port)]
                threads = [threading.Thread(target=do, args=given) for do, *given in work]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                largest = max(memory(worker) for worker in workers_of(port, 2))
                if phase == "warm-up":
                    outcome.before = largest
            outcome.after = largest
            found = re.search(r'posterior_rows_total{model="soak"} (\S+)', get(port, "/metrics"))
            outcome.counted = float(found.group(1)) if found else 0.0
        for hash, i, told in self.heard:
            outcome.models.add(hash)
            p = list(json.loads(told).values())
            if hash not in self.expected or not np.allclose(p, self.expected[hash][i], rtol=1e-12):
                outcome.wrong.append(f"row {i} of model {hash}: {told}")
        last = posterior.load(self.path)
        learned = 500 + LEARNED * outcome.updates
        outcome.lost = learned - int(last.class_count_.sum())
        return outcome


def soak(clients: int = 50, seconds: float = 60.0, kill: float = 10.0) -> Outcome:
    """Run a server for some time, and tell how it went."""
    with tempfile.TemporaryDirectory() as folder:
        return Soak(Path(folder), clients, seconds, kill).run()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--kill", type=float, default=10.0, help="seconds between two kills")
    found = soak(**vars(parser.parse_args()))
    print(f"{found.answers:,} answers with {found.rows:,} rows, of {len(found.models)} models")
    print(f"{found.updates} updates, {found.lost} rows lost, {len(found.kills)} workers killed")
    print(f"{len(found.broken)} connections broke, {found.unexplained()} of them without a reason")
    print(f"{len(found.wrong)} wrong answers {found.wrong[:2]}")
    print(
        f"memory of a worker: {found.before:.0f} MB after the warm-up, {found.after:.0f} MB at last"
    )
    grown = found.after - found.before
    sys.exit(1 if found.wrong or found.lost or found.unexplained() or grown > 20 else 0)


if __name__ == "__main__":
    main()
