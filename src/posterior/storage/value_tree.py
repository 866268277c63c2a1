"""Models as trees that JSON can hold, with their arrays beside them.

JSON's own values stand for themselves. Everything else is an object of one entry, whose name says
what it is: {"tuple": [...]}, {"array": 3}, {"class": ["families.Laplace", {"alpha": 1.0}]}.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from posterior.data.shapes import fields_of
from posterior.data.typing import Array
from posterior.storage.arrays import check_empty, from_tensor, to_tensor
from posterior.storage.checks import check
from posterior.storage.codecs import BY_TAG, codec_of
from posterior.storage.model_file_error import ModelFileError, expect
from posterior.storage.registry import class_named, name_of, parameters

DEEPEST = 100
LARGEST = 1 << 63  # whole numbers from here on are written in hexadecimal digits
CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}


class Writer:
    """Encodes values as nodes of a tree, and gathers their arrays, each once."""

    def __init__(self) -> None:
        self.tensors: dict[str, Array] = {}
        self.arrays: list[dict[str, Any]] = []
        self._places: dict[int, tuple[int, Array]] = {}  # the array is kept, so that its id is

    def node(self, value: Any, path: str = "", depth: int = 0) -> Any:
        """The node of a value; `path` says to people where it stands."""
        if depth > DEEPEST:
            raise ValueError(f"Expected values nested at most {DEEPEST} deep, got more in {path}.")
        kind, inner = type(value), depth + 1
        if value is None or kind in (bool, str):
            return value
        if kind is int:
            return value if abs(value) < LARGEST else {"int": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if kind is list:
            return [self.node(v, f"{path}[{i}]", inner) for i, v in enumerate(value)]
        if kind is dict:
            pairs = [
                [self.node(k, f"{path}[{k!r}]", inner), self.node(v, f"{path}[{k!r}]", inner)]
                for k, v in value.items()
            ]
            return {"dict": pairs}
        if kind is tuple:
            return {"tuple": self.node(list(value), path, inner)}
        if kind in (set, frozenset):
            nodes = [self.node(v, path, inner) for v in value]
            return {kind.__name__: sorted(nodes, key=json.dumps)}
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value), path, inner)}
        if kind in (np.ndarray, np.memmap):
            return {"array": self._array(value, path, inner)}
        if name := name_of(kind):
            state = {n: self.node(v, _joined(path, n), inner) for n, v in state_of(value).items()}
            return {"class": [name, state]}
        if codec := codec_of(value):
            try:
                encoded = codec.encode(value)
            except TypeError as error:
                raise _refused(path, str(error)) from None
            return {codec.tag: self.node(encoded, path, inner)}
        raise _refused(path, f"{kind.__name__}, {'a function' if callable(value) else 'an object'}")

    def _array(self, array: Array, path: str, depth: int) -> int:
        if id(array) in self._places:
            return self._places[id(array)][0]
        if array.dtype == object:
            cells = [self.node(cell, path, depth) for cell in array.reshape(-1).tolist()]
            note: dict[str, Any] = {"shape": list(array.shape), "cells": cells}
        else:
            encoded = to_tensor(array)
            if encoded is None:
                raise _refused(path, f"an array of {array.dtype}")
            note, tensor = encoded
            note["tensor"] = str(len(self.tensors))
            self.tensors[note["tensor"]] = tensor
        self.arrays.append(note)
        self._places[id(array)] = len(self.arrays) - 1, array
        return len(self.arrays) - 1


class Reader:
    """Decodes nodes into values; whatever a file says, only values of known classes come of it."""

    def __init__(self, tensors: Mapping[str, Array], notes: Any) -> None:
        expect(isinstance(notes, list), "a list of arrays")
        self._tensors, self._notes = tensors, notes
        self._arrays: dict[int, Array] = {}

    def value(self, node: Any, depth: int = 0) -> Any:
        """The value of a node."""
        if depth > DEEPEST:
            raise ModelFileError(f"Expected values nested at most {DEEPEST} deep, got more.")
        inner = depth + 1
        if isinstance(node, list):
            return [self.value(item, inner) for item in node]
        if not isinstance(node, dict):
            return node
        expect(len(node) == 1, "one entry, which says what a value is")
        ((tag, stored),) = node.items()
        if tag == "int":
            return int(stored, 16)
        if tag == "float":
            return float(stored)
        if tag in CONTAINERS:
            return CONTAINERS[tag](self._items(stored, inner))
        if tag == "dict":
            pairs = self._items(stored, inner)
            expect(all(isinstance(p, list) and len(p) == 2 for p in pairs), "pairs")
            return dict(pairs)
        if tag == "array":
            return self._array(stored, inner)
        if tag == "scalar":
            scalar = self._array(stored, inner)
            expect(scalar.ndim == 0 and scalar.dtype != object, "one number")
            return scalar[()]
        if tag == "class":
            name, state = stored
            kind = class_named(name) if isinstance(name, str) else None
            expect(isinstance(state, dict), "fields of a class")
            if kind is None:
                raise ModelFileError("Expected a class of this package, got something else.")
            return built(kind, {n: self.value(v, inner) for n, v in state.items()})
        expect(tag in BY_TAG, "a kind of value that this version knows")
        return BY_TAG[tag].decode(self.value(stored, inner))

    def _items(self, stored: Any, depth: int) -> list[Any]:
        expect(isinstance(stored, list), "a list of values")
        return [self.value(item, depth) for item in stored]

    def _array(self, place: Any, depth: int) -> Array:
        expect(type(place) is int and 0 <= place < len(self._notes), "the number of an array")
        if place not in self._arrays:
            note = self._notes[place]
            expect(isinstance(note, dict), "what an array is like")
            if "cells" in note:
                cells, shape = self._items(note["cells"], depth), note.get("shape")
                expect(isinstance(shape, list), "the shape of an array")
                expect(all(type(n) is int and n >= 0 for n in shape), "the shape of an array")
                expect(math.prod(shape) == len(cells), "as many cells as the shape has")
                check_empty(shape)
                array = np.empty(len(cells), object)
                array[:] = cells
                self._arrays[place] = array.reshape(shape)
            else:
                expect(note.get("tensor") in self._tensors, "the name of a tensor")
                self._arrays[place] = from_tensor(note, self._tensors[note["tensor"]])
        return self._arrays[place]


def state_of(value: Any) -> dict[str, Any]:
    """What is stored of an object of this package."""
    if is_dataclass(value):
        made = {f.name for f in fields(value) if f.init}
        return {name: part for name, part in fields_of(value).items() if name in made}
    state: dict[str, Any] = value.__getstate__()
    check_names(type(value), state)
    return state


def is_model(value: Any) -> bool:
    return isinstance(value, BaseEstimator) and name_of(type(value)) is not None


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _refused(path: str, what: str) -> TypeError:
    return TypeError(
        f"Expected numbers, strings and values of this package to save, got {what}, in "
        f"{path or 'the model'}. A model file holds no code: set {path.split('.')[0] or 'it'} to a "
        "value or a name that the model knows, or to None if the fitted model no longer needs it."
    )


def built(kind: type[Any], state: dict[str, Any]) -> Any:
    """An object of a known class."""
    if is_dataclass(kind):
        names = {f.name for f in fields(kind) if f.init}
        unknown = [name for name in state if name not in names]
        if unknown:
            raise ModelFileError(f"Expected fields of {kind.__name__}, got {unknown[0]!r:.60}.")
        value: Any = kind(**state)
    else:
        younger = {n: v for n, v in parameters(kind).items() if n not in state}
        if inspect.Parameter.empty in younger.values():
            raise ModelFileError(f"Expected all parameters of {kind.__name__}, got some.")
        state |= younger
        if "fitted_" not in state and state.keys() - parameters(kind):
            from posterior.storage.earlier import upgraded

            state = upgraded(kind, state)
        check_names(kind, state)
        value = object.__new__(kind)
        if issubclass(kind, BaseEstimator):
            value.__setstate__(state)
        else:
            value.__dict__.update(state)
        value.__dict__ = dict(value.__getstate__())  # what is never stored cannot come from a file
        if isinstance(value, BaseEstimator):
            value._validate_params()  # as `fit` would have
    with np.errstate(all="ignore"):  # of numbers that no fit would give
        check(value)
    return value


def check_names(kind: type, state: dict[str, Any]) -> None:
    """Attributes are values: none may stand in the place of a method.

    Those of an estimator are parameters, or learned, which end in an underscore.
    """
    known = parameters(kind)
    for name in state:
        own = inspect.getattr_static(kind, name, None)
        value = name.isidentifier() and not (inspect.isroutine(own) or isinstance(own, property))
        if issubclass(kind, BaseEstimator):
            value = value and (name in known or name.endswith("_") or name.startswith("_"))
        if not value or name.startswith("__"):
            raise ModelFileError(
                f"Expected parameters and learned values of {kind.__name__}, got an attribute "
                f"{name!r:.60}, which is neither. Delete it."
            )
