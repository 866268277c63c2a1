"""Model files that somebody changed with care: each is refused, or gives a model that can be asked.

Checksums fit. What changes are numbers, words, classes, shapes and arrays, within a file and
between files.
"""

from __future__ import annotations

import copy
import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
from models import Saved, saved

import posterior
from posterior.storage import ModelFileError, container
from posterior.storage.registry import classes

NUMBERS = [0, -1, 1, 2, 3, 7, 64, 1000, 2**31 - 1, 2**31, 2**40, 2**62, -(2**63), 0.5, 1e-300]
NUMBERS += [-1.5, 1e300, {"float": "nan"}, {"float": "inf"}, {"float": "-inf"}]
STRANGE = [None, True, False, "", "x", "nan", [], {}, {"tuple": []}, {"dict": []}, {"array": 0}]
STRANGE += [{"int": hex(2**70)}, {"scalar": 0}, {"set": []}, {"type": "object"}, {"dtype": "<f8"}]
CELLS = [0, -1, 1, 255, 2**31 - 1, -(2**31), 2**62, -(2**63), 0.5, 1e-320, 1e308, -1e308]
CELLS += [np.nan, np.inf, -np.inf]
DTYPES = ["f4", "f8", "i8", "i4", "u1", "b1", "f2", "u4"]
VERBS = ["predict", "predict_proba", "transform", "decision_function", "score_samples", "evidence"]
VERBS += ["log_evidence", "kneighbors", "explain", "forget", "decay", "sample"]
VERBS += ["parameters", "inverse_transform", "get_feature_names_out", "partial_fit", "predict"]

os.fsync = lambda handle: None  # none of these files must outlast the power


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the nodes of a tree are."""
    yield path
    if isinstance(tree, dict | list):
        for key, node in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from places(node, (*path, key))


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def pick(random: np.random.Generator, of: list[Any]) -> Any:
    return of[int(random.integers(len(of)))]


def change_number(tree: Any, random: np.random.Generator) -> None:
    """Another number in the place of one: a size, a setting, a limit."""
    numbers = [
        path
        for path in places(tree)
        if type(at(tree, path)) in (int, float) and path[-1] not in ("array", "scalar")
    ]
    *above, last = pick(random, numbers)
    at(tree, tuple(above))[last] = copy.deepcopy(pick(random, NUMBERS))


def change_tree(tree: Any, other: Any, random: np.random.Generator) -> None:
    """Replace a node by a strange one, or by one from elsewhere; delete, double or rename it."""
    found = list(places(tree))
    for _ in range(8):  # a number, word or class more often than a node of many
        *above, last = pick(random, found[1:])
        if not isinstance(at(tree, (*above, last)), dict | list):
            break
    parent, way = at(tree, tuple(above)), random.integers(10)
    if way < 4:
        parent[last] = copy.deepcopy(pick(random, NUMBERS))
    elif way == 4:
        parent[last] = copy.deepcopy(pick(random, STRANGE))
    elif way == 5:
        parent[last] = copy.deepcopy(at(tree, pick(random, found)))
    elif way == 6:
        parent[last] = copy.deepcopy(at(other, pick(random, list(places(other))[1:])))
    elif way == 7:
        del parent[last]
    elif way == 8 and isinstance(parent, list):
        parent.insert(last, copy.deepcopy(parent[last]))
    else:
        parent[last] = pick(random, sorted(classes()))


def change_cells(tensor: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Strange numbers in some cells, or in all."""
    tensor = tensor.copy()
    flat = tensor.reshape(-1)
    many = 1 if random.random() < 0.6 else len(flat)
    where = random.integers(0, len(flat), many)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flat[where] = np.array([pick(random, CELLS) for _ in where]).astype(tensor.dtype)
    return tensor


def change_shape(tensor: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Cut, doubled, turned, flat, empty, or of another type."""
    way = random.integers(6)
    if way == 0 and tensor.ndim:
        return tensor[: random.integers(len(tensor) + 1)]
    if way == 1:
        return tensor.T
    if way == 2:
        return np.concatenate([tensor.reshape(1, -1)] * 2)
    if way == 3:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tensor.astype(pick(random, DTYPES))
    if way == 4 and tensor.ndim:
        return np.concatenate([tensor] * int(random.integers(2, 5)))
    return tensor.reshape(-1) if random.random() < 0.7 else tensor.reshape(-1)[:0]


def changed(base: Saved, other: Saved, random: np.random.Generator) -> dict[str, np.ndarray]:
    """The tensors of a file after one change of a number, or one to three of anything."""
    tensors, tree = dict(base.tensors), base.tree
    names = [name for name in tensors if name != "model"]
    one = random.random() < 0.4
    if one:
        change_number(tree, random)
    for _ in range(0 if one else int(random.integers(1, 4))):
        way = random.integers(10)
        if way < 5 or not names:
            change_tree(tree, other.tree, random)
            continue
        name = pick(random, names)
        if way < 8 and tensors[name].size:
            tensors[name] = change_cells(tensors[name], random)
        elif way == 8:
            tensors[name] = change_shape(tensors[name], random)
        else:
            source = other.tensors if random.random() < 0.5 else base.tensors
            tensors[name] = source[pick(random, sorted(source))]
    tree_bytes = np.frombuffer(json.dumps(tree).encode(), np.uint8)
    whole = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    return {**whole, "model": tree_bytes}


def asked(model: Any, base: Saved) -> None:
    """Ask a model all that it answers; it may refuse."""
    for verb in VERBS:
        method = getattr(model, verb, None)
        if method is None:
            continue
        given = {
            "partial_fit": (base.table, base.labels),
            "forget": (base.table, base.labels),
            "decay": (0.5,),
            "sample": (3,),
            "parameters": (),
            "get_feature_names_out": (),
        }.get(verb, (base.table,))
        try:
            method(*given)
        except MemoryError:
            raise
        except Exception:
            continue


def case(seed: int) -> str:
    """One file: what came of it."""
    random = np.random.default_rng([1, seed])
    everyone = saved()
    base, other = (everyone[pick(random, sorted(everyone))] for _ in range(2))
    path = Path(gettempdir()) / f"fuzz-{os.getpid()}.posterior"
    container.write(path, changed(base, other, random), base.head)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = posterior.load(path)
        except ModelFileError:
            return "refused"
        finally:
            path.unlink()
        asked(model, base)
    return "used"
