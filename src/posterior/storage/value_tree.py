"""A model as a tree that JSON can hold, with its arrays beside it.

JSON's own values stand for themselves. Everything else is an object of one entry, whose name says
what it is: {"tuple": [...]}, {"array": 3}, {"class": ["families.Laplace", {"alpha": 1.0}]}.
"""

from __future__ import annotations

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
from posterior.storage.building import built, check_names
from posterior.storage.codecs import BY_TAG, codec_of
from posterior.storage.model_file_error import ModelFileError, expect
from posterior.storage.registry import classes, names

DEEPEST = 100
LARGEST = 1 << 63  # whole numbers from here on are written in hexadecimal digits
CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}


class Writer:
    """Tells values as nodes of a tree, and gathers their arrays, each once."""

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
        if kind in names():
            state = {n: self.node(v, _joined(path, n), inner) for n, v in state_of(value).items()}
            return {"class": [names()[kind], state]}
        if codec := codec_of(value):
            try:
                told = codec.tell(value)
            except TypeError as error:
                raise _refused(path, str(error)) from None
            return {codec.tag: self.node(told, path, inner)}
        raise _refused(path, f"{kind.__name__}, {'a function' if callable(value) else 'an object'}")

    def _array(self, array: Array, path: str, depth: int) -> int:
        if id(array) in self._places:
            return self._places[id(array)][0]
        if array.dtype == object:
            cells = [self.node(cell, path, depth) for cell in array.reshape(-1).tolist()]
            note: dict[str, Any] = {"shape": list(array.shape), "cells": cells}
        else:
            told = to_tensor(array)
            if told is None:
                raise _refused(path, f"an array of {array.dtype}")
            note, tensor = told
            note["tensor"] = str(len(self.tensors))
            self.tensors[note["tensor"]] = tensor
        self.arrays.append(note)
        self._places[id(array)] = len(self.arrays) - 1, array
        return len(self.arrays) - 1


class Reader:
    """Makes values of nodes; whatever a file says, only values of known classes come of it."""

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
        ((tag, told),) = node.items()
        if tag == "int":
            return int(told, 16)
        if tag == "float":
            return float(told)
        if tag in CONTAINERS:
            return CONTAINERS[tag](self._items(told, inner))
        if tag == "dict":
            pairs = self._items(told, inner)
            expect(all(isinstance(p, list) and len(p) == 2 for p in pairs), "pairs")
            return dict(pairs)
        if tag == "array":
            return self._array(told, inner)
        if tag == "scalar":
            scalar = self._array(told, inner)
            expect(scalar.ndim == 0 and scalar.dtype != object, "one number")
            return scalar[()]
        if tag == "class":
            name, state = told
            expect(isinstance(name, str) and name in classes(), "a class of this package")
            expect(isinstance(state, dict), "fields of a class")
            return built(classes()[name], {n: self.value(v, inner) for n, v in state.items()})
        expect(tag in BY_TAG, "a kind of value that this version knows")
        return BY_TAG[tag].make(self.value(told, inner))

    def _items(self, told: Any, depth: int) -> list[Any]:
        expect(isinstance(told, list), "a list of values")
        return [self.value(item, depth) for item in told]

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
    return isinstance(value, BaseEstimator) and type(value) in names()


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _refused(path: str, what: str) -> TypeError:
    return TypeError(
        f"Expected numbers, strings and values of this package to save, got {what}, in "
        f"{path or 'the model'}. A model file holds no code: set {path.split('.')[0] or 'it'} to a "
        "value or a name that the model knows, or to None if the fitted model no longer needs it."
    )
