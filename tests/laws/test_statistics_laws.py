"""Statistics are sums: of any chunks, in any order, and without a trace of what was taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from listed import CELLS, KINDS
from strategies import (
    Random,
    anything,
    bits,
    chunks,
    counts,
    group_codes,
    laid_out,
    merged,
    n_columns,
    n_rows,
    plain,
    randoms,
    share,
    sparse_rows,
    table,
    weights,
)

from posterior import Bernoulli, Categorical, Gaussian, Laplace, Multinomial, Poisson, Product
from posterior.data.rows import Blocks, CodedRows, Hard, Rows, Soft, SparseRows, take
from posterior.families import Complement, MEstimate, VarianceFloor
from posterior.generative import labeled

K = 3
WORDS = np.array(["a", "b", "cc", "d"])


def numbers(random: Random, n: int, d: int) -> np.ndarray:
    return laid_out(random, table(random, n, d, [plain, anything][random.integers(2)]))


def whole(random: Random, n: int, d: int) -> np.ndarray:
    return table(random, n, d, counts)


def entries(random: Random, n: int, d: int) -> SparseRows:
    cells = [counts, plain, anything, lambda r, shape: 2.0**33 * counts(r, shape)]
    return sparse_rows(np.abs(table(random, n, d, cells[random.integers(4)], holes=False)))


def categories(random: Random, n: int, d: int) -> CodedRows:
    """Columns that do not all have the same values; a negative code is a missing cell."""
    values = tuple(np.sort(random.choice(WORDS, 1 + random.integers(4), False)) for _ in range(d))
    codes = np.stack([random.integers(-1, len(v), n) for v in values], axis=1)
    return CodedRows(codes.astype(np.int32), values)


def mixed(random: Random, n: int, d: int) -> Blocks:
    return Blocks((table(random, n, d), categories(random, n, 2)))


def of_support(kind: Any, random: Random, n: int, d: int) -> np.ndarray:
    return table(random, n, d, CELLS[kind.support], kind.reads_missing)


@dataclass(frozen=True)
class Case:
    """A family, and the kind of rows that it reads."""

    family: Any
    rows: Callable[[Random, int, int], Any]


CASES = {
    "moments": Case(Gaussian(), numbers),
    "totals": Case(Poisson(), whole),
    "indicators": Case(Bernoulli(), numbers),
    "sparse totals": Case(Multinomial(), entries),
    "sparse indicators": Case(Bernoulli(threshold=0.5), entries),
    "counts": Case(Categorical(), categories),
    "parts": Case(Product((Gaussian(), Categorical()), ((2, 3, 4, 5), (0, 1))), mixed),
} | {
    name: Case(kind(), partial(of_support, kind))
    for name, kind in KINDS.items()
    if kind.support in CELLS and kind.support != "category"  # which CASES have, coded
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
ESTIMATED = {
    "moments": (Gaussian(), Gaussian(None), Gaussian(VarianceFloor()), Gaussian(predictive=True)),
    "totals": (Poisson(), Poisson(predictive=True), Multinomial(), Complement()),
    "indicators": (Bernoulli(), Bernoulli(Laplace(0.0)), Bernoulli(MEstimate(2.0, None))),
    "counts": (Categorical(), Categorical(MEstimate(2.0, None)), Categorical(Laplace(0.0))),
}


def statistics(case: Case, X: Any, codes: np.ndarray, weight: np.ndarray | None = None) -> Any:
    """What `labeled` makes of rows: the weights of groups, and the family's own statistics."""
    return labeled(Rows(X, Hard(codes, K, weight)), case.family)


def some(case: Case, random: Random, n: int, d: int) -> Any:
    X = case.rows(random, n, d)
    return statistics(case, X, group_codes(random, n, K), weights(random, n))


def seen(statistics: Any) -> Any:
    """Without values of which nothing is left."""
    return type(statistics)(statistics.weight, statistics.features.seen())


def assert_same(a: Any, b: Any) -> None:
    """Equal, and of equal bits once they are compact."""
    assert a == b
    assert bits(a.compact().arrays()) == bits(b.compact().arrays())


@each_case
@share(7)
@given(random=randoms, n=n_rows, d=n_columns)
def test_parts_in_any_order_sum_to_the_whole(case, random, n, d):
    X, codes, weight = case.rows(random, n, d), group_codes(random, n, K), weights(random, n)
    parts = [
        statistics(case, take(X, part), codes[part], None if weight is None else weight[part])
        for part in chunks(random, n)
    ]
    assert_same(merged(random, parts), statistics(case, X, codes, weight))


