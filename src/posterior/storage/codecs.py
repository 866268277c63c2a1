"""Codecs of values of other libraries, which a file may hold beside our own classes.

Each has a tag, encodes a value as plain ones, and decodes them after a look at them: what is read
may have been written by anyone.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import MethodType
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils._metadata_requests import SIMPLE_METHODS, MetadataRequest

from posterior.data.errors import DegenerateError
from posterior.engines.local import Local
from posterior.storage.arrays import read_dtype
from posterior.storage.model_file_error import expect


@dataclass(frozen=True, slots=True)
class Codec:
    """Encodes values of one type as plain values, and decodes them."""

    tag: str
    kind: type
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


TYPES = {t.__name__: t for t in (bool, int, float, str, object)}
VERBS = ("fill", "sum")
GENERATORS = {
    g.__name__: g
    for g in (
        np.random.MT19937,
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.Philox,
        np.random.SFC64,
    )
}
# Places in the memory of a generator, which NumPy takes on trust.
POSITIONS = {"pos": 624, "buffer_pos": 4}


def _encode_type(value: type) -> str:
    if value in TYPES.values():
        return value.__name__
    if issubclass(value, np.generic):
        return np.dtype(value).str
    raise TypeError(f"{value.__name__}, a class")


def _decode_type(name: Any) -> type:
    return TYPES[name] if name in TYPES else read_dtype(name).type


def _decode_engine(stored: Any) -> Local:
    """The engine behind one of its methods, which earlier versions stored."""
    engine, verb = stored
    expect(isinstance(engine, Local) and verb in VERBS, "a method of an engine")
    return engine


def _checked_state(state: Any) -> Any:
    """The state of a generator, with places that are inside its memory."""
    expect(isinstance(state, dict), "the state of a random generator")
    inner = state.get("state")
    for part in (state, inner if isinstance(inner, dict) else {}):
        for name, most in POSITIONS.items():
            if name in part:
                inside = isinstance(part[name], int) and 0 <= part[name] <= most
                expect(inside, f"{name} from 0 to {most} in the state of a random generator")
    return state


def _decode_generator(state: Any) -> np.random.Generator:
    bits = GENERATORS[_checked_state(state).get("bit_generator")](0)
    bits.state = state
    return np.random.Generator(bits)


def _decode_random_state(state: Any) -> np.random.RandomState:
    random = np.random.RandomState(GENERATORS[_checked_state(state).get("bit_generator")](0))
    random.set_state(state)
    return random


def _sparse(kind: type) -> Codec:
    def decode(stored: Any) -> Any:
        shape, *parts = stored
        expect(all(isinstance(n, int) and n >= 0 for n in shape), "the shape of a matrix")
        expect(all(isinstance(part, np.ndarray) for part in parts), "arrays of a matrix")
        matrix = kind(tuple(parts), shape=tuple(shape))
        matrix.check_format(full_check=True)
        return matrix

    def encode(matrix: Any) -> Any:
        return tuple(map(int, matrix.shape)), matrix.data, matrix.indices, matrix.indptr

    return Codec(kind.__name__, kind, encode, decode)


def _encode_requests(request: MetadataRequest) -> Any:
    return {method: dict(vars(request)[method].requests) for method in SIMPLE_METHODS}


def _decode_requests(stored: Any) -> MetadataRequest:
    request = MetadataRequest(owner=None)
    for method, asked in stored.items():
        expect(method in SIMPLE_METHODS, "the name of a method")
        for name, alias in asked.items():
            vars(request)[method].add_request(param=name, alias=alias)
    return request


CODECS = (
    Codec("bytes", bytes, lambda v: base64.b64encode(v).decode(), lambda t: base64.b64decode(t)),
    Codec("date", date, date.isoformat, date.fromisoformat),
    Codec("datetime", datetime, datetime.isoformat, datetime.fromisoformat),
    Codec("time", time, time.isoformat, time.fromisoformat),
    Codec(
        "timedelta",
        timedelta,
        lambda v: (v.days, v.seconds, v.microseconds),
        lambda t: timedelta(*t),
    ),
    Codec("decimal", Decimal, str, Decimal),
    Codec("dtype", np.dtype, lambda v: v.str, read_dtype),
    Codec("type", type, _encode_type, _decode_type),
    Codec("library", nw.Implementation, lambda v: v.name, lambda t: nw.Implementation[t]),
    Codec("random", np.random.Generator, lambda v: v.bit_generator.state, _decode_generator),
    Codec(
        "random_state",
        np.random.RandomState,
        lambda v: v.get_state(legacy=False),
        _decode_random_state,
    ),
    Codec("requests", MetadataRequest, _encode_requests, _decode_requests),
    Codec(
        "degenerate",
        DegenerateError,
        str,
        lambda t: DegenerateError(t.replace("{", "{{").replace("}", "}}")),
    ),
    *map(_sparse, (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix)),
)
EARLIER = Codec("method", MethodType, repr, _decode_engine)  # is read, and not written any more
BY_TAG = {codec.tag: codec for codec in (*CODECS, EARLIER)}


def codec_of(value: Any) -> Codec | None:
    """The codec of a value: that of its own type, or of the family of types it is of."""
    kind = type(value)
    if isinstance(value, np.dtype | type):  # each type of cells is a class of its own
        kind = np.dtype if isinstance(value, np.dtype) else type
    return next((codec for codec in CODECS if codec.kind is kind), None)
