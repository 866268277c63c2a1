"""The application: monitor, guard, API and page."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from secrets import token_hex
from typing import Any

from fastapi import FastAPI, Response

from posterior.app.server.access import Access
from posterior.app.server.api import Api
from posterior.app.server.api_description import describe
from posterior.app.server.guard import Guard
from posterior.app.server.limits import Limits
from posterior.app.server.metrics import Metrics
from posterior.app.server.monitor import AccessLog, Monitor
from posterior.app.server.predict_route import PredictRoute
from posterior.app.server.refusals import RequestError, add_handlers
from posterior.app.server.served import Served
from posterior.app.server.served_models import Fixed, ServedModels
from posterior.app.server.trainings import Trainings

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
    access: Access | None = None,
    limits: Limits | None = None,
    root_path: str = "",
) -> FastAPI:
    """The page and the API of a model, as an ASGI application.

    Parameters
    ----------
    model : fitted model, optional
        Without one, the page begins with training.
    name : str
        What the page calls it.
    access : Access, optional
        Who is let in.
    limits : Limits, optional
    root_path : str
        Where a proxy puts the application, such as `/spam`.
    """
    limits = limits or Limits()
    models = ServedModels([] if model is None else [Fixed(Served(model, name))])
    folder = Path(tempfile.gettempdir()) / f"posterior-{token_hex(8)}"  # made by the first training
    trainings = Trainings(folder, limits)

    def clean() -> None:
        shutil.rmtree(folder, ignore_errors=True)

    return application(
        models, trainings, Metrics(), access or Access(), limits, root_path=root_path, ended=clean
    )


def application(
    models: ServedModels,
    trainings: Trainings,
    metrics: Metrics,
    access: Access,
    limits: Limits,
    *,
    root_path: str = "",
    log: AccessLog | None = None,
    ended: Callable[[], None] = lambda: None,
) -> FastAPI:
    """An application of parts that are there."""
    api = Api(models, trainings, metrics, limits, _version())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        metrics.expect(models)
        watch = asyncio.create_task(models.watch(metrics.refreshed))
        yield
        watch.cancel()
        with suppress(asyncio.CancelledError):
            await watch
        api.close()
        ended()

    app = FastAPI(
        title="posterior",
        summary="P(y | x), and why.",
        version=api.version,
        docs_url=None,  # their assets would come from elsewhere; the page has its own
        redoc_url=None,
        lifespan=lifespan,
    )
    add_handlers(app)
    app.include_router(api.router)
    _add_page(app)
    describe(app, limits, access, root_path)
    app.add_middleware(PredictRoute, asked=api)
    app.add_middleware(Guard, access=access, limits=limits, root_path=root_path)
    app.add_middleware(Monitor, metrics=metrics, log=log)
    return app


def _add_page(app: FastAPI) -> None:
    """The page from memory: what a request names is looked up, never opened."""
    assets = {f.name: f.read_bytes() for f in STATIC.iterdir() if f.suffix in MEDIA}

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return Response(assets["index.html"], media_type=MEDIA[".html"])

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(assets["docs.html"], media_type=MEDIA[".html"])

    @app.get("/static/{name}", include_in_schema=False)
    async def asset(name: str) -> Response:
        if name not in assets:
            raise RequestError("There is nothing at this address.", 404, "address")
        return Response(assets[name], media_type=MEDIA[Path(name).suffix])


def _version() -> str:
    try:
        return version("posterior")
    except PackageNotFoundError:  # read from a source tree that was never installed
        return "0+unknown"
