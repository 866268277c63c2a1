"""The server for an hour: many clients, a model that learns, and workers that are killed.

    make soak                                                50 clients, an hour, a kill every 10 s
    python -m benchmarks.serve_soak --seconds 60             the same for a minute

Every answer names its model by hash, and is compared with what that model says; every row that the
model learned must be in the last file; connections may break only while a worker starts anew; and
memory has to stay flat. What is found is kept in a folder every few seconds: a soak that was
interrupted goes on from there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.serve_processes import Line, get, memory, request, started, workers_of
from benchmarks.soak_progress import Progress

N_COLUMNS, N_ROWS, FIRST, LEARNED = 6, 40, 500, 25
PACE, LEARN, KEEP = 0.2, 0.7, 5.0  # seconds between two questions, two updates, two records
IDLE, LENT = 4.0, 30  # seconds of silence, and questions, until a client takes a new connection
ELDEST = 60  # each how manieth kill takes the eldest worker


def rows_of(update: int) -> tuple[Any, Any]:
    """The rows of an update, the same each time; 0 are those of the first fit."""
    random = np.random.default_rng([7, update])
    n = LEARNED if update else FIRST
    y = random.integers(0, 2, n)
    return random.normal(size=(n, N_COLUMNS)) + y[:, None], y


@dataclass
class Watched:
    """A process, and what it held after a while."""

    begun: float
    seen: float
    settled: float = 0.0  # MB when it was `settle` seconds old
    most: float = 0.0  # MB since then


class Soak:
    """One server, its clients, and who disturbs them."""

    def __init__(self, folder: Path, clients: int, seconds: float, kill: float) -> None:
        import posterior

        self.clients, self.seconds, self.kill = clients, seconds, kill
        self.path, self.kept = folder / "soak.posterior", folder / "progress.json"
        self.progress, self.lock = Progress.at(self.kept), threading.Lock()
        self.settle = self.progress.settle = min(60.0, seconds / 4)
        self.ending = threading.Event()
        if not self.path.exists():
            posterior.save(posterior.GaussianNB().fit(*rows_of(0)), self.path)
        self.asked = np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS)).round(6)
        self.expected: dict[str, Any] = {}
        self.heard: set[tuple[str, int, str]] = set()  # (hash, row, posterior), not yet compared
        self.versions: set[str] = set()
        self.processes: dict[int, Watched] = {}
        self.workers: list[int] = []  # the eldest first
        self.broken: list[tuple[float, float]] = []  # between an answer and the failure
        self.restarts: list[tuple[float, float]] = []  # from a kill until a new worker answers
        self._know()

    def _know(self) -> int:
        """Keep what the model in the file says, by its hash, and how many rows it has learned."""
        import posterior
        from posterior.storage import inspect

        model = posterior.load(self.path)
        hash = str(inspect(self.path)["sha256"])
        self.expected[hash] = model.predict_proba(self.asked)
        return int(model.class_count_.sum())

    def ask(self, port: int, number: int) -> None:
        """One client: a row, and every fifth time all of them, in its own pace."""
        names = [f"column {j + 1}" for j in range(N_COLUMNS)]
        rows = [dict(zip(names, row, strict=True)) for row in self.asked.tolist()]
        sent = [request("/api/predict", json.dumps({"rows": [row]}).encode()) for row in rows]
        every = request("/api/predict", json.dumps({"rows": rows}).encode())
        line, turn = Line(port), 7 * number
        last = due = time.monotonic() + PACE * number / self.clients
        while not self.ending.wait(max(0.0, due - time.monotonic())):
            due = max(due + PACE, time.monotonic())
            turn += 1
            i = None if turn % 5 == 0 else turn % N_ROWS
            if time.monotonic() - last > IDLE or turn % LENT == 0:
                line.close()
            try:
                status, body = line.ask(every if i is None else sent[i])
            except OSError as error:
                line.close()
                with self.lock:
                    self.broken.append((last, time.monotonic()))
                    refused = isinstance(error, ConnectionRefusedError)
                    self.progress.refused += refused
                    self.progress.broken += not refused
            else:
                self.note(status, body, range(N_ROWS) if i is None else [i])
            last = time.monotonic()
        line.close()

    def note(self, status: int, body: bytes, places: Any) -> None:
        answer = json.loads(body)
        with self.lock:
            if status != 200 or len(answer["predictions"]) != len(places):
                self.progress.wrong.append(f"{status} {body[:200]!r}")
                return
            self.progress.answers += 1
            self.progress.rows += len(places)
            for i, row in zip(places, answer["predictions"], strict=True):
                self.heard.add((answer["model"]["hash"], i, json.dumps(row["posterior"])))

    def learn(self) -> None:
        """Add rows to the model in the file again and again, as `posterior update` does."""
        import posterior
        from posterior.storage import locked

        while not self.ending.wait(LEARN):
            with locked(self.path):
                rows = rows_of(self.progress.updates + 1)
                posterior.save(posterior.load(self.path).partial_fit(*rows), self.path)
                self._know()
            with self.lock:
                self.progress.updates += 1
                self.progress.keep(self.kept)

    def end_some(self, port: int) -> None:
        """Kill the youngest worker now and then, and sometimes the eldest."""
        due = time.monotonic() + self.kill
        while not self.ending.wait(max(0.0, due - time.monotonic())):
            due += self.kill
            place = 0 if (self.progress.kills + 1) % ELDEST == 0 else -1
            begun = time.monotonic()
            os.kill(self.workers[place], signal.SIGKILL)
            with self.lock:
                self.progress.kills += 1
                self.restarts.append((begun, np.inf))
            del self.workers[place]
            self.meet(port)
            with self.lock:
                self.restarts[-1] = (begun, time.monotonic())

    def meet(self, port: int) -> None:
        """Wait until two workers answer, and know them."""
        for worker in sorted(workers_of(port, 2) - {*self.workers}):
            self.workers.append(worker)

    def watch(self, server: int) -> None:
        """Look at the memory of all processes."""
        now = time.monotonic()
        for process in (server, *self.workers):
            with suppress(OSError):  # killed just now
                held = memory(process)
                found = self.processes.setdefault(process, Watched(now, now))
                found.seen = now
                self.progress.memory = max(self.progress.memory, held)
                if now - found.begun >= self.settle:
                    found.settled = found.settled or held
                    found.most = max(found.most, held)

    def compare(self) -> None:
        """Compare what was heard since the last time, and keep the progress."""
        progress = self.progress
        with self.lock:
            heard, self.heard = self.heard, set()
            later = {each for each in heard if each[0] not in self.expected}
            self.heard |= later  # of a model that was written just now
            for hash, i, told in heard - later:
                p = list(json.loads(told).values())
                if not np.allclose(p, self.expected[hash][i], rtol=1e-12, atol=0):
                    progress.wrong.append(f"row {i} of model {hash}: {told}")
            fresh = {hash for hash, _, _ in heard} - self.versions
            self.versions |= fresh
            progress.models += len(fresh)
            progress.unexplained += sum(map(self._unexplained, self.broken))
            self.broken.clear()
            done = [end - begun for begun, end in self.restarts if end < np.inf]
            progress.restart = max([progress.restart, *done])
            self.restarts = self.restarts[-10:]
            progress.keep(self.kept)

    def _unexplained(self, broken: tuple[float, float]) -> bool:
        last, failed = broken
        return not any(begun <= failed and last <= end for begun, end in self.restarts)

    def run(self) -> Progress:
        """Go on until the time is full, or somebody interrupts it."""
        progress = self.progress
        already = FIRST + LEARNED * progress.updates
        found = self._know()
        if found == already + LEARNED:  # ended between an update and the record of it
            progress.updates += 1
        elif found != already:
            progress.lost += already - found
        progress.runs += 1
        before = replace(progress)
        command = ["posterior", "serve", str(self.path), "--port", "0", "--workers", "2"]
        with started(command, start_new_session=True) as (server, port):
            self.meet(port)
            work: list[tuple[Any, ...]] = [(self.ask, port, i) for i in range(self.clients)]
            work += [(self.learn,), (self.end_some, port)]
            threads = [threading.Thread(target=do, args=given) for do, *given in work]
            begun = kept = time.monotonic()
            for thread in threads:
                thread.start()
            try:
                while progress.seconds < self.seconds and all(t.is_alive() for t in threads):
                    time.sleep(1.0)
                    self.watch(server.pid)
                    with self.lock:
                        progress.seconds = before.seconds + time.monotonic() - begun
                    if time.monotonic() - kept > KEEP:
                        kept = time.monotonic()
                        self.compare()
            except KeyboardInterrupt:
                print("interrupted: the next run goes on from here", file=sys.stderr)
            if not all(thread.is_alive() for thread in threads):
                progress.wrong.append("a thread of the soak ended early")
            self.ending.set()
            for thread in threads:
                thread.join()
            self._count(get(port, "/metrics"), before)
        self.compare()
        self._conclude()
        progress.keep(self.kept)
        return progress

    def _count(self, metrics: str, before: Progress) -> None:
        """The server has counted the rows that were answered, of all workers that lived."""
        found = re.search(r'posterior_rows_total{model="soak"} (\S+)', metrics)
        counted = int(float(found.group(1))) if found else 0
        rows = self.progress.rows - before.rows
        broken = self.progress.broken - before.broken  # perhaps counted, and never heard
        if not rows <= counted <= rows + N_ROWS * broken:
            self.progress.wrong.append(f"{counted} rows were counted, of {rows} answered")

    def _conclude(self) -> None:
        """Of a model that is not known, every answer is wrong; and the last model has all rows."""
        import posterior

        progress = self.progress
        progress.wrong += [f"row {i} of model {hash}: {told}" for hash, i, told in self.heard]
        X, y = zip(*map(rows_of, range(progress.updates + 1)), strict=True)
        whole = posterior.GaussianNB().fit(np.concatenate(X), np.concatenate(y))
        last = posterior.load(self.path)
        progress.lost += int(whole.class_count_.sum() - last.class_count_.sum())
        if not np.allclose(whole.theta_, last.theta_, rtol=1e-12, atol=0):
            progress.wrong.append("the last model is not the model of all rows")
        for found in self.processes.values():
            if found.settled and found.seen - found.begun >= 2 * self.settle:
                progress.watched += 1
                progress.longest = max(progress.longest, found.seen - found.begun)
                progress.grown = max(progress.grown, found.most - found.settled)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--kill", type=float, default=10.0, help="seconds between two kills")
    parser.add_argument("--folder", type=Path, default=Path("build/soak"))
    parser.add_argument("--page", type=Path, help="where the result goes when the time is full")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if Progress.at(given.folder / "progress.json").seconds >= given.seconds:
        shutil.rmtree(given.folder)  # full: this is a new one
    given.folder.mkdir(parents=True, exist_ok=True)
    found = Soak(given.folder, given.clients, given.seconds, given.kill).run()
    page = found.page(given.clients, given.kill)
    print(page, *found.wrong[:5], sep="\n")
    if given.page and found.seconds >= given.seconds:
        given.page.write_text(page, "utf-8")
        found.keep(given.page.with_suffix(".json"))
    sys.exit(0 if found.holds() else 1)


if __name__ == "__main__":
    main()
