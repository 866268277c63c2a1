"""One file of tensors and a head of JSON in the safetensors format, written whole or not at all."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as serialized

from posterior.data.typing import Array
from posterior.storage.model_file_error import ModelFileError

Head = dict[str, Any]  # what JSON holds
HEAD, CHECKSUM = "posterior", "sha256"  # one entry: those of the format come in no order


def write(path: Path, tensors: Mapping[str, Array], head: Head) -> None:
    """Write a file beside its place and move it there: at any moment the old or the new one.

    Owner and mode of the old one stay.
    """
    whole = {**head, CHECKSUM: checksum(tensors, head)}
    content = serialized(dict(tensors), {HEAD: json.dumps(whole)})
    beside = path.with_name(f".{path.name}.{token_hex(8)}")
    try:
        with _created(beside, path) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _created(beside: Path, path: Path) -> BinaryIO:
    """A new file that nobody may read who may not read the one at `path`, at any moment.

    Of a first file, the umask sets the permissions.
    """
    try:
        like = os.stat(path)
    except FileNotFoundError:
        return open(beside, "xb")
    file = open(beside, "xb", opener=lambda name, flags: os.open(name, flags, 0o600))
    if sys.platform != "win32":
        try:
            _keep(file.fileno(), like)
        except BaseException:
            file.close()
            raise
    return file


if sys.platform != "win32":

    def _keep(handle: int, like: os.stat_result) -> None:
        """Give a file another's owner, group and mode, as far as this user may."""
        mode = stat.S_IMODE(like.st_mode) & 0o777
        try:
            os.fchown(handle, like.st_uid, like.st_gid)
        except PermissionError:  # another's file: it becomes this user's
            try:
                os.fchown(handle, -1, like.st_gid)
            except PermissionError:
                mode &= ~0o070  # what its group might do is not for this one
        os.fchmod(handle, mode)


def read(path: Path) -> tuple[dict[str, Array], Head]:
    """All tensors and the head, if none of it has changed since it was written."""
    with _opened(path) as file:
        head = _head(file, path)
        try:
            tensors = {name: np.array(file.get_tensor(name)) for name in file.keys()}
        except (KeyError, TypeError, ValueError) as error:  # a type that NumPy does not have
            raise _damaged(path) from error
    if head.pop(CHECKSUM, None) != checksum(tensors, head):
        raise _damaged(path)
    return tensors, head


def read_head(path: Path) -> tuple[Head, int]:
    """The head, and how many tensors there are, without reading them."""
    with _opened(path) as file:
        return _head(file, path), len(file.keys())


def checksum(tensors: Mapping[str, Array], head: Head) -> str:
    """SHA-256 of the head, and of name, type, shape and bytes of each tensor."""
    whole = sha256(json.dumps(head, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = np.ascontiguousarray(tensors[name])
        like = [name, tensor.dtype.str, list(tensors[name].shape)]
        whole.update(json.dumps(like).encode())
        whole.update(tensor.reshape(-1).view(np.uint8).data)
    return whole.hexdigest()


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ModelFileError(f"Expected a model file, got {str(path)!r}, which is no plain file.")
    try:
        opened = safe_open(path, framework="numpy")
    except SafetensorError as error:  # sizes are compared with the file's before memory is taken
        raise ModelFileError(
            f"Expected a model file, but {str(path)!r} is something else, or its end is missing: "
            f"{error}. Save the model again with posterior.save."
        ) from None
    with opened as file:
        yield file


def _head(file: Any, path: Path) -> Head:
    try:
        head = json.loads((file.metadata() or {})[HEAD])
    except (KeyError, ValueError, RecursionError):
        head = None
    if not isinstance(head, dict):
        raise ModelFileError(
            f"Expected a model file, but {str(path)!r} holds other tensors. Models are written by "
            "posterior.save."
        )
    return head


def _damaged(path: Path) -> ModelFileError:
    return ModelFileError(
        f"Expected the model as it was saved, but {str(path)!r} has changed since: its checksum "
        "does not fit. Save the model again with posterior.save."
    )


def _sync_folder(folder: Path) -> None:
    """Make the new name last; where folders cannot be synced, the system does it in its time."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
