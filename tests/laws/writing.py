# ruff: noqa: RUF001, letters that look alike are the point
"""Documents that the laws of text are tried on, rules to read them by, and matrices of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse
from strategies import Random

from posterior.kernels.terms import Bag, Hashed, Rule, Utf8Column

# Letters whose case is odd, white space of all kinds, joiners, digits of other scripts, NUL.
ODD = "ΣσςİIıẞßǅǆKÅſ_ʼ'’­·\u0307\u0345\u200d\u00a0\u1680\u2003\u2028\u3000\t\n\v\f\r\x1c\x1f\x85\x00"
SCRIPTS = "abzAZ09éÀжЖΑάאبहิ中あ한२Ⅷ½²ﬁ\U00010400\U0001d7d8\U0001f600\U000e0041"
SURROGATES = "\ud800\udbff\udc00\udfff"
WORDS = [
    "the",
    "The",
    "cat",
    "naïve",
    "ΑΣ",
    "word_2",
    "x",
    "e",
    "10",
    "internationalization",
    "中文",
]
STOPS = frozenset({"the", "cat", "中文", "not_there", ""})


def character(random: Random, surrogates: bool) -> str:
    match random.integers(6):
        case 0:
            return ODD[random.integers(len(ODD))]
        case 1:
            return SCRIPTS[random.integers(len(SCRIPTS))]
        case 2:
            code = int(random.integers(0x110000))
            return chr(code) if surrogates or not 0xD800 <= code < 0xE000 else "s"
        case 3 if surrogates:
            return SURROGATES[random.integers(len(SURROGATES))]
    return " "


def document(random: Random, surrogates: bool) -> str:
    """Words in runs of ASCII that are long enough for the fast path, and anything between."""
    parts = []
    odd = random.choice([0.0, 0.1, 1.0])
    for _ in range(random.choice([0, 1, 5, 60])):
        if random.random() < odd:
            parts.append(character(random, surrogates))
        else:
            parts.append(WORDS[random.integers(len(WORDS))] if odd else "Plain")
            parts.append(random.choice([" ", " ", ", ", "  ", "\n\n", ""]))
    return "".join(parts)


def documents(random: Random, n: int, surrogates: bool = True) -> list[str]:
    return [document(random, surrogates) for _ in range(n)]


@st.composite
def rules(draw: Any) -> Rule:
    least = draw(st.integers(1, 4))
    return Rule(
        draw(st.sampled_from(["word", "char", "char_wb"])),
        (least, least + draw(st.integers(0, 3))),
        draw(st.booleans()),
        draw(st.integers(1, 4)),
        draw(st.sampled_from([frozenset(), STOPS])),
    )


def column(texts: list[str], random: Random) -> Utf8Column:
    """The same documents as Arrow would hold them, with bytes before and behind."""
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([3, *map(len, encoded)]).astype(random.choice([np.int32, np.int64]))
    return Utf8Column(np.frombuffer(b"\xff--" + b"".join(encoded) + b"\xc3", np.uint8), offsets)


def csr(bag: Bag | Hashed, place: Any = None, n_columns: int = 0, dtype: Any = np.int64) -> Any:
    """The rows of a bag as a matrix; without places, in its own order."""
    if isinstance(place, np.ndarray):
        n_entries = int(bag.documents[place >= 0].sum())
        arguments = (place, 0)
    else:
        n_entries, arguments = bag.n_entries, (0,)
    ends = np.zeros(bag.n_rows + 1, np.int32)
    indices, values = np.zeros(n_entries, np.int32), np.zeros(n_entries, dtype)
    bag.rows(*arguments, ends[1:], indices, values)
    return sparse.csr_array((values, indices, ends), shape=(bag.n_rows, n_columns))


def counts(bag: Bag, dtype: Any = np.int64) -> Any:
    return csr(bag, np.arange(len(bag.terms), dtype=np.int32), len(bag.terms), dtype)


def assert_same_matrix(ours: Any, other: Any) -> None:
    assert ours.shape == other.shape
    np.testing.assert_array_equal(ours.indptr, other.indptr)
    np.testing.assert_array_equal(ours.indices, other.indices)
    np.testing.assert_array_equal(ours.data, other.data)
