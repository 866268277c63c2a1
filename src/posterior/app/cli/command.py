"""Parts that all commands share: options, --json and --debug, progress, errors of one line."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from posterior.sources.outputs import plain

if TYPE_CHECKING:
    from rich.console import Console

    from posterior.preprocessing.overrides import Overrides


WRONG = 1  # exit code: the data or the model is wrong; 2 is usage, which typer finds
JSON = Annotated[
    bool, typer.Option("--json", help="Write one JSON document to stdout, and nothing else.")
]
DEBUG = Annotated[
    bool, typer.Option("--debug", envvar="POSTERIOR_DEBUG", help="Show where an error comes from.")
]
DATA = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A table: .csv, .xlsx, .ods, .parquet, .json, .sqlite, .zip, ...; a folder or a "
        "pattern such as 'x/*.csv'; - is CSV on stdin.",
    ),
]
SHEET = Annotated[
    str | None,
    typer.Option(
        "--sheet", metavar="NAME|NUMBER", help="Sheet of a workbook; the first one by default."
    ),
]
TABLE = Annotated[
    str | None,
    typer.Option("--table", metavar="NAME", help="Table of a database that has several."),
]
MODEL = Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")]
TARGET = Annotated[
    str, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")
]
KNOWN_TARGET = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COLUMN", help="The column of the labels, if it has a new name."
    ),
]
LEFT_OUT = Annotated[
    list[str] | None,
    typer.Option(
        "--leave-out", "--drop", metavar="COLUMN", help="Leave a column out; may be repeated."
    ),
]
KEPT = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="COLUMN", help="Use a column, whatever it looks like."),
]
READ_AS = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="COLUMN=KIND",
        help="Read a column as number, category, date, text, boolean.",
    ),
]
GROUP = Annotated[
    str | None,
    typer.Option("--group", metavar="COLUMN", help="Keep rows with the same value in one fold."),
]
TIME = Annotated[
    str | None,
    typer.Option(
        "--time", metavar="COLUMN", help="Test on the latest rows, train on earlier ones."
    ),
]
ROWS_OUT = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="The file to write, its format by its ending; - is CSV on stdout.",
    ),
]
RAW = Annotated[
    bool,
    typer.Option(
        "--raw", help="CSV as it is; else a text such as =A1 gets a ' that keeps it from running."
    ),
]
MODEL_OUT = Annotated[
    str | None, typer.Option("--out", "-o", metavar="MODEL", help="The model file to write.")
]
QUICK = Annotated[
    bool,
    typer.Option(
        "--quick", help="Only try naive Bayes, logistic regression and an additive model."
    ),
]
SEED = Annotated[int, typer.Option("--seed", help="Random seed.")]
BANDS = Annotated[
    str | None,
    typer.Option(
        "--bands",
        metavar="N|CUTS",
        help="Cut a numeric target into classes: 4 of equal shares, or at 10000,20000.",
    ),
]


def overrides(
    read_as: list[str] | None = None,
    keep: list[str] | None = None,
    leave_out: list[str] | None = None,
    group: str | None = None,
    time: str | None = None,
    bands: str | None = None,
) -> Overrides:
    """What a person says about the columns."""
    from posterior.preprocessing.bands import asked_in
    from posterior.preprocessing.overrides import asked_as

    return {
        "kinds": asked_as(read_as or ()),
        "keep": keep or (),
        "leave_out": leave_out or (),
        "group": group,
        "time": time,
        "bands": None if bands is None else asked_in(bands),
    }


def part_of(sheet: str | None, table: str | None) -> str | None:
    """The sheet or the table that is meant."""
    if sheet is not None and table is not None:
        raise typer.BadParameter("Expected --sheet of a workbook or --table of a database.")
    return table if sheet is None else sheet


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command has to say: facts for machines, and the same to look at."""

    facts: dict[str, Any]
    shown: list[Any] = field(default_factory=list)  # texts, and tables of rich


def add_command(app: typer.Typer, function: Callable[..., Answer]) -> None:
    """Make a function that answers a command of the application."""
    known = signature(function, eval_str=True)

    @wraps(function)
    def run(*, debug: bool, **options: Any) -> None:
        # Commands that write rows look at --json themselves: it says where the rows go.
        as_json = options["json"] if "json" in known.parameters else options.pop("json")
        with _errors_shown(debug), _warnings_noted() as noted:
            answer = function(**options)
            if as_json:
                _write_json({**answer.facts, "warnings": noted})
            else:
                _show(answer, noted)

    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in (("json", JSON), ("debug", DEBUG))
        if name not in known.parameters
    ]
    parameters = [*known.parameters.values(), *more]
    run.__signature__ = known.replace(parameters=parameters)  # type: ignore[attr-defined]
    app.command()(run)


def console(stderr: bool = False) -> Console:
    """Where people read, without colors that words get by chance."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def counted(n: int, what: str) -> str:
    """1 row, 2 rows."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


@contextmanager
def _errors_shown(debug: bool) -> Iterator[None]:
    try:
        yield
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except BrokenPipeError:  # whoever read has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(WRONG) from None
    except Exception as error:
        if debug:
            traceback.print_exc()
        typer.echo(f"posterior: {sentence(error)}", err=True)
        raise typer.Exit(WRONG) from None


def sentence(error: Exception) -> str:
    """An error in one line."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, MemoryError):
        return text or "The memory of this machine is too small for that."
    expected = isinstance(error, ValueError | TypeError | OSError) or "pip install" in text
    if expected and not isinstance(error, UnicodeError):
        return text
    kind = type(error).__name__
    return f"{kind}: {text} (--debug shows where)" if text else f"{kind} (--debug shows where)"


@contextmanager
def _warnings_noted() -> Iterator[list[str]]:
    """Warnings by their words alone, each once."""
    noted: list[str] = []

    def note(message: Warning | str, *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        if text not in noted:
            noted.append(text)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning):
            warnings.simplefilter("ignore", kind)
        warnings.simplefilter("ignore", ResourceWarning)
        warnings.showwarning = note
        yield noted


def _show(answer: Answer, noted: list[str]) -> None:
    for part in answer.shown:
        if isinstance(part, str):
            typer.echo(part)
        else:
            console().print(part, markup=False)
    for text in noted:
        console(stderr=True).print(f"note: {text}", style="yellow", markup=False, soft_wrap=True)


def _write_json(facts: dict[str, Any]) -> None:
    import json

    typer.echo(json.dumps(plain(facts), ensure_ascii=False, allow_nan=False))


@contextmanager
def busy(text: str) -> Iterator[Callable[[str], None]]:
    """A line that turns while a step takes its time; the function renames the step."""
    page = console(stderr=True)
    if not page.is_terminal:
        yield lambda text: None
        return
    with page.status(text) as status:
        yield status.update


@contextmanager
def counting(text: str) -> Iterator[Callable[[int], None]]:
    """A line that counts rows; the function adds some."""
    if not sys.stderr.isatty():  # nor is rich worth its import
        yield lambda rows: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.completed:,} rows"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task(text, total=None)
        yield lambda rows: progress.advance(task, rows)
