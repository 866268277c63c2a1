"""The application: all commands by name."""

from __future__ import annotations

from typing import Annotated

import typer

from posterior.app.cli import (
    clustering,
    fitting,
    model_commands,
    predict_commands,
    reporting,
    serving,
    update_commands,
)
from posterior.app.cli.command import add_command

app = typer.Typer(
    name="posterior",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help starts in half the time
    pretty_exceptions_enable=False,  # errors of a command are shown by command()
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"posterior {version('posterior')}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """What is P(y | x), and why?

    Start with `posterior report table.csv --target column`: it compares models of your table,
    picks one, and writes a page that shows how good it is and why it predicts what it does.
    """


for function in (
    reporting.report,
    fitting.fit,
    predict_commands.predict,
    predict_commands.explain,
    update_commands.update,
    update_commands.forget,
    update_commands.merge,
    model_commands.inspect,
    predict_commands.sample,
    clustering.cluster,
    model_commands.sql,
    model_commands.javascript,
    serving.serve,
):
    add_command(app, function)
