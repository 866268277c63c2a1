"""Every command ends, or refuses in one sentence, whatever file it is given.

Commands come from the application itself, so that new ones join; arguments are filled in by name.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("duckdb")
pytest.importorskip("fastapi")

import typer
from typer.testing import CliRunner

from posterior.app.cli.commands_app import app
from posterior.sources.headers import distinct

pytestmark = pytest.mark.once

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
PATIENCE = 30  # seconds on a busy machine; most take none
SEED = 0


def arguments(name: str) -> list[str]:
    return [p.name for p in COMMANDS[name].params if p.param_type_name == "argument"]


def rows(n: int = 40) -> list[str]:
    random = np.random.default_rng(SEED)
    return [f"{x:.2f},{'uv'[i % 2]},{'ab'[i % 2]}" for i, x in enumerate(random.normal(size=n))]


def lines(path: Path, *text: str) -> None:
    path.write_text("\n".join(text) + "\n")


def unreadable(path: Path) -> None:
    """Nobody may read it; where all may read all, nobody can."""
    if os.geteuid():
        path.touch(mode=0)
    else:
        path.symlink_to("/proc/self/mem")


# What a path may lead to. The columns of tables are x, w and y, and y is to be predicted.
BAD: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "an empty file": Path.touch,
    "a blank line": lambda path: lines(path, ""),
    "a header": lambda path: lines(path, "x,w,y"),
    "one row": lambda path: lines(path, "x,w,y", "1.5,u,a"),
    "one column": lambda path: lines(path, "y", *("ab" * 20)),
    "one class": lambda path: lines(path, "x,w,y", *(row[:-1] + "a" for row in rows())),
    "no class": lambda path: lines(path, "x,w,y", *(row[:-1] for row in rows())),
    "a number to predict": lambda path: lines(
        path, "x,w,y", *(f"{row[:-1]}{i * 7919 % 10_007}" for i, row in enumerate(rows(5000)))
    ),
    "a name of each row to predict": lambda path: lines(
        path, "x,w,y", *(f"{row[:-1]}name{i}" for i, row in enumerate(rows(5000)))
    ),
    "no such target": lambda path: lines(path, "x,w,z", *rows()),
    "names that repeat": lambda path: lines(path, "x,x,y", *rows()),
    "rows of other lengths": lambda path: lines(path, "x,w,y", *rows(), "1,2,3,4,5", "1"),
    "a quote that never ends": lambda path: lines(path, "x,w,y", *rows(), '"1,u,a'),
    "random bytes": lambda path: path.write_bytes(np.random.default_rng(SEED).bytes(5000)),
    "zeros between": lambda path: path.write_bytes(b"x,w,y\n1,u\0,a\n2,v,\0b\n" * 9),
    "a megabyte in one line": lambda path: path.write_text("x,w,y" + "z" * 1_000_000),
    "a megabyte in one cell": lambda path: lines(path, "x,w,y", *rows(), f"1,{'z' * 1_000_000},a"),
    "a thousand columns": lambda path: lines(path, "x,w,y" + ",c" * 1000, "1,u,a" + "," * 1000),
    "a folder": Path.mkdir,
    "a file that cannot be read": unreadable,
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a good table."""
    folder = tmp_path_factory.mktemp("good")
    lines(folder / "good.csv", "x,w,y", *rows())
    made = folder / "good.posterior"
    run("fit", folder / "good.csv", "--target", "y", "--model", "naive-bayes", "--out", made)
    return made


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def filled(command: Any, data: Path, model: Path, out: Path) -> Iterator[object]:
    """The arguments and options that a command wants."""
    given = {"data": [data], "model": [model], "models": [model]}
    given["models_to_merge"] = [model, model]
    options = {"target": "y", "out": out, "row": 1, "k": 2}
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            assert parameter.name in given, f"{parameter.name}: say here what to give it"
            yield from given[parameter.name]
        elif parameter.required or parameter.name in ("out", "row", "k", "target"):
            yield from (parameter.opts[0], options[parameter.name])


def assert_ends(name: str, data: Path, model: Path, folder: Path) -> None:
    started = time.perf_counter()
    result = run(name, *filled(COMMANDS[name], data, model, folder / "out.csv"))
    assert time.perf_counter() - started < PATIENCE
    if result.exit_code == 0:
        return
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in (1, 2)
    said = result.stderr.splitlines()
    assert len(said) == 1 and said[0].startswith("posterior: "), result.stderr
    assert said[0].endswith(".") and "(--debug" not in said[0], said[0][-200:]
    assert len(said[0]) < 2000


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("name", [n for n in COMMANDS if "data" in arguments(n)])
def test_every_command_ends_or_refuses_a_table(
    name: str, kind: str, model: Path, tmp_path: Path
) -> None:
    BAD[kind](tmp_path / "bad.csv")
    assert_ends(name, tmp_path / "bad.csv", model, tmp_path)


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize(
    "name", [n for n in COMMANDS if {"model", "models", "models_to_merge"} & set(arguments(n))]
)
def test_every_command_refuses_what_is_no_model(
    name: str, kind: str, model: Path, tmp_path: Path
) -> None:
    BAD[kind](tmp_path / "bad.posterior")
    lines(tmp_path / "good.csv", "x,w,y", *rows())
    assert_ends(name, tmp_path / "good.csv", tmp_path / "bad.posterior", tmp_path)


def test_every_command_that_takes_a_table_or_a_model_is_tried() -> None:
    known = {"data", "model", "models", "models_to_merge"}
    assert [name for name in COMMANDS if not known & set(arguments(name))] == []


def test_equal_names_take_no_time() -> None:
    names = distinct(["c"] * 50_000)  # counting from 2 for each would take minutes
    assert len(set(names)) == 50_000 and names[:3] == ["c", "c (2)", "c (3)"]
    assert distinct(["c", "c (2)", "C", "c"]) == ["c", "c (2)", "C (3)", "c (4)"]
