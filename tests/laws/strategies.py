"""Numbers, tables, groups and cuts that the laws are tried on."""

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


def share(part: int) -> settings:
    """Settings of a law that is tried on `part` kinds of models: together a whole run of cases."""
    return settings(max_examples=max(10, settings.default.max_examples // part))


any_number = st.floats(allow_nan=False, allow_infinity=False)  # subnormal to 1e308, both signs
sizes = st.integers(1, 12)
random_generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)
# Hypothesis draws sizes, layouts and cuts, which is what failing cases shrink by; cells come from
# a generator that it seeds, because a thousand tables drawn cell by cell take minutes.

Cells = Callable[[np.random.Generator, Any], np.ndarray]


def plain(random: np.random.Generator, shape: Any) -> np.ndarray:
    """Numbers of tables that people have: many repeated, some far from zero."""
    special = random.choice([1e8, 1e8 + 1, -1e8, 0.1, -0.0, 1e-8, 2.0**-30], shape)
    normal = random.normal(0, 10.0 ** random.integers(-2, 4), shape).astype(np.float32)
    whole = random.integers(-3, 4, shape)
    return np.choose(random.choice(3, shape, p=[0.5, 0.4, 0.1]), [whole, normal, special])


def anything(random: np.random.Generator, shape: Any) -> np.ndarray:
    """Doubles of all sizes, from subnormal to huge; some tables hold one size only."""
    digits = random.choice([1, 24, 53])
    mantissa = random.integers(-(2**digits), 2**digits, shape)
    middle, spread = random.integers(-1074, 971), random.choice([0, 5, 100, 3000])
    place = random.integers(middle - spread, middle + spread + 1, shape)
    return np.ldexp(mantissa.astype(float), np.clip(place, -1074, 971 - digits + 53))


def counts(random: np.random.Generator, shape: Any) -> np.ndarray:
    """Small whole numbers, many of them zero."""
    return random.poisson(random.choice([0.5, 2.0, 9.0]), shape).astype(float)


@st.composite
def tables(
    draw, n: int, cells: Cells = plain, missing: bool = True, d: int | None = None
) -> np.ndarray:
    """Tables of n rows, with holes."""
    shape, random = (n, draw(st.integers(1, 4)) if d is None else d), draw(random_generators)
    X = cells(random, shape).astype(float)
    if missing and random.random() < 0.5:
        X[random.random(shape) < 0.25] = np.nan
    return X


@st.composite
def layouts(draw, X: np.ndarray) -> np.ndarray:
    """The same cells as float64 or float32, in rows, in columns, or with gaps in memory."""
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    order = draw(st.sampled_from(["rows", "columns", "gaps", "backwards"]))
    with np.errstate(over="ignore"):
        cells = np.clip(X, np.finfo(dtype).min, np.finfo(dtype).max).astype(dtype)
    if order == "rows":
        return cells
    if order == "columns":
        return np.asfortranarray(cells)
    if order == "backwards":
        return np.ascontiguousarray(cells[::-1, ::-1])[::-1, ::-1]
    wide = np.full((2 * len(cells), 3 * cells.shape[1]), np.inf, dtype)  # no kernel may read these
    wide[::2, 1::3] = cells
    return wide[::2, 1::3]


@st.composite
def group_codes(draw, n: int, n_groups: int) -> np.ndarray:
    """A group for each row; a negative code leaves it out."""
    return draw(random_generators).integers(-1, n_groups, n).astype(np.int32)


@st.composite
def weights(draw, n: int, largest: float = 10.0) -> np.ndarray | None:
    """No weights, whole ones, or fractions."""
    random = draw(random_generators)
    whole, fractions = random.integers(1, 10, n).astype(float), largest * random.random(n)
    return draw(st.sampled_from([None, whole, fractions]))


def sparse_rows(X: np.ndarray, values: type = np.float64, index: type = np.int32) -> SparseRows:
    """A dense table as compressed sparse rows."""
    rows = sparse.csr_array(X)
    with np.errstate(over="ignore"):
        data = np.clip(rows.data, np.finfo(values).min, np.finfo(values).max).astype(values)
    return SparseRows(data, rows.indices.astype(index), rows.indptr.astype(index), X.shape[1])


def orders(n: int) -> st.SearchStrategy[np.ndarray]:
    """Permutations of n rows."""
    return random_generators.map(lambda random: random.permutation(n))


@st.composite
def chunks(draw, n: int) -> list[np.ndarray]:
    """All rows once, in any order, in up to five parts that are not empty."""
    parts = draw(st.integers(1, min(n, 5)))
    random = draw(random_generators)
    cuts = random.choice(np.arange(1, max(n, 2)), parts - 1, replace=False)
    return np.split(random.permutation(n), sorted(cuts))


def fractions_of(values: Any) -> list[Fraction]:
    """Doubles as the rational numbers that they are."""
    return [Fraction(float(v)) for v in np.asarray(values, np.float64).reshape(-1)]


def bits(value: Any) -> Any:
    """A value down to its last bit, in a form that compares."""
    if isinstance(value, np.ndarray):
        if value.size == 0:
            return "empty", value.shape
        if value.dtype.kind in "OU":  # the room that strings have is no part of their value
            return value.tolist()
        return value.dtype.str, value.shape, value.tobytes()
    if is_dataclass(value):
        return [bits(getattr(value, f.name)) for f in fields(value)]
    if isinstance(value, dict):
        return {name: bits(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [bits(part) for part in value]
    return repr(value)
