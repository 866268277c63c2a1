"""posterior serve: models over HTTP, and on a page for people."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from posterior.app.cli.command import Answer


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...", help="Model files; without one, the page begins with training."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at.", min=0, max=65535)] = 8000,
    workers: Annotated[
        int, typer.Option(help="Processes that answer; one for each core.", min=1, max=64)
    ] = 1,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name that requests may use; may be repeated."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="POSTERIOR_TOKEN", help="What requests must carry: Authorization: Bearer TOKEN."
        ),
    ] = None,
    token_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", envvar="POSTERIOR_TOKEN_FILE", help="Where the token is, for you alone."
        ),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen for others without a token.")
    ] = False,
    cors: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="A page elsewhere that may ask; may be repeated."),
    ] = None,
    root_path: Annotated[
        str, typer.Option(metavar="PATH", help="Where a proxy puts the server, such as /spam.")
    ] = "",
    access_log: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A line of JSON for each request; - is stdout."),
    ] = None,
) -> Answer:
    """Answer over HTTP, and on a page for people.

    Several models are found by the names of their files: /models/spam/predict. A file that changes
    is loaded anew.
    """
    given = models or []
    for model in given:
        if not Path(model).is_file():
            raise FileNotFoundError(2, "Expected a model file, and there is none", model)
    if token is not None and token_file is not None:
        raise typer.BadParameter("Expected --token or --token-file, not both.")
    try:
        server = import_module("posterior.app.server")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"Serving a model needs {error.name}, which is not installed: "
            "python3 -m pip install 'posterior[serve]'."
        ) from None
    server.serve(
        given,
        host,
        port,
        workers=workers,
        allow_hosts=allow_host or [],
        cors=cors or [],
        token=token if token_file is None else server.token_in(token_file),
        insecure=insecure,
        root_path=root_path,
        access_log=access_log,
    )
    return Answer({"models": given, "host": host, "port": port})
