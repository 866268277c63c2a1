"""Serving model files on a port: one worker in this process, or several under a supervisor."""

from __future__ import annotations

import gc
import os
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn

from posterior.app.server.access import Access, access_at
from posterior.app.server.limits import Limits
from posterior.app.server.metrics import Metrics, share_metrics
from posterior.app.server.monitor import AccessLog
from posterior.app.server.patient_protocol import PatientProtocol
from posterior.app.server.served_models import models_at, names_of
from posterior.app.server.server_app import application
from posterior.app.server.trainings import Trainings

WAITING = 5  # seconds that a connection may be silent between two requests
GRACE = 30  # seconds for requests under way when the server ends
MOST_CONNECTIONS = 1000  # of a worker


@dataclass(frozen=True, slots=True)
class Plan:
    """What is served, and how: all that a worker needs to know."""

    paths: tuple[Path, ...]
    access: Access
    folder: Path  # of trainings, metrics and the last good models; all workers share it
    workers: int = 1
    root_path: str = ""
    access_log: str | None = None
    limits: Limits = field(default_factory=Limits)


def serve(
    models: Sequence[str | os.PathLike[str]] = (),
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    workers: int = 1,
    allow_hosts: Collection[str] = (),
    cors: Collection[str] = (),
    token: str | None = None,
    insecure: bool = False,
    root_path: str = "",
    access_log: str | None = None,
) -> None:
    """Serve model files until somebody ends it; port 0 is any that is free."""
    from posterior.app.server.supervisor import supervise

    access = access_at(host, names=allow_hosts, origins=cors, token=token, insecure=insecure)
    paths = tuple(Path(model) for model in models)
    names = [name for name, _ in names_of(paths)]
    if root_path and not root_path.startswith("/"):
        raise ValueError(f"Expected a root path that begins with /, got {root_path!r}.")
    with tempfile.TemporaryDirectory(prefix="posterior-") as folder:
        plan = Plan(paths, access, Path(folder), workers, root_path, access_log)
        with bound(host, port) as listening:
            shown = f"[{host}]" if ":" in host else host
            url = f"http://{shown}:{listening.getsockname()[1]}{root_path}"
            served = ", ".join(names) or "its page"
            said = f"posterior serves {served} at {url} (Ctrl+C ends it)"
            if workers == 1:
                run_worker(plan, "0", listening, lambda: print(said, file=sys.stderr, flush=True))
            else:
                supervise(plan, listening, said)


def run_worker(
    plan: Plan,
    name: str,
    listening: socket.socket,
    ready: Callable[[], None],
    end: threading.Event | None = None,
) -> None:
    """Answer requests at a socket until a signal or an event ends it.

    `ready` is called when the models are loaded.
    """
    metrics = Metrics()
    if plan.workers > 1:
        shared = plan.folder / "metrics"
        share_metrics(shared, name)
        metrics = Metrics(shared)
    app = application(
        models_at(plan.paths, plan.folder),
        Trainings(plan.folder, plan.limits, name),
        metrics,
        plan.access,
        plan.limits,
        root_path=plan.root_path,
        log=None if plan.access_log is None else AccessLog(plan.access_log),
    )
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        http=PatientProtocol,
        server_header=False,
        timeout_keep_alive=WAITING,
        timeout_graceful_shutdown=GRACE,
        limit_concurrency=MOST_CONNECTIONS,
    )
    server = uvicorn.Server(config)
    if end is not None:
        threading.Thread(target=_end, args=(server, end), daemon=True).start()
    ready()
    gc.collect()
    gc.freeze()  # what is there stays: looking through it again and again would stall requests
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        gc.unfreeze()


def _end(server: uvicorn.Server, end: threading.Event) -> None:
    end.wait()
    server.should_exit = True


@contextmanager
def bound(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        found = socket.create_server((host.strip("[]"), port), family=family, backlog=2048)
    except OSError as error:
        raise ValueError(
            f"Expected to listen at {host}, port {port}, but: {error.strerror}. Choose another "
            "port, or 0 for any that is free."
        ) from None
    with found:
        yield found
