"""posterior serve: an application on a port of this machine."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import uvicorn

from posterior.app import models
from posterior.app.server.guard import names_of
from posterior.app.server.server_app import create_app

WAITING = 5  # seconds that a connection may be silent between two requests
MOST_CONNECTIONS = 500


def serve(
    model: str | os.PathLike[str] | None = None, host: str = "127.0.0.1", port: int = 8000
) -> None:
    """Serve a model file until somebody ends it; port 0 is any that is free."""
    name = "" if model is None else Path(model).name
    app = create_app(
        None if model is None else models.load(str(model)), name=name, hosts=names_of(host)
    )
    with _bound(host, port) as listening:
        shown = f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{listening.getsockname()[1]}"
        print(f"posterior serves {name or 'its page'} at {url} (Ctrl+C ends it)", file=sys.stderr)
        sys.stderr.flush()
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_keep_alive=WAITING,
            timeout_graceful_shutdown=WAITING,
            limit_concurrency=MOST_CONNECTIONS,
        )
        try:
            uvicorn.Server(config).run(sockets=[listening])
        except KeyboardInterrupt:
            pass


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family, backlog=2048)
    except OSError as error:
        raise ValueError(
            f"Expected to listen at {host}, port {port}, but: {error.strerror}. Choose another "
            "port, or 0 for any that is free."
        ) from None
