"""Numbers, tables, groups and cuts that the laws are tried on, and the bits of what comes out.

Hypothesis draws sizes, layouts and a seed, which is what failing cases shrink by; cells come from
a generator of that seed, because a thousand tables drawn cell by cell take minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from scipy import sparse

from posterior.data.rows import SparseRows
from posterior.statistics import Exact
from posterior.text.vocabulary import Vocabulary

Random = np.random.Generator
Cells = Callable[[Random, Any], np.ndarray]

randoms = st.integers(0, 2**32 - 1).map(np.random.default_rng)
n_rows, n_columns = st.integers(1, 12), st.integers(1, 4)


def share(part: int) -> settings:
    """A part of the cases: for laws tried on many kinds of models, or slow to try."""
    return settings(max_examples=max(10, settings.default.max_examples // part))


def plain(random: Random, shape: Any) -> np.ndarray:
    """Numbers of tables that people have: many repeated, some far from zero."""
    special = random.choice([1e8, 1e8 + 1, -1e8, 0.1, -0.0, 1e-8, 2.0**-30], shape)
    normal = random.normal(0, 10.0 ** random.integers(-2, 4), shape).astype(np.float32)
    whole = random.integers(-3, 4, shape)
    return np.choose(random.choice(3, shape, p=[0.5, 0.4, 0.1]), [whole, normal, special])


def anything(random: Random, shape: Any) -> np.ndarray:
    """Doubles from subnormal to huge; some tables of one size, some of all."""
    digits, spread = random.choice([1, 24, 53]), random.choice([0, 5, 100, 3000])
    mantissa = random.integers(1 - 2**digits, 2**digits, shape)
    middle = random.integers(-1074, 971)
    place = random.integers(middle - spread, middle + spread + 1, shape)
    return np.ldexp(mantissa.astype(float), np.clip(place, -1074, 1024 - digits))


def counts(random: Random, shape: Any) -> np.ndarray:
    """Small whole numbers, many of them zero."""
    return random.poisson(random.choice([0.5, 2.0, 9.0]), shape).astype(float)


def table(random: Random, n: int, d: int, cells: Cells = plain, holes: bool = True) -> np.ndarray:
    """A table of n rows; every other one has holes."""
    X = cells(random, (n, d)).astype(float)
    if holes and random.random() < 0.5:
        X[random.random((n, d)) < 0.25] = np.nan
    return X


def laid_out(random: Random, X: np.ndarray) -> np.ndarray:
    """The same cells as float64 or float32, in rows, in columns, backwards or with gaps."""
    dtype = random.choice([np.float64, np.float32])
    cells = np.clip(X, np.finfo(dtype).min, np.finfo(dtype).max).astype(dtype)
    match random.integers(4):
        case 0:
            return cells
        case 1:
            return np.asfortranarray(cells)
        case 2:
            return np.ascontiguousarray(cells[::-1, ::-1])[::-1, ::-1]
    wide = np.full((2 * len(cells), 3 * cells.shape[1]), np.inf, dtype)  # never to be read
    wide[::2, 1::3] = cells
    return wide[::2, 1::3]


def group_codes(random: Random, n: int, n_groups: int) -> np.ndarray:
    """A group for each row; a negative code leaves it out."""
    return random.integers(-1, n_groups, n).astype(np.int32)


def weights(random: Random, n: int) -> np.ndarray | None:
    """None, whole numbers, fractions, or fractions of all sizes."""
    match random.integers(4):
        case 0:
            return None
        case 1:
            return random.integers(0, 9, n).astype(float)
        case 2:
            return 10 * random.random(n)
    return np.abs(anything(random, n))


def sparse_rows(X: np.ndarray, values: type = np.float64, index: type = np.int32) -> SparseRows:
    """A dense table as compressed sparse rows."""
    rows = sparse.csr_array(X)
    data = np.clip(rows.data, np.finfo(values).min, np.finfo(values).max).astype(values)
    return SparseRows(data, rows.indices.astype(index), rows.indptr.astype(index), X.shape[1])


def coded(random: Random, n: int, d: int) -> np.ndarray:
    """Codes of each width in each order; negative ones are missing cells."""
    dtype = random.choice([np.int64, np.int32, np.int16, np.uint8])
    X = random.integers(0 if dtype is np.uint8 else -1, 7, (n, d)).astype(dtype)
    layouts = [X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]]
    return layouts[random.integers(3)]


def some_sparse_rows(random: Random, n: int, d: int, cells) -> SparseRows:
    """Rows of each type of value and index, from the middle of a table."""
    kind = [cells, counts, lambda random, shape: 2.0**33 * counts(random, shape)]
    X = table(random, n + 2, d, kind[random.integers(3)], holes=False)
    X[random.random(X.shape) < 0.5] = 0
    values, index = random.choice([np.float32, np.float64]), random.choice([np.int32, np.int64])
    return sparse_rows(X, values, index)[1 : n + 1]


def chunks(random: Random, n: int, most: int = 5) -> list[np.ndarray]:
    """All rows once, in any order, in up to five parts that are not empty."""
    n_cuts = random.integers(0, min(n, most))
    cuts = random.choice(np.arange(1, n), n_cuts, replace=False) if n_cuts else []
    return np.split(random.permutation(n), sorted(cuts))


def merged(random: Random, parts: list[Any]) -> Any:
    """Sums of parts, two at a time, in any order."""
    parts = list(parts)
    while len(parts) > 1:
        a, b = (parts.pop(random.integers(len(parts))) for _ in range(2))
        parts.append(a + b)
    return parts[0]


def fractions_of(values: Any) -> list[Fraction]:
    """Doubles as the rational numbers that they are."""
    return [Fraction(float(v)) for v in np.asarray(values, np.float64).reshape(-1)]


def bits(value: Any) -> Any:
    """A value down to its last bit, in a form that compares."""
    if isinstance(value, Exact):
        value = value.trimmed()  # of the many windows for a sum the smallest
    if isinstance(value, Vocabulary):
        value = [value.terms, value.columns, value.n_columns]
    if isinstance(value, np.ndarray):
        if value.size == 0:
            return "empty", value.shape
        if value.dtype.kind in "OU":  # the room that strings have is no part of their value
            return bits(value.tolist())
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.random.RandomState):
        return bits(value.get_state()[1:])
    if is_dataclass(value):
        return [bits(getattr(value, f.name)) for f in fields(value)]
    if isinstance(value, dict):
        return {name: bits(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [bits(part) for part in value]
    return repr(value)
