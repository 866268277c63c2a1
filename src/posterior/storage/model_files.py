"""Saving and loading models."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from posterior.storage import container
from posterior.storage.locks import locked
from posterior.storage.model_file_error import ModelFileError

SCHEMA = 1
TREE = "model"  # the tensor that holds the tree, as JSON
FilePath: TypeAlias = str | os.PathLike[str]

# How a tree of version v becomes one of version v + 1: every file ever written can be read.
UPGRADES: dict[int, Callable[[Any], Any]] = {}


def save(model: Any, path: FilePath) -> None:
    """Write a model, fitted or not, to a file; usually its name ends in .posterior.

    The file has no code, and all that the model needs to go on learning. It is written whole or
    not at all: a failure leaves what was there before. A file that is replaced keeps its owner and
    permissions. To read a model, change it and save it while others may do the same, do so under
    `posterior.storage.locked`.

    Parameters
    ----------
    model : estimator of this package
    path : str or path

    Examples
    --------
    >>> import tempfile, posterior
    >>> model = posterior.GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     posterior.save(model, f"{folder}/fish.posterior")
    ...     posterior.load(f"{folder}/fish.posterior").predict([[4.5]])
    array([1])
    """
    from posterior.storage.summary import summary
    from posterior.storage.value_tree import Reader, Writer, is_model

    if not is_model(model):
        raise TypeError(
            f"Expected a model of this package to save, got {type(model).__name__}. Save the "
            "models that it is made of, each to its own file."
        )
    writer = Writer()
    tree = {"model": writer.node(model), "arrays": writer.arrays}
    try:
        Reader(writer.tensors, writer.arrays).value(tree["model"])
    except Exception as error:  # better now than when the file is all that is left
        raise ValueError(
            f"Expected a model as it was learned, to save, but somebody changed it: {error}"
        ) from error
    head = {"schema": SCHEMA, "version": _version(), "summary": summary(model)}
    content = np.frombuffer(json.dumps(tree, separators=(",", ":")).encode(), np.uint8)
    with locked(path):
        container.write(Path(path).resolve(), {**writer.tensors, TREE: content}, head)


def load(path: FilePath) -> Any:
    """Read a model that `save` wrote: it answers to the last bit as before, and goes on learning.

    Nothing in the file is run or imported. A file that is no model, was damaged or changed, or
    comes from a newer version is refused with a `ModelFileError`.
    """
    from sklearn.base import BaseEstimator

    from posterior.storage.value_tree import Reader

    place = Path(path)
    _check_version(container.read_head(place)[0], place)
    tensors, head = container.read(place)
    try:
        tree = json.loads(tensors[TREE].tobytes().decode("ascii"))
        for schema in range(_check_version(head, place), SCHEMA):
            tree = UPGRADES[schema](tree)
        model = Reader(tensors, tree["arrays"]).value(tree["model"])
    except MemoryError:
        raise
    except Exception as error:  # whatever a damaged tree does to the reader
        raise ModelFileError(
            f"Expected a model in {str(place)!r}, but it cannot be read: {error}"
        ) from error
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(f"Expected a model in {str(place)!r}, got {type(model).__name__}.")
    return model


def inspect(path: FilePath, *, verify: bool = False) -> dict[str, Any]:
    """What is in a model file, by its head alone: no model is built.

    To `verify` reads all of the file, and refuses one whose checksum does not fit.
    """
    place = Path(path)
    head, n_tensors = container.read_head(place)
    if verify:
        container.read(place)
    schema, found = _check_version(head, place), head.get("summary")
    if not isinstance(found, dict):
        raise ModelFileError(f"Expected a model file, but {str(place)!r} has no summary of one.")
    return {
        **found,
        "version": head.get("version"),
        "schema": schema,
        "sha256": head.get(container.CHECKSUM),
        "bytes": place.stat().st_size,
        "arrays": n_tensors - 1,
    }


def _check_version(head: container.Head, path: Path) -> int:
    """The version of the tree, if it is one that can be read."""
    schema = head.get("schema")
    if type(schema) is not int or schema < 1:
        raise ModelFileError(f"Expected a model file, but {str(path)!r} has no version of one.")
    if schema > SCHEMA:
        raise ModelFileError(
            f"Expected a model file of version {SCHEMA} or before, but {str(path)!r} was written "
            f"by a newer posterior ({head.get('version')!s:.60}): upgrade this one ({_version()})."
        )
    return schema


def _version() -> str:
    try:
        return version("posterior")
    except PackageNotFoundError:  # read from a source tree that was never installed
        return "0+unknown"
