"""Predictions of rows as JSON, written column by column: no object is made for a row.

What does not differ from row to row is encoded once for a model, and what stands between two
numbers is the same bytes in every row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING

import numpy as np

from posterior.app.server.questions import encode
from posterior.data.typing import Array, Floats

if TYPE_CHECKING:
    from posterior.app.server.predicting import Predicted

Pieces = Iterable[bytes]  # one of each row


class RowWriter:
    """Writes the rows of a model with these classes, as `RowPrediction` says."""

    def __init__(self, classes: Sequence[str]) -> None:
        labels = [encode(label) for label in classes]
        self._heads = [b'{"prediction":%b,"answer":%b,"posterior":' % (a, a) for a in labels]
        self._keys = [b"%b%b:" % (b"," if k else b"{", label) for k, label in enumerate(labels)]

    def written(self, found: Predicted) -> bytes:
        """All rows, as an array."""
        n_rows, costs = len(found.codes), found.expected
        pieces: list[Pieces] = [
            [self._heads[code] for code in found.codes.tolist()],
            *self._by_class(found.posterior),
            repeat(b'},"expected_costs":'),
            *([repeat(b"null")] if costs is None else [*self._by_class(costs), repeat(b"}")]),
            repeat(b',"missing":'),
            _lists(found.noted.missing, n_rows),
            repeat(b',"unseen":'),
            _lists(found.noted.unseen, n_rows),
            repeat(b"},"),
        ]
        rows = b"".join(chain.from_iterable(zip(*pieces, strict=False)))
        return b"[%b]" % rows[:-1]

    def _by_class(self, values: Floats) -> Iterator[Pieces]:
        """Keys and numbers of an object by class, which is still open."""
        numbers = encode(values.ravel().tolist())[1:-1].split(b",")
        for k, key in enumerate(self._keys):
            yield repeat(key)
            yield numbers[k :: len(self._keys)]


def _lists(noted: Mapping[str, Array], n_rows: int) -> Pieces:
    """The columns that are noted of each row; rows of the same ones are written together."""
    if not noted:
        return repeat(b"[]")
    names = [*noted]
    marks = np.zeros((n_rows, len(names)), np.bool_)
    for j, rows in enumerate(noted.values()):
        marks[rows, j] = True
    kinds, kind_of = np.unique(np.packbits(marks, axis=1), axis=0, return_inverse=True)
    among = np.unpackbits(kinds, axis=1, count=len(names))
    texts = [encode([names[j] for j in np.flatnonzero(kind)]) for kind in among]
    return [texts[kind] for kind in kind_of.ravel().tolist()]
