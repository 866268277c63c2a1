"""What users may rely on, one line each, as the package of today has it.

    python tests/promises.py        # after an addition: records it in tests/promised.txt

What goes stands in docs/stability.md first, under "Going, and gone": nothing else is taken off.

A line is a name and what belongs to it: parameters, in their order, `=` where one may be left out;
options of a command; keys of an answer.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import posterior

RECORDED = Path(__file__).with_name("promised.txt")
STABILITY = Path(__file__).resolve().parents[1] / "docs" / "stability.md"
MODULES = ("posterior.datasets", "posterior.explain")  # that are no packages
PRIVATE = ("posterior.kernels",)  # loops that the package calls; their NumPy twins are free to go


def promises() -> dict[str, list[str]]:
    return dict([*_python(), *_commands(), *_routes(), *_report()])


def read(file: Path = RECORDED) -> dict[str, list[str]]:
    lines = [line.split() for line in file.read_text("utf-8").splitlines()]
    return {name: parts for name, *parts in lines}


def written(found: dict[str, list[str]]) -> str:
    return "".join(f"{' '.join([name, *parts])}\n" for name, parts in sorted(found.items()))


def broken(promised: dict[str, list[str]], found: dict[str, list[str]]) -> list[str]:
    """What a user of before would miss: names, parts of them, their order, what may be left out."""
    gone = [name for name in promised if name not in found]
    for name, parts in promised.items():
        now = found.get(name, parts)
        names, today = [p.rstrip("=") for p in parts], [p.rstrip("=") for p in now]
        gone += [f"{name} {part}" for part in names if part not in today]
        kept = [part for part in today if part in names]
        if name.startswith("posterior.") and kept != [part for part in names if part in today]:
            gone.append(f"{name}: the order of {', '.join(names)}")
        needed = {p for p in now if not p.endswith("=")} - set(parts)
        if name.startswith("posterior."):
            gone += [f"{name}: {part} must be given" for part in sorted(needed)]
    return gone


def announced(page: Path = STABILITY) -> set[str]:
    """What the manual says is going, or gone: the code at the start of each row of its table."""
    section = page.read_text("utf-8").partition("## Going, and gone\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE))


def unannounced(promised: dict[str, list[str]], found: dict[str, list[str]]) -> list[str]:
    return [what for what in broken(promised, found) if what not in announced()]


def _python() -> Iterator[tuple[str, list[str]]]:
    """Names of `__all__`, parameters of functions and constructors, public methods."""
    found = pkgutil.walk_packages(posterior.__path__, "posterior.")
    named = (m.name for m in found if m.ispkg or m.name in MODULES)
    packages = ["posterior", *named]
    seen: set[Any] = set()
    for package in packages:
        if package.startswith(PRIVATE):
            continue
        module = importlib.import_module(package)
        public = [n for n, f in vars(module).items() if getattr(f, "__module__", "") == package]
        for name in getattr(module, "__all__", public if package in MODULES else []):
            thing, place = getattr(module, name), f"{package}.{name}"
            if not callable(thing) or thing in seen:
                yield place, []
                continue
            seen.add(thing)
            yield place, _parameters(thing)
            for method in _methods(thing) if inspect.isclass(thing) else []:
                yield f"{place}.{method}", _parameters(getattr(thing, method))


def _methods(thing: type) -> list[str]:
    members = (name for name in dir(thing) if not name.startswith("_"))
    return [name for name in members if _is_ours(inspect.getattr_static(thing, name))]


def _is_ours(member: Any) -> bool:
    """Not what scikit-learn or NumPy bring along, nor the default of a field."""
    function = getattr(member, "__func__", getattr(member, "fget", member))
    function = inspect.unwrap(function) if callable(function) else function
    return str(getattr(function, "__module__", "")).startswith("posterior")


def _parameters(thing: Any) -> list[str]:
    try:
        found = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):  # a property, or a class whose constructor is C
        return []
    many = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        p.name + ("" if p.default is p.empty and p.kind not in many else "=")
        for p in found
        if p.name not in ("self", "cls") and not p.name.startswith("_")
    ]


def _commands() -> Iterator[tuple[str, list[str]]]:
    """Commands of the command line: their arguments, and every spelling of their options."""
    import typer

    from posterior.app.cli.commands_app import app

    for name, command in sorted(typer.main.get_command(app).commands.items()):
        spelled = {o for p in command.params for o in [*p.opts, *p.secondary_opts]}
        yield f"command:{name}", sorted(spelled)


def _routes() -> Iterator[tuple[str, list[str]]]:
    """Routes of the HTTP API, and keys of what they take and give, however deep."""
    from posterior.app.server import create_app

    api = create_app().openapi()
    for path, methods in api["paths"].items():
        for method, route in methods.items():
            place = f"http:{method.upper()}:{path}"
            taken = route.get("requestBody", {}).get("content", {})
            parameters = {p["name"] for p in route.get("parameters", [])}
            yield f"{place}:takes", sorted(parameters | _keys(taken, api, set()))
            given = route["responses"].get("200", {}).get("content", {})
            yield f"{place}:gives", sorted(_keys(given, api, set()))


def _keys(schema: Any, api: dict[str, Any], met: set[str]) -> set[str]:
    """Names of all properties that a schema leads to."""
    if isinstance(schema, list):
        return set().union(*(_keys(part, api, met) for part in schema))
    if not isinstance(schema, dict):
        return set()
    found = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
    if isinstance(link := schema.get("$ref"), str) and link not in met:
        met.add(link)
        found |= _keys(api["components"]["schemas"][link.rpartition("/")[2]], api, met)
    return found.union(*(_keys(part, api, met) for part in schema.values()))


def _report() -> Iterator[tuple[str, list[str]]]:
    """Keys of report.json, of its tables one level down, and of model_card.json and drift.json."""
    from posterior.app.report.drift_schema import DriftFacts
    from posterior.app.report.report_schema import (
        CandidateFacts,
        Choice,
        Data,
        Decisions,
        Facts,
        ModelCard,
        Predictions,
    )

    parts = (Facts, Data, CandidateFacts, Choice, Decisions, Predictions, ModelCard, DriftFacts)
    for kind in parts:
        yield f"json:{kind.__name__}", [field.name for field in fields(kind)]


if __name__ == "__main__":
    today = promises()
    if RECORDED.exists() and (missed := unannounced(read(), today)):
        sys.exit("\n".join(["Users would miss, and docs/stability.md does not say so:", *missed]))
    RECORDED.write_text(written(today), "utf-8")
