"""Case and class of code points, as this Python knows them: str.lower, str.isalnum, str.isspace.

The compiled counters of terms read them from a table, so that they need nothing of Python's inside.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from posterior.data.typing import Array

KNOWN = 0x40000  # code points; those behind have no case, and are neither letters nor spaces
WORD, SPACE, HARD = 1 << 24, 1 << 25, 1 << 26
DOTTED_I, SIGMA = "\u0130", "\u03a3"  # becomes two letters; depends on its neighbors


@cache
def alphabet(lowercase: bool) -> Array:
    """What each code point becomes, and bits for the class that it then has, (KNOWN,)."""
    text = _text(np.arange(KNOWN, dtype=np.uint32))
    if lowercase:
        text = text.replace(DOTTED_I, "i").lower()
    table = _codes(text)
    marked = _codes(re.sub(r"\w+", lambda run: "w" * len(run[0]), re.sub(r"\s", " ", text)))
    hard = np.isin(np.arange(KNOWN), [ord(DOTTED_I), ord(SIGMA)] if lowercase else [])
    classes = ((marked == ord("w"), WORD), (marked == ord(" "), SPACE), (hard, HARD))
    for are_so, bit in classes:
        table = table | np.where(are_so, bit, 0).astype(np.uint32)
    return table


def _text(codes: Array) -> str:
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


def _codes(text: str) -> Array:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
