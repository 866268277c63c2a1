"""The command line: posterior COMMAND ..."""

from __future__ import annotations

import sys

from posterior.app.lean_imports import take_process

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments name."""
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
