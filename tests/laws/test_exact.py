"""Exact sums are exact, and what is read from them depends on their value alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import assume, example, given
from hypothesis import strategies as st
from strategies import bits, fractions_of, merged, randoms, share

from posterior.statistics import Exact, Pair

TOLERANCE = Fraction(1, 2**100)
FAR_APART = [1e308, 5e-324, -1e308]
FAR = Exact.of(np.array(FAR_APART))

any_number = st.floats(allow_nan=False, allow_infinity=False)  # subnormal to 1e308
near_one = st.builds(np.ldexp, st.integers(-(2**53), 2**53), st.integers(-150, 20)).map(float)
vectors = st.one_of(
    st.lists(any_number, min_size=1, max_size=8), st.lists(near_one, min_size=1, max_size=6)
).map(np.array)
two_doubles = st.tuples(near_one, near_one)
large_integers = st.lists(st.integers(-(2**52), 2**52), min_size=1, max_size=4).map(np.array)
sums = st.one_of(vectors, large_integers).map(Exact.of)


def value(x: Exact) -> list[Fraction]:
    """What the limbs of each number say."""
    unit = Fraction(2) ** x.exponent
    rows = x.limbs.reshape(-1, x.limbs.shape[-1]).tolist()
    return [unit * sum(limb << 32 * i for i, limb in enumerate(limbs)) for limbs in rows]


def held(x: Pair) -> Fraction:
    return Fraction(float(x.high)) + Fraction(float(x.low))


def as_double(x: Fraction) -> float:
    """The nearest double."""
    try:
        return float(x)
    except OverflowError:
        return np.inf if x > 0 else -np.inf


def shifted(x: Exact, seed: int) -> Exact:
    """The same numbers in a wider window."""
    low, high = seed % 3, seed // 3
    limbs = np.pad(x.limbs, [(0, 0)] * len(x.shape) + [(low, high)])
    return Exact(np.ascontiguousarray(limbs), x.exponent - 32 * low) - Exact.zeros(*x.shape)


@share(2)
@given(x=vectors)
def test_doubles_become_what_they_are(x):
    assert value(Exact.of(x)) == fractions_of(x)


@given(x=vectors, random=randoms)
def test_parts_in_any_order_and_grouping_sum_to_the_whole(x, random):
    total = merged(random, [Exact.of(v) for v in x])
    assert value(total) == [sum(fractions_of(x))]
    assert total == Exact.of(x).sum()


@given(a=vectors, b=vectors)
def test_what_was_added_can_be_taken_back(a, b):
    n = min(len(a), len(b))
    x, y = Exact.of(a[:n]), Exact.of(b[:n])
    assert (x + y) - y == x
    assert value(x - y) == [p - q for p, q in zip(value(x), value(y), strict=True)]
    assert bits((x + y - y).trimmed()) == bits(x.trimmed())
    assert bits((x + y - y).pair()) == bits(x.pair())


@share(2)
@given(x=sums)
def test_zero_is_neutral_and_a_number_less_itself_is_zero(x):
    zero = Exact.zeros(*x.shape)
    assert x + zero == x == zero + x
    assert x - x == zero == x + -x
    assert bits((x - x).trimmed()) == bits(zero)
    assert value(-x) == [-v for v in value(x)]


@share(2)
@given(x=sums, factor=st.integers(-(2**20) + 1, 2**20 - 1))
def test_a_whole_multiple_is_a_repeated_sum(x, factor):
    assert x * 2 == x + x
    assert value(x * factor) == [factor * v for v in value(x)]


@share(2)
@given(x=sums)
def test_trimming_and_storing_keep_the_value(x):
    assert x.trimmed() == x
    stored = x.arrays("x")
    assert bits(Exact.from_arrays(stored, "x")) == bits(x.trimmed())


@share(2)
@given(x=sums, seed=st.integers(0, 8))
def test_a_value_has_one_smallest_form(x, seed):
    wide = shifted(x, seed)
    assert wide == x
    assert bits(wide.trimmed()) == bits(x.trimmed())


@share(2)
@given(x=large_integers)
def test_whole_numbers_and_doubles_of_equal_value_have_one_form(x):
    assert Exact.of(x) == Exact.of(x.astype(float))
    assert bits(Exact.of(x).trimmed()) == bits(Exact.of(x.astype(float)).trimmed())


@share(2)
@given(x=vectors, seed=st.integers(0, 8))
def test_a_pair_depends_on_the_value_alone(x, seed):
    total = Exact.of(x).sum().reshape(1)
    wide, whole = shifted(total, seed), bits(total.pair())
    assert bits(wide.pair()) == whole
    assert bits(wide.rounded()) == bits(total.rounded()) == bits(total.pair().high)
    assert bits((total - FAR[:1] + FAR[:1]).pair()) == whole
    assert bits(Exact.of(np.append(x, FAR_APART))[: len(x)].pair()) == bits(Exact.of(x).pair())


@share(2)
@given(x=vectors)
@example(x=np.array([1.0, 2.0**-53, 2.0**-200]))  # a tie, but for the last bit
@example(x=np.array([-1.0, -(2.0**-53)]))
def test_a_sum_is_rounded_once_to_the_nearest_double(x):
    """The nearest, but for ties that only bits beyond the 106th decide: they may go either way."""
    exact, (rounded,) = sum(fractions_of(x)), Exact.of(x).sum().reshape(1).rounded()
    nearest = as_double(exact)
    if np.isinf(nearest):
        assert rounded == nearest
    else:
        error = abs(Fraction(float(rounded)) - exact)
        assert error <= abs(Fraction(nearest) - exact) * (1 + Fraction(1, 2**50))


@share(2)
@given(x=vectors)
def test_a_pair_holds_a_sum_to_106_bits(x):
    exact, pair = sum(fractions_of(x)), Exact.of(x).sum().pair()
    assume(abs(exact) < 2**1023)
    assert abs(held(pair) - exact) <= TOLERANCE * abs(exact)
    assert float(pair.high) + float(pair.low) == float(pair.high)


@share(2)
@given(a=two_doubles, b=two_doubles)
def test_pairs_compute_to_100_bits(a, b):
    x, y = (Exact.of(np.array(v)).sum().pair() for v in (a, b))
    p, q = held(x), held(y)
    assert abs(held(x + y) - (p + q)) <= TOLERANCE * (abs(p) + abs(q))
    assert abs(held(x - y) - (p - q)) <= TOLERANCE * (abs(p) + abs(q))
    assert abs(held(x * y) - p * q) <= TOLERANCE * abs(p * q)
    if q:
        assert abs(held(x / y) - p / q) <= TOLERANCE * abs(p / q)
