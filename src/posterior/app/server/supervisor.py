"""Workers under a supervisor: processes that share one socket; one that dies is started anew.

The supervisor holds the socket, so that connections wait while a worker starts, and a line to each
worker: when the line closes, the worker answers what is under way and ends. That is how the server
stops, and what happens if the supervisor itself is killed.
"""

from __future__ import annotations

import multiprocessing
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from posterior.app.server.serving import GRACE, Plan, run_worker
from posterior.app.server.trainings import fail_those_of

LOOK, SHORT = 0.2, 2.0  # seconds between two looks, and of a life too short to begin anew at once
READY = "ready"


@dataclass(frozen=True, slots=True)
class Worker:
    """A process, the line to it, and when it began."""

    process: BaseProcess
    line: Connection
    begun: float


def supervise(plan: Plan, listening: socket.socket, said: str) -> None:
    """Run the workers of a plan until a signal comes."""
    (plan.folder / "metrics").mkdir()
    context = _context()
    ending = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: ending.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    workers: dict[str, Worker] = {}
    try:
        for name in map(str, range(plan.workers)):
            workers[name] = _started(context, plan, name, listening)
        for worker in workers.values():
            _await(worker, ending)
        if not ending.is_set():
            print(said, file=sys.stderr, flush=True)
        while not ending.is_set():
            wait([worker.process.sentinel for worker in workers.values()], LOOK)
            for name, worker in workers.items():
                if not worker.process.is_alive() and not ending.is_set():
                    workers[name] = _replaced(context, plan, name, listening, worker)
    finally:
        listening.close()
        _end(workers)
        for number, handler in before.items():
            signal.signal(number, handler)


def _context() -> Any:
    """Processes that begin with the imports done, where the system can, and share no thread."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["posterior.app.server.serving"])
    return context


def _started(context: Any, plan: Plan, name: str, listening: socket.socket) -> Worker:
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(plan, name, listening, theirs), daemon=True)
    process.start()
    theirs.close()
    return Worker(process, ours, time.monotonic())


def _await(worker: Worker, ending: threading.Event) -> None:
    """Wait until a worker is ready; why it is not, is an error."""
    while not ending.is_set():
        if worker.line.poll(LOOK):
            try:
                told = worker.line.recv()
            except EOFError:
                raise ValueError("Expected a worker to start, but it ended.") from None
            if told == READY:
                return
            raise ValueError(told)


def _replaced(
    context: Any, plan: Plan, name: str, listening: socket.socket, worker: Worker
) -> Worker:
    """A new worker in the place of one that ended; of one that ended at once, after a pause."""
    code = worker.process.exitcode
    print(f"posterior: worker {name} ended ({code}); it starts anew", file=sys.stderr, flush=True)
    worker.line.close()
    fail_those_of(plan.folder, name)
    if time.monotonic() - worker.begun < SHORT:
        time.sleep(SHORT)
    return _started(context, plan, name, listening)


def _end(workers: dict[str, Worker]) -> None:
    """Let all workers answer what is under way, and end those that take too long."""
    for worker in workers.values():
        worker.line.close()
    until = time.monotonic() + GRACE + LOOK
    for worker in workers.values():
        worker.process.join(max(0.0, until - time.monotonic()))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _work(plan: Plan, name: str, listening: socket.socket, line: Connection) -> None:
    """The life of a worker."""
    end = threading.Event()

    def heard() -> None:
        try:
            line.recv()  # which ends when the supervisor closes the line, or dies
        except (EOFError, OSError):
            pass
        end.set()

    def ready() -> None:
        with suppress(OSError):  # the supervisor may be ending already
            line.send(READY)
        threading.Thread(target=heard, daemon=True).start()

    try:
        run_worker(plan, name, listening, ready, end)
    except (ValueError, OSError) as error:
        with suppress(OSError):
            line.send(" ".join(str(error).split()))