@each_case
@share(10)
@given(random=randoms, n=n_rows, d=n_columns)
def test_no_rows_are_zero_and_zero_is_neutral(case, random, n, d):
    X, codes = case.rows(random, n, d), group_codes(random, n, K)
    a, zero = statistics(case, X, codes), statistics(case, X[:0], codes[:0])
    assert_same(a + zero, a)
    assert_same(zero + a, a)
    assert_same(seen(a - a), seen(zero))
    assert_same(seen(a * 0), seen(zero))
    assert_same(a * 1, a)


@pytest.mark.parametrize("name", CASES)
@share(7)
@given(random=randoms, n=n_rows, m=n_rows, d=n_columns)
def test_rows_taken_back_leave_no_trace(name, random, n, m, d):
    case = CASES[name]
    kept, more = some(case, random, n, d), some(case, random, m, d)
    left = kept + more - more
    assert left == kept
    left, kept = seen(left), seen(kept)
    assert_same(left, kept)
    for family in ESTIMATED.get(name, (case.family,)):
        a, b = (answer(family.estimate, s.compact().features) for s in (left, kept))
        assert a == b


def answer(estimate: Callable[[Any], Any], statistics: Any) -> Any:
    """The bits of an estimate, or what it says of data that it cannot use."""
    try:
        with np.errstate(all="ignore"):
            return bits(estimate(statistics))
    except ValueError as error:
        return str(error)


@each_case
@share(10)
@given(random=randoms, n=n_rows, d=n_columns)
def test_a_weight_of_w_is_w_rows(case, random, n, d):
    X, codes = case.rows(random, n, d), group_codes(random, n, K)
    once, twice = statistics(case, X, codes), np.repeat(np.arange(n), 2)
    assert_same(statistics(case, X, codes, np.full(n, 2.0)), once + once)
    assert_same(statistics(case, take(X, twice), codes[twice]), once * 2)
    w = random.integers(0, 4, n)
    again = np.repeat(np.arange(n), w)
    repeated = statistics(case, take(X, again), codes[again])
    assert_same(statistics(case, X, codes, w.astype(float)), repeated)


@each_case
@share(10)
@given(random=randoms, n=n_rows, d=n_columns)
def test_groups_are_taken_placed_and_pooled(case, random, n, d):
    X, codes, weight = case.rows(random, n, d), group_codes(random, n, K), weights(random, n)
    a, order = statistics(case, X, codes, weight), random.permutation(K)
    position = np.append(np.argsort(order), -1)  # of each group; a row left out stays out
    assert_same(a.take(order), statistics(case, X, position[codes].astype(np.int32), weight))
    assert_same(a.take(order).placed(order, K), a)
    assert_same(a.placed(np.arange(1, K + 1), K + 2).take(np.arange(1, K + 1)), a)
    together = np.where(codes < 0, -1, 0).astype(np.int32)
    assert_same(a.pooled(), statistics(case, X, together, weight).take([0]))
    assert_same(a.pooled(), a.take([0]) + a.take([1]) + a.take([2]))


@each_case
@share(10)
@given(random=randoms, n=n_rows, d=n_columns)
def test_statistics_come_back_from_plain_arrays(case, random, n, d):
    features = some(case, random, n, d).features
    parts = features.parts if case.rows is mixed else [features]
    for part in parts:
        assert_same(type(part).from_arrays(part.arrays()), part)


@each_case
@share(10)
@given(random=randoms, n=n_rows, d=n_columns, size=st.sampled_from([1.0, 1e-40, 1e40]))
def test_a_hard_group_is_a_soft_one_of_certain_rows(case, random, n, d, size):
    """To 1e-12 of the largest possible sum: soft groups add by matrix products, which round."""
    codes, weight = group_codes(random, n, K), 10 * random.random(n)
    X = size * table(random, n, d) if case.rows is numbers else case.rows(random, n, d)
    if case.rows is entries:
        X = sparse_rows(table(random, n, d, counts, holes=False))
    R = weight[:, None] * (codes[:, None] == np.arange(K))
    hard = flat(statistics(case, X, codes, weight))
    soft = flat(labeled(Rows(X, Soft(R)), case.family))
    for name, sums in hard.items():
        power = {"total": 1, "squares": 2}.get(name, 0)
        scale = weight.sum() * largest(X) ** power
        np.testing.assert_allclose(soft[name] - sums, 0, atol=1e-12 * scale)


def largest(X: Any) -> float:
    """The largest number of a table, or what it is at most."""
    if isinstance(X, Blocks):
        return largest(X.parts[0])
    return max(1.0, np.nanmax(np.abs(X), initial=0)) if isinstance(X, np.ndarray) else 1e3


def flat(statistics: Any) -> dict[str, np.ndarray]:
    """The sums of statistics by name, rounded."""
    features = statistics.features
    sums = {"groups": statistics.weight.rounded()}
    for part in getattr(features, "parts", [features]):
        names = [f for f in ("weight", "total", "squares", "table") if hasattr(part, f)]
        sums |= {name: getattr(part, name).rounded() for name in names}
    return sums
