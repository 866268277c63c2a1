"""The application: guard, API, and the page with its assets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Response

from posterior.app.server.api import Api
from posterior.app.server.guard import LOOPBACK, Guard
from posterior.app.server.limits import Limits
from posterior.app.server.refusals import RequestError, add_handlers
from posterior.app.server.served import Served

STATIC = Path(__file__).parent / "static"
MEDIA = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


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
