"""The compiled search for nearest strings."""

from __future__ import annotations

import posterior.kernels._compiled as _compiled
from posterior.data.typing import Floats, Integers
from posterior.kernels.spelling import Dictionary, Spelling


def nearest_strings(
    queries: Spelling,
    dictionary: Dictionary,
    swaps: bool,
    normalized: bool,
    distance: Floats,
    row: Integers,
) -> None:
    """Fill in distances and rows (m, k) of the strings nearest to each query.

    Strings have up to 64 letters. An edit inserts, deletes or replaces a letter, or swaps two
    neighbors that then stay as they are; normalized, edits over the length of the longer string.
    """
    known = dictionary.strings
    _compiled.nearest_strings(
        queries.letters,
        queries.start,
        known.letters,
        known.start,
        dictionary.n_letters,
        dictionary.row,
        dictionary.first,
        swaps,
        normalized,
        distance,
        row,
    )
