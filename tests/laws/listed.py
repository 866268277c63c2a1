"""Every family of the one list, with cells that its support allows.

A family joins the laws when it joins `posterior.families.FAMILIES`; `Words`, which reads texts,
comes from the part that reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from strategies import Cells, Random, counts, plain, table

from posterior import Words
from posterior.families import by_name

KINDS: dict[str, Any] = {**by_name(), "words": Words}
VOCABULARY = np.array(["sun", "rain", "the", "of", "wind", None], dtype=object)


def positive(random: Random, shape: Any) -> np.ndarray:
    """Amounts of all sizes, many repeated."""
    return np.abs(plain(random, shape)) + random.choice([1e-3, 0.25, 1.0])


def waits(random: Random, shape: Any) -> np.ndarray:
    return np.abs(plain(random, shape))


def codes(random: Random, shape: Any) -> np.ndarray:
    return random.integers(0, 6, shape).astype(float)


CELLS: dict[str, Cells] = {
    "real": plain,
    "positive": positive,
    "not negative": waits,
    "count": counts,
    "category": codes,
}


def texts(random: Random, n: int) -> pd.DataFrame:
    """Some of them missing, some empty."""
    words = [random.choice(VOCABULARY[:-1], random.integers(0, 5)) for _ in range(n)]
    cells = [None if random.random() < 0.2 else " ".join(each) for each in words]
    return pd.DataFrame({"text": pd.Series(cells, dtype="str")})


def table_of(name: str) -> Callable[[Random, int], Any]:
    """Tables that a model of this family reads."""
    kind = KINDS[name]
    if kind.support == "text":
        return texts
    return lambda random, n: table(
        random, n, random.integers(1, 4), CELLS[kind.support], kind.reads_missing
    )
