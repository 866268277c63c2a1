"""posterior serve."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from posterior.app.cli.command import Answer


def serve(
    model: Annotated[
        str | None, typer.Argument(help="Model file; without one, the page begins with training.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at.", min=0, max=65535)] = 8000,
) -> Answer:
    """Answer over HTTP, and on a page for people."""
    if model is not None and not Path(model).is_file():
        raise FileNotFoundError(2, "Expected a model file, and there is none", model)
    try:
        server = import_module("posterior.app.server")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"Serving a model needs {error.name}, which is not installed: "
            "python3 -m pip install 'posterior[serve]'."
        ) from None
    server.serve(model, host, port)
    return Answer({"model": model, "host": host, "port": port})
