"""The module as text: what the model knows, and the parts of the runtime that it needs."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior.data.names import feature_names, plain
from posterior.data.typing import Array
from posterior.estimators import TextClassifier
from posterior.estimators.pool import Pool
from posterior.generative.evidence_terms import TOGETHER
from posterior.javascript import (  # noqa: F401
    cell_tables,
    dependent_columns,
    joint_models,
    linear_models,
    mixed_classes,
    neighbor_votes,
    normal_classes,
    pools,
    table_models,
    word_counts,
)
from posterior.javascript.descriptions import described
from posterior.javascript.sheet import NUMBERS, WORDS, Described, Sheet
from posterior.preprocessing import text_cells
from posterior.readers.documents import Documents

Form = Literal["module", "object"]
FIRST, LAST = ("cells", "scores"), ("answers",)
PARTS = {  # of the runtime, in their order, by what they are needed for
    "calibrators": ("temperature", "beta", "quadratic", "vector", "matrix", "isotonic"),
    "written_numbers": ("written",),
    "dates": ("form", "month", "weekday", "hour"),
    "log_gamma": ("rising", "urn"),
    "formulas": ("formulas",),
    "urns": ("urn",),
    "linear": ("linear",),
    "whitening": ("normal", "euclidean"),
    "normal": ("normal",),
    "eigenvectors": ("covariance",),
    "tables": ("tables",),
    "networks": ("network", "averaged"),
    "whole_rows": ("whole_row",),
    "words": ("words",),
    "mixtures": ("mixture",),
    "neighbors": ("neighbors",),
    "pools": ("pool", "column"),
    "single_columns": ("column",),
}
BYTES = {"u1": ("u8", "<u1"), "u2": ("u16", "<u2")}  # of small counts; others are doubles
READ = ("cells", "vectors", "models", "model")  # parts of a description that say what is needed
EXPORTED = "classes, columns, scores, predict, explain, additive"


def written(model: Any, form: Form) -> str:
    """The text of a module, or of an expression whose value is an object of the same names."""
    if form not in ("module", "object"):
        raise ValueError(f"Expected form to be 'module' or 'object', got {form!r}.")
    check_is_fitted(model)
    found = description(model)
    needed = {word for part in READ for word in _words(found[part])}
    chosen = [name for name, kinds in PARTS.items() if needed.intersection(kinds)]
    parts = [_runtime(name) for name in (*FIRST, *chosen, *LAST)]
    told = f"const description = unpacked({_json(found)});\n"
    body = "\n".join([_runtime("unpacking"), told, *parts])
    if form == "module":
        return f"{body}\nexport {{ {EXPORTED} }};\n"
    return f"(() => {{\n{body}\nreturn {{ {EXPORTED} }};\n}})()"


def description(model: Any) -> Described:
    """Classes, columns, cells and the model itself."""
    sheet = Sheet()
    columns = [sheet.column(name) for name in _names(model)]
    found = described(model, columns)
    marks = {WORDS: sorted(text_cells.WORDS), NUMBERS: sorted(text_cells.MARKS)}
    used = {cell.get("marks") for cell in sheet.cells.values}
    return {
        "classes": [plain(c) for c in found["classes"]],
        "columns": sheet.columns,
        "cells": sheet.cells.values,
        "vectors": sheet.vectors.values,
        "lists": sheet.lists.values,
        "names": sheet.names.values,
        "together": TOGETHER,
        "marks": {kind: words for kind, words in marks.items() if kind in used},
        "models": sheet.models,
        "model": found,
    }


def _names(model: Any) -> list[str]:
    """What the columns are called; those of an array by their places, documents "text"."""
    first = model.fitted_.members[0] if isinstance(model, Pool) else model
    if isinstance(first, TextClassifier):
        reader = first.settled().reader
        assert isinstance(reader, Documents)
        return ["text" if reader.column is None else str(reader.column)]
    if not hasattr(model, "n_features_in_"):
        described(model, [])  # not a model of columns, and says so
    names = feature_names(model)
    return [str(name) for name in (range(int(model.n_features_in_)) if names is None else names)]


def _words(value: Any) -> Iterator[str]:
    """Kinds, fields and signs that a description mentions."""
    if isinstance(value, Mapping):
        yield from value
        yield value.get("kind", "")
        for name, each in value.items():
            yield from _words(each) if name != "classes" else ()
    elif isinstance(value, list):
        for each in value:
            yield from (each,) if isinstance(each, str) else _words(each)


def _runtime(name: str) -> str:
    return files("posterior.javascript").joinpath("runtime", f"{name}.js").read_text("utf-8")


def _json(found: Described) -> str:
    """As JavaScript reads it; in ASCII, and without a sign that would end a script in a page."""
    text = json.dumps(_plain(found), separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c")


def _packed(values: Array) -> Any:
    """A list of numbers, or their bytes, whichever is shorter; both are exact."""
    listed = _plain(values.tolist())
    name, form = BYTES.get(values.dtype.str[1:], ("f64", "<f8"))
    coded = b64encode(np.asarray(values, form).tobytes()).decode("ascii")
    return listed if len(json.dumps(listed)) <= len(coded) + 12 else {name: coded}


def _plain(value: Any) -> Any:
    """Lists and whole numbers, as short as they can be written."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, np.ndarray):
        return _packed(value) if value.ndim == 1 else [_plain(each) for each in value]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    value = plain(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value) if value or np.signbit(value) == 0 else -0.0
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
