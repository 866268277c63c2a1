"""Terms that a Python function finds, counted: the path of every setting without a kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.utils import murmurhash3_32

from posterior.data.typing import Integers
from posterior.kernels.reference.text import PlainBag, PlainHashed
from posterior.kernels.terms import PRUNED, Terms
from posterior.text.decoding import MISSING, located
from posterior.text.vocabulary import places

Function = Callable[[Any], Iterable[Any]]


def count_function(
    documents: list[Any], first: int, function: Function, known: Terms | None, keep_rows: bool
) -> PlainBag:
    """Count all terms that the function finds, or the known ones among them."""
    counted = list(_counted(documents, first, function))
    found = Terms.of(_text(term) for row in counted for term in row)
    terms = found if known is None else known
    number = dict(zip(found.strings(), places(found, terms).tolist(), strict=True))
    entries = _entries(
        {number[term]: n for term, n in row.items() if number[term] != PRUNED} for row in counted
    )
    return PlainBag.of(terms, len(documents), entries, keep_rows)


def hash_function(
    documents: list[Any], first: int, function: Function, n_features: int, alternate_sign: bool
) -> PlainHashed:
    """Sum terms by column |h| mod n, with the sign of their hash h or without."""
    rows: list[dict[int, int]] = []
    for counted in _counted(documents, first, function):
        rows.append({})
        for term, n in counted.items():
            data = term if isinstance(term, bytes) else _text(term).encode("utf-8", "surrogatepass")
            h = int(murmurhash3_32(data, seed=0))
            column = abs(h) % n_features
            rows[-1][column] = rows[-1].get(column, 0) + (-n if alternate_sign and h < 0 else n)
    return PlainHashed(len(rows), _entries(rows))


def _counted(documents: list[Any], first: int, function: Function) -> Iterator[Counter[Any]]:
    for number, document in enumerate(documents, first):
        try:
            yield Counter(() if document is MISSING else function(document))
        except UnicodeDecodeError as error:
            raise located(error, f"document {number}") from None


def _text(term: Any) -> str:
    if not isinstance(term, str):
        raise TypeError(
            f"Expected terms that are strings, got {type(term).__name__} from the analyzer or "
            "tokenizer. Make it str(term) there."
        )
    return term


def _entries(rows: Iterable[dict[int, int]]) -> Integers:
    """(row, column, value) of every cell."""
    cells = [(i, column, value) for i, row in enumerate(rows) for column, value in row.items()]
    return np.array(cells, np.int64).reshape(-1, 3)
