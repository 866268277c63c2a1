"""posterior serve."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from posterior.app.cli.command import Answer
from posterior.app.cli.options import MODEL


def serve(
    model: MODEL,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at.", min=0, max=65535)] = 8000,
) -> Answer:
    """Answer over HTTP, and on a page for people."""
    if not Path(model).is_file():
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
