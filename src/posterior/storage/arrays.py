"""NumPy arrays as tensors: numbers as they are, all else as the numbers that it is made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from posterior.data.typing import Array
from posterior.storage.model_file_error import ModelFileError

PLAIN = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8"}
NAME = re.compile(r"[<|][a-zA-Z][0-9]{0,9}(\[[0-9]{0,4}[A-Za-z]{1,2}\])?", re.ASCII)  # as "<M8[ns]"
LAST_LETTER = 0x10FFFF
MOST_EMPTY = 1 << 20  # lines that an array of no cells may claim


def to_tensor(array: Array) -> tuple[dict[str, Any], Array] | None:
    """How to read an array back, and the tensor that holds it; None if no numbers make it up.

    An array in Fortran's order is stored turned, since products may round by the order.
    """
    turned = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and _big_endian()):
        array = array.astype(array.dtype.newbyteorder("<"))
    stored: Array = np.ascontiguousarray(array.T if turned else array).reshape(
        array.shape[::-1] if turned else array.shape  # a single number keeps no axis
    )
    unit = _unit(array.dtype)
    if unit is None:
        return None
    note: dict[str, Any] = {"dtype": array.dtype.str}
    if turned:
        note["turned"] = True
    if unit != array.dtype:
        flat = stored.reshape(-1).view(unit)
        stored = flat.reshape(*stored.shape, array.dtype.itemsize // unit.itemsize)
    return note, stored


def from_tensor(note: dict[str, Any], tensor: Array) -> Array:
    """The array that a tensor holds."""
    dtype = read_dtype(note.get("dtype"))
    unit = _unit(dtype)
    if unit is None or tensor.dtype != unit:
        raise ModelFileError(f"Expected a tensor of {unit} for {dtype}, got {tensor.dtype}.")
    check_empty(tensor.shape)
    if unit != dtype:
        if tensor.ndim == 0 or tensor.shape[-1] * unit.itemsize != dtype.itemsize:
            raise ModelFileError(f"Expected cells of {dtype}, got the shape {tensor.shape}.")
        if dtype.kind == "U" and tensor.max(initial=0) > LAST_LETTER:
            raise ModelFileError("Expected letters of Unicode, got a number beyond them.")
        tensor = tensor.reshape(-1).view(dtype).reshape(tensor.shape[:-1])
    elif dtype.kind == "b" and tensor.view(np.uint8).max(initial=0) > 1:
        raise ModelFileError("Expected truth values, got a byte that is none.")
    return tensor.T if note.get("turned") is True else tensor


def check_empty(shape: Sequence[int]) -> None:
    """Refuse an array that has no cells and yet is very long."""
    if 0 in shape and max(shape) > MOST_EMPTY:
        raise ModelFileError(f"Expected an array with cells, got the shape {tuple(shape)}.")


def read_dtype(name: Any) -> np.dtype[Any]:
    """A type of cells by its name, of those that a file may have."""
    try:
        dtype = np.dtype(name) if isinstance(name, str) and NAME.fullmatch(name) else None
    except (TypeError, ValueError):
        dtype = None
    if dtype is None or dtype.itemsize == 0 or (dtype.kind != "O" and _unit(dtype) is None):
        raise ModelFileError(f"Expected the name of a type of cells, got {name!r:.60}.")
    return dtype


def _unit(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """What a tensor holds of a cell: the cell itself, or its letters, bytes, ticks or parts."""
    if dtype.str[1:] in PLAIN:
        return dtype
    units = {"U": "<u4", "S": "u1", "M": "<i8", "m": "<i8"}
    if dtype.kind in units and dtype.itemsize:
        return np.dtype(units[dtype.kind])
    return np.dtype("<f8") if dtype.str[1:] == "c16" else None


def _big_endian() -> bool:
    return np.dtype("=i4").str == ">i4"
