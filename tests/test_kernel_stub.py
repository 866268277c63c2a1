"""`_compiled.pyi` says what the compiled module has; `make stubs` writes it anew."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from posterior import kernels

compiled = pytest.importorskip("posterior.kernels._compiled")
pytestmark = pytest.mark.once

STUB = (Path(kernels.__file__).parent / "_compiled.pyi").read_text()


def plain(annotation: ast.expr | None) -> str:
    """A type without the notes on memory, which versions of nanobind may write otherwise."""

    class Bare(ast.NodeTransformer):
        def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
            self.generic_visit(node)
            noted = isinstance(node.value, ast.Name) and node.value.id == "Annotated"
            return node.slice.elts[0] if noted else node  # type: ignore[attr-defined]

    return "" if annotation is None else ast.unparse(Bare().visit(annotation))


def signatures(stub: str) -> dict[str, list[Any]]:
    """Functions and methods by name: arguments and results of each overload."""
    found: dict[str, list[Any]] = {}
    tree = ast.parse(stub)
    places = [("", tree), *((f"{c.name}.", c) for c in tree.body if isinstance(c, ast.ClassDef))]
    for prefix, place in places:
        for f in place.body:
            if isinstance(f, ast.FunctionDef):
                arguments = [(a.arg, plain(a.annotation)) for a in f.args.args]
                found.setdefault(prefix + f.name, []).append((arguments, plain(f.returns)))
    return found


def test_the_stub_names_what_the_compiled_module_has():
    written = {name.partition(".")[0] for name in signatures(STUB)}
    found = {name for name, value in vars(compiled).items() if callable(value)}
    assert written == {name for name in found if not name.startswith("_")}


def test_the_stub_is_what_nanobind_writes():
    stubgen = pytest.importorskip("nanobind.stubgen")
    written = stubgen.StubGen(compiled)
    written.put(compiled)
    assert signatures(STUB) == signatures(written.get()), "run make stubs"
