"""Arrow streams in and out: the rows of a question, and the predictions beside their metadata."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from posterior.app.server.cells import Question
from posterior.app.server.limits import Limits
from posterior.app.server.predicting import Predicted, check_rows
from posterior.app.server.questions import encode
from posterior.app.server.refusals import RequestError
from posterior.app.server.served import Served
from posterior.data.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

MEDIA = "application/vnd.apache.arrow.stream"
# Places in the tables of Arrow's Message.fbs.
HEADER_TYPE, HEADER, DICTIONARY_DATA, COMPRESSION = 1, 2, 1, 3
DICTIONARY_BATCH, RECORD_BATCH = 2, 3


def read_stream(body: bytes, served: Served, limits: Limits) -> Question:
    """The rows of a stream, within the limits; buffers must not be compressed."""
    import pyarrow as pa
    from pyarrow import ipc

    try:
        _check_plain(body)
        batches, n_rows = [], 0
        with ipc.open_stream(body) as stream:
            schema = stream.schema
            for batch in stream:
                n_rows += batch.num_rows
                check_rows(max(n_rows, 1), len(served.columns), limits)
                batch.validate(full=True)
                batches.append(batch)
        check_rows(n_rows, len(served.columns), limits)
        if len(set(schema.names)) < len(schema.names):
            raise RequestError("Expected columns of different names.")
        table = pa.Table.from_batches(batches, schema).combine_chunks()
        columns = {name: table.column(name).combine_chunks() for name in table.column_names}
        return served.reading.arrays(columns, n_rows)
    except (pa.ArrowException, OSError, struct.error, IndexError) as error:
        text = " ".join(str(error).split())
        raise RequestError(f"Expected a stream of Arrow, but: {text:.200}.", 400) from None


def written_stream(served: Served, found: Predicted) -> bytes:
    """prediction, p_CLASS of each class, and the columns that are missing or unseen in each row."""
    import pyarrow as pa
    from pyarrow import ipc

    n_rows = len(found.codes)
    labels = pa.array(served.classes, pa.string())
    columns = {
        "prediction": labels.take(pa.array(found.codes)),
        **{f"p_{label}": found.posterior[:, k] for k, label in enumerate(served.classes)},
        "missing": _lists(found.noted.missing, n_rows),
        "unseen": _lists(found.noted.unseen, n_rows),
    }
    table = pa.table(columns).replace_schema_metadata({"model": encode(served.identity)})
    out = pa.BufferOutputStream()
    with ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    return out.getvalue().to_pybytes()


def _lists(noted: Mapping[str, Array], n_rows: int) -> pa.ListArray:
    """The columns that are noted of each row, as lists."""
    import pyarrow as pa

    rows = np.concatenate([*noted.values(), np.zeros(0, np.intp)])
    codes = np.repeat(np.arange(len(noted)), [len(where) for where in noted.values()])
    order = np.argsort(rows, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])
    names = pa.array([*noted], pa.string()).take(pa.array(codes[order], pa.int64()))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), names)


def _check_plain(body: bytes) -> None:
    """Refuse compressed buffers before they unpack: some megabytes may hide terabytes."""
    import pyarrow as pa
    from pyarrow import ipc

    source = pa.BufferReader(body)
    while source.tell() < len(body):
        try:
            message = ipc.read_message(source)
        except EOFError:
            return
        if _is_compressed(message.metadata.to_pybytes()):
            raise RequestError("Expected a stream of Arrow without compression.", 415)


def _is_compressed(metadata: bytes) -> bool:
    """Whether a message has a batch of compressed buffers; metadata is a table of FlatBuffers."""
    message = struct.unpack_from("<I", metadata, 0)[0]
    place = _field(metadata, message, HEADER_TYPE)
    kind = metadata[place] if place else 0
    header = _followed(metadata, _field(metadata, message, HEADER))
    if kind == DICTIONARY_BATCH and header:
        header = _followed(metadata, _field(metadata, header, DICTIONARY_DATA))
    elif kind != RECORD_BATCH:
        return False
    return bool(header and _field(metadata, header, COMPRESSION))


def _field(data: bytes, table: int, number: int) -> int:
    """Where a field of a table is; 0 if it is not there."""
    directory = table - struct.unpack_from("<i", data, table)[0]
    size = struct.unpack_from("<H", data, directory)[0]
    entry = 4 + 2 * number
    if directory < 0 or entry >= size:
        return 0
    offset = struct.unpack_from("<H", data, directory + entry)[0]
    return table + offset if offset else 0


def _followed(data: bytes, place: int) -> int:
    """Where an offset leads."""
    return place + struct.unpack_from("<I", data, place)[0] if place else 0
