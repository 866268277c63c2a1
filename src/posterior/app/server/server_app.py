"""The application, with guard, API and page, and how it is served on a port."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Response

from posterior.app import models
from posterior.app.server.api import Api
from posterior.app.server.guard import LOOPBACK, Guard, names_of
from posterior.app.server.refusals import Limits, RequestError, add_handlers
from posterior.app.server.served import Served

STATIC = Path(__file__).parent / "static"
MEDIA = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
WAITING = 5  # seconds that a connection may be silent between two requests
MOST_CONNECTIONS = 500


def create_app(
    model: Any = None,
    *,
    name: str = "model",
    hosts: Collection[str] = LOOPBACK,
    limits: Limits | None = None,
) -> FastAPI:
    """The page and the API of a model, as an ASGI application.

    Parameters
    ----------
    model : fitted model, optional
        Without one, the page begins with training.
    name : str
        What the page calls it.
    hosts : names
        By which a request may call this server; see `guard.names_of`.
    limits : Limits, optional
    """
    limits = limits or Limits()
    api = Api(None if model is None else Served(model, name), limits, _version())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        api.close()

    app = FastAPI(
        title="posterior",
        summary="P(y | x), and why.",
        version=api.version,
        docs_url=None,  # their assets would come from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    add_handlers(app)
    app.include_router(api.router)
    _add_page(app)
    app.add_middleware(Guard, names=hosts, limits=limits)
    return app


def _add_page(app: FastAPI) -> None:
    """The page from memory: what a request names is looked up, never opened."""
    assets = {f.name: f.read_bytes() for f in STATIC.iterdir() if f.suffix in MEDIA}

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return Response(assets["index.html"], media_type=MEDIA[".html"])

    @app.get("/static/{name}", include_in_schema=False)
    async def asset(name: str) -> Response:
        if name not in assets:
            raise RequestError("There is nothing at this address.", 404)
        return Response(assets[name], media_type=MEDIA[Path(name).suffix])


def _version() -> str:
    try:
        return version("posterior")
    except PackageNotFoundError:  # read from a source tree that was never installed
        return "0+unknown"


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
