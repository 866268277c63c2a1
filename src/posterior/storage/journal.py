"""What a fit has summed so far, in a file: arrays and a JSON tree, as of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from posterior.engines.journaled import Known
from posterior.storage import container
from posterior.storage.model_file_error import ModelFileError
from posterior.storage.model_files import _version as version
from posterior.storage.value_tree import Reader, Writer

SCHEMA = 1
TREE = "known"  # the tensor that holds the tree
BESIDE = ".{}." + "[0-9a-f]" * 16  # what a killed process leaves of a file half written


class CheckpointError(ValueError):
    """A checkpoint that is none, was damaged, or belongs to another fit."""


class JournalFile:
    """The checkpoint of one fit, known by what distinguishes it from others."""

    def __init__(self, path: Path, fit: Mapping[str, Any]) -> None:
        self._path = path.resolve()
        self._fit = json.loads(json.dumps(fit))
        if not self._path.parent.is_dir():
            raise FileNotFoundError(
                f"Expected a folder for the checkpoint, got {str(self._path.parent)!r}, which does "
                "not exist. Make it."
            )

    def read(self) -> Known:
        """What the fit had summed when it was killed; nothing if there is no file."""
        if not self._path.exists():
            return Known([])
        try:
            tensors, head = container.read(self._path)
            if head.get("journal") != SCHEMA:
                raise ModelFileError("it is of another kind or version")
            self._check_fit(head.get("fit"))
            tree = json.loads(tensors[TREE].tobytes().decode("ascii"))
            known = Reader(tensors, tree["arrays"]).value(tree["known"])
        except (CheckpointError, OSError, MemoryError):
            raise
        except Exception as error:  # whatever a strange tree does to the reader
            raise CheckpointError(
                f"Expected the checkpoint of a fit, but {str(self._path)!r} is something else, or "
                "damaged. Delete it, or name another file."
            ) from error
        return Known(*known)

    def write(self, known: Known) -> None:
        """Write what is known: at any moment the file is the old or the new one."""
        writer = Writer()
        node = writer.node([known.sums, known.running, known.batches])
        tree = json.dumps({"known": node, "arrays": writer.arrays}, separators=(",", ":"))
        tensors = {**writer.tensors, TREE: np.frombuffer(tree.encode(), np.uint8)}
        container.write(self._path, tensors, {"journal": SCHEMA, "fit": self._fit})

    def remove(self) -> None:
        """The fit is done."""
        self._path.unlink(missing_ok=True)
        for left in self._path.parent.glob(BESIDE.format(self._path.name)):
            left.unlink(missing_ok=True)

    def _check_fit(self, other: Any) -> None:
        if other == self._fit:
            return
        theirs = other if isinstance(other, dict) else {}
        name = next(n for n in {**self._fit, **theirs} if theirs.get(n) != self._fit.get(n))
        raise CheckpointError(
            f"Expected the checkpoint of this fit, but {str(self._path)!r} is of another one: "
            f"{name} was {theirs.get(name)!r:.100}, and is {self._fit.get(name)!r:.100}. "
            "Delete it, or name another file."
        )


def fit_of(model: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """What distinguishes a fit from others: the model, its parameters, and what was asked."""
    state = (
        vars(model)
        if model.get_params(deep=False).get("warm_start")
        else model.get_params(deep=False)
    )
    facts = {name: _compared(value) for name, value in {**state, **given}.items()}
    return {"model": type(model).__name__, "version": version(), **facts}


def _compared(value: Any) -> str:
    """A value for comparison: its node, and of arrays a checksum."""
    writer = Writer()
    try:
        node = json.dumps(writer.node(value))
    except TypeError:  # a function, or another value that is not stored
        return f"{type(value).__name__} {getattr(value, '__qualname__', '')}"
    if not writer.tensors:
        return node
    return container.checksum(writer.tensors, {"node": node, "arrays": writer.arrays})
