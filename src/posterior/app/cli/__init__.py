"""The command line: posterior COMMAND ..."""

from __future__ import annotations

import atexit
import gc
import sys

from posterior.app.lean_imports import take_process

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments name."""
    gc.set_threshold(200_000)  # of modules that are imported, nothing is garbage
    atexit.register(_leave)
    try:
        from posterior.app.cli.commands_app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(
            "The command line needs typer and rich, which are not installed: "
            "python3 -m pip install 'posterior[app]'."
        )
    except KeyboardInterrupt:  # before there is an application that could end in order
        sys.exit(130)
    take_process()
    app()


def _leave() -> None:
    """End without a look for garbage in all that is about to go: a fifth of a short command."""
    gc.disable()
    if "duckdb" in sys.modules:  # which counts what is left of it, and complains
        gc.unfreeze()
    else:
        gc.freeze()
